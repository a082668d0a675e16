/// An OpenMP thread in simulated time: its account, whether it computes, and its work that is still to be simulated.
#pragma once

#include <functional>
#include <optional>
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
  int computing = 0;  ///< threads that use a processor now
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

  /// Adds local work of a known cost, and the system's noise, without a call of SimGrid: simulated time does not move
  /// yet. Throws std::invalid_argument if the work would end after last_date.
  void spend(Spent item, Time duration) {
    if (duration != Time{}) spend_faults(item, 0, duration);
  }
  /// Adds time of the platform's costs to computing, where a real run's account has it and sequential time has not.
  void spend_added_computing(Time duration) {
    if (duration != Time{}) add(Spent::compute, 0, duration, Time{});
  }
  /// Spends `work` on `count` faults of one kind.
  void spend_faults(Spent item, std::uint64_t count, Time work) { add(item, count, work, work); }

 private:
  /// `own` is the program's own part of `work`.
  void add(Spent item, std::uint64_t count, Time work, Time own) {
    // Checked before noise, which must not have to lengthen such a time.
    if (work > last_date - local_now()) throw_beyond_last_date();
    // Noise is drawn now, so that the thread's own time is known before simulated time reaches it.
    const Time duration = noise_.stretched(id_, local_now(), work);
    if (duration > last_date - local_now()) throw_beyond_last_date();
    const Account::Part part = account.here();
    if (charges_.empty() || charges_.back().item != item || charges_.back().part != part)
      charges_.push_back({item, 0, Time{}, Time{}, part});
    charges_.back().faults += count;
    charges_.back().duration += duration;
    charges_.back().own += own;
    ahead_ += duration;
    uncontended.spend(work);
  }

 public:
  /// The thread's own time: simulated time plus local work that simulated time has not reached.
  Time local_now() const { return clock_.now() + ahead_; }

  /// Calls `then` when simulated time has reached the local time, perhaps at once. Until then the thread computes (it
  /// holds a processor), and stolen time comes on top.
  void catch_up(std::function<void()> then);

  /// Blocks the thread's actor until simulated time has reached the local time.
  void catch_up_and_wait();

  /// Calls `action` with a callback at that time, and blocks the actor until the callback is called. If the run fails
  /// meanwhile, `action` is called all the same: it must not refer to the caller's variables.
  void wait_for(const std::function<void(std::function<void()>)>& action);

  /// Charges a wait that began at `since` and ends now.
  void waited(Spent item, Time since) { account.charge(item, since, clock_.now()); }

  /// Charges a worker's idle time until the master forks, if it does. Returns when its wait at the fork began.
  Time idle_until(const std::optional<Time>& forked, Time since) {
    if (!forked || *forked <= since) return since;
    account.charge(Spent::idle, since, *forked);
    return *forked;
  }

  /// The program ends now, whatever the thread does; so its account ends, too.
  void cut();

  bool computing() const { return computing_; }
  /// Returns what the thread does now. Precondition: computing().
  Spent doing() { return charge_now().item; }
  /// The thread's processor serves another process for `duration`. Precondition: computing().
  void steal(Time duration);

  Account account;
  Uncontended uncontended;  ///< beside simulated time
  Doorbell bell;

 private:
  struct Charge {
    Spent item;
    std::uint64_t faults;  ///< number of faults, if `item` is one
    Time duration;
    Time own{};  ///< the program's own part of `duration`
    Account::Part part{};
  };
  void arrive();
  /// Returns the thread's present work in `charges_`, which only grow until they are charged. Sets at_.
  Charge charge_now();
  /// Returns a real run's item for the work: a fault's trap counts as computing.
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
  std::vector<Charge> charges_;     ///< in order; they last `ahead_`, without stolen time
  std::vector<Charge> thefts_;      ///< thefts from `charges_`, in order, by what the thread did
  std::size_t charged_thefts_ = 0;  ///< that are among `charges_`
  Time taken_{};                    ///< sum of the thefts
  struct {
    std::size_t charge = 0;
    Time before{};  ///< duration of the earlier charges
    Time work{};    ///< work done so far, of all charges
  } at_;            ///< place of the last theft or query
  std::function<void()> then_;
};

}  // namespace sdsm::sim
