/// Programs made up by hand and runs of them, each in a process of its own, as SimGrid allows one engine per process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/simulation.hpp"
#include "tests/platforms/platform_text.hpp"

namespace sdsm::test {

/// One parallel region of all threads, between its fork and its join. Region 0 of its memory: round-robin by page, so
/// that page p is at home with process p mod P.
class TestProgram {
 public:
  explicit TestProgram(Layout layout);

  /// Threads that are not named compute nothing; each names its own intervals in order.
  void interval(std::uint32_t thread, double compute_us, std::vector<trace::TouchRun> touches, Event end);
  void barrier(std::uint32_t thread, double compute_us = 0, std::vector<trace::TouchRun> touches = {});
  void acquire(std::uint32_t thread, std::uint64_t lock, double compute_us = 0,
               std::vector<trace::TouchRun> touches = {});
  /// With omp_test_lock or the like.
  void acquire_at_a_try(std::uint32_t thread, std::uint64_t lock, double compute_us = 0);
  void release(std::uint32_t thread, std::uint64_t lock, double compute_us = 0,
               std::vector<trace::TouchRun> touches = {});
  /// An ordered region: its turn, from 1, or 0 as in older traces.
  void ordered(std::uint32_t thread, std::uint64_t turn, double before_us, double inside_us);
  void clock(std::uint32_t thread, double compute_us = 0, std::vector<trace::TouchRun> touches = {});
  /// Adds a barrier for every thread, behind the same computing, or behind each thread's own work.
  void barrier_of_all(double compute_us = 0);
  struct Work {
    double compute_us = 0;
    std::vector<trace::TouchRun> touches{};
  };
  void barrier_of_all(const std::vector<Work>& by_thread);

  Layout layout() const { return layout_; }
  /// Closes the region: joins, then ends all threads.
  sim::Program finished() const;

  std::uint64_t pages = 64;
  std::vector<std::vector<trace::Interval>> threads;
  bool joins = true;
  std::optional<ProcessId> ended_by{};

 private:
  Layout layout_;
};

trace::TouchRun reads(std::uint64_t page, std::uint8_t position = 0, std::uint32_t pages = 1);
/// Writes that change a word of each page.
trace::TouchRun writes(std::uint64_t page, std::uint8_t position = 0, std::uint32_t pages = 1, Change change = {1, 1});

/// Simulates in a child process. Throws what simulate() throws.
sim::Result run(const std::filesystem::path& platform, Layout layout, sim::NetworkKind network,
                const std::function<sim::Program()>& program, const sim::RunOptions& options = {});
sim::Result run(const std::filesystem::path& platform, sim::NetworkKind network, const TestProgram& program,
                const sim::RunOptions& options = {});
/// On p3-score, by queues.
sim::Result run(const TestProgram& program, const sim::RunOptions& options = {});

inline Time spent(const sim::Tally& tally, Spent item) {
  return tally.time[static_cast<std::size_t>(item)];
}
inline Time spent(const sim::Tally& tally, FaultKind kind) {
  return spent(tally, spent_on(kind));
}
inline std::uint64_t faults(const sim::Tally& tally, FaultKind kind) {
  return tally.faults[static_cast<std::size_t>(kind)];
}

inline Time lock_time(const sim::Result& result, std::uint32_t thread) {
  return spent(result.threads[thread].whole, Spent::lock);
}
inline std::uint64_t messages(const sim::Result& result, std::uint32_t thread, MessageKind kind) {
  return result.threads[thread].whole.messages_by_kind[static_cast<std::size_t>(kind)];
}

}  // namespace sdsm::test
