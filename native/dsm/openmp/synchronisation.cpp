#include "native/dsm/openmp/synchronisation.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "models/locks.hpp"
#include "native/dsm/books/lock_names.hpp"
#include "native/dsm/files/open_files.hpp"
#include "native/dsm/files/standard_output.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/openmp/measured_region.hpp"
#include "native/dsm/process/ending.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/dsm/wire/emulated_network.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

constinit program::Mutex holding;
std::set<LockId> held_locks GUARDED_BY(holding);

constinit bool runs_alone GUARDED_BY(application) = false;
KeptLocks kept_locks GUARDED_BY(application);

constinit std::uint32_t seen_generation GUARDED_BY(application) = 0;
/// The clock calls in the last answer of the team's barrier.
constinit ClockCalls clock_at_barrier GUARDED_BY(application){};

}  // namespace

void note_generation(std::uint32_t received) {
  take_over_files();
  learn_generation(received);
  if (seen_generation == generation()) return;
  seen_generation = generation();
  if (is_initial()) return;  // it keeps the books, and has forgotten those pages one by one
  shut_for_new_generation();
}

namespace {

/// The event for which a process waits at a barrier.
enum class WaitsFor : std::uint8_t { team, work };

/// When the program ended, if this process can know: the message may come late, in another barrier or after more work.
std::uint64_t end_of_program(const Head& quit, std::uint64_t received_ns) {
  return self.shares_clock ? received_ns - static_cast<std::uint32_t>(received_ns - quit.generation) : received_ns;
}

/// Takes the master's answer at a barrier. If it ends the process, the time since it came is the last of its account.
Head obey(const Head& head, WaitsFor awaited, const Begun& since) REQUIRES(application) {
  if (head.kind == WireKind::quit || head.kind == WireKind::quit_in_turn) {
    const std::uint64_t now = now_ns();
    spend(awaited == WaitsFor::work ? Spent::idle : Spent::barrier, since, now);
    note_clock_calls(ClockCalls::received(head.value, head.address), true);
    end_worker(end_of_program(head, now),
               head.kind == WireKind::quit ? Dismissal::at_once : Dismissal::after_exit_functions);
  }
  if (head.kind == WireKind::exit_run) {
    // The exit functions see what the thread wrote that ends the program.
    if (traits().flush_lock) synchronise_memory();
    end_initial(ExitKind{head.address}, static_cast<int>(head.value));
  }
  return head;
}

/// The threads that meet at a barrier: the team, or a gang.
struct Members {
  ProcessId master = barrier_master;
  std::uint64_t key = 0;
  std::uint32_t size = 0;
  Sync sync = Sync::barrier;
  bool drops_copies = true;  ///< of the node, for all of its members
};

/// Waits for the others. Returns what the master says. `has_flushed`: what this process wrote is home; notices are due.
Head synchronise(const Members& members, Wait wait = Wait::alone, bool has_flushed = false,
                 WaitsFor awaited = WaitsFor::team) REQUIRES(application) {
  const Begun since = begin();
  Head arrival{
      .kind = WireKind::barrier_arrive, .generation = generation(), .address = members.key, .value = members.size};
  const bool is_of_team = members.key == 0;
  const Release release = is_of_team ? the_protocol().arrive(arrival, has_flushed, wait)
                                     : Release{ask(members.master, arrival, nullptr, nullptr, wait)};
  const Head head = obey(release.head, awaited, since);
  if (is_of_team && release.tells_clock) clock_at_barrier = ClockCalls::received(head.value, head.address);
  the_protocol().note_release();
  return head;
}

ProcessId process_of(const gomp::Gang& gang, std::uint32_t member) {
  return ProcessId{gang.thread_of(member)};
}

Members members_of(const gomp::Gang& gang) {
  const GangOnNode here = gang_on_node(
      gang.size, [&](std::uint32_t member) { return process_of(gang, member); }, is_on_own_node,
      self.layout.threads_per_node);
  return {.master = process_of(gang, 0),
          .key = gang.key,
          .size = gang.size,
          .sync = here.sync,
          .drops_copies = here.drops == self.process};
}

/// The master called the clock while this process was waiting for work: its idle time is split there.
Begun split_idle_time(const Begun& since, const Head& head) REQUIRES(application) {
  if (ClockCalls::received(head.value, head.address).count == clock_calls().count) return since;
  const std::uint64_t at = std::clamp(head.address, since.ns, now_ns());
  spend(Spent::idle, since, at);
  note_clock_calls(ClockCalls::received(head.value, head.address), true);
  return begun_at(at);
}

Begun wait_for_work() REQUIRES(application) {
  Begun since = begin();
  // A worker that is not in the team would write what its local peers' barrier drops.
  const Head head =
      synchronise({}, self.layout.threads_per_node == 1 ? Wait::with_handlers : Wait::alone, false, WaitsFor::work);
  since = split_idle_time(since, head);
  const std::uint64_t now = now_ns();
  spend(Spent::idle, since, now);
  note_generation(head.generation);
  return begun_at(now);
}

void note_held(LockId lock) {
  const Held guard(holding);
  held_locks.insert(lock);
}

/// Returns whether the process held it.
bool note_given(LockId lock) {
  const Held guard(holding);
  return held_locks.erase(lock) > 0;
}

/// Takes a lock that the thread keeps. False if its manager has to be asked.
bool take_kept(LockId lock) REQUIRES(application) {
  if (!kept_locks.take(lock)) return false;
  note_held(lock);
  ++asked.locks;
  return true;
}

/// The object by which a lock's users hand memory on. Only a mutex has one holder.
SyncPoint point_of(LockId lock, bool is_mutex, bool is_held = true) {
  return {.kind = is_mutex ? SyncPoint::Kind::lock : SyncPoint::Kind::flag,
          .lock = lock,
          .flag = flag_of(lock),
          .manager = manager_of(lock, processes()),
          .is_held = is_held};
}
SyncPoint point_of_flag(std::uint64_t flag) {
  return {.kind = SyncPoint::Kind::flag, .flag = flag, .manager = manager_of_flag(flag, processes())};
}

Head lock_head(WireKind kind, LockId lock, engine::Demand demand = engine::mutex_demand) {
  return {.kind = kind,
          .generation = generation(),
          .address = index_of(lock),
          .value = std::bit_cast<std::uint64_t>(demand)};
}

/// Does the steps of a course. `exchange` asks or sends; it is passed whether a flush was the step before, and returns
/// whether the thread goes on. `begin` begins the next interval.
template <typename Exchange, typename Begin>
void play(std::span<const protocol::Action> course, const SyncPoint& point, Sync sync, Exchange exchange, Begin begin)
    REQUIRES(application) {
  bool has_flushed = false;
  for (const protocol::Action action : course) {
    switch (action) {
      case protocol::Action::ask:
      case protocol::Action::send:
        if (!exchange(has_flushed)) return;
        break;
      case protocol::Action::flush: the_protocol().flush(sync); break;
      case protocol::Action::apply: the_protocol().apply(point); break;
      case protocol::Action::begin_interval: begin(); break;
    }
    has_flushed = action == protocol::Action::flush;
  }
}

void play_barrier(const Members& members, Barrier barrier, Begun& since) REQUIRES(application) {
  the_protocol().come_to_barrier();
  bool waits_for_work = barrier == Barrier::fork_worker;
  // Until the others come, which may take long, handlers may write: the flush behind takes it home.
  Wait wait = Wait::with_handlers;
  const auto meet = [&](bool has_flushed) REQUIRES(application) {
    if (std::exchange(waits_for_work, false)) {
      since = wait_for_work();
    } else {
      note_generation(synchronise(members, wait, has_flushed).generation);
    }
    wait = Wait::alone;
    the_protocol().count_arrival(members.master);
    return true;
  };
  play(courses_of_run().barrier, {.kind = SyncPoint::Kind::barrier}, members.sync, meet, [&]() REQUIRES(application) {
    if (members.drops_copies) the_protocol().begin_interval(members.sync);
    if (barrier == Barrier::of_all) the_protocol().pass_barrier_of_all();
  });
}

/// Takes what `ask` gets the grant of; it returns none if the thread is not to have it.
template <typename Ask>
bool acquire_at(const SyncPoint& point, Ask ask) REQUIRES(application) {
  bool has_it = false;
  const auto exchange = [&](bool) REQUIRES(application) {
    const Begun since = begin();
    const std::optional<Head> grant = ask();
    spend(Spent::lock, since);
    has_it = grant.has_value();
    if (!has_it) return false;
    note_generation(grant->generation);
    the_protocol().take_grant(point, *grant);
    return true;
  };
  play(runs_alone ? courses_of_run().acquire_alone : courses_of_run().acquire, point, Sync::acquire, exchange,
       []() REQUIRES(application) { the_protocol().begin_interval(Sync::acquire); });
  if (has_it) ++asked.locks;
  return has_it;
}

/// Plays a course that hands memory on. `send` sends its message.
template <typename Send>
void release_by(std::span<const protocol::Action> course, Send send) REQUIRES(application) {
  const auto exchange = [&](bool) REQUIRES(application) {
    send();
    return true;
  };
  play(course, {}, Sync::release, exchange,
       []() REQUIRES(application) { the_protocol().begin_interval(Sync::release); });
}

bool is_of_mutex(const Head& question) {
  return question.kind == WireKind::lock_request &&
         (question.value == 0 || std::bit_cast<engine::Demand>(question.value) == engine::mutex_demand);
}

void pass(const Members& members, Barrier barrier) REQUIRES(application) {
  const SlowCall held;
  flush_output();
  if (self.wants_page_log) {
    const NodeGuard guard;
    log_in_turn({.bytes = members.key == 0 ? PageEvent::of_team : std::uint16_t{0}, .kind = PageEvent::Kind::barrier});
  }
  send_long_page_log();
  send_long_timeline_log();
  if (members.key == 0) note_arrival();
  Begun since = begin();
  play_barrier(members, barrier, since);
  ++asked.barriers;
  spend(Spent::barrier, since);
  if (members.key != 0) return;
  // A handler of the initial thread's may have read a clock since it sent the readings.
  if (self.process != ProcessId{0}) note_clock_calls(clock_at_barrier, false);
  note_leaving();
}

}  // namespace

void pass_barrier(Barrier barrier) {
  if (takes_faults(self.layout)) pass({}, barrier);
}

void pass_gang_barrier(const gomp::Gang& gang) {
  pass(members_of(gang), Barrier::of_some);
}

void note_division(const gomp::Gang& gang) {
  const sdsm_division& division = gang.division;
  const GangDivision how{.whole = gang.outer != nullptr && gang.outer->id != 0 ? gang.outer->key : 0,
                         .size = static_cast<std::uint64_t>(division.threads),
                         .arguments = static_cast<std::uint64_t>(division.partition) << 62 |
                                      static_cast<std::uint64_t>(division.gangs) << 31 |
                                      static_cast<std::uint64_t>(division.unit)};
  tell(how.whole != 0 ? process_of(*gang.outer, 0) : barrier_master,
       {.kind = WireKind::gang_divided, .bytes = sizeof how, .address = gang.division_key}, &how);
}

void leave_gang(const gomp::Gang& gang) {
  tell(process_of(gang, 0), {.kind = WireKind::gang_left, .address = gang.key, .value = gang.size});
}

void begin_alone() {
  runs_alone = is_initial() && traits().keeps_locks;
}

void end_alone() {
  runs_alone = false;
  for (const LockId lock : kept_locks.give_all()) {
    const SyncPoint point = point_of(lock, true);
    release_by(courses_of_run().give_back, [&]() REQUIRES(application) {
      the_protocol().hand_on(point, lock_head(WireKind::lock_release, lock), false);
    });
  }
}

GrantSays wait_for_grant(LockId lock, Head question, const void* payload, std::uint64_t until_ns) {
  const SlowCall held;
  if (is_of_mutex(question) && take_kept(lock)) return GrantSays::yours;
  question.address = index_of(lock);
  const SyncPoint point = point_of(lock, is_of_mutex(question));
  GrantSays what{};
  acquire_at(point, [&]() REQUIRES(application) -> std::optional<Head> {
    question.generation = generation();
    // What handlers write meanwhile goes home when the lock is here.
    const Head grant = the_protocol().ask_at(point, question, payload, Wait::with_handlers, until_ns);
    what = GrantSays{grant.address};
    if (what == GrantSays::too_late) return {};
    note_held(lock);
    return grant;
  });
  return what;
}

void acquire_lock(LockId lock, const OrderedTurn* turn) {
  Head head{.kind = WireKind::lock_request};
  if (turn != nullptr) head.bytes = sizeof *turn;
  wait_for_grant(lock, head, turn);
}

bool try_acquire_lock(LockId lock, engine::Demand demand) {
  const SlowCall held;
  if (demand == engine::mutex_demand && take_kept(lock)) return true;
  const SyncPoint point = point_of(lock, demand == engine::mutex_demand);
  return acquire_at(point, [&]() REQUIRES(application) -> std::optional<Head> {
    const Head question = lock_head(WireKind::lock_try, lock, demand);
    for (;;) {
      const Head answer = the_protocol().ask_at(point, question);
      if (answer.kind == WireKind::lock_grant) {
        note_held(lock);
        return answer;
      }
      if (demand != engine::mutex_demand) return {};
      // A holder that released it before this thread came here says so, even if the manager does not know yet.
      const ProcessId holder{static_cast<std::uint32_t>(answer.value)};
      if (ask(holder, lock_head(WireKind::lock_held, lock)).value != 0) return {};
      constexpr unsigned pause_us = 20;  // its release takes its time: asking keeps processors from it
      usleep(pause_us);
    }
  });
}

void release_lock(LockId lock, engine::Demand demand) {
  const SlowCall held;
  const bool is_kept = runs_alone && KeptLocks::may_keep(lock) && demand == engine::mutex_demand && holds_lock(lock);
  if (is_kept) {
    // Until another thread runs, nobody sees what this one stores.
    note_given(lock);
    return kept_locks.keep(lock);
  }
  // The next holder then prints after what was printed before.
  flush_output();
  release_by(courses_of_run().release, [&]() REQUIRES(application) {
    const bool was_held = note_given(lock);
    const bool is_mutex = demand == engine::mutex_demand;
    const SyncPoint point = point_of(lock, is_mutex, was_held);
    if (is_mutex) {
      the_protocol().hand_on(point, lock_head(WireKind::lock_release, lock), false);
    } else {
      // Waits for the answer: a thread that learns of it from this one must find it done, as nobody asks the holder.
      the_protocol().hand_on(point, lock_head(WireKind::object_give, lock, demand), true);
    }
  });
}

bool holds_lock(LockId lock) {
  const Held guard(holding);
  return held_locks.contains(lock);
}

bool holds_a_lock() {
  const Held guard(holding);
  return !held_locks.empty();
}

std::uint64_t ask_manager(LockId lock, WireKind kind, std::uint64_t value) {
  return ask(manager_of(lock, processes()),
             {.kind = kind, .generation = generation(), .address = index_of(lock), .value = value})
      .value;
}

std::uint64_t wake_enlisted(LockId lock, std::uint64_t most) {
  const SlowCall held;
  flush_output();
  const SyncPoint point = point_of(lock, false);
  std::uint64_t woken = 0;
  release_by(courses_of_run().release, [&]() REQUIRES(application) {
    const Head question{
        .kind = WireKind::object_wake, .generation = generation(), .address = index_of(lock), .value = most};
    woken = the_protocol().hand_on(point, question, true).value;
  });
  return woken;
}

void post_flag(std::uint64_t flag, std::uint64_t value) {
  const SlowCall held;
  hand_on_streams();
  const SyncPoint point = point_of_flag(flag);
  release_by(courses_of_run().release, [&]() REQUIRES(application) {
    const Head post{.kind = WireKind::flag_post, .generation = generation(), .address = flag, .value = value};
    await_room_on_wire(point.manager);
    the_protocol().hand_on(point, post, false);
  });
}

void await_flag(std::uint64_t flag, std::uint64_t value) {
  const SlowCall held;
  const SyncPoint point = point_of_flag(flag);
  acquire_at(point, [&]() REQUIRES(application) -> std::optional<Head> {
    const Head wanted{.kind = WireKind::flag_wait, .generation = generation(), .address = flag, .value = value};
    return the_protocol().ask_at(point, wanted, nullptr, Wait::with_handlers);
  });
}

void synchronise_memory() {
  const SlowCall held;
  if (const auto lock = traits().flush_lock) {
    if (!are_pages_protected()) return;
    acquire_lock(*lock);
    return release_lock(*lock);
  }
  hand_on_streams();
  the_protocol().flush(Sync::acquire);
  the_protocol().begin_interval(Sync::acquire);
  take_over_files();
}

void end_from_member(ExitKind kind, int status) {
  application.check();
  synchronise_memory();  // the exit functions see what this thread wrote
  tell(ProcessId{0}, {.kind = WireKind::exit_run,
                      .address = static_cast<std::uint64_t>(kind),
                      .value = static_cast<std::uint64_t>(status)});
  // Until it is dismissed it serves the others. In a handler, it may have come to a barrier already.
  if (is_at_barrier()) obey(answer_of_barrier(), WaitsFor::work, begin());
  for (;;) synchronise({}, Wait::alone, false, WaitsFor::work);
}

}  // namespace sdsm::dsm
