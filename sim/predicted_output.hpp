/// Predicts a traced program's output on the cluster: `sdsm trace` runs it again with a clock that shows predicted
/// times. A program may make decisions by its clock, which the prediction then lacks. So it is traced and simulated
/// again until its decisions are those that were simulated.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workloads/trace/reader.hpp"
#include "workloads/trace/readings.hpp"

namespace sdsm::sim {

inline constexpr unsigned most_rounds = 5;

/// Describes the first decision in `later` that differs from `earlier`; empty if there is none. Effects of the threads'
/// timing (which thread gets a chunk or a lock first) are no decisions. Computing times are equal if they differ by
/// less than a factor of two.
std::optional<std::string> changed_decision(const trace::File& earlier, const trace::File& later);

/// Combines a round's clock readings. A thread's first `unchanged` readings are those `given` before, so that newly
/// measured computing cannot change an earlier decision. The `predicted` readings follow, counted from the last of
/// those.
trace::Readings readings_that_continue(const trace::Readings& given, const trace::Readings& predicted,
                                       const std::vector<std::size_t>& unchanged);

/// The program's runs under the predicted clock. The destructor removes its files.
class PredictedOutput {
 public:
  /// The message when a signal ends the command.
  static constexpr const char* interrupted = "interrupted; the program's output is not predicted";

  /// Simulates a trace and writes its readings of the clock to a file (both are paths).
  using Predict = std::function<void(const std::filesystem::path& trace, const std::filesystem::path& readings)>;

  /// Receives a line about the decision that changed, before each further round.
  using Tell = std::function<void(const std::string& line)>;

  /// Runs the rounds. `before` is a shell command to run before each of the program's runs, or empty. Throws BadInput
  /// if the program's file has changed, or if it read standard input. Throws RunError if it fails, if its decisions
  /// still change after most_rounds, or at an interruption that is caught.
  PredictedOutput(const std::filesystem::path& trace, std::string before, const Predict& predict, const Tell& tell);
  ~PredictedOutput();
  PredictedOutput& operator=(PredictedOutput&&) = delete;

  /// The program's output on stdout and on stderr.
  const std::string& output() const { return output_; }
  const std::string& errors() const { return errors_; }
  /// The trace that predicted the program's clock, and the number of rounds until then.
  const std::filesystem::path& trace() const { return trace_; }
  unsigned rounds() const { return rounds_; }
  /// The values that the program's clock showed in that run.
  trace::Readings shown() const;

 private:
  void run_rounds(const Predict& predict, const Tell& tell);
  void remove_files() const;
  std::filesystem::path readings_of_round() const;
  void trace_again(const std::filesystem::path& readings, const std::filesystem::path& traced);

  std::string before_;
  std::filesystem::path folder_;
  std::filesystem::path trace_;
  std::string output_;
  std::string errors_;
  unsigned rounds_ = 0;
};

}  // namespace sdsm::sim
