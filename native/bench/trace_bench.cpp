/// How fast the tracer is, beside what bounds it: a page touch beside a bare SIGSEGV with its mprotect (touch_bench
/// says how), and a real program's trace beside the same program's untraced run. All in one run, rounds interleaved so
/// that a busy machine disturbs all alike; figures are medians and ranges.

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "commands/child.hpp"
#include "commands/command_line.hpp"
#include "commands/errors.hpp"
#include "native/trace_command/trace_program.hpp"
#include "workloads/trace/reader.hpp"

namespace sdsm::trace_command {
namespace {

using Words = std::vector<std::string>;

/// A folder for traces and outputs, which goes with this object.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "sdsm-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    folder_ = name;
  }
  Scratch(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::filesystem::path operator/(const char* name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

/// What a process and those that it waited for have used so far.
struct Usage {
  double wall = 0;  ///< date, s
  double own = 0;   ///< CPU time, s
  double programs = 0;
  double own_mib = 0;  ///< peaks
  double programs_mib = 0;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}
double cpu(const rusage& usage) {
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}
double peak_mib(const rusage& usage) {
  return static_cast<double>(usage.ru_maxrss) / 1024;
}
double date() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Usage usage_so_far() {
  rusage own{}, programs{};
  ::getrusage(RUSAGE_SELF, &own);
  ::getrusage(RUSAGE_CHILDREN, &programs);
  return {date(), cpu(own), cpu(programs), peak_mib(own), peak_mib(programs)};
}

/// Runs `body` in a process of its own and waits for it; returns what it used. Its output goes to `output`.
rusage in_a_process(const std::filesystem::path& output, const std::function<int()>& body) {
  std::fflush(nullptr);
  commands::Child child([&] {
    return commands::exit_status_of([&] {
      // What it prints is no result of ours.
      if (std::freopen(output.c_str(), "w", stdout) == nullptr) {
        throw std::system_error(errno, std::generic_category(), output.string());
      }
      return body();
    });
  });
  if (const int status = child.wait(); status != 0) {
    throw std::runtime_error(fmt::format("a measured program failed (wait status {:#x})", status));
  }
  return child.usage();
}

struct Untraced {
  double wall = 0, cpu = 0, mib = 0;
};

Untraced run_untraced(const Words& program, unsigned threads, const Scratch& scratch) {
  Words words = program;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const double start = date();
  const rusage usage = in_a_process(scratch / "output", [&] {
    ::setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
    // Threads that spin at barriers would count as the program's work.
    ::setenv("OMP_WAIT_POLICY", "passive", 1);
    ::execvp(arguments[0], arguments.data());
    throw std::system_error(errno, std::generic_category(), program[0]);
    return 1;
  });
  return {date() - start, cpu(usage), peak_mib(usage)};
}

/// One run of `sdsm trace`.
struct Traced {
  double untracked_cpu = 0;  ///< of the program, in one of the untracked passes
  double tracked_cpu = 0;    ///< of the program in the tracked pass
  double tracer_cpu = 0;     ///< of the tracer, which reads the program's records and writes the trace
  double tracked_wall = 0;   ///< of the tracked pass, until the trace is whole
  double all_cpu = 0, all_wall = 0;
  double program_mib = 0, tracer_mib = 0;
};

Traced run_traced(const Words& program, unsigned threads, unsigned passes, const Scratch& scratch) {
  const std::filesystem::path samples_file = scratch / "samples";
  in_a_process(scratch / "output", [&] {
    std::vector<Usage> samples{usage_so_far()};
    TraceRequest request{.program = program,
                         .threads = threads,
                         .output = scratch / "trace",
                         .passes = passes,
                         .is_quiet = true,
                         .runtime = SDSM_BINARY_DIR "/libsdsm-trace.so"};
    request.after_pass = [&](unsigned pass) {
      if (pass <= passes) samples.push_back(usage_so_far());
    };
    const int status = trace_program(request);
    samples.push_back(usage_so_far());
    std::ofstream out(samples_file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(samples.data()),
              static_cast<std::streamsize>(samples.size() * sizeof(Usage)));
    return out.flush() ? status : 1;
  });
  std::vector<Usage> samples(passes + 2);
  std::ifstream in(samples_file, std::ios::binary);
  in.read(reinterpret_cast<char*>(samples.data()), static_cast<std::streamsize>(samples.size() * sizeof(Usage)));
  if (!in) throw std::runtime_error("a measurement is missing");
  const Usage &first = samples.front(), &before = samples[passes], &last = samples.back();
  return {(before.programs - first.programs) / passes,
          last.programs - before.programs,
          last.own - before.own,
          last.wall - before.wall,
          last.own + last.programs - first.own - first.programs,
          last.wall - first.wall,
          last.programs_mib,
          last.own_mib};
}

/// Lines of touch_bench: a name in the first 34 columns, then microseconds.
struct Touch {
  std::string name;
  std::vector<double> us{};
};

void add_touches(const std::filesystem::path& output, std::vector<Touch>& touches) {
  constexpr std::size_t name_columns = 34;
  std::ifstream in(output);
  std::size_t row = 0;
  for (std::string line; std::getline(in, line); ++row) {
    if (line.size() < name_columns) throw std::runtime_error("touch_bench printed something else: " + line);
    std::string name = line.substr(0, name_columns);
    name.erase(name.find_last_not_of(' ') + 1);
    if (row == touches.size()) touches.push_back({name});
    touches[row].us.push_back(std::stod(line.substr(name_columns)));
  }
  if (row < 2) throw std::runtime_error("touch_bench printed nothing");
}

/// Median and range of a figure over the rounds.
struct Range {
  double median = 0, least = 0, most = 0;
};

Range range(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

/// A figure of each round, made of what the round measured.
template <typename Round, typename Figure>
Range over(const std::vector<Round>& rounds, Figure figure) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(figure(round));
  return range(std::move(values));
}

std::string span(Range range, int digits) {
  return fmt::format("{:.{}f} .. {:.{}f}", range.least, digits, range.most, digits);
}

void print_touches(const std::vector<Touch>& touches) {
  fmt::print("CPU time of a page touch, {} rounds\n", touches.front().us.size());
  fmt::print("{:<34} {:>12} {:>20} {:>14}\n", "", "us per touch", "min .. max", "touches/s");
  for (const Touch& touch : touches) {
    const Range us = range(touch.us);
    fmt::print("{:<34} {:>12.3f} {:>20} {:>14.0f}\n", touch.name, us.median, span(us, 3), 1e6 / us.median);
  }
  const std::vector<double>& bare = touches.front().us;
  for (std::size_t i = 1; i < touches.size(); ++i) {
    std::vector<double> ratios;  // within a round, so that what disturbs a round disturbs both
    for (std::size_t round = 0; round < bare.size(); ++round) ratios.push_back(touches[i].us[round] / bare[round]);
    const Range ratio = range(ratios);
    fmt::print("{:<34} {:>8.2f}  ({}; at most 1.6)\n", touches[i].name + " / bare", ratio.median, span(ratio, 2));
  }
}

struct Round {
  Untraced untraced;
  Traced traced;
};

void print_program(const Words& program, unsigned threads, unsigned passes, const std::vector<Round>& rounds,
                   const trace::File& trace) {
  std::string command;
  for (const std::string& word : program) command += " " + word;
  command.replace(0, command.rfind('/', command.find(' ', 1)) + 1, "");
  fmt::print("\n{}; {} threads, {} rounds\n", command, threads, rounds.size());
  fmt::print("{:<34} {:>12} {:>20} {:>12} {:>10}\n", "", "CPU, s", "min .. max", "wall, s", "peak MiB");
  const auto row = [&](const char* name, auto used, auto wall, auto mib) {
    const Range cpus = over(rounds, used), walls = over(rounds, wall), peaks = over(rounds, mib);
    std::string line = fmt::format("{:<34} {:>12.3f} {:>20}", name, cpus.median, span(cpus, 3));
    if (walls.median > 0) line += fmt::format(" {:>12.3f}", walls.median);
    if (peaks.median > 0) line += fmt::format("{:>{}.1f}", peaks.median, walls.median > 0 ? 11 : 24);
    fmt::print("{}\n", line);
  };
  const auto none = [](const Round&) { return 0.0; };
  row(
      "untraced", [](const Round& r) { return r.untraced.cpu; }, [](const Round& r) { return r.untraced.wall; },
      [](const Round& r) { return r.untraced.mib; });
  row(
      "untracked pass, program", [](const Round& r) { return r.traced.untracked_cpu; }, none, none);
  row(
      "tracked pass, program", [](const Round& r) { return r.traced.tracked_cpu; },
      [](const Round& r) { return r.traced.tracked_wall; }, [](const Round& r) { return r.traced.program_mib; });
  row(
      "tracked pass, tracer", [](const Round& r) { return r.traced.tracer_cpu; }, none,
      [](const Round& r) { return r.traced.tracer_mib; });
  row(
      fmt::format("sdsm trace, all {} passes", passes + 1).c_str(), [](const Round& r) { return r.traced.all_cpu; },
      [](const Round& r) { return r.traced.all_wall; }, none);

  std::uint64_t touches = 0;
  for (std::uint32_t thread = 0; thread < trace.header().threads; ++thread)
    touches += trace.totals(thread).page_touches;
  const auto count = static_cast<double>(touches);
  const auto figure = [&](const char* name, auto value, int digits) {
    const Range values = over(rounds, value);
    fmt::print("{:<34} {:>12.{}f} {:>20}\n", name, values.median, digits, span(values, digits));
  };
  fmt::print("{:<34} {:>12}\n", "page touches", touches);
  figure(
      "touches/s, tracked pass, wall", [&](const Round& r) { return count / r.traced.tracked_wall; }, 0);
  figure(
      "touches/s, tracked pass, CPU",
      [&](const Round& r) { return count / (r.traced.tracked_cpu + r.traced.tracer_cpu); }, 0);
  figure(
      "us of CPU more for each touch",
      [&](const Round& r) { return (r.traced.tracked_cpu + r.traced.tracer_cpu - r.untraced.cpu) / count * 1e6; }, 2);
  if (touches > 0) {
    fmt::print("{:<34} {:>12.3f}   ({} bytes)\n", "bytes of trace for each touch",
               static_cast<double>(trace.file_bytes()) / count, trace.file_bytes());
  }
  figure(
      "untracked pass / untraced, CPU", [](const Round& r) { return r.traced.untracked_cpu / r.untraced.cpu; }, 2);
  figure(
      "tracked pass / untraced, CPU",
      [](const Round& r) { return (r.traced.tracked_cpu + r.traced.tracer_cpu) / r.untraced.cpu; }, 2);
  figure(
      "sdsm trace / untraced, CPU", [](const Round& r) { return r.traced.all_cpu / r.untraced.cpu; }, 2);
  figure(
      "peak memory, traced / untraced", [](const Round& r) { return r.traced.program_mib / r.untraced.mib; }, 2);
}

int run(const Words& program, unsigned threads, unsigned passes, int rounds) {
  const Scratch scratch;
  std::vector<Touch> touches;
  std::vector<Round> all;
  for (int round = 0; round < rounds; ++round) {
    run_traced({SDSM_BINARY_DIR "/touch_bench"}, 1, 1, scratch);
    add_touches(scratch / "output", touches);
    const Untraced untraced = run_untraced(program, threads, scratch);
    all.push_back({untraced, run_traced(program, threads, passes, scratch)});
  }
  print_touches(touches);
  print_program(program, threads, passes, all, trace::File(scratch / "trace"));
  return 0;
}

}  // namespace
}  // namespace sdsm::trace_command

int main(int argc, char** argv) {
  using namespace sdsm::commands;
  std::vector<std::string> program{
      SDSM_BINARY_DIR "/workloads/laplace", "--impl", "2", "--size", "1024", "--iterations", "100", "--no-check"};
  unsigned threads = 4, passes = 3;
  int rounds = 5;
  CommandLine app{"Speed of the tracer: a touch beside a bare SIGSEGV, a program's trace beside its untraced run.",
                  "trace_speed"};
  app.add_option("program", program, "program to trace, with its arguments, behind --; without it Laplace");
  app.add_option("-n,--threads", threads, "its threads").check(whole_number(1, 1024)).capture_default_str();
  app.add_option("--passes", passes, "untracked passes").check(whole_number(1, 1000)).capture_default_str();
  app.add_option("--rounds", rounds, "repetitions").check(whole_number(1, 1000)).capture_default_str();
  return run(app, argc, argv, [&] { return sdsm::trace_command::run(program, threads, passes, rounds); });
}
