/// How fast the native DSM is, beside what bounds it: what microbench measures under `sdsm run`, from inside a program,
/// against system_bench, which does the same system calls without any protocol. Rounds of both are interleaved, so that
/// a busy machine disturbs all alike.
///
/// Two processes that answer each other take about 10 us a message when they share a processor, and 40 us when each
/// wakes the other one's from its idle state. The scheduler chooses, run by run, for the DSM and for bare messages, so
/// a ratio of two such runs may be one of unlike things. Each round is therefore run twice: with all on one processor,
/// where nothing is left to choose (and a message costs least, so the protocol weighs most), and as the scheduler
/// likes.

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "commands/child.hpp"
#include "commands/command_line.hpp"
#include "commands/descriptor.hpp"
#include "commands/errors.hpp"

namespace {

using namespace sdsm;

using Words = std::vector<std::string>;
/// Medians of the samples of one run, in ns, by quantity.
using Figures = std::map<std::string, double>;

double median(std::vector<double> values) {
  if (values.empty()) throw std::runtime_error("a measurement is missing");
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

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
    if (samples.is_array()) figures[name] = median(samples.get<std::vector<double>>());
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

struct Range {
  double median = 0, least = 0, most = 0;
};

Range over(const std::vector<Round>& rounds, const Figure& figure) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(figure(round));
  return {median(values), *std::min_element(values.begin(), values.end()),
          *std::max_element(values.begin(), values.end())};
}

constexpr const char* page_message = "message.4128";

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

Figure bare(const std::string& name) {
  return [name](const Round& round) { return round.bare.at(name); };
}
Figure two_nodes(const std::string& name) {
  return [name](const Round& round) { return round.two_nodes.at(name); };
}
Figure four_nodes(const std::string& name) {
  return [name](const Round& round) { return round.four_nodes.at(name); };
}
Figure atomics(const std::string& name) {
  return [name](const Round& round) { return round.atomics.at(name); };
}
double breakpoint(const Round& round) {
  return round.breakpoints.at("breakpoint");
}
double breakpoint_and_message(const Round& round) {
  return breakpoint(round) + round.bare.at("message.32");
}
Figure operator/(const Figure& one, const Figure& other) {
  return [one, other](const Round& round) { return one(round) / other(round); };
}

void print_figures(const char* title, const std::vector<Round>& rounds, bool with_pages) {
  fmt::print("{}, {} rounds\n{:<42} {:>10} {:>20}\n", title, rounds.size(), "", "us", "min .. max");
  const auto row = [&](const char* name, const Figure& figure) {
    const Range range = over(rounds, figure);
    fmt::print("{:<42} {:>10.3f} {:>20}\n", name, range.median / 1000,
               fmt::format("{:.3f} .. {:.3f}", range.least / 1000, range.most / 1000));
  };
  row("bare trap and mprotect", bare("trap.burst"));
  row("local write fault", two_nodes("WROH"));
  row("bare message, 32 bytes for 32", bare("message.32"));
  row("bare message, 32 bytes for 32 + 4096", bare(page_message));
  row("the same over TCP", bare("message.tcp.4128"));
  row("remote page fetch, 2 nodes", two_nodes("RUMR"));
  row("remote page fetch, 4 nodes", four_nodes("RUMR"));
  row("bare barrier of 4 processes", bare("barrier.4"));
  row("empty barrier, 4 nodes", four_nodes("barrier"));
  row("bare breakpoint", breakpoint);
  row("atomic operation, own page", atomics("atomic.own"));
  row("atomic operation, other node's page", atomics("atomic.remote"));
  if (!with_pages) return;
  row("memcpy of a page", bare("twin"));
  row("memcpy and memcmp of a page", bare("memcpy_compare"));
  for (const std::string& name : diffs_of(rounds.front())) {
    row(fmt::format("{} words", name).c_str(), bare(name));
  }
  row("diff of every other word", bare("diff.alternating"));
}

void print_ratio(const char* name, const std::vector<Round>& rounds, const Figure& figure, const char* bound = "") {
  const Range range = over(rounds, figure);
  fmt::print("{:<42} {:>8.2f}  ({:.2f} .. {:.2f}{})\n", name, range.median, range.least, range.most, bound);
}

void run_all(int rounds, int samples) {
  std::vector<Round> one, scheduled;
  for (int i = 0; i < rounds; ++i) {
    one.push_back(run_round(samples, Processors::one));
    scheduled.push_back(run_round(samples, Processors::as_scheduled));
  }
  const Figure fault = two_nodes("WROH") / bare("trap.burst");
  const Figure fetch = two_nodes("RUMR") / bare(page_message);
  const Figure sum = [](const Round& round) {
    return round.two_nodes.at("RUMR") / (round.bare.at(page_message) + round.bare.at("trap.burst"));
  };
  const Figure barrier = four_nodes("barrier") / bare("barrier.4");
  const Figure worst_diff = [](const Round& round) {
    double worst = 0;
    for (const std::string& name : diffs_of(round)) worst = std::max(worst, round.bare.at(name));
    return worst / round.bare.at("memcpy_compare");
  };
  const Figure own_atomic = atomics("atomic.own") / breakpoint;
  const Figure remote_atomic = atomics("atomic.remote") / breakpoint_and_message;
  print_figures("all on one processor", one, true);
  print_ratio("remote fetch / (message + trap)", one, sum);
  print_ratio("diff of every other word / copy, compare", one, bare("diff.alternating") / bare("memcpy_compare"));
  print_ratio("local write fault / bare trap", one, fault, "; at most 1.5");
  print_ratio("remote fetch / bare message", one, fetch, "; at most 1.5");
  print_ratio("worst diff / copy and compare", one, worst_diff, "; at most 2");
  print_ratio("empty barrier / bare barrier", one, barrier, "; at most 1.5");
  print_ratio("atomic on an own page / breakpoint", one, own_atomic, "; at most 1.3");
  print_ratio("remote atomic / (breakpoint + message)", one, remote_atomic, "; at most 1.5");
  fmt::print("\n");
  print_figures("as the scheduler likes", scheduled, false);
  print_ratio("scheduled: local write fault / bare", scheduled, fault, "; at most 1.5");
  print_ratio("scheduled: remote fetch / message", scheduled, fetch, "; at most 1.5");
  print_ratio("scheduled: empty barrier / bare", scheduled, barrier, "; at most 1.5");
  print_ratio("scheduled: atomic, own page / breakpoint", scheduled, own_atomic, "; at most 1.3");
  print_ratio("scheduled: remote atomic / both", scheduled, remote_atomic, "; at most 1.5");
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
