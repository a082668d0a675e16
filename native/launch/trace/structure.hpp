/// The program's events in the first pass, thread by thread, and the least compute time of each interval so far. Every
/// later pass is compared with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "native/launch/tasks_note.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::trace_command {

/// "acquire of lock 4", "barrier of 4 threads": an event in words.
std::string describe(const Event& event);

/// Whether the first pass knows the event's details only later: for which thread it waited, or which its turn was.
bool is_decided_later(const Event& event);

class Structure {
 public:
  /// Appends an interval of the first pass.
  void add(std::uint32_t thread, const Event& event, std::uint64_t compute_ns);

  /// The last interval of `thread` ended with a wait for what thread `by` had stored before its event number `events`.
  void woken(std::uint32_t thread, std::uint32_t by, std::uint64_t events);

  /// The program ended while `thread` waited: its last interval ends the thread instead.
  void cut(std::uint32_t thread);

  /// Tasks in teams of several threads, by thread.
  std::vector<program_start::TasksRun> tasks() const;
  std::uint32_t threads() const { return static_cast<std::uint32_t>(threads_.size()); }
  std::uint64_t intervals(std::uint32_t thread) const;
  /// Number of events of this kind, of all threads.
  std::uint64_t count_of(EventKind kind) const;
  const Event& event(std::uint32_t thread, std::uint64_t interval) const;
  std::uint64_t least_compute_ns(std::uint32_t thread, std::uint64_t interval) const;

  /// Compares interval number `interval` of a later pass with the first pass's. Throws RunError that names the thread,
  /// the interval and both events if they differ.
  void compare(unsigned pass, std::uint32_t thread, std::uint64_t interval, const Event& event);
  void add_time(std::uint32_t thread, std::uint64_t interval, std::uint64_t compute_ns);

  /// Throws RunError if `thread` had more intervals in the first pass than `interval`, its number in this one.
  void compare_count(unsigned pass, std::uint32_t thread, std::uint64_t interval) const;

 private:
  struct Step {
    Event event;
    std::uint64_t least_compute_ns = 0;
  };
  std::vector<std::vector<Step>> threads_;
  std::uint64_t turns_ = 0;  ///< of ordered regions, so far
};

}  // namespace sdsm::trace_command
