#include "native/dsm/traps/waits.hpp"

#include <dlfcn.h>
#include <link.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "native/dsm/books/regions.hpp"
#include "native/dsm/memory/memory.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/single_writer_mode.hpp"
#include "native/dsm/memory/stacks.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/process/processors.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/traps/blind_waits.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/code/machine_code.hpp"
#include "native/guest/code/waiting_code.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/functions.hpp"
#include "native/guest/runtime/message.hpp"
#include "native/guest/runtime/signals.hpp"

namespace sdsm::dsm {
namespace {

/// A thread's place, and a hash of its registers and of the top of its stack.
struct Sample {
  std::uint64_t place = 0;
  std::uint64_t contents = 0;
};
struct Samples {
  static constexpr std::size_t most = 16;
  Sample ring[most];
  std::size_t next = 0;
  std::uint64_t events = 0;  ///< of the protocol, up to which they count
};
constinit Samples samples GUARDED_BY(application);

std::uint64_t events_so_far() REQUIRES(application) {
  return asked.traps + asked.atomics + asked.barriers + asked.locks;
}

Sample sample_of(const greg_t* registers) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t number) { hash = (hash ^ number) * 0x100000001b3; };
  for (int i = REG_R8; i <= REG_RSP; ++i) add(static_cast<std::uint64_t>(registers[i]));
  constexpr std::uintptr_t below = 128;  // the ABI's red zone
  constexpr std::uintptr_t compared_bytes = 512;
  const program::AddressRange stack = stack_of(index_of(self.process));
  const auto top = static_cast<std::uintptr_t>(registers[REG_RSP]) & ~std::uintptr_t{7};
  if (stack.holds(top - below) && stack.end - top >= compared_bytes) {
    const auto* words = reinterpret_cast<const std::uint64_t*>(top - below);
    for (std::size_t i = 0; i < compared_bytes / sizeof *words; ++i) add(words[i]);
  }
  return {static_cast<std::uint64_t>(registers[REG_RIP]), hash};
}

/// Whether nothing has changed since an earlier sample, and no event of the protocol has come between.
bool waits(const greg_t* registers) REQUIRES(application) {
  if (samples.events != events_so_far()) samples = {.ring = {}, .next = 0, .events = events_so_far()};
  const Sample now = sample_of(registers);
  for (const Sample& before : samples.ring) {
    if (before.place == now.place && before.contents == now.contents) return true;
  }
  samples.ring[samples.next++ % Samples::most] = now;
  return false;
}

/// How a wait was found: by iterations that are alike, or as another thread has changed what this one loads.
enum class FoundBy : bool { turns, change };

/// JIAJIA hands nothing on meanwhile. A thread that reads a clock again and again seems to wait, too, so it may go on.
void tell_of_wait(FoundBy found) REQUIRES(application) {
  constexpr unsigned long_enough = 250;  // half a second
  static unsigned times = 0;
  static std::uint64_t events = 0;  // of the protocol: each ends a wait
  if (std::exchange(events, events_so_far()) != events) times = 0;
  const bool was_reported = times >= long_enough;
  times += found == FoundBy::change ? long_enough / 2 : 1;  // one may be a hint that the program need not have
  if (was_reported || times < long_enough) return;
  gomp::message({"warning: thread ", program::Decimal(index_of(self.process)),
                 " seems to wait in a loop for another thread's plain store, which JIAJIA hands on at locks and "
                 "barriers alone. If the program does not go on, give --protocol scash"});
}

void end_wait(FoundBy found) REQUIRES(application) {
  if (!traits().sees_plain_stores) return tell_of_wait(found);
  samples.events = ~std::uint64_t{0};
  if (the_protocol().look_for_stores()) ++asked.waits;
}

struct CodeByte {
  std::uintptr_t address = 0;
  std::uint8_t code = 0;  ///< that the trap replaces
};
/// Written before the program runs.
constinit program::GrowingArray<CodeByte> places;
constinit program::GrowingArray<program::Wait> loops;

/// Pages of code with a loop in which a thread has waited. They stay open to stores, as each rest lays traps and takes
/// them away again.
constinit program::GrowingArray<std::uintptr_t> open_code GUARDED_BY(application);

bool open_for_stores(std::uintptr_t code) REQUIRES(application) {
  const std::uintptr_t page = page_down(code);
  if (std::find(open_code.begin(), open_code.end(), page) != open_code.end()) return true;
  if (!program::set_protection(page, page + page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  open_code.push_back(page);
  return true;
}

void store_code(const CodeByte& byte) {
  *reinterpret_cast<volatile std::uint8_t*>(byte.address) = byte.code;
}

/// All or none. False if the kernel gives the process no more mappings.
bool write_code(const CodeByte* first, std::size_t count) REQUIRES(application) {
  for (std::size_t i = 0; i < count; ++i)
    if (!open_for_stores(first[i].address)) return false;
  std::for_each(first, first + count, store_code);
  return true;
}

/// How far the thread is in a turn of a waiting loop.
enum class Turn : std::uint8_t { none, loads, has_loaded };
/// A thread that waits, and may rest when a whole turn has seen what is there.
struct Rest {
  const program::Wait* loop = nullptr;
  Turn turn{};
  bool has_rested = false;  ///< in this wait
  CodeByte trapped[1 + program::Wait::most_exits];
  std::size_t count = 0;
  std::uintptr_t page = 0;          ///< of the variable for whose change it waits
  const std::byte* view = nullptr;  ///< of the variable
  std::uint64_t seen = 0;           ///< of it, before the load
};
constinit Rest rest GUARDED_BY(application);
constinit std::atomic<std::uint32_t> is_resting = 0;  ///< a futex

void lay_traps(std::initializer_list<std::uintptr_t> addresses) REQUIRES(application) {
  CodeByte traps[std::size(rest.trapped)];
  rest.count = 0;
  for (const std::uintptr_t address : addresses) {
    if (address == 0) continue;
    rest.trapped[rest.count] = {address, *reinterpret_cast<const std::uint8_t*>(address)};
    traps[rest.count++] = {address, program::trap_code};
  }
  if (!write_code(traps, rest.count)) rest.count = 0;
}
void take_traps_away() REQUIRES(application) {
  if (rest.count > 0 && !write_code(rest.trapped, rest.count)) end_without_mappings();
  rest.count = 0;
}

/// The innermost loop.
const program::Wait* find_loop(std::uintptr_t load) {
  const program::Wait* found = nullptr;
  for (const program::Wait& loop : loops) {
    if (loop.load == load && (found == nullptr || loop.bytes < found->bytes)) found = &loop;
  }
  return found;
}

std::uint64_t value_of(const std::byte* view) {
  std::uint64_t value = 0;
  std::memcpy(&value, view, sizeof value);
  return value;
}

/// Local peers' stores are seen without a message.
bool may_rest() {
  return self.layout.threads_per_node == 1 && !has_processors(2);
}

void watch_if_open(std::uintptr_t variable) {
  const NodeGuard guard;
  const Range* const range = find_range(variable);
  if (range == nullptr) return;
  const std::uint32_t id = region_number(*range, page_down(variable));
  if (id == no_region) return;
  const std::uintptr_t page = page_at(*range, page_down(variable), id).address;
  if (is_open(page)) watch_page(page);
}

bool is_as_seen() REQUIRES(application) {
  return is_still_open(rest.page) && value_of(rest.view) == rest.seen;
}

bool is_signal_due(std::uint64_t mask) {
  std::uint64_t pending = 0;
  syscall(SYS_rt_sigpending, &pending, sizeof pending);
  return (pending & ~mask) != 0;
}

void rest_until_change(std::uint64_t signals) REQUIRES(application) {
  // Then the loop turns once more, as it does not see a variable that changes and changes back.
  constexpr std::uint64_t longest_ns = 100'000'000;
  constexpr timespec signal_poll_interval{0, 5'000'000};
  const std::uint64_t until = now_ns() + longest_ns;
  the_protocol().show_stores();
  while (is_as_seen() && now_ns() < until && !is_signal_due(signals)) {
    is_resting = 1;
    if (is_as_seen()) syscall(SYS_futex, &is_resting, FUTEX_WAIT_PRIVATE, 1, &signal_poll_interval);
    is_resting = 0;
  }
}

/// Functions that a waiting loop may call. Under JIAJIA none, as a poll ends the run there, and a library's threads
/// poll now and then for what came long ago.
program::Pauses pauses_of(const dl_phdr_info& object) {
  program::Pauses pauses;
  if (!traits().sees_plain_stores) return pauses;
  for (const char* name :
       {"sched_yield", "thrd_yield", "usleep", "sleep", "nanosleep", "clock_nanosleep", "thrd_sleep"}) {
    const auto function = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, name));
    if (function != 0) pauses.functions[pauses.count++] = function;
  }
  pauses.file = program::whole_of(object);
  return pauses;
}

int find_waiting_code(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
  if (!program::is_of_program(*object)) return 0;
  static constinit program::GrowingArray<program::Wait> found;
  found.clear();
  program::Pauses pauses = pauses_of(*object);
  program::for_each_function(
      *object,
      [](const program::FunctionExtent& extent, void* allowed) {
        const auto bytes = static_cast<std::uint32_t>(extent.code.end - extent.code.begin);
        program::find_waits(reinterpret_cast<const std::uint8_t*>(extent.code.begin), bytes,
                            *static_cast<const program::Pauses*>(allowed), found);
      },
      &pauses);
  for (const program::Wait& wait : found) {
    places.push_back({wait.address, *reinterpret_cast<const std::uint8_t*>(wait.address)});
    const std::uintptr_t page = page_down(wait.address);
    if (!program::set_protection(page, page + page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC)) end_without_mappings();
    store_code({wait.address, program::trap_code});
    if (!program::set_protection(page, page + page_bytes, PROT_READ | PROT_EXEC)) end_without_mappings();
    if (wait.bytes > 0) loops.push_back(wait);
  }
  return 0;
}

void on_check(int /*signal*/, siginfo_t* info, void* context) {
  program::note_interruption();
  if (!application.is_taken() || program::HeldSignals::are_held()) return;
  application.check();
  const program::BlockedSignals blocked;
  const int saved_errno = errno;
  auto& machine = *static_cast<ucontext_t*>(context);
  if (info->si_code != SI_TIMER) {
    if (waits_blindly(machine, Interrupted::after_pause)) end_wait(FoundBy::change);
  } else {
    the_protocol().show_stores();
    const greg_t* const registers = machine.uc_mcontext.gregs;
    if (waits(registers)) {
      end_wait(FoundBy::turns);
    } else if (waits_blindly(machine, Interrupted::by_timer)) {
      end_wait(FoundBy::change);
    }
    const auto instruction = static_cast<std::uintptr_t>(registers[REG_RIP]);
    for (const program::Wait& loop : loops) {
      if (instruction >= loop.address && instruction < loop.address + loop.bytes && rest.count == 0)
        expect_load(loop.address);
    }
  }
  stop_if_asked();
  errno = saved_errno;
}

}  // namespace

void watch_waiting_code() {
  dl_iterate_phdr(find_waiting_code, nullptr);
}

void expect_load(std::uintptr_t place) {
  const auto loop = std::find_if(loops.begin(), loops.end(), [&](const auto& one) { return one.address == place; });
  if (loop == loops.end() || !is_in_single_writer_mode() || !may_rest()) return;
  take_traps_away();
  rest.loop = loop;
  rest.turn = Turn::none;
  rest.has_rested = false;
  lay_traps({loop->load});
}

bool take_waiting_trap(std::uintptr_t address) {
  const CodeByte* const place =
      std::find_if(places.begin(), places.end(), [&](const CodeByte& one) { return one.address == address; });
  if (place == places.end()) return false;
  if (!write_code(place, 1)) end_without_mappings();
  return true;
}

bool come_to_load(std::uintptr_t instruction, std::uintptr_t variable) {
  if (!may_rest()) return false;
  const program::Wait* const loop = find_loop(instruction);
  Place place;
  if (loop == nullptr || find_range(variable) == nullptr || !find_place(variable, place)) return false;
  // The owner of a stack stores there without a message.
  if (is_open_at_home(region(index_of(place.id.region)).kind)) return false;
  if (rest.turn == Turn::none || rest.loop != loop) rest.has_rested = false;
  take_traps_away();
  const std::uintptr_t part = page_down(variable);
  rest.loop = loop;
  rest.turn = Turn::loads;
  rest.page = place.address;
  rest.view = find_range(variable)->view_of(std::min(variable, part + page_bytes - sizeof rest.seen));
  rest.seen = value_of(rest.view);
  lay_traps({loop->behind});
  return true;
}

bool take_rest_trap(ucontext_t& machine) {
  const greg_t* const registers = machine.uc_mcontext.gregs;
  const auto address = static_cast<std::uintptr_t>(registers[REG_RIP]) - 1;
  const auto is_here = [&](const CodeByte& one) { return one.address == address; };
  if (std::none_of(rest.trapped, rest.trapped + rest.count, is_here)) return false;
  take_traps_away();
  machine.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address);
  const program::Wait& loop = *rest.loop;
  const auto& [one, two, three, four] = loop.exits;
  if (rest.turn == Turn::loads && address == loop.behind) {
    rest.turn = Turn::has_loaded;
    lay_traps({loop.load, one, two, three, four});
  } else if (address == loop.load) {
    if (rest.turn == Turn::has_loaded) {
      std::uint64_t signals = 0;
      std::memcpy(&signals, &machine.uc_sigmask, sizeof signals);
      rest_until_change(signals);
      rest.has_rested = true;
    }
    const auto* const code = reinterpret_cast<const std::uint8_t*>(loop.load);
    const program::MemoryAccesses accesses = program::accesses_of(program::decode(code, loop.behind - loop.load));
    const std::uintptr_t variable = program::address_of(accesses.all[0].operand, registers, loop.behind);
    watch_if_open(variable);
    if (!come_to_load(loop.load, variable)) rest.turn = Turn::none;
  } else {
    rest.turn = Turn::none;
    // A thread that had to wait here may have to again.
    if (std::exchange(rest.has_rested, false)) lay_traps({loop.load});
  }
  return true;
}

void wake_resting_thread() {
  if (is_resting.exchange(0) == 1) syscall(SYS_futex, &is_resting, FUTEX_WAKE_PRIVATE, 1);
}

void note_pause() {
  if (is_pause_of_note()) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), program::preemption_signal());
}

void notice_waits() {
  if (!takes_faults(self.layout)) return;
  program::take_signal(program::preemption_signal(), on_check, SA_RESTART);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = program::preemption_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer;
  // A system without such timers notices no waits, and does all else.
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return;
  constexpr long interval_ns = 2'000'000;
  const itimerspec every{{0, interval_ns}, {0, interval_ns}};
  timer_settime(timer, 0, &every, nullptr);
}

}  // namespace sdsm::dsm
