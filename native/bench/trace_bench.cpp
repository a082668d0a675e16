/// How fast the tracer is, beside what bounds it: a page touch beside a bare SIGSEGV with its mprotect (touch_bench
/// says how), and a real program's trace beside the same program's untraced run. All in one run, rounds interleaved so
/// that a busy machine disturbs all alike; figures are medians and ranges.

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "commands/child.hpp"
#include "commands/command_line.hpp"
#include "commands/descriptor.hpp"
#include "commands/errors.hpp"
#include "native/bench/figures.hpp"
#include "native/launch/program_start.hpp"
#include "native/launch/trace/trace_program.hpp"
#include "workloads/trace/reader.hpp"

namespace sdsm::trace_command {
namespace {

using Words = std::vector<std::string>;

double cpu_s(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

rusage usage_of(int whom) {
  rusage usage{};
  ::getrusage(whom, &usage);
  return usage;
}

rusage wait_for(commands::Child& child) {
  if (const int status = child.wait(); status != 0) {
    throw std::runtime_error(fmt::format("a measured program failed (wait status {:#x})", status));
  }
  return child.usage();
}

rusage run_untraced(const Words& program, unsigned threads) {
  const commands::Descriptor output = commands::make_temporary_file();
  program_start::Environment environment;
  environment.set("OMP_NUM_THREADS", std::to_string(threads));
  // Threads that spin at barriers would count as the program's work.
  environment.set("OMP_WAIT_POLICY", "passive");
  commands::Child child = commands::execute({.file = program[0],
                                             .arguments = program,
                                             .environment = environment.entries(),
                                             .files = {{output.get(), STDOUT_FILENO}}});
  return wait_for(child);
}

/// One run of `sdsm trace`: CPU seconds of the program, and in the tracked pass of the tracer, too.
struct Traced {
  double untracked_s = 0;  ///< one of the untracked passes
  double tracked_s = 0;
  double all_s = 0;
  double program_kib = 0;  ///< peak
};

/// In a process of its own, whose children are the program's runs. What the program prints goes to `output`.
Traced run_traced(const Words& program, unsigned threads, unsigned passes, const std::filesystem::path& trace,
                  const commands::Descriptor& output) {
  void* const shared = ::mmap(nullptr, sizeof(Traced), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "no memory");
  auto& traced = *static_cast<Traced*>(shared);
  std::fflush(nullptr);
  commands::Child child([&] {
    return commands::exit_status_of([&] {
      ::dup2(output.get(), STDOUT_FILENO);
      const auto used_s = [] { return cpu_s(usage_of(RUSAGE_SELF)) + cpu_s(usage_of(RUSAGE_CHILDREN)); };
      const double before_s = used_s();
      double begun_s = before_s;  // the tracked pass
      TraceRequest request{.program = program,
                           .threads = threads,
                           .output = trace,
                           .passes = passes,
                           .is_quiet = true,
                           .runtime = SDSM_BINARY_DIR "/libsdsm-trace.so"};
      request.after_pass = [&](unsigned pass) {
        if (pass == passes) begun_s = used_s();
        if (pass == passes) traced.untracked_s = cpu_s(usage_of(RUSAGE_CHILDREN)) / passes;
      };
      const int status = trace_program(request);
      traced.tracked_s = used_s() - begun_s;
      traced.all_s = used_s() - before_s;
      traced.program_kib = static_cast<double>(usage_of(RUSAGE_CHILDREN).ru_maxrss);
      return status;
    });
  });
  wait_for(child);
  const Traced result = traced;
  ::munmap(shared, sizeof(Traced));
  return result;
}

/// A line of touch_bench: a name in the first 34 columns, then microseconds.
struct Touch {
  std::string name;
  double us;
};

std::vector<Touch> touches_in(const commands::Descriptor& output) {
  constexpr std::size_t name_columns = 34;
  std::vector<Touch> touches;
  ::lseek(output.get(), 0, SEEK_SET);
  std::istringstream lines(commands::read_all(output.get()));
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < name_columns) throw std::runtime_error("touch_bench printed something else: " + line);
    const std::string name = line.substr(0, name_columns);
    touches.push_back({name.substr(0, name.find_last_not_of(' ') + 1), std::stod(line.substr(name_columns))});
  }
  if (touches.size() < 2) throw std::runtime_error("touch_bench printed nothing");
  return touches;
}

struct Round {
  std::vector<Touch> touches;  ///< the bare one first
  rusage untraced;
  Traced traced;
};

void print_touches(const std::vector<Round>& rounds) {
  using bench::over;
  fmt::print("CPU time of a page touch, us; {} rounds\n", rounds.size());
  const std::vector<Touch>& touches = rounds.front().touches;
  for (std::size_t i = 0; i < touches.size(); ++i) {
    bench::print_figure(touches[i].name, over(rounds, [i](const Round& round) { return round.touches[i].us; }));
  }
  for (std::size_t i = 1; i < touches.size(); ++i) {
    // Within a round, so that what disturbs a round disturbs both.
    const auto ratio = [i](const Round& round) { return round.touches[i].us / round.touches[0].us; };
    bench::print_ratio(touches[i].name + " / bare", over(rounds, ratio), "at most 1.6");
  }
}

void print_program(const Words& program, unsigned threads, const std::vector<Round>& rounds, const trace::File& trace) {
  using bench::over;
  const auto untraced_s = [](const Round& round) { return cpu_s(round.untraced); };
  const auto untracked_s = [](const Round& round) { return round.traced.untracked_s; };
  const auto tracked_s = [](const Round& round) { return round.traced.tracked_s; };
  const auto all_s = [](const Round& round) { return round.traced.all_s; };
  fmt::print("\nCPU time of {}, s; {} threads, {} rounds\n", std::filesystem::path(program[0]).filename().string(),
             threads, rounds.size());
  bench::print_figure("untraced", over(rounds, untraced_s));
  bench::print_figure("untracked pass", over(rounds, untracked_s));
  bench::print_figure("tracked pass, with the tracer", over(rounds, tracked_s));
  bench::print_figure("sdsm trace, all passes", over(rounds, all_s));
  const auto against_untraced = [&](const char* name, auto figure) {
    bench::print_ratio(name, over(rounds, [&](const Round& round) { return figure(round) / untraced_s(round); }));
  };
  against_untraced("untracked pass / untraced", untracked_s);
  against_untraced("tracked pass / untraced", tracked_s);
  against_untraced("sdsm trace / untraced", all_s);
  bench::print_ratio("peak memory, traced / untraced", over(rounds, [](const Round& round) {
                       return round.traced.program_kib / static_cast<double>(round.untraced.ru_maxrss);
                     }));
  std::uint64_t touches = 0;
  for (std::uint32_t thread = 0; thread < trace.header().threads; ++thread) {
    touches += trace.totals(thread).page_touches;
  }
  if (touches == 0) return;
  fmt::print("{:<42} {:>10.3f}   ({} touches, {} bytes)\n", "bytes of trace for each touch",
             static_cast<double>(trace.file_bytes()) / static_cast<double>(touches), touches, trace.file_bytes());
}

struct TemporaryTrace {
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("sdsm-bench-{}.trace", ::getpid());
  ~TemporaryTrace() {
    std::error_code error;
    std::filesystem::remove(path, error);
  }
};

int run(const Words& program, unsigned threads, unsigned passes, int rounds) {
  const TemporaryTrace temporary;
  const std::filesystem::path& trace = temporary.path;
  std::vector<Round> all;
  for (int i = 0; i < rounds; ++i) {
    const commands::Descriptor output = commands::make_temporary_file();
    run_traced({SDSM_BINARY_DIR "/touch_bench"}, 1, 1, trace, output);
    Round round{touches_in(output), run_untraced(program, threads), {}};
    round.traced = run_traced(program, threads, passes, trace, output);
    all.push_back(std::move(round));
  }
  print_touches(all);
  print_program(program, threads, all, trace::File(trace));
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
