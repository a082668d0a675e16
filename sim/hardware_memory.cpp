/// Hardware shared memory of one node. Touches cost only the program's own computing, barriers what EPCC measured. A
/// lock that another thread had last, a flag, or an awaited store costs what EPCC measured of a lock that all want.

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/hardware/costs.hpp"
#include "models/protocol/queues.hpp"
#include "sim/cluster.hpp"
#include "sim/memory.hpp"

namespace sdsm::sim {
namespace {

using hardware::Cost;
using hardware::CostByThreads;
using Then = std::function<void()>;

class HardwareRoom final : public Room {
 public:
  explicit HardwareRoom(Cluster& cluster) : cluster_(cluster) {}

  std::unique_ptr<Memory> memory_of(Thread& thread) override;

  Time barrier_of(std::uint32_t team) {
    if (!cluster_.costs.is_measured(CostByThreads::barrier, team)) cluster_.extrapolated_barrier = true;
    return cluster_.costs.by_threads(CostByThreads::barrier, team);
  }
  Time lock_of(std::uint32_t threads) {
    if (!cluster_.costs.is_measured(CostByThreads::lock, threads)) cluster_.extrapolated_lock = true;
    return cluster_.costs.by_threads(CostByThreads::lock, threads);
  }
  /// A cache line moves between two of the run's threads.
  Time hand_off() { return lock_of(cluster_.layout.processes()); }
  Time atomic() {
    const Time measured = cluster_.costs.costs().further(Cost::atomic);
    if (measured > Time{}) return measured;
    cluster_.extrapolated_atomic = true;
    return cluster_.costs.by_threads(CostByThreads::lock, cluster_.layout.processes());
  }

  struct Member {
    Thread* thread;
    Arrival why;
    Time arrived{};
    Then through;
  };
  void arrive(std::uint32_t team, Member member) {
    std::vector<Member>& gathering = gathering_[team];
    gathering.push_back(std::move(member));
    if (gathering.size() < team) return;
    meet_all(
        gathering, [](const Member& one) -> Uncontended& { return one.thread->uncontended; }, barrier_of(team));
    after(barrier_of(team), [this, members = std::move(gathering)] { leave(members); });
    gathering_.erase(team);
  }

  using Turn = std::optional<std::uint64_t>;
  void acquire(LockId lock, ProcessId thread, Turn turn, Then granted) {
    locks_[lock].queue.ask({thread, turn, std::move(granted)});
    grant_next(locks_[lock]);
  }
  auto& queue_of(LockId lock) { return locks_[lock].queue; }
  void release(LockId lock) {
    locks_[lock].queue.give_back();
    grant_next(locks_[lock]);
  }

  void post(std::uint64_t flag, const FlagPost& posted) { let_go_on(flags_[flag].post(posted)); }
  void wait(std::uint64_t flag, ProcessId by, const FlagWait& wait, Then then) {
    let_go_on(flags_[flag].ask({wait, by, std::move(then)}));
  }

  /// A thread waits for a cache line, in the baselines too.
  void pay(ProcessId thread, Time duration, Then then) {
    cluster_.thread(thread).uncontended.spend(duration);
    after(duration, std::move(then));
  }

 private:
  void after(Time duration, Then then) { cluster_.clock.at(cluster_.clock.now() + duration, std::move(then)); }

  struct Lock {
    struct Waiter {
      ProcessId by;
      Turn turn;
      Then granted;
    };
    LockQueue<Waiter> queue;
    std::optional<ProcessId> last;
  };
  void grant_next(Lock& lock) {
    std::optional<Lock::Waiter> next = lock.queue.grant_next();
    if (!next) return;
    const bool is_own = lock.last.value_or(next->by) == next->by;
    lock.last = next->by;
    pay(next->by, is_own ? lock_of(1) : hand_off(), std::move(next->granted));
  }

  struct Waiter {
    FlagWait wait;
    ProcessId by;
    Then then;
  };
  void let_go_on(std::vector<Waiter> waiters) {
    for (Waiter& waiter : waiters) pay(waiter.by, hand_off(), std::move(waiter.then));
  }

  void leave(const std::vector<Member>& members) {
    std::optional<Time> forked;
    for (const Member& member : members) {
      if (member.why == Arrival::fork_master) forked = member.arrived;
    }
    for (const Member& member : members) {
      const bool is_worker = member.why == Arrival::fork_worker;
      const Time from = is_worker ? member.thread->idle_until(forked, member.arrived) : member.arrived;
      member.thread->waited(Spent::barrier, from);
      member.thread->account.count_barrier(cluster_.clock.now());
    }
    for (const Member& member : members) member.through();
  }

  Cluster& cluster_;
  std::map<std::uint32_t, std::vector<Member>> gathering_;  ///< by size of the team
  std::map<LockId, Lock> locks_;
  std::map<std::uint64_t, Flag<Waiter>> flags_;
};

class HardwareMemory final : public Memory {
 public:
  HardwareMemory(Cluster& cluster, HardwareRoom& room, Thread& thread)
      : cluster_(cluster), room_(room), thread_(thread) {}

  void touch(const Touch&) override {}

  void finish_interval(std::uint64_t) override {
    if (!cluster_.spins) return;
    thread_.catch_up_and_wait();
    cluster_.spins->begin_event(thread_.id());
  }

  Time lone_barrier() const override { return room_.barrier_of(1); }
  void barrier(std::uint32_t team, Arrival why) override {
    thread_.wait_for([=, this](Then through) {
      room_.arrive(team, {&thread_, why, cluster_.clock.now(), std::move(through)});
    });
  }

  void flush() override {}
  void fence() override {}

  void acquire(LockId lock, std::optional<std::uint64_t> turn) override {
    wait_on_others([=, this](Then granted) { room_.acquire(lock, thread_.id(), turn, std::move(granted)); });
    thread_.account.count_lock(cluster_.clock.now());
  }
  bool claim(LockId lock) override { return room_.queue_of(lock).claim(thread_.id()); }
  void disclaim(LockId lock) override { room_.queue_of(lock).disclaim(); }
  bool has(LockId lock) override { return room_.queue_of(lock).is_held_by(thread_.id()); }
  void release(LockId lock) override {
    thread_.catch_up_and_wait();
    room_.release(lock);
  }
  void post(std::uint64_t flag, FlagPost posted) override {
    thread_.catch_up_and_wait();
    room_.post(flag, posted);
  }
  void wait(std::uint64_t flag, FlagWait wait) override {
    wait_on_others([=, this](Then then) { room_.wait(flag, thread_.id(), wait, std::move(then)); });
    thread_.account.count_lock(cluster_.clock.now());
  }

  /// Refuses nothing, as only nanoseconds lie between a load and its compare-exchange.
  std::optional<Moment> operate(const WordOperation&, ProcessId, bool) override {
    thread_.spend(Spent::lock, room_.atomic());
    return std::nullopt;
  }
  void spin(ProcessId by, std::uint64_t events) override {
    wait_on_others([=, this](Then then) {
      cluster_.spins->ask(by, events,
                          [this, then = std::move(then)] { room_.pay(thread_.id(), room_.hand_off(), then); });
    });
  }

 private:
  void wait_on_others(const std::function<void(Then)>& action) {
    thread_.wait_for([=, this](Then done) {
      action([this, since = cluster_.clock.now(), done = std::move(done)] {
        thread_.waited(Spent::lock, since);
        done();
      });
    });
  }

  Cluster& cluster_;
  HardwareRoom& room_;
  Thread& thread_;
};

std::unique_ptr<Memory> HardwareRoom::memory_of(Thread& thread) {
  return std::make_unique<HardwareMemory>(cluster_, *this, thread);
}

}  // namespace

std::unique_ptr<Room> make_hardware_room(Cluster& cluster) {
  return std::make_unique<HardwareRoom>(cluster);
}

}  // namespace sdsm::sim
