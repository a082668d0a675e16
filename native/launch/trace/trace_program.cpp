#include "native/launch/trace/trace_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <system_error>
#include <vector>

#include "commands/child.hpp"
#include "commands/descriptor.hpp"
#include "commands/errors.hpp"
#include "commands/file_hash.hpp"
#include "commands/interruption.hpp"
#include "commands/output.hpp"
#include "commands/progress.hpp"
#include "commands/standard_streams.hpp"
#include "commands/version.hpp"
#include "native/launch/program_file.hpp"
#include "native/launch/program_input.hpp"
#include "native/launch/program_start.hpp"
#include "native/launch/tasks_note.hpp"
#include "native/launch/trace/machine_speed.hpp"
#include "native/launch/trace/passes.hpp"
#include "native/launch/trace/traced_process.hpp"
#include "native/launch/trace/words_pass.hpp"
#include "workloads/trace/decided.hpp"
#include "workloads/trace/readings.hpp"

namespace sdsm::trace_command {

using namespace commands;
using namespace program_start;

namespace {

/// CPU model and clock, for people.
std::string machine_name() {
  std::ifstream cpus("/proc/cpuinfo");
  std::string model = "unknown processor";
  std::string clock;
  for (std::string line; std::getline(cpus, line) && !line.empty();) {
    const auto value = line.find(": ");
    if (value == std::string::npos) continue;
    if (line.starts_with("model name")) model = line.substr(value + 2);
    if (line.starts_with("cpu MHz")) clock = line.substr(value + 2);
  }
  return clock.empty() ? model : fmt::format("{}, {} MHz", model, clock);
}

/// For the run-time (native/tracer/record/stream.hpp).
Descriptor readings_file(const trace::Readings& readings) {
  std::vector<std::uint64_t> words{readings.size()};
  std::uint64_t place = readings.size() + 2;
  words.push_back(place);
  for (const auto& own : readings) words.push_back(place += own.size());
  for (const auto& own : readings) {
    for (const trace::Reading& reading : own) {
      words.push_back(static_cast<std::uint64_t>(std::chrono::round<std::chrono::nanoseconds>(reading.time).count()));
    }
  }
  Descriptor file = make_temporary_file();
  if (!write_all(file.get(), {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words.front()})) {
    throw std::system_error(errno, std::generic_category(), "the predicted readings cannot be written");
  }
  return file;
}

/// What the program printed to stderr in a pass whose output is not shown: the end of it, for a pass that failed.
class KeptErrors {
 public:
  KeptErrors() : file_(make_temporary_file()) {}
  int descriptor() const { return file_.get(); }
  void show_end() const {
    constexpr off_t most = 4096;
    const off_t size = lseek(file_.get(), 0, SEEK_END);
    const off_t from = size > most ? size - most : 0;
    std::string text(static_cast<std::size_t>(size - from), '\0');
    const ssize_t count = pread(file_.get(), text.data(), text.size(), from);
    if (count > 0) commands::tell(std::string_view(text).substr(0, static_cast<std::size_t>(count)));
  }

 private:
  Descriptor file_;
};

class Run {
 public:
  explicit Run(const TraceRequest& request)
      : request_(request), progress_(request.is_quiet), schedule_(make_temporary_file()) {
    program_.file = find_program(request.program.at(0));
    check_program(program_.file);
    check_output();
    program_.arguments = request.program;
    program_.runtime =
        request.runtime.empty() ? runtime_library("libsdsm-trace.so", "sdsm-trace-runtime") : request.runtime;
    program_.threads = request.threads;
    program_.has_sites = request.has_sites;
    program_.clock_speed = request.clock_speed;
    using std::chrono::system_clock;
    program_.date =
        request.date != 0 ? request.date : static_cast<std::uint64_t>(system_clock::to_time_t(system_clock::now()));
    if (!request.readings.empty()) {
      readings_ = readings_file(trace::read_readings(request.readings));
      program_.readings = readings_.get();
    }
  }

  int trace() {
    warn_of_cancellation();
    speeds_.push_back(measured_speed());
    const std::string watched = make_first_pass();
    for (unsigned pass = 2; pass <= request_.passes; ++pass) {
      RepeatedPass repeated(structure_, pass);
      run_hidden(repeated, pass, tracer::Mode::replay);
      speeds_.push_back(measured_speed());
    }
    if (!watched.empty()) trace_words(watched);
    return write_trace();
  }

 private:
  /// Returns the pages of the array that is asked for word by word. A wait that is not known until others have ended it
  /// (native/tracer/execution/wait_loops.hpp) is computing in the pass that learns it: then the pass is made once more.
  std::string make_first_pass() {
    std::optional<FirstPass> first(std::in_place, structure_);
    run_hidden(*first, 1, tracer::Mode::record);
    if (keeps_learnt_polls()) {
      structure_ = {};
      events_ = 0;
      first.emplace(structure_);
      run_hidden(*first, 1, tracer::Mode::record, "untracked, again: it waits in loops that are known now");
    }
    return request_.words.empty() ? "" : pages_of_array(request_.words, *first, program_.file);
  }

  /// If the schedule has any, nothing but them is left in it.
  bool keeps_learnt_polls() const {
    std::map<std::uint64_t, tracer::ScheduleEntry> learnt;  // by address
    std::vector<tracer::ScheduleEntry> some(4096);
    off_t at = 0;
    for (ssize_t bytes; (bytes = pread(schedule_.get(), some.data(), some.size() * sizeof some[0], at)) > 0;
         at += bytes) {
      for (const auto& entry : std::span(some.data(), static_cast<std::size_t>(bytes) / sizeof some[0])) {
        if (entry.kind != tracer::ScheduleEntry::Kind::wait_loop) continue;
        if (entry.chosen >= tracer::wait_loop_poll) {
          learnt[entry.value] = entry;
        } else {
          learnt.erase(entry.value);
        }
      }
    }
    if (learnt.empty()) return false;
    std::string kept;
    for (const auto& one : learnt) kept.append(reinterpret_cast<const char*>(&one.second), sizeof one.second);
    if (ftruncate(schedule_.get(), 0) != 0 || lseek(schedule_.get(), 0, SEEK_SET) != 0 ||
        !write_all(schedule_.get(), kept)) {
      throw std::system_error(errno, std::generic_category(), "the tracer's schedule cannot be written");
    }
    return true;
  }

  /// Before the first pass, as all together may take long. The arguments may name files that it reads.
  void check_output() const {
    std::vector<std::filesystem::path> inputs{program_.file, "/dev/stdin"};
    inputs.insert(inputs.end(), request_.program.begin() + 1, request_.program.end());
    if (!request_.readings.empty()) inputs.emplace_back(request_.readings);
    commands::check_trace_output(request_.output.string(), inputs);
  }

  /// A pass in which the array's pages stay shut, and each access is a step.
  void trace_words(const std::string& watched) {
    const unsigned number = request_.passes + 1;
    words_.emplace(structure_, number, program_.file);
    program_.words = watched;
    run_hidden(*words_, number, tracer::Mode::replay, "word by word");
    program_.words.clear();
  }

  unsigned passes() const { return request_.passes + (request_.words.empty() ? 1 : 2); }

  void run_hidden(Pass& pass, unsigned number, tracer::Mode mode, const char* what = "untracked") {
    const KeptErrors errors;
    const Descriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
    try {
      run(pass, number, mode, what, {.output = nowhere.get(), .errors = errors.descriptor()});
    } catch (const RunError&) {
      errors.show_end();
      throw;
    }
  }

  std::optional<std::string> clock_note() const {
    // Once may be for a seed.
    if (!request_.readings.empty() || structure_.count_of(EventKind::clock) < 2) return std::nullopt;
    return fmt::format(
        "note: times that {} prints here are the tracer's, without what a cluster costs. `sdsm simulate TRACE --output "
        "-` prints them as predicted",
        request_.program.front());
  }

  void tell_unpredicted_clocks(const trace::Header& header) const {
    if (const std::string clocks = trace::unpredicted_clocks(header); !clocks.empty() && !request_.is_quiet) {
      commands::say(fmt::format("note: {} has {}: that clock is this machine's, which no prediction answers",
                                request_.program.front(), clocks));
    }
  }

  int write_trace() {
    if (structure_.threads() > request_.threads) {
      commands::say(fmt::format(
          "warning: the program itself asks for teams of up to {0} threads, more than -n {1}: the trace has {0} "
          "threads, for a cluster of as many. To keep teams to {1}, set OMP_THREAD_LIMIT={1} and trace again",
          structure_.threads(), request_.threads));
    }
    for (const auto& note : {tasks_note(structure_.tasks()), unnamed_arrays_note(program_.file), clock_note()}) {
      if (note && !request_.is_quiet) commands::say(*note);
    }
    trace::Writer writer(request_.output, structure_.threads());
    const unsigned number = passes();
    TrackedPass pass(structure_, number, writer, program_.file);
    run(pass, number, tracer::Mode::track, "tracked", {});
    trace::Header header;
    header.program = request_.program;
    header.threads = structure_.threads();
    header.passes = request_.passes;
    header.machine = machine_name();
    header.sdsm_version = commands::version();
    header.exit_status = status_;
    header.program_sha256 = sha256_of(program_.file);
    header.asked_threads = request_.threads;
    header.reads_input = input_.was_read();
    header.ended_by = pass.ended_by();
    header.begun_s = program_.date;
    speeds_.push_back(measured_speed());
    header.speed = trace::best_of(speeds_);
    if (words_) header.words = words_->words(request_.words, pass);
    pass.finish(header);
    tell_unpredicted_clocks(header);
    if (!request_.is_quiet) {
      const std::string decided = trace::note_of(trace::decided_when_traced(trace::File(request_.output)));
      if (!decided.empty()) commands::say(decided);
    }
    if (header.ended_by) {
      commands::say("warning: the program ended inside a parallel region; so does the trace");
    }
    if (status_ == 0) return 0;
    commands::say(fmt::format("warning: the program ended with status {}; the trace is complete and says so", status_));
    return 1;
  }

  /// Runs the user's command. What it prints is not the program's output.
  void prepare(unsigned pass) const {
    const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    Child shell = execute({.file = "/bin/sh",
                           .arguments = {"sh", "-c", request_.before},
                           .environment = own_environment(),
                           .files = {{nothing.get(), STDIN_FILENO}, {STDERR_FILENO, STDOUT_FILENO}}});
    const ProcessEnd end = process_end(shell.wait(interrupted));
    if (!end.was_killed && end.status == 0) return;
    throw RunError(fmt::format("--before '{}' {} {} before pass {}; no trace is written", request_.before,
                               end.was_killed ? "was killed by signal" : "ended with status",
                               end.was_killed ? end.signal : end.status, pass));
  }

  void run(Pass& pass, unsigned number, tracer::Mode mode, const char* what, Streams streams) {
    if (!request_.before.empty()) prepare(number);
    const std::string step = fmt::format("pass {} of {} ({})", number, passes(), what);
    const auto start = std::chrono::steady_clock::now();
    progress_.begin(step);
    pass.watch([&](std::uint64_t ended) { show(step, ended, start); });
    streams.input = input_.next_pass();
    TracedProcess process(program_, mode, schedule_.get(), streams);
    const bool is_whole = read_stream(process.stream(), pass);
    const ProcessEnd end = process.wait();
    input_.end_pass();
    throw_if_interrupted(interrupted);
    check_end(pass, number, end, is_whole);
    if (number > 1 && end.status != status_) {
      throw RunError(fmt::format(
          "pass {} ended with status {}, pass 1 with {}: the program does not do the same in each "
          "run. If it depends on files that it changes, put them back before each pass: --before 'rm -f FILE'",
          number, end.status, status_));
    }
    status_ = end.status;
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (number == 1) {
      first_s_ = time.count();
      for (std::uint32_t thread = 0; thread < structure_.threads(); ++thread) events_ += structure_.intervals(thread);
    }
    progress_.end(fmt::format("{} took {:.2f} s", step, time.count()));
    if (request_.after_pass) request_.after_pass(number);
  }

  /// A loop that repeats work until a time has passed makes an event of each turn's parts, and each takes microseconds
  /// here. A program that reads its clock so often spends most of the first pass so.
  void advise_on_clock(std::uint64_t ended, double seconds) {
    constexpr double long_s = 5;
    constexpr std::uint64_t many = 10'000, events_a_reading = 100;
    const std::uint64_t readings = structure_.count_of(EventKind::clock);
    if (has_advised_ || seconds < long_s || readings < many || readings * events_a_reading < ended) return;
    has_advised_ = true;
    commands::say(fmt::format(
        "warning: {0} has read its clock {1} times so far, so it probably repeats work until a time has passed, as "
        "benchmarks do. Tracing each turn takes longer than the work. Give {0} less time or fewer repetitions, "
        "or trace with --clock-speed 100: its clock then runs 100 times as fast",
        request_.program.front(), readings));
  }

  /// The first pass can show only how far it is; the others also show the total of events and the first pass's time.
  void show(const std::string& step, std::uint64_t ended, std::chrono::steady_clock::time_point start) {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    const std::string done =
        events_ == 0 ? fmt::format("{} events", ended)
                     : fmt::format("{:.0f} % of {} events",
                                   100.0 * static_cast<double>(ended) / static_cast<double>(events_), events_);
    const std::string known = events_ == 0 ? "" : fmt::format("; the first pass took {:.0f} s", first_s_);
    progress_.show(fmt::format("{}: {}, {:.0f} s{}", step, done, time.count(), known));
    if (events_ == 0) advise_on_clock(ended, time.count());
  }

  void check_end(const Pass& pass, unsigned number, const ProcessEnd& end, bool is_whole) const {
    const std::string name = program_.file.string();
    if (pass.refusal()) throw RunError(*pass.refusal());
    if (pass.diverged()) {
      throw RunError(
          fmt::format("pass {} differs from pass 1: thread {} came to a point that it had not come to "
                      "then. Fix the program's random seed, and let nothing depend on the time of day.",
                      number, *pass.diverged()));
    }
    if (end.was_killed) {
      throw RunError(fmt::format("{}: killed by signal {} ({}) in pass {}; no trace is written", name, end.signal,
                                 strsignal(end.signal), number));
    }
    if (!pass.has_begun()) {
      throw RunError(fmt::format("{}: ended with status {} before its main function began; no trace is written", name,
                                 end.status));
    }
    if (!pass.is_finished() || !is_whole) {
      throw RunError(fmt::format(
          "{}: ended with status {} without the tracer's knowledge; no trace is written. Has it closed files "
          "that it did not open, or replaced itself by exec?",
          name, end.status));
    }
  }

  const TraceRequest& request_;
  TracedProgram program_;
  Progress progress_;
  ProgramInput input_;
  Descriptor schedule_;
  Descriptor readings_;
  Structure structure_;
  std::optional<WordsPass> words_;
  std::uint64_t events_ = 0;  ///< of the first pass, once it is through
  double first_s_ = 0;        ///< how long it took
  bool has_advised_ = false;
  std::vector<trace::Speed> speeds_;  ///< measured before, between and after the passes
  int status_ = 0;
};

}  // namespace

int trace_program(const TraceRequest& request) {
  catch_interruptions();
  return Run(request).trace();
}

}  // namespace sdsm::trace_command
