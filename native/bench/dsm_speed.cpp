/// How fast the native DSM is, beside what bounds it: what microbench measures under `sdsm run`, from inside a program,
/// against system_bench, which does the same system calls without any protocol. Rounds of both are interleaved, so that
/// a busy machine disturbs all alike.
///
/// Two processes that answer each other take about 10 us a message when they share a processor, and 40 us when each
/// wakes the other one's from its idle state. The scheduler chooses, run by run, for the DSM and for bare messages, so
/// a ratio of two such runs may be one of unlike things. Each round is therefore run twice: with all on one processor,
/// where nothing is left to choose (and a message costs least, so the protocol weighs most), and as the scheduler
/// likes.

#include <sched.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <functional>
#include <map>
#include <system_error>

#include "commands/child.hpp"
#include "commands/command_line.hpp"
#include "commands/descriptor.hpp"
#include "commands/errors.hpp"
#include "native/bench/figures.hpp"

namespace {

using namespace sdsm;
using bench::over;

using Words = std::vector<std::string>;
/// Medians of the samples of one run, in us, by quantity.
using Figures = std::map<std::string, double>;

/// The processors that the measured programs may run on.
enum class Processors { as_scheduled, one };

void use_one_processor() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) throw std::system_error(errno, std::generic_category(), "affinity");
  int first = 0;
  while (!CPU_ISSET(first, &set)) ++first;
  CPU_ZERO(&set);
  CPU_SET(first, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) throw std::system_error(errno, std::generic_category(), "affinity");
}

Figures run(Words words, Processors processors) {
  const commands::Descriptor output = commands::make_temporary_file();
  std::fflush(nullptr);
  commands::Child child([&] {
    return commands::exit_status_of([&] {
      if (processors == Processors::one) use_one_processor();
      commands::Child program = commands::execute({.file = words[0],
                                                   .arguments = words,
                                                   .environment = commands::own_environment(),
                                                   .files = {{output.get(), STDOUT_FILENO}}});
      return program.wait() == 0 ? 0 : 1;
    });
  });
  if (const int status = child.wait(); status != 0) {
    throw std::runtime_error(fmt::format("{} failed (wait status {:#x})", words[0], status));
  }
  ::lseek(output.get(), 0, SEEK_SET);
  const std::string text = commands::read_all(output.get());
  Figures figures;
  const nlohmann::json parsed = nlohmann::json::parse(text);
  for (const auto& [name, samples] : parsed.items()) {
    // A number beside them says how the benchmark ran.
    if (samples.is_array()) figures[name] = bench::range(samples.get<std::vector<double>>()).median / 1000;
  }
  return figures;
}

/// One run of each program.
struct Round {
  Figures bare, two_nodes, four_nodes, breakpoints, atomics;
};

Round run_round(int samples, Processors processors) {
  const std::string count = std::to_string(samples);
  const auto microbench = [&](const char* nodes) {
    return run({SDSM_BINARY_DIR "/sdsm-run", "-q", "-n", nodes, "--", SDSM_BINARY_DIR "/microbench", "1", count},
               processors);
  };
  // system_bench's row of traps is another measurement's; the least that it takes.
  return {run({SDSM_BINARY_DIR "/system_bench", count, "1000"}, processors), microbench("2"), microbench("4"),
          run({SDSM_BINARY_DIR "/atomic_bench", "bare", count}, processors),
          run({SDSM_BINARY_DIR "/sdsm-run", "-q", "-n", "2", "--", SDSM_BINARY_DIR "/atomic_bench", "atomics", count},
              processors)};
}

using Figure = std::function<double(const Round&)>;

std::vector<std::string> diffs_of(const Round& round) {
  std::vector<std::string> names;
  for (const auto& [name, value] : round.bare) {
    if (name.starts_with("diff.") && name != "diff.alternating") names.push_back(name);
  }
  std::sort(names.begin(), names.end(), [](const std::string& one, const std::string& other) {
    return std::stoul(one.substr(5)) < std::stoul(other.substr(5));
  });
  return names;
}

Figure of(Figures Round::*run, const std::string& name) {
  return [run, name](const Round& round) { return (round.*run).at(name); };
}
Figure bare(const std::string& name) {
  return of(&Round::bare, name);
}
Figure operator/(const Figure& one, const Figure& other) {
  return [one, other](const Round& round) { return one(round) / other(round); };
}
Figure operator+(const Figure& one, const Figure& other) {
  return [one, other](const Round& round) { return one(round) + other(round); };
}

const Figure write_fault = of(&Round::two_nodes, "WROH");
const Figure fetch = of(&Round::two_nodes, "RUMR");
const Figure barrier = of(&Round::four_nodes, "barrier");
const Figure own_atomic = of(&Round::atomics, "atomic.own");
const Figure remote_atomic = of(&Round::atomics, "atomic.remote");
const Figure breakpoint = of(&Round::breakpoints, "breakpoint");
const Figure bare_trap = bare("trap.burst");
const Figure bare_page = bare("message.4128");

void print_figures(const char* title, const std::vector<Round>& rounds, bool with_pages) {
  fmt::print("{}, us; {} rounds\n", title, rounds.size());
  const auto row = [&](const std::string& name, const Figure& figure) {
    bench::print_figure(name, over(rounds, figure));
  };
  row("bare trap and mprotect", bare_trap);
  row("local write fault", write_fault);
  row("bare message, 32 bytes for 32", bare("message.32"));
  row("bare message, 32 bytes for 32 + 4096", bare_page);
  row("the same over TCP", bare("message.tcp.4128"));
  row("remote page fetch, 2 nodes", fetch);
  row("remote page fetch, 4 nodes", of(&Round::four_nodes, "RUMR"));
  row("bare barrier of 4 processes", bare("barrier.4"));
  row("empty barrier, 4 nodes", barrier);
  row("bare breakpoint", breakpoint);
  row("atomic operation, own page", own_atomic);
  row("atomic operation, other node's page", remote_atomic);
  if (!with_pages) return;
  row("memcpy of a page", bare("twin"));
  row("memcpy and memcmp of a page", bare("memcpy_compare"));
  for (const std::string& name : diffs_of(rounds.front())) row(name + " words", bare(name));
  row("diff of every other word", bare("diff.alternating"));
}

void print_bounds(const std::string& prefix, const std::vector<Round>& rounds) {
  const auto ratio = [&](const char* name, const Figure& figure, const char* bound) {
    bench::print_ratio(prefix + name, over(rounds, figure), bound);
  };
  ratio("local write fault / bare trap", write_fault / bare_trap, "at most 1.5");
  ratio("remote fetch / bare message", fetch / bare_page, "at most 1.5");
  ratio("empty barrier / bare barrier", barrier / bare("barrier.4"), "at most 1.5");
  ratio("own atomic / breakpoint", own_atomic / breakpoint, "at most 1.3");
  ratio("remote atomic / both", remote_atomic / (breakpoint + bare("message.32")), "at most 1.5");
}

void run_all(int rounds, int samples) {
  std::vector<Round> one, scheduled;
  for (int i = 0; i < rounds; ++i) {
    one.push_back(run_round(samples, Processors::one));
    scheduled.push_back(run_round(samples, Processors::as_scheduled));
  }
  const Figure worst_diff = [](const Round& round) {
    double worst = 0;
    for (const std::string& name : diffs_of(round)) worst = std::max(worst, round.bare.at(name));
    return worst;
  };
  print_figures("all on one processor", one, true);
  bench::print_ratio("remote fetch / (message + trap)", over(one, fetch / (bare_page + bare_trap)));
  bench::print_ratio("diff of every other word / copy, compare",
                     over(one, bare("diff.alternating") / bare("memcpy_compare")));
  bench::print_ratio("worst diff / copy and compare", over(one, worst_diff / bare("memcpy_compare")), "at most 2");
  print_bounds("", one);
  fmt::print("\n");
  print_figures("as the scheduler likes", scheduled, false);
  print_bounds("scheduled: ", scheduled);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sdsm::commands;
  int rounds = 9, samples = 50;
  CommandLine app{"Speed of the native DSM: faults, fetches, diffs and barriers beside the same without a DSM.",
                  "dsm_speed"};
  app.add_option("--rounds", rounds, "repetitions").check(whole_number(1, 1000)).capture_default_str();
  app.add_option("--samples", samples, "of each quantity in a round")
      .check(whole_number(1, 4096))
      .capture_default_str();
  return commands::run(app, argc, argv, [&] {
    run_all(rounds, samples);
    return 0;
  });
}
