#pragma once

#include <functional>
#include <optional>

#include "models/compared_words.hpp"
#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

/// Plays atomic operations without a lock: the home's node operates in place; others send a request and get a reply.
class AtomicOperations {
 public:
  explicit AtomicOperations(Cluster& cluster) : cluster_(cluster) {}

  /// Receives the result of ComparedWords::operate() when the home does the operation.
  using OnRefusal = std::function<void(std::optional<Moment> refused)>;

  /// Calls `done` when the thread has the result. Time is charged to Spent::lock.
  void operate(Thread& thread, const WordOperation& operation, ProcessId home, OnRefusal on_refusal,
               std::function<void()> done);
  /// operate() as a full fence: the thread first sends its own changes home, and drops copies afterwards.
  void operate_in_order(Thread& thread, const WordOperation& operation, ProcessId home, OnRefusal on_refusal,
                        std::function<void()> done);

 private:
  /// Runs at the home and calls `then` after the operation.
  using Decide = std::function<void(const std::function<void()>& then)>;
  /// Takes the page from all nodes before the operation, on behalf of the home. Returns how long that takes.
  using Downgrades = std::function<Time()>;
  void operate(Thread& thread, const WordOperation& operation, ProcessId home, OnRefusal on_refusal,
               const Downgrades& downgrades, std::function<void()> done);
  void ask(Thread& thread, ProcessId home, Decide decide, std::function<void()> answered);

  Cluster& cluster_;
};

}  // namespace sdsm::sim
