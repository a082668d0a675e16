/// What a traced program prints on the cluster: `sdsm trace` runs it again with a clock that shows what was predicted.
/// A program may decide by its clock what it does, and then the prediction is of another course. So it is traced and
/// simulated again until it does what was simulated.
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

/// The first thing that the program decided otherwise in `later` than in `earlier`, for people; empty if there is none.
/// What the timing of threads decides (who gets a chunk or a lock first) is no decision, and computing that takes less
/// than twice as long is the same.
std::optional<std::string> changed_decision(const trace::File& earlier, const trace::File& later);

/// What a round gives the program: as far as it did the same (`unchanged` readings of each thread) what it was `given`
/// before, so that the noise of computing, measured anew, does not change a decision that was settled; from there on
/// what is `predicted`, counted from the last of those.
trace::Readings readings_that_continue(const trace::Readings& given, const trace::Readings& predicted,
                                       const std::vector<std::size_t>& unchanged);

/// The program's runs under the predicted clock. Its files are gone with it.
class PredictedOutput {
 public:
  /// The message when a signal ends the command.
  static constexpr const char* interrupted = "interrupted; the program's output is not predicted";

  /// `predict`: simulates a trace and writes its readings of the clock to a file (both are paths).
  using Predict = std::function<void(const std::filesystem::path& trace, const std::filesystem::path& readings)>;

  /// Told what the program decided otherwise in a round that another one follows.
  using Tell = std::function<void(const std::string& line)>;

  /// Runs the rounds; `before` is a shell command before each of the program's runs, or empty. Throws BadInput if the
  /// program cannot be run as it was traced: it is another file by now, or it read standard input; RunError if it
  /// fails, or still decides otherwise after most_rounds, or at an interruption that is caught.
  PredictedOutput(const std::filesystem::path& trace, std::string before, const Predict& predict, const Tell& tell);
  ~PredictedOutput();
  PredictedOutput& operator=(PredictedOutput&&) = delete;

  /// What the program wrote to stdout, and to stderr.
  const std::string& output() const { return output_; }
  const std::string& errors() const { return errors_; }
  /// The trace by which the program's clock was predicted, and how many there were until then.
  const std::filesystem::path& trace() const { return trace_; }
  unsigned rounds() const { return rounds_; }
  /// What the program's clock showed when it wrote that.
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
