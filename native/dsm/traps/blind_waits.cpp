#include "native/dsm/traps/blind_waits.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "native/dsm/memory/memory.hpp"
#include "native/dsm/memory/node.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/requests/answering.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/code/machine_code.hpp"

namespace sdsm::dsm {
namespace {

// In ticks: of 2 ms of the thread's processor time, or pauses. Following 512 instructions takes about 1 ms, and the
// time between doubles; a question takes about 0.1 ms.
constexpr std::uint64_t first_poll = 50, least_between_questions = 5;
constexpr std::uint64_t ticks_each_question = 8;  ///< as a part of all ticks so far
constexpr unsigned steps_each_poll = 512;
/// From the run-time's own code, which begins to follow after a pause, to the program's.
constexpr unsigned most_steps_outside = 512;

using program::Poll;

/// A poll in a question to other nodes. A node that stored there itself has a twin.
struct SeenValue {
  std::uint64_t address = 0;
  std::uint64_t value = 0;
  std::uint64_t twin = 0;
  std::uint32_t bytes = 0;
  std::uint32_t home = 0;  ///< node
};
constexpr std::size_t most_polls = 64;
static_assert(most_polls * sizeof(SeenValue) <= most_payload);

/// Since the thread's last event of the protocol.
struct Turning {
  std::uint64_t events = 0;
  std::uint64_t ticks = 0;
  std::uint64_t next_poll = first_poll;
  std::uint64_t next_question = 0;
  unsigned steps = steps_each_poll;  ///< that are left of this search
  unsigned steps_outside = 0;        ///< of the program's code, that are left
  bool is_followed = false;
  std::array<Poll, most_polls> polls{};
  std::size_t count = 0;
};
constinit Turning turning GUARDED_BY(application);
/// Some instruction has been: the program may have saved its flags then, and restore them later.
constinit bool has_followed GUARDED_BY(application) = false;

std::uint64_t events_now() REQUIRES(application) {
  return asked.traps + asked.atomics + asked.barriers + asked.locks + questions_so_far();
}

bool is_alone() REQUIRES(application) {
  if (turning.events != events_now()) turning = {.events = events_now()};
  return the_protocol().sees_all_stores();
}

std::optional<Poll> poll_of(const greg_t* registers) {
  const auto at = static_cast<std::uintptr_t>(registers[REG_RIP]);
  if (!program::program_image.is_own_code(at + program::longest_instruction)) return std::nullopt;
  const auto* const code = reinterpret_cast<const std::uint8_t*>(at);
  return *code == program::trap_code ? std::nullopt : program::poll_of(code, registers);
}

void note_poll(const greg_t* registers) REQUIRES(application) {
  const std::optional<Poll> poll = poll_of(registers);
  if (!poll || turning.count == most_polls || find_range(poll->address) == nullptr) return;
  if (page_down(poll->address) != page_down(poll->address + poll->bytes - 1)) return;
  const auto* const end = turning.polls.begin() + turning.count;
  const auto is_same = [&](const Poll& one) { return one.address == poll->address && one.bytes >= poll->bytes; };
  if (std::none_of(turning.polls.cbegin(), end, is_same)) turning.polls[turning.count++] = *poll;
}

void stop_following(greg_t* registers) REQUIRES(application) {
  registers[REG_EFL] &= ~program::single_step;
  turning.is_followed = false;
}

std::uint64_t value_at(const std::byte* place, std::uint32_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, place, bytes);
  return value;
}

/// Returns how many there are.
std::size_t collect(std::array<SeenValue, most_polls>& seen) REQUIRES(application) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < turning.count; ++i) {
    const auto [address, bytes] = turning.polls[i];
    Place place;
    if (!find_place(address, place)) continue;
    const Range& range = *find_range(address);
    const NodeGuard guard;
    const std::uint64_t value = value_at(range.view_of(address), bytes);
    const bool has_twin = place.owner == Owner::remote && find_twinned(address) != nullptr;
    const std::uint64_t twin = has_twin ? value_at(range.twin_of(address), bytes) : value;
    seen[count++] = {address, value, twin, bytes, index_of(self.layout.node_of(place.home))};
  }
  return count;
}

bool have_others_changed() REQUIRES(application) {
  std::array<SeenValue, most_polls> seen;
  const std::size_t count = collect(seen);
  const Head question{.kind = WireKind::seen_values, .bytes = static_cast<std::uint32_t>(count * sizeof seen[0])};
  bool is_changed = false;
  for (std::uint32_t i = 0; count > 0 && i < processes() && !is_changed; i += self.layout.threads_per_node) {
    if (!is_on_own_node(ProcessId{i})) is_changed = ask(ProcessId{i}, question, seen.data()).value != 0;
  }
  turning.events = events_now();
  return is_changed;
}

bool has_changed(const SeenValue& seen) REQUIRES(handling, node().mutex) {
  const Range* const range = find_range(seen.address);
  if (range == nullptr || seen.bytes > sizeof seen.value || seen.bytes > range->end - seen.address) return false;
  const std::uint64_t now = value_at(range->view_of(seen.address), seen.bytes);
  if (now == seen.value) return false;
  if (NodeId{seen.home} == own_node()) return now != seen.twin;
  const Place* const twinned = find_twinned(seen.address);
  return twinned != nullptr && twinned->owner == Owner::remote &&
         now != value_at(range->twin_of(seen.address), seen.bytes);
}

}  // namespace

bool waits_blindly(ucontext_t& machine, Interrupted how) {
  if (is_alone() || turning.is_followed) return false;
  greg_t* const registers = machine.uc_mcontext.gregs;
  if (how == Interrupted::by_timer) ++turning.ticks;
  const bool is_inside = program::program_image.is_own_code(static_cast<std::uintptr_t>(registers[REG_RIP]));
  if (turning.ticks >= turning.next_poll && (is_inside || how == Interrupted::after_pause)) {
    turning.is_followed = has_followed = true;
    turning.steps_outside = is_inside ? 0 : most_steps_outside;
    registers[REG_EFL] |= program::single_step;
    if (is_inside) note_poll(registers);
    return false;
  }
  if (turning.count == 0 || turning.ticks < turning.next_question) return false;
  turning.next_question = turning.ticks + std::max(least_between_questions, turning.ticks / ticks_each_question);
  return have_others_changed();
}

bool is_pause_of_note() {
  if (is_alone()) return false;
  ++turning.ticks;
  return turning.ticks >= turning.next_poll || (turning.count > 0 && turning.ticks >= turning.next_question);
}

bool take_followed_step(ucontext_t& machine) {
  greg_t* const registers = machine.uc_mcontext.gregs;
  if (!turning.is_followed) {
    registers[REG_EFL] &= ~program::single_step;
    return has_followed;
  }
  if (turning.events != events_now()) {
    stop_following(registers);
    return true;
  }
  if (!program::program_image.is_own_code(static_cast<std::uintptr_t>(registers[REG_RIP]))) {
    // Libraries may block the signal that a step is. What is left is done at the next tick that finds the program.
    if (turning.steps_outside == 0 || --turning.steps_outside == 0) stop_following(registers);
    return true;
  }
  turning.steps_outside = 0;
  note_poll(registers);
  if (--turning.steps > 0) return true;
  turning.steps = steps_each_poll;
  turning.next_poll = 2 * turning.ticks;
  stop_following(registers);
  return true;
}

void tell_of_changes(ProcessId from, const Head& head, const std::byte* payload) {
  bool is_changed = false;
  // Where the node is in use, the asker asks again.
  if (node().mutex.try_lock()) {
    for (std::size_t i = 0; i < head.bytes / sizeof(SeenValue); ++i) {
      SeenValue seen;
      std::memcpy(&seen, payload + i * sizeof seen, sizeof seen);
      is_changed = is_changed || has_changed(seen);
    }
    node().mutex.unlock();
  }
  answer_value(from, is_changed ? 1 : 0);
}

}  // namespace sdsm::dsm
