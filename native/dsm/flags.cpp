#include "native/dsm/flags.hpp"

#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "native/dsm/coherence.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/recalls.hpp"
#include "native/dsm/stacks.hpp"
#include "native/program/functions.hpp"
#include "native/program/signals.hpp"
#include "native/program/waiting_code.hpp"

namespace sdsm::dsm {
namespace {

/// Where a thread was, and a hash of what it had in registers and at the top of its stack.
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
  constexpr std::uintptr_t looked_at = 512;
  const program::AddressRange stack = stack_of(index_of(self.process));
  const auto top = static_cast<std::uintptr_t>(registers[REG_RSP]) & ~std::uintptr_t{7};
  if (stack.holds(top - below) && stack.end - top >= looked_at) {
    const auto* words = reinterpret_cast<const std::uint64_t*>(top - below);
    for (std::size_t i = 0; i < looked_at / sizeof *words; ++i) add(words[i]);
  }
  return {static_cast<std::uint64_t>(registers[REG_RIP]), hash};
}

/// Nothing has changed since some other look, and no event of the protocol has come between.
bool waits(const greg_t* registers) REQUIRES(application) {
  if (samples.events != events_so_far()) samples = {.ring = {}, .next = 0, .events = events_so_far()};
  const Sample now = sample_of(registers);
  for (const Sample& before : samples.ring) {
    if (before.place == now.place && before.contents == now.contents) return true;
  }
  samples.ring[samples.next++ % Samples::most] = now;
  return false;
}

void end_wait() REQUIRES(application) {
  samples.events = ~std::uint64_t{0};
  const bool was_in_it = are_all_in_flag_mode();
  change_flag_mode(FlagEvent::wait);
  if (are_all_in_flag_mode() && (!was_in_it || look_at_stacks_anew())) ++asked.waits;
}

constexpr std::uint8_t trap = 0xcc;  // int3
struct WaitingPlace {
  std::uintptr_t address = 0;
  std::uint8_t code = 0;  ///< the byte that the trap replaces
};
/// Written before the program runs.
constinit program::GrowingArray<WaitingPlace> places;

void write_code(std::uintptr_t address, std::uint8_t byte) {
  const std::uintptr_t page = program::page_down(address);
  program::set_protection(page, page + program::page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC);
  *reinterpret_cast<volatile std::uint8_t*>(address) = byte;
  program::set_protection(page, page + program::page_bytes, PROT_READ | PROT_EXEC);
}

int look_at(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
  if (!program::is_of_program(*object)) return 0;
  static constinit program::GrowingArray<std::uintptr_t> found;
  found.clear();
  program::for_each_function(
      *object,
      [](const program::FunctionExtent& extent, void*) {
        const auto bytes = static_cast<std::uint32_t>(extent.code.end - extent.code.begin);
        program::find_waits(reinterpret_cast<const std::uint8_t*>(extent.code.begin), bytes, found);
      },
      nullptr);
  for (const std::uintptr_t address : found) {
    places.push_back({address, *reinterpret_cast<const std::uint8_t*>(address)});
    write_code(address, trap);
  }
  return 0;
}

void on_look(int /*signal*/, siginfo_t* info, void* context) {
  if (!application.is_taken() || program::HeldSignals::are_held()) return;
  application.check();
  const program::BlockedSignals blocked;
  const int saved_errno = errno;
  if (info->si_code == SI_TIMER) {
    send_stacks_home();
    if (waits(static_cast<ucontext_t*>(context)->uc_mcontext.gregs)) end_wait();
  }
  errno = saved_errno;
}

}  // namespace

void watch_waiting_code() {
  dl_iterate_phdr(look_at, nullptr);
}

bool take_waiting_trap(std::uintptr_t address) {
  const WaitingPlace* const place =
      std::find_if(places.begin(), places.end(), [&](const WaitingPlace& one) { return one.address == address; });
  if (place == places.end()) return false;
  write_code(address, place->code);
  return true;
}

void notice_waits() {
  if (!takes_faults(self.layout)) return;
  program::take_signal(program::preemption_signal(), on_look, SA_RESTART);
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
