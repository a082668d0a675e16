#pragma once

#include <functional>
#include <optional>

#include "models/compared_words.hpp"
#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

/// Plays atomic operations that are done at their page's home, without a lock: in place on the home's node, from other
/// nodes by a request and its reply.
class AtomicOperations {
 public:
  explicit AtomicOperations(Cluster& cluster) : cluster_(cluster) {}

  /// Gets what ComparedWords::operate() says, when the home does the operation.
  using OnRefusal = std::function<void(std::optional<Moment> refused)>;

  /// Calls `done` when the thread has the outcome. Time is charged to Spent::lock.
  void operate(Thread& thread, const WordOperation& operation, ProcessId home, OnRefusal on_refusal,
               std::function<void()> done);
  /// The same as a full fence: own changes go home before it, and copies are dropped after it.
  void operate_in_order(Thread& thread, const WordOperation& operation, ProcessId home, OnRefusal on_refusal,
                        std::function<void()> done);

 private:
  /// At the home: calls `then` when it has done the operation.
  using Decide = std::function<void(const std::function<void()>& then)>;
  /// `recalls`: the home takes the page from all nodes before it does the operation. Returns how long that takes.
  using Downgrades = std::function<Time()>;
  void operate(Thread& thread, const WordOperation& operation, ProcessId home, OnRefusal on_refusal,
               const Downgrades& downgrades, std::function<void()> done);
  void ask(Thread& thread, ProcessId home, Decide decide, std::function<void()> answered);

  Cluster& cluster_;
};

}  // namespace sdsm::sim
