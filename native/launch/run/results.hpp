/// The result of a native run: a table for people, and a JSON document. The document has the fields that all results
/// share (commands/results), and those that only a native run has.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "native/launch/run/cluster.hpp"

namespace sdsm::run_command {

struct RunDescription {
  std::vector<std::string> program;
  ClusterOptions options;
  std::vector<std::filesystem::path> inputs;  ///< the program first; hashed as they are on disk
};

/// Times in seconds. The time of a run is its initial thread's, whose clock delimits the region.
double makespan_s(const std::vector<dsm::Result>& processes);

/// Makes each process's terms sum to process 0's time: the run lasts from process 0's start to its end. A process that
/// was not there yet was idle, and what it waited after that end is not counted. The same holds for the measured
/// region: a process that learnt late of its beginning was idle until then. Clocks of several machines are not
/// compared, only how long each part lasted. A process without a result stays unchanged.
void fit_to_run(std::vector<dsm::Result>& processes);

/// Figures of one of the runs of --repeat.
struct RunFigures {
  double makespan_s = 0;
  std::uint64_t retransmissions = 0;  ///< of all processes
  std::uint64_t messages = 0;         ///< of all processes, in the whole run, answers too
};
RunFigures figures_of(const std::vector<dsm::Result>& processes);

/// Why the times are not those of a cluster with a sound network and a processor for each thread: notes for people.
std::vector<std::string> doubts_about(const ClusterOptions& options, const std::vector<RunFigures>& runs,
                                      double processes_per_processor);

/// A table for people: what each thread spent its time on, and what it sent.
std::string report_text(const std::string& program, const ClusterOptions& options,
                        const std::vector<dsm::Result>& processes);

/// One line about several runs: median, minimum and maximum.
std::string repeats_text(const std::vector<RunFigures>& runs);

/// Index of the run with the median time; of an even number the faster of two. Precondition: not empty.
std::size_t median_run(const std::vector<RunFigures>& runs);

/// Writes the document to `file`, or to stdout for "-". median: the run whose time is the median; runs: all, in order.
/// Throws std::system_error if an input cannot be read, and what
/// commands::write_output() throws.
void write_result(const RunDescription& description, const ClusterResult& median, const std::vector<RunFigures>& runs,
                  const std::string& file);

/// The name of the transport on the command line.
std::string name_of(dsm::Transport transport);

}  // namespace sdsm::run_command
