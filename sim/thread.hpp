/// One OpenMP thread in simulated time: local work that simulated time has not reached yet, whether it computes or
/// waits, and its account.
#pragma once

#include <functional>
#include <vector>

#include "models/ids.hpp"
#include "sim/account.hpp"
#include "sim/baselines.hpp"
#include "sim/clock.hpp"
#include "sim/noise.hpp"

namespace sdsm::sim {

/// Processors of one node.
struct Processors {
  int cores = 1;
  int computing = 0;  ///< threads that use one now
};

class Thread {
 public:
  /// `trap`: Costs::fault_trap.
  Thread(Clock& clock, Noise& noise, const Window& window, ProcessId id, NodeId node, Processors& processors, Time trap,
         timelines::Timeline* timeline)
      : account(window, id, timeline),
        bell(clock),
        id_(id),
        node_(node),
        clock_(clock),
        noise_(noise),
        processors_(processors),
        trap_(trap) {}
  Thread(const Thread&) = delete;

  ProcessId id() const { return id_; }
  NodeId node() const { return node_; }

  /// Adds local work of a known cost, without a call of SimGrid: simulated time does not move yet. The system's noise
  /// comes with it. Throws std::invalid_argument if the work would end after last_date.
  void spend(Spent item, Time duration) {
    if (duration != Time{}) spend_faults(item, 0, duration);
  }
  /// What costs of the platform add to the program's computing: runs' accounts have it there, and no sequential time.
  void spend_added_computing(Time duration) {
    if (duration != Time{}) add(Spent::compute, 0, duration, Time{});
  }
  /// spend() of `count` faults of one kind, which last `work` together.
  void spend_faults(Spent item, std::uint64_t count, Time work) { add(item, count, work, work); }

 private:
  /// `own`: the program's own part of `work`.
  void add(Spent item, std::uint64_t count, Time work, Time own) {
    // First of all, as noise cannot make more longer.
    if (work > last_date - local_now()) throw_beyond_last_date();
    // Now, so that the thread's own time is known before simulated time comes to it.
    const Time duration = noise_.stretched(id_, local_now(), work);
    if (duration > last_date - local_now()) throw_beyond_last_date();
    if (charges_.empty() || charges_.back().item != item) charges_.push_back({item, 0, Time{}, Time{}});
    charges_.back().faults += count;
    charges_.back().duration += duration;
    charges_.back().own += own;
    ahead_ += duration;
    uncontended.spend(work);
  }

 public:
  /// The thread's own time: simulated time plus its local work that simulated time has not reached.
  Time local_now() const { return clock_.now() + ahead_; }

  /// Calls `then` when simulated time has reached the local time, perhaps at once. Until then the thread computes (it
  /// holds a processor), and time that others steal comes on top.
  void catch_up(std::function<void()> then);

  /// The same, blocking the thread's actor.
  void catch_up_and_wait();

  /// Calls `action` with a callback then, and blocks the actor until the callback is called. If the run fails
  /// meanwhile, `action` is called all the same: it must not refer to the caller's variables.
  void wait_for(const std::function<void(std::function<void()>)>& action);

  /// Charges a wait that began at `since` and ends now.
  void waited(Spent item, Time since) { account.charge(item, since, clock_.now()); }

  /// The program ends now, whatever the thread does: its account ends, too.
  void cut();

  bool computing() const { return computing_; }
  /// What it does now. Precondition: computing().
  Spent doing() { return charge_now().item; }
  /// Its processor serves another process for `duration`. Precondition: computing().
  void steal(Time duration);

  Account account;
  Uncontended uncontended;  ///< beside simulated time
  Doorbell bell;

 private:
  struct Charge {
    Spent item;
    std::uint64_t faults;  ///< how many, if item is a fault
    Time duration;
    Time own{};  ///< of `duration`, what the program alone takes
  };
  void arrive();
  /// What the thread does now, of `charges_`, which only grow until they are charged. Sets at_.
  Charge charge_now();
  /// What a run's account has then: of a fault's trap, computing.
  Spent item_of(const Charge& charge) const;

  ProcessId id_;
  NodeId node_;
  Clock& clock_;
  Noise& noise_;
  Processors& processors_;
  Time trap_;
  Time ahead_{};
  Time stolen_{};
  Time since_{};  ///< simulated time at which `charges_` begin
  bool computing_ = false;
  std::vector<Charge> charges_;  ///< in order; they last `ahead_`, before what is stolen
  std::vector<Charge> thefts_;   ///< from `charges_`, in order, by what the thread did
  Time taken_{};                 ///< by these
  struct {
    std::size_t charge = 0;
    Time before{};  ///< what the charges before it last
    Time work{};    ///< what was done of all
  } at_;            ///< where the last theft was, or who looked last
  std::function<void()> then_;
};

}  // namespace sdsm::sim
