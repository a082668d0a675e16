#include "native/tracer/execution/touch.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <csignal>
#include <cstring>

#include <cerrno>

#include "native/guest/runtime/callers.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/signals.hpp"
#include "native/tracer/execution/stacks.hpp"
#include "native/tracer/execution/words.hpp"
#include "native/tracer/record/diff.hpp"
#include "native/tracer/record/ending.hpp"
#include "native/tracer/record/objects.hpp"
#include "native/tracer/record/options.hpp"
#include "native/tracer/record/recorder.hpp"

namespace sdsm::tracer {
using namespace program;
namespace {

/// Twins come from here and go back; a page of memory each.
class TwinPool {
 public:
  std::byte* take() {
    if (free_.is_empty()) refill();
    std::byte* twin = free_.back();
    free_.pop_back();
    return twin;
  }
  void give_back(std::byte* twin) { free_.push_back(twin); }

 private:
  void refill() {
    constexpr std::size_t batch = 256;
    auto* memory = static_cast<std::byte*>(reserve(batch * page_bytes));
    for (std::size_t i = batch; i > 0; --i) free_.push_back(memory + (i - 1) * page_bytes);
  }
  GrowingArray<std::byte*> free_;
};

constexpr std::uint32_t most_changes = 512;
constexpr std::uint32_t most_maps = 32;
constexpr std::uint32_t most_touches = 1024;

/// State of the thread that runs.
struct Tracking {
  bool is_on = false;
  TwinPool twins;
  // Pages that were opened, in order, and those of them that were written, in order of the writes. A page that was
  // retired in the meantime is untouched again.
  GrowingArray<std::uintptr_t> opened;
  GrowingArray<std::uintptr_t> written;
  /// Pages read while callers are looked up, which the program has not touched yet.
  bool is_looking_up = false;
  GrowingArray<std::uintptr_t> opened_to_look_up;
  /// Mappings that opened pages may have cost since all were protected.
  std::size_t fragments = 0;
  // Room for what is sent: the stack is the program's.
  ChangeRecord changes[most_changes];
  ChangeMapRecord maps[most_maps];
  TouchRecord touches[most_touches];
  std::uint64_t sites[most_touches] = {};
};
constinit Tracking tracking GUARDED_BY(turn);

/// How many fragments there may be. A process may have 65530 mappings by default (vm.max_map_count).
constexpr std::size_t most_fragments = 40'000;

/// Pages with another protection than their neighbours are mappings of their own, up to two more for each.
bool is_like_neighbour(const Range& range, std::uintptr_t page, PageState state) {
  const bool has_before = page > range.begin && range.page_of(page - page_bytes).state == state;
  const bool has_after = page + page_bytes < range.end && range.page_of(page + page_bytes).state == state;
  return has_before || has_after;
}

/// Before there are more mappings than the kernel allows, all pages are protected again, which makes one of many.
void limit_fragments(VirtualThread& thread, const Range& range, std::uintptr_t page, PageState state) REQUIRES(turn) {
  if (is_like_neighbour(range, page, state)) return;
  tracking.fragments += 2;
  if (tracking.fragments < most_fragments) return;
  close_pages(thread, Closing::in_between);
}

bool is_open(std::uintptr_t page) REQUIRES(turn) {
  const Range* range = find_range(page);
  return range != nullptr && range->page_of(page).state != PageState::untouched;
}

/// The first touch of a page, or the first write to a page that was read. `seen` knows its region and page not yet.
void touch(VirtualThread& thread, Range& range, std::uintptr_t page, const Touch& seen) REQUIRES(turn) {
  const bool is_write = seen.is_write;
  PageInfo& info = range.page_of(page);
  const PageState next = is_write ? PageState::written : PageState::read;
  limit_fragments(thread, range, page, next);
  protect(page, page + page_bytes, is_write ? PROT_READ | PROT_WRITE : PROT_READ);
  if (info.state == PageState::untouched) tracking.opened.push_back(page);
  if (is_write) {
    info.twin = tracking.twins.take();
    std::memcpy(info.twin, reinterpret_cast<const void*>(page), page_bytes);
    tracking.written.push_back(page);
  }
  info.state = next;
  Touch entry = seen;
  entry.region = info.region;
  entry.page = static_cast<std::uint32_t>(page_index(info.region, page));
  thread.touches.push_back(entry);
}

/// While callers are looked up, opens a page that is shut. Unwinding reads the stacks' pages, and the program's
/// pointers to what handles exceptions.
bool open_to_look_up(std::uintptr_t page) REQUIRES(turn) {
  const Range* const range = tracking.is_looking_up ? find_range(page) : nullptr;
  if (range == nullptr) return false;
  const PageInfo& info = range->page_of(page);
  const bool is_shut = info.is_watched || (tracking.is_on && info.state == PageState::untouched);
  if (!is_shut) return false;
  tracking.opened_to_look_up.push_back(page);
  protect(page, page + page_bytes, PROT_READ);
  return true;
}

/// Faults that no touch explains may come from an access that another state of the page allowed in the meantime; a few
/// in a row are tried again, then it is an error of the tracer or a fault of the program's.
constexpr std::uint8_t most_faults_again = 8;

void on_fault(int signal, siginfo_t* info, void* context) {
  const std::uint64_t entered = __rdtsc();
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  enter();
  const auto* machine = static_cast<const ucontext_t*>(context);
  constexpr greg_t write_bit = 2;  // of the page fault's error code
  const bool is_write = (machine->uc_mcontext.gregs[REG_ERR] & write_bit) != 0;
  if (!is_write && open_to_look_up(page_down(address))) return;
  if (take_watched_fault(*info, *static_cast<ucontext_t*>(context))) return;
  const auto stack_pointer = static_cast<std::uintptr_t>(machine->uc_mcontext.gregs[REG_RSP]);
  Range* range = tracking.is_on ? find_range(address) : nullptr;
  if (range == nullptr || range->page_of(page_down(address)).region == no_region) {
    if (info->si_code == SEGV_ACCERR) end_if_full(running_thread().number, address, stack_pointer);
    return pass_fault_to_program(signal, info, context);
  }
  const int saved_errno = errno;
  VirtualThread& thread = running_thread();
  const std::uintptr_t page = page_down(address);
  PageInfo& page_info = range->page_of(page);
  const bool explains = page_info.state == PageState::untouched || (is_write && page_info.state == PageState::read);
  if (!explains) {
    if (++page_info.faults_again > most_faults_again) return pass_fault_to_program(signal, info, context);
    return;
  }
  page_info.faults_again = 0;
  const std::uint64_t at_ns = thread.stopwatch.enter_touch(entered);
  auto instruction = static_cast<std::uintptr_t>(machine->uc_mcontext.gregs[REG_RIP]);
  if (options.has_sites) instruction = site_in_program(instruction);
  touch(thread, *range, page, {.at_ns = at_ns, .instruction = instruction, .is_write = is_write});
  thread.stopwatch.leave_touch(entered, at_ns);
  errno = saved_errno;
}

/// Collects the changes of one closing and sends them in batches.
class ChangeSender {
 public:
  ChangeSender(const VirtualThread& thread, Closing closing, bool as_maps)
      : thread_(thread), closing_(closing), as_maps_(as_maps) {}

  void add(std::uint32_t region, std::uint32_t page, const ChangeMap& map) REQUIRES(turn) {
    if (as_maps_) {
      ChangeMapRecord& record = tracking.maps[count_++];
      record.region = region - 1;
      record.page = page;
      std::memcpy(record.changed, map.bits, sizeof record.changed);
      if (count_ == most_maps) send(false);
    } else {
      tracking.changes[count_++] = {region - 1, page, count_changes(map), find_lines(map.bits)};
      if (count_ == most_changes) send(false);
    }
  }

  void send(bool is_last) REQUIRES(turn) {
    const ChangesHead head{thread_.number, count_, closing_, is_last ? 1U : 0U};
    if (as_maps_) {
      recorder::put(RecordKind::change_maps, &head, sizeof head, tracking.maps, count_ * sizeof tracking.maps[0]);
    } else {
      recorder::put(RecordKind::changes, &head, sizeof head, tracking.changes, count_ * sizeof tracking.changes[0]);
    }
    count_ = 0;
  }

 private:
  const VirtualThread& thread_;
  Closing closing_;
  bool as_maps_;
  std::uint32_t count_ = 0;
};

void send_change(ChangeSender& sender, PageInfo& info, std::uintptr_t page) REQUIRES(turn) {
  ChangeMap map;
  find_changes(reinterpret_cast<const void*>(page), info.twin, map);
  sender.add(info.region, static_cast<std::uint32_t>(page_index(info.region, page)), map);
  tracking.twins.give_back(info.twin);
  info.twin = nullptr;
}

/// Protects every opened page, one call for each run of adjacent ones.
void protect_opened() REQUIRES(turn) {
  for (const std::uintptr_t page : tracking.opened) {
    if (!is_open(page)) continue;  // part of a run that is done, or retired
    std::uintptr_t begin = page;
    std::uintptr_t end = page + page_bytes;
    while (is_open(begin - page_bytes)) begin -= page_bytes;
    while (is_open(end)) end += page_bytes;
    Range* range = find_range(page);
    for (std::uintptr_t at = begin; at < end; at += page_bytes) range->page_of(at).state = PageState::untouched;
    protect(begin, end, PROT_NONE);
  }
  tracking.opened.clear();
  tracking.fragments = 0;
}

/// The touches of pages that are about to go out under their block's own name. The thread's other pages stay as they
/// are: what changes there and changes back is no change.
void close_retired(VirtualThread& thread, const AddressRange& retired) REQUIRES(turn) {
  Range* const range = find_range(retired.begin);
  bool has_open = false;
  for (std::uintptr_t page = retired.begin; page < retired.end; page += page_bytes) {
    has_open |= range->page_of(page).state != PageState::untouched;
  }
  if (!has_open) return;
  thread.is_split = true;
  ChangeSender sender(thread, Closing::in_between, true);
  for (std::uintptr_t page = retired.begin; page < retired.end; page += page_bytes) {
    PageInfo& info = range->page_of(page);
    if (info.twin != nullptr) send_change(sender, info, page);
    info.state = PageState::untouched;
  }
  sender.send(true);
  protect(retired.begin, retired.end, PROT_NONE);
}

}  // namespace

void take_faults() {
  take_signal(SIGSEGV, on_fault);
}

void start_tracking() {
  protect_all();
  tracking.is_on = true;
}

void stop_tracking() {
  if (!tracking.is_on) return;
  tracking.is_on = false;
  unprotect_all();
  open_all_locals();
}

std::size_t look_up_callers(std::uintptr_t* found, std::size_t most) {
  tracking.is_looking_up = true;
  const std::size_t count = callers_in_program(found, most);
  tracking.is_looking_up = false;
  for (const std::uintptr_t page : tracking.opened_to_look_up) protect(page, page + page_bytes, PROT_NONE);
  tracking.opened_to_look_up.clear();
  return count;
}

std::uintptr_t site_in_program(std::uintptr_t instruction) {
  if (program_image.is_own_code(instruction)) return instruction;
  std::uintptr_t returns_to = 0;
  const AdmittedFaults admitted;
  return look_up_callers(&returns_to, 1) == 1 ? returns_to - 1 : instruction;
}

void close_pages(VirtualThread& thread, Closing closing) {
  if (!tracking.is_on) return;
  if (closing == Closing::in_between) {
    if (tracking.opened.is_empty()) return;
    thread.is_split = true;
  }
  ChangeSender sender(thread, closing, thread.is_split);
  for (const std::uintptr_t page : tracking.written) {
    PageInfo& info = find_range(page)->page_of(page);
    if (info.twin != nullptr) send_change(sender, info, page);
  }
  tracking.written.clear();
  sender.send(true);
  protect_opened();
  if (closing == Closing::at_synchronisation) thread.is_split = false;
}

void synchronise(VirtualThread& self, const Event& event) {
  end_interval(self, event);
  close_pages(self, Closing::at_synchronisation);
}

void send_touches(VirtualThread& thread) {
  TouchRecord* const records = tracking.touches;
  std::uint64_t* const sites = tracking.sites;
  std::uint32_t count = 0;
  const auto send = [&]() REQUIRES(turn) {
    const TouchesHead head{thread.number, count};
    if (count > 0) recorder::put(RecordKind::touches, &head, sizeof head, records, count * sizeof records[0]);
    if (count > 0 && options.has_sites) {
      tell_objects_of(sites, count);
      recorder::put(RecordKind::sites, &head, sizeof head, sites, count * sizeof sites[0]);
    }
    count = 0;
  };
  for (const Touch& touch : thread.touches) {
    // About half of what reading the clock twice takes lies before the interval's first instruction.
    const std::uint64_t lead_ns = clock_rates.read_ns / 2;
    const std::uint64_t at_ns = touch.at_ns > lead_ns ? touch.at_ns - lead_ns : 0;
    sites[count] = touch.instruction;
    records[count++] = {touch.region - 1, touch.page, at_ns << 1 | (touch.is_write ? 1U : 0U)};
    if (count == most_touches) send();
  }
  send();
  thread.touches.clear();
}

}  // namespace sdsm::tracer

namespace sdsm::program {

using namespace tracer;

void retire_pages(std::uintptr_t begin, std::uint64_t pages) {
  enter();
  forget_watched(begin, pages);
  if (!tracking.is_on) return;
  close_retired(running_thread(), {begin, begin + pages * page_bytes});
}

namespace {

/// One that neither OpenMP nor pthread_create has made: it may print, of memory that is open.
bool is_strange_thread() {
  return !turn.is_taken() && watched.running.load(std::memory_order_relaxed) != nullptr;
}

}  // namespace

void shut_after_use() {
  if (is_strange_thread() || !watches_words.load(std::memory_order_relaxed)) return;
  enter();
  shut_watched();
}

std::uint64_t times_shut_by_touches() {
  return 0;
}

void touch_for_kernel(const void* buffer, std::uint64_t bytes, KernelUse use) {
  if (is_strange_thread()) return;
  enter();
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
  open_watched(begin, bytes, use == KernelUse::writes);
  if (!tracking.is_on) return;
  const Range* const range = find_range(begin);
  if (range == nullptr) return;
  const std::uintptr_t end = bytes < range->end - begin ? begin + bytes : range->end;
  for (std::uintptr_t at = begin; at < end; at = page_down(at) + page_bytes) {
    if (range->page_of(page_down(at)).region == no_region) return;  // the buffer is said to be larger than it is
    auto* const byte = reinterpret_cast<volatile char*>(at);
    const char value = *byte;
    if (use == KernelUse::writes) *byte = value;
  }
}

}  // namespace sdsm::program
