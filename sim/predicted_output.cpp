#include "sim/predicted_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include "commands/child.hpp"
#include "commands/descriptor.hpp"
#include "commands/errors.hpp"
#include "commands/output.hpp"
#include "commands/standard_streams.hpp"

namespace sdsm::sim {
namespace {

using namespace commands;

/// Whether the program alone decides the order of such events in a thread.
bool is_decision(EventKind kind) {
  using enum EventKind;
  return kind == fork || kind == team_begin || kind == join || kind == barrier || kind == single ||
         kind == copyprivate || kind == loop_begin || kind == clock || kind == end;
}

/// Whether two events are equal, apart from which thread executes a `single`.
bool is_same(const Event& a, const Event& b) {
  const bool has_detail = a.kind != EventKind::single;
  return a.kind == b.kind && a.object == b.object && a.value == b.value && (!has_detail || a.detail == b.detail);
}

/// Returns a thread's next decision; one of kind `end` after the last.
Event next_decision(trace::ThreadCursor& cursor) {
  while (const trace::Interval* interval = cursor.next()) {
    if (is_decision(interval->end.kind)) return interval->end;
  }
  return {.kind = EventKind::end};
}

std::string in_words(const Event& event) {
  return fmt::format("{} ({})", name_of(event.kind),
                     event.kind == EventKind::clock ? fmt::format("{}", name_of(static_cast<ClockSource>(event.detail)))
                                                    : fmt::format("object {}, value {}", event.object, event.value));
}

std::optional<std::string> changed_event(const trace::File& earlier, const trace::File& later) {
  for (std::uint32_t thread = 0; thread < earlier.header().threads; ++thread) {
    trace::ThreadCursor before = earlier.thread(thread), after = later.thread(thread);
    for (std::uint64_t number = 0;; ++number) {
      const Event was = next_decision(before), is = next_decision(after);
      if (!is_same(was, is)) {
        return fmt::format("thread {} comes to {} instead of {} after {} decisions", thread, in_words(is),
                           in_words(was), number);
      }
      if (was.kind == EventKind::end) break;
    }
  }
  return std::nullopt;
}

/// Returns how many readings of the clock a thread made before its first different decision.
std::size_t unchanged_readings(const trace::File& earlier, const trace::File& later, std::uint32_t thread) {
  trace::ThreadCursor before = earlier.thread(thread), after = later.thread(thread);
  for (std::size_t readings = 0;;) {
    const Event was = next_decision(before);
    if (!is_same(was, next_decision(after)) || was.kind == EventKind::end) return readings;
    readings += was.kind == EventKind::clock;
  }
}

/// Threads share some events out among themselves; then only the sum over the threads is the program's decision. Not
/// even the sum is one where threads wait in their own loops, or for objects of the C library.
std::optional<std::string> changed_count(const trace::File& earlier, const trace::File& later) {
  using enum EventKind;
  const auto waits = [](const trace::File& file) { return count_of(file, spin) + count_of(file, take) > 0; };
  const bool is_timed = waits(earlier) || waits(later);
  for (const EventKind kind : {chunk, acquire, flush, task, atomic}) {
    if (is_timed && (kind == acquire || kind == atomic)) continue;
    const std::uint64_t was = count_of(earlier, kind), is = count_of(later, kind);
    if (was != is) return fmt::format("all threads come to {} {} events instead of {}", is, name_of(kind), was);
  }
  return std::nullopt;
}

std::optional<std::string> changed_computing(const trace::File& earlier, const trace::File& later) {
  const auto compute_s = [](const trace::File& file) {
    double sum = 0;
    for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
      sum += static_cast<double>(file.totals(thread).compute_ns) * 1e-9;
    }
    return sum;
  };
  constexpr double noise_s = 0.01;
  const double was = compute_s(earlier), is = compute_s(later);
  if (std::max(was, is) < 2 * std::min(was, is) + noise_s) return std::nullopt;
  return fmt::format("all threads compute for {:.3g} s instead of {:.3g} s", is, was);
}

/// Finds `sdsm-trace` beside this program.
std::filesystem::path trace_command() {
  const auto command = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sdsm-trace";
  if (std::filesystem::exists(command)) return command;
  throw BadInput(fmt::format(
      "{}: --output needs it to run the program, and it is not there. Build the target sdsm-trace", command.string()));
}

std::string text_of(const Descriptor& file) {
  lseek(file.get(), 0, SEEK_SET);
  return read_all(file.get());
}

}  // namespace

trace::Readings readings_that_continue(const trace::Readings& given, const trace::Readings& predicted,
                                       const std::vector<std::size_t>& unchanged) {
  trace::Readings continued = predicted;
  for (std::size_t thread = 0; thread < std::min(predicted.size(), given.size()); ++thread) {
    const std::size_t kept = std::min({unchanged.at(thread), given[thread].size(), predicted[thread].size()});
    if (kept == 0) continue;
    const Time ahead = given[thread][kept - 1].time - predicted[thread][kept - 1].time;
    for (trace::Reading& reading : continued[thread]) reading.time = std::max(reading.time + ahead, Time{});
    std::copy_n(given[thread].begin(), kept, continued[thread].begin());
  }
  return continued;
}

std::optional<std::string> changed_decision(const trace::File& earlier, const trace::File& later) {
  if (earlier.header().threads != later.header().threads) {
    return fmt::format("it has {} threads instead of {}", later.header().threads, earlier.header().threads);
  }
  if (auto event = changed_event(earlier, later)) return event;
  if (auto count = changed_count(earlier, later)) return count;
  return changed_computing(earlier, later);
}

PredictedOutput::PredictedOutput(const std::filesystem::path& trace, std::string before, const Predict& predict,
                                 const Tell& tell)
    : before_(std::move(before)), trace_(trace) {
  if (trace::File(trace).header().reads_input) {
    throw BadInput(
        fmt::format("{}: the program read standard input, which is not in the trace, so it cannot be run again for its "
                    "output. Let it read a file by its name, and trace that",
                    trace.string()));
  }
  std::string name = (std::filesystem::temp_directory_path() / "sdsm-output-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
  folder_ = name;
  try {
    run_rounds(predict, tell);
  } catch (...) {
    remove_files();
    throw;
  }
}

std::filesystem::path PredictedOutput::readings_of_round() const {
  return folder_ / fmt::format("{}.csv", rounds_);
}

trace::Readings PredictedOutput::shown() const {
  return trace::read_readings(readings_of_round());
}

PredictedOutput::~PredictedOutput() {
  remove_files();
}

void PredictedOutput::remove_files() const {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void PredictedOutput::run_rounds(const Predict& predict, const Tell& tell) {
  const std::string hash = trace::File(trace_).header().program_sha256;
  trace::Readings given;
  std::vector<std::size_t> unchanged;  // each thread's unchanged ones, of those given
  for (rounds_ = 1;; ++rounds_) {
    const auto readings = readings_of_round();
    const auto traced = folder_ / fmt::format("{}.trace", rounds_);
    predict(trace_, readings);
    given = readings_that_continue(given, trace::read_readings(readings), unchanged);
    write_output(readings_text(given), readings.string());
    trace_again(readings, traced);
    const trace::File earlier(trace_), later(traced);
    const std::string& program = earlier.header().program.at(0);
    if (!hash.empty() && later.header().program_sha256 != hash) {
      throw BadInput(
          fmt::format("{}: the program is not the one that was traced (its SHA-256 differs). Trace it again", program));
    }
    const std::optional<std::string> change = changed_decision(earlier, later);
    if (!change) return;
    if (rounds_ == most_rounds) {
      throw RunError(
          fmt::format("{} decides by its clock what it does, and still changed it in round {}: {}. Fix its repetitions "
                      "by its options, so that the clock does not decide them",
                      program, rounds_, *change));
    }
    tell(fmt::format("round {} of at most {}: by the predicted clock {}", rounds_, most_rounds, *change));
    unchanged.assign(later.header().threads, 0);
    for (std::uint32_t thread = 0; thread < std::min(earlier.header().threads, later.header().threads); ++thread) {
      unchanged[thread] = unchanged_readings(earlier, later, thread);
    }
    trace_ = traced;
  }
}

void PredictedOutput::trace_again(const std::filesystem::path& readings, const std::filesystem::path& traced) {
  const trace::File file(trace_);
  const trace::Header& header = file.header();
  const std::uint32_t threads = header.asked_threads == 0 ? header.threads : header.asked_threads;
  std::vector<std::string> arguments{"sdsm-trace", "-q",
                                     "-n",         std::to_string(threads),
                                     "--passes",   std::to_string(header.passes),
                                     "--readings", readings.string(),
                                     "-o",         traced.string()};
  if (header.begun_s != 0) arguments.insert(arguments.end(), {"--date", std::to_string(header.begun_s)});
  if (!before_.empty()) arguments.insert(arguments.end(), {"--before", before_});
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), header.program.begin(), header.program.end());
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor output = make_temporary_file(), errors = make_temporary_file();
  Child child = execute({.file = trace_command(),
                         .arguments = arguments,
                         .environment = own_environment(),
                         .files = {{nothing.get(), 0}, {output.get(), 1}, {errors.get(), 2}}});
  const ProcessEnd end = process_end(child.wait(interrupted));
  output_ = text_of(output);
  errors_ = text_of(errors);
  if (std::filesystem::exists(traced)) return;
  tell(errors_);
  if (!end.was_killed && end.status == bad_input) throw BadInput(std::vector<std::string>{});
  throw RunError(fmt::format("{} could not be run again for its output", header.program.at(0)));
}

}  // namespace sdsm::sim
