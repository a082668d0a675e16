#include "native/tracer/execution/wait_loops.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

#include "native/guest/code/atomic_operation.hpp"
#include "native/guest/code/locked_instructions.hpp"
#include "native/guest/code/machine_code.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"
#include "native/tracer/execution/schedule_log.hpp"
#include "native/tracer/execution/words.hpp"
#include "native/tracer/record/ending.hpp"
#include "native/tracer/record/options.hpp"

namespace sdsm::tracer {
using namespace program;
namespace {

// Steps through a loop's iterations; each costs 1 to 2 us. Unoptimised iterations may take hundreds.
constexpr unsigned first_steps = 512, most_steps = 8192;
constexpr unsigned most_ignored = 1'000'000;          // some seconds
constexpr unsigned most_ignored_polls = 100'000'000;  // which code that works may do again and again, too
constexpr unsigned turns_without_change = 2;          // that make a loop one that waits
// Turns of other threads, 1 ms each, before a loop that may count its iterations does so as fast as it can.
constexpr unsigned most_rounds = 1000;

// Computing between two polls of a loop that waits. One that computes for longer between them does its work.
constexpr std::uint64_t longest_turn_ns = 10'000;
// The limit where one instruction in so many is a `pause`: a back-off takes its time on purpose.
constexpr std::uint64_t longest_pausing_turn_ns = 2'000'000;
constexpr unsigned steps_a_pause = 8;
// A thread that does not wait loses others' turns and 1 ms of single steps by it: less and less often.
constexpr std::uint64_t part_of_interval = 4, least_between_ns = 4'000'000;

/// An instruction of a loop that waits.
struct Place {
  std::uintptr_t address = 0;
  std::uint8_t code = 0;  ///< the byte that the trap replaces
  bool is_set = false;
  /// Only this load shows that the loop waits: it loads the same variable again and again.
  bool is_poll = false;
  bool has_pauses = false;  ///< and that its turns may take longer
};

struct WaitLoops {
  Place places[64];
  std::size_t count = 0;  ///< of `places`
};
constinit WaitLoops loops GUARDED_BY(turn);
/// The value in memory; nothing if there is no such memory, or it is shut.
std::optional<std::uint64_t> value_at(const Poll& poll) {
  // The kernel reads it, as a program's mistake must stay its own.
  std::uint64_t value = 0;
  const iovec to{&value, poll.bytes};
  const iovec from{reinterpret_cast<void*>(poll.address), poll.bytes};
  const long got = syscall(SYS_process_vm_readv, getpid(), &to, 1UL, &from, 1UL, 0UL);
  return got == static_cast<long>(poll.bytes) ? std::optional(value) : std::nullopt;
}

/// The variables that a single-stepped thread loads again and again. Perhaps it waits for one of them, in a way that
/// neither its code nor its registers show. It does if others change that one.
class SeenPolls {
 public:
  void clear() { count_ = 0; }
  /// Adds the variable that the next instruction of `self` loads, if it is not on its own stack or thread-local.
  void add(const VirtualThread& self, const ucontext_t& machine) REQUIRES(turn);
  /// Whether a variable was loaded more than once, with the same value.
  bool has_repeated() const;
  /// The instruction of such a load, if its variable has another value now; else 0.
  std::uintptr_t find_changed() const;

 private:
  struct Seen {
    std::uintptr_t instruction = 0;
    Poll poll;
    std::uint64_t value = 0;
    unsigned times = 0;  ///< with this value
  };
  static constexpr std::size_t most = 64;
  Seen seen_[most];
  std::size_t count_ = 0;
};

void SeenPolls::add(const VirtualThread& self, const ucontext_t& machine) {
  const greg_t* const registers = machine.uc_mcontext.gregs;
  const auto at = static_cast<std::uintptr_t>(registers[REG_RIP]);
  const std::optional<Poll> poll = poll_of(reinterpret_cast<const std::uint8_t*>(at), registers);
  if (!poll || self.stack.holds(poll->address) || self.locals.holds(poll->address)) return;
  Seen* const end = seen_ + count_;
  Seen* const known = std::find_if(
      seen_, end, [&](const Seen& one) { return one.instruction == at && one.poll.address == poll->address; });
  if (known == end && count_ == most) return;
  const std::optional<std::uint64_t> value = value_at(*poll);
  if (!value) return;
  if (known == end) {
    seen_[count_++] = {at, *poll, *value, 1};
  } else {
    known->times = known->value == *value ? known->times + 1 : 1;
    known->value = *value;
  }
}

bool SeenPolls::has_repeated() const {
  return std::any_of(seen_, seen_ + count_, [](const Seen& one) { return one.times > 1; });
}

std::uintptr_t SeenPolls::find_changed() const {
  const Seen* const changed = std::find_if(seen_, seen_ + count_, [](const Seen& one) {
    return one.times > 1 && value_at(one.poll).value_or(one.value) != one.value;
  });
  return changed == seen_ + count_ ? 0 : changed->instruction;
}

/// The polls of the thread that is single-stepped.
constinit SeenPolls seen_polls GUARDED_BY(turn);

class Digest {
 public:
  void add(const void* bytes, std::size_t count) {
    const auto* at = static_cast<const unsigned char*>(bytes);
    for (std::size_t i = 0; i + sizeof(std::uint64_t) <= count; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, at + i, sizeof word);
      value_ = (value_ ^ word) * 0x9e3779b97f4a7c15U;
      value_ ^= value_ >> 29;
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

/// All that a loop that computes would change: registers, and the end of the stack, where unoptimised code has its
/// variables.
std::uint64_t state_of(const VirtualThread& self, const ucontext_t& machine) {
  const auto& context = machine.uc_mcontext;
  Digest digest;
  static_assert(REG_R8 == 0 && REG_RSP == 15, "the first 16 are the general registers");
  digest.add(context.gregs, 16 * sizeof context.gregs[0]);
  const greg_t flags = context.gregs[REG_EFL] & static_cast<greg_t>(status_flags);
  digest.add(&flags, sizeof flags);
  if (context.fpregs != nullptr) {
    digest.add(context.fpregs->_st, sizeof context.fpregs->_st);
    digest.add(context.fpregs->_xmm, sizeof context.fpregs->_xmm);
  }
  constexpr std::uintptr_t red_zone = 128;
  constexpr std::uintptr_t most = 512;
  const std::uintptr_t begin = static_cast<std::uintptr_t>(context.gregs[REG_RSP]) - red_zone;
  if (!self.stack.holds(begin)) return digest.value();
  const std::uintptr_t left = self.stack.end - begin;
  digest.add(reinterpret_cast<const void*>(begin), left < most ? left : most);
  return digest.value();
}

Place* find_place(std::uintptr_t address) REQUIRES(turn) {
  for (std::size_t i = 0; i < loops.count; ++i) {
    if (loops.places[i].address == address) return &loops.places[i];
  }
  return nullptr;
}

void write_code(std::uintptr_t address, std::uint8_t byte) {
  *reinterpret_cast<volatile std::uint8_t*>(address) = byte;
}

void set(Place& place, bool is_set) {
  place.is_set = is_set;
  write_code(place.address, is_set ? program::trap_code : place.code);
}

/// Null if there are too many.
Place* learn(std::uintptr_t address, bool is_poll) REQUIRES(turn) {
  Place* place = find_place(address);
  if (place == nullptr) {
    if (loops.count == sizeof loops.places / sizeof loops.places[0]) return nullptr;
    const std::uintptr_t page = address & ~(page_bytes - 1);
    set_protection(page, page + page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC);  // for good
    place = &loops.places[loops.count++];
    *place = {.address = address, .code = *reinterpret_cast<const std::uint8_t*>(address)};
  }
  place->is_poll = is_poll;
  set(*place, true);
  return place;
}

void log_loop(const VirtualThread& self, const Place& place) REQUIRES(turn) {
  ScheduleEntry entry;
  entry.kind = ScheduleEntry::Kind::wait_loop;
  entry.self = static_cast<std::uint16_t>(self.number);
  const std::uint16_t poll = place.has_pauses ? wait_loop_poll_with_pauses : wait_loop_poll;
  entry.chosen = !place.is_set ? wait_loop_unlearnt : place.is_poll ? poll : wait_loop_learnt;
  entry.value = program_image.file_address(place.address);
  schedule_log::append(entry);
}

/// Does the instruction under the trap; in between there is no trap.
void pass(VirtualThread& self, const Place& place, ucontext_t& machine) REQUIRES(turn) {
  machine.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(place.address);
  if (!place.is_set) return;
  write_code(place.address, place.code);
  machine.uc_mcontext.gregs[REG_EFL] |= program::single_step;
  self.steps = {.purpose = Steps::Purpose::passes_place,
                .interval = self.intervals,
                .own_ns = self.stopwatch.elapsed_ns(),
                .begin = place.address};
}

/// The thread has come by without a change since the last time.
void wait_at(VirtualThread& self, Place& place) REQUIRES(turn) {
  FlagWait& wait = self.flag_wait;
  self.stopwatch.rewind(wait.own_ns);
  const bool is_in_vain = place.is_poll && wait.rounds > most_rounds;
  if (!is_replay() && (is_in_vain || !others_can_go_on(self))) {
    // What is left is a wait for a signal or for the time, one that times out by a count, or no wait at all.
    set(place, false);
    return log_loop(self, place);
  }
  if (!wait_for_flag(self, wait.rounds)) {
    if (++wait.ignored > most_ignored) end_diverged(self.number);
    return;
  }
  ++wait.rounds;
  wait.own_ns = self.stopwatch.elapsed_ns();
}

/// The poll of the place's instruction.
Poll poll_at(const Place& place, const ucontext_t& machine) {
  std::uint8_t code[longest_instruction];
  std::memcpy(code, reinterpret_cast<const void*>(place.address), sizeof code);
  code[0] = place.code;
  return poll_of(code, machine.uc_mcontext.gregs).value_or(Poll{});
}

/// Whether a thread waits that has polled the same value twice. Passes agree about the values, but not about the time
/// in between: the later ones follow the first.
bool is_wait_next(VirtualThread& self, const Place& place) REQUIRES(turn) {
  FlagWait& wait = self.flag_wait;
  if (!is_replay())
    return self.stopwatch.elapsed_ns() < wait.own_ns + (place.has_pauses ? longest_pausing_turn_ns : longest_turn_ns);
  const bool was_inside = set_inside(true);
  preempt(self);  // if the first pass did
  set_inside(was_inside);
  if (schedule_log::is_next(ScheduleEntry::Kind::wait, self.number)) return true;
  if (++wait.ignored > most_ignored_polls) end_diverged(self.number);
  return false;
}

void come_to_poll(VirtualThread& self, Place& place, const ucontext_t& machine) REQUIRES(turn) {
  FlagWait& wait = self.flag_wait;
  const Poll poll = poll_at(place, machine);
  const bool is_known =
      wait.place == place.address && wait.poll.address == poll.address && wait.interval == self.intervals;
  if (!is_known) {
    wait = {.place = place.address, .interval = self.intervals, .poll = poll, .own_ns = self.stopwatch.elapsed_ns()};
    return;
  }
  const bool is_waiting = wait.times >= turns_without_change && is_wait_next(self, place);
  if (!is_waiting) {
    wait.own_ns = self.stopwatch.elapsed_ns();
    return;
  }
  wait_at(self, place);
  self.stopwatch.pause();
  wait.interval = self.intervals;
}

/// The instruction of the place has been: its page is open.
void end_poll(VirtualThread& self) REQUIRES(turn) {
  FlagWait& wait = self.flag_wait;
  const std::uint64_t value = value_at(wait.poll).value_or(0);
  if (wait.value != value) wait.times = wait.rounds = 0;
  wait.value = value;
  ++wait.times;
}

void come_by(VirtualThread& self, Place& place, ucontext_t& machine) REQUIRES(turn) {
  self.stopwatch.pause();
  if (place.is_poll) {
    come_to_poll(self, place, machine);
    pass(self, place, machine);
    return self.stopwatch.resume();
  }
  const std::uint64_t state = state_of(self, machine);
  FlagWait& wait = self.flag_wait;
  // A thread that has done something in its turn, an atomic operation, say, does not wait.
  if (wait.place == place.address && wait.state == state && wait.interval == self.intervals) {
    wait_at(self, place);
    self.stopwatch.pause();
    wait.interval = self.intervals;
  } else {
    wait = {.place = place.address, .interval = self.intervals, .state = state, .own_ns = self.stopwatch.elapsed_ns()};
  }
  pass(self, place, machine);
  self.stopwatch.resume();
}

/// After the instruction of the place. In the tracked pass it may have touched a page, so that its time stays.
void end_pass(VirtualThread& self) REQUIRES(turn) {
  const Place* place = find_place(self.steps.begin);
  if (place->is_set) write_code(place->address, program::trap_code);
  if (place->is_poll && self.flag_wait.place == place->address) end_poll(self);
  if (!is_tracked() && self.intervals == self.steps.interval) self.stopwatch.rewind(self.steps.own_ns);
}

void begin_turn_here(VirtualThread& self, const ucontext_t& machine) REQUIRES(turn) {
  Steps& steps = self.steps;
  steps.begin = static_cast<std::uintptr_t>(machine.uc_mcontext.gregs[REG_RIP]);
  steps.stack = static_cast<std::uintptr_t>(machine.uc_mcontext.gregs[REG_RSP]);
  steps.state = state_of(self, machine);
  steps.turns = steps.others = 0;
}

/// To be called when the thread was single-stepped, and no two iterations were alike, but it loaded a variable twice.
/// Lets others go on; if they change the variable, the thread has waited for it.
void let_others_change(VirtualThread& self) REQUIRES(turn) {
  const SeenPolls seen = seen_polls;  // others may be followed meanwhile
  const bool pauses = self.steps.pauses * steps_a_pause >= self.steps.count;
  if (!seen.has_repeated() || !others_can_go_on(self)) return;
  const int saved_errno = errno;
  const bool was_inside = set_inside(true);
  self.stopwatch.pause();
  const std::uint64_t so_far = self.stopwatch.elapsed_ns();
  BlindWait& blind = self.blind_wait;
  blind = {.interval = self.intervals,
           .not_before_ns = so_far + so_far / part_of_interval + least_between_ns,
           .patience = std::min(2 * blind.patience, most_steps / first_steps)};
  // Lent, as in schedule_in_between(): the thread has turned for so long.
  self.clock_ns += so_far;
  preempt(self);
  self.clock_ns -= so_far;
  const std::uintptr_t changed = seen.find_changed();
  if (Place* const place = changed == 0 ? nullptr : learn(changed, true)) {
    place->has_pauses = pauses;
    log_loop(self, *place);
  }
  self.stopwatch.resume();
  set_inside(was_inside);
  errno = saved_errno;
}

bool is_pause(const std::uint8_t* code) {
  return code[0] == 0xf3 && code[1] == 0x90;
}

bool is_system_call(const std::uint8_t* code) {
  return code[0] == 0x0f && code[1] == 0x05;
}

/// Whether the thread has left what can be followed. A function that the loop calls in each turn is stepped through.
/// Not through its system calls: one may block signals, and a step that cannot be taken would end the program.
bool is_lost(const VirtualThread& self, const std::uint8_t* code, bool is_outside) REQUIRES(turn) {
  const Steps& steps = self.steps;
  constexpr unsigned most_outside = 4;  // times as many steps
  if (self.intervals != steps.interval) return true;
  return is_outside && (watched.is_inside || steps.outside > most_outside * steps.most || is_system_call(code));
}

void follow_step(VirtualThread& self, ucontext_t& machine) REQUIRES(turn) {
  Steps& steps = self.steps;
  const auto here = static_cast<std::uintptr_t>(machine.uc_mcontext.gregs[REG_RIP]);
  const bool is_outside = !program_image.program.code.holds(here);
  steps.outside += is_outside ? 1 : 0;
  const auto end = [&]() REQUIRES(turn) {
    machine.uc_mcontext.gregs[REG_EFL] &= ~program::single_step;
    steps.purpose = Steps::Purpose::none;
  };
  if (is_lost(self, reinterpret_cast<const std::uint8_t*>(here), is_outside)) return end();
  if (is_outside) return;
  if (static_cast<std::uintptr_t>(machine.uc_mcontext.gregs[REG_RSP]) > steps.stack) {
    // Back in a function that calls what ran before: a turn may come by there often, in the outermost one once.
    begin_turn_here(self, machine);
  } else if (here == steps.begin) {
    ++(state_of(self, machine) == steps.state ? steps.turns : steps.others);
  }
  seen_polls.add(self, machine);
  steps.pauses += is_pause(reinterpret_cast<const std::uint8_t*>(here)) ? 1 : 0;
  if (steps.turns < turns_without_change && ++steps.count < steps.most) return;
  end();
  self.stopwatch.rewind(steps.own_ns);
  // No thread comes twice without a change to an instruction of an inner loop, as of a long pause.
  if (steps.turns < turns_without_change || steps.others >= steps.turns) return let_others_change(self);
  self.flag_wait = {.place = here, .interval = self.intervals, .state = steps.state, .own_ns = steps.own_ns};
  Place* place = learn(here, false);
  if (place == nullptr) return;
  log_loop(self, *place);
  come_by(self, *place, machine);
}

}  // namespace

void find_wait_loop(VirtualThread& self, ucontext_t& machine, unsigned patience) {
  const auto here = static_cast<std::uintptr_t>(machine.uc_mcontext.gregs[REG_RIP]);
  if (*reinterpret_cast<const std::uint8_t*>(here) == program::trap_code) return;
  self.stopwatch.pause();
  const std::uint64_t so_far = self.stopwatch.elapsed_ns();
  BlindWait& blind = self.blind_wait;
  if (blind.interval != self.intervals) blind = {.interval = self.intervals};
  if (so_far < blind.not_before_ns) return self.stopwatch.resume();
  seen_polls.clear();
  self.steps = {.purpose = Steps::Purpose::seeks_loop,
                .interval = self.intervals,
                .own_ns = so_far,
                .most = std::min(first_steps * std::max(patience, blind.patience), most_steps)};
  begin_turn_here(self, machine);
  machine.uc_mcontext.gregs[REG_EFL] |= program::single_step;
}

void set_wait_loop(std::uintptr_t address, std::uint16_t how) {
  Place* place = learn(address + program_image.program.load_offset, how >= wait_loop_poll);
  if (place == nullptr) return;
  place->has_pauses = how == wait_loop_poll_with_pauses;
  if (how == wait_loop_unlearnt) set(*place, false);
}

}  // namespace sdsm::tracer

namespace sdsm::program {

using namespace tracer;

bool take_trap(const siginfo_t& info, ucontext_t& machine) {
  if (!turn.is_taken()) return false;
  VirtualThread& self = running_thread();
  greg_t& flags = machine.uc_mcontext.gregs[REG_EFL];
  Steps& steps = self.steps;
  if (info.si_code == TRAP_TRACE) {
    const bool was_watched = end_watched_step(machine);
    if (steps.purpose == Steps::Purpose::none) return was_watched;
    if (was_watched && steps.purpose == Steps::Purpose::seeks_loop) flags |= program::single_step;
    if (steps.purpose == Steps::Purpose::seeks_loop) {
      follow_step(self, machine);
    } else {
      flags &= ~program::single_step;
      end_pass(self);
      steps.purpose = Steps::Purpose::none;
    }
    return true;
  }
  Place* place = find_place(static_cast<std::uintptr_t>(machine.uc_mcontext.gregs[REG_RIP]) - 1);
  if (place == nullptr || !place->is_set) return false;
  machine.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(place->address);
  come_by(self, *place, machine);
  return true;
}

}  // namespace sdsm::program
