/// sdsm-trace: traces a program, and shows what a trace holds.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "commands/command_line.hpp"
#include "commands/errors.hpp"
#include "native/launch/trace/report.hpp"
#include "native/launch/trace/trace_program.hpp"
#include "native/tracer/record/stream.hpp"
#include "workloads/trace/limits.hpp"

namespace {

using namespace sdsm;
using namespace sdsm::commands;
using namespace sdsm::trace_command;

constexpr const char* tracing_help =
    "Record what an OpenMP program does, so that it can be simulated, and show what was recorded.\n\n"
    "sdsm trace -n THREADS -o FILE [OPTIONS] -- PROGRAM [ARGUMENTS...]\n"
    "sdsm trace info FILE [--json FILE|-]\n"
    "sdsm trace dump FILE\n"
    "sdsm trace mend FILE -o FILE "
    "--pad|--without-barriers|--without-locks|--without-singles|--balance|--parallel-init\n\n"
    "Runs an OpenMP program (gcc, g++ or gfortran -fopenmp) with THREADS threads, one at a time, and records what it "
    "does: compute times, synchronisation, and which pages each thread reads and writes in between.\n"
    "The program runs several times, the last time with its memory watched, and must do the same each time. Only the "
    "last run's output is shown.";

int show_info(std::vector<std::string> own) {
  CommandLine app("Shows what a trace file holds: program, threads, totals, regions.", "sdsm trace info");
  app.footer(
      "Reads the whole file, so that damage anywhere is found. Tells the program and the status that it ended with, "
      "its\n"
      "threads (a simulation needs nodes x threads per node of as many), what each thread did and computed, and the\n"
      "regions of memory with their pages and placement.\n\n"
      "Examples:\n"
      "  sdsm trace info program.trace\n"
      "  sdsm trace info program.trace --json -\n\n"
      "Exit status: 0 done, 1 the output could not be written, 2 no trace, or a damaged one. See docs/tracing.md.");
  std::string file;
  std::string json;
  add_name(app, "FILE", file, "trace file", "TRACE").required();
  add_output(app, "--json", json, "write JSON to this file, or to stdout with -");
  if (!app.parse(std::move(own))) return 0;
  print_info(file, json);
  return 0;
}

int show_dump(std::vector<std::string> own) {
  CommandLine app("Prints a whole trace file as JSON lines.", "sdsm trace dump");
  app.footer(
      "Example:\n  sdsm trace dump program.trace | head\n\n"
      "Exit status: 0 done, 1 the output could not be written, 2 no trace, or a damaged one. See "
      "docs/trace-format.md.");
  std::string file;
  add_name(app, "FILE", file, "trace file", "TRACE").required();
  if (!app.parse(std::move(own))) return 0;
  print_dump(file);
  return 0;
}

int mend(std::vector<std::string> own) {
  CommandLine app("Write the trace of the program with one thing mended, to see what `sdsm simulate` gains by it.",
                  "sdsm trace mend");
  app.footer(
      "What else the program does stays as it was traced. `sdsm explain` tries them all, at each place alone.\n\n"
      "Example:\n  sdsm trace mend program.trace -o padded.trace --pad\n\n"
      "Exit status: 0 done, 1 the output could not be written, 2 no trace, or nothing to mend. See docs/tracing.md.");
  std::string file;
  std::string output;
  std::vector<Mending> chosen;
  add_name(app, "FILE", file, "trace file", "TRACE").required();
  add_name(app, "-o,--output", output, "trace file to write").required();
  // No option group of CLI11, which never ends where one stands beside an empty argument.
  const auto add = [&](const char* name, Mending way, const char* help) {
    app.add_flag_callback(
           name, [&chosen, way] { chosen.push_back(way); }, help)
        .group("What is mended (one of these)");
  };
  add("--pad", Mending::padding, "a page for each thread, where several write one page in lines of their own");
  add("--without-barriers", Mending::barriers, "no barrier between threads that use no page in common around it");
  add("--without-locks", Mending::locks, "no locks, no atomic operations: the most that fewer can gain");
  add("--without-singles", Mending::singles,
      "no `single`, and no barrier at its end: the most that work done once outside can gain");
  add("--balance", Mending::balance,
      "between two barriers all threads compute equally long, together as long as traced");
  add("--parallel-init", Mending::initialising,
      "arrays that the initial thread fills before the first parallel region are filled there, each page by who writes "
      "it most, or else reads it most");
  std::vector<std::uint32_t> at;
  app.add_option(
         "--at", at,
         "only what is called for there: numbers, from 1, in header.call_sites of `sdsm trace info --json` (not "
         "with --pad and --parallel-init)")
      .delimiter(',')
      .check(whole_number(1, trace::max_call_sites))
      .type_name("CALL_SITE[,CALL_SITE]");
  if (!app.parse(std::move(own))) return 0;
  if (chosen.size() != 1) {
    throw BadInput(
        "give one of --pad, --without-barriers, --without-locks, --without-singles, --balance and --parallel-init. "
        "`sdsm trace mend --help` explains them");
  }
  write_mended(file, output, chosen.front(), {at.begin(), at.end()});
  return 0;
}

int trace(Arguments arguments) {
  CommandLine app(tracing_help, "sdsm trace");
  app.footer("Exit status: 0 done, 1 the run failed, 2 bad input or usage. See docs/tracing.md.");
  TraceRequest request;
  app.add_option("-n,--threads", request.threads, "OpenMP threads (OMP_NUM_THREADS of the program)")
      .required()
      .check(whole_number(1, tracer::most_threads))
      .type_name("THREADS");
  app.add_option("-o,--output", request.output, "trace file to write").required().type_name("FILE");
  app.add_option("--passes", request.passes, "number of untracked runs; a compute time is the least of theirs")
      .check(whole_number(1, 1000))
      .capture_default_str()
      .type_name("N");
  add_name(app, "--before", request.before,
           "shell command that runs before each pass, as in 'rm -f out.dat': each pass then finds the files that "
           "the first one found",
           "COMMAND");
  add_name(app, "--readings", request.readings,
           "let the program's clock show what `sdsm simulate --readings` wrote, instead of the tracer's time");
  app.add_option("--clock-speed", request.clock_speed,
                 "let the program's clock go N times as fast, so that a loop that repeats work until a time has passed "
                 "makes fewer turns. Computing times stay; times that the program prints are N times too long")
      .check(whole_number(1, 1'000'000))
      .capture_default_str()
      .type_name("N");
  app.add_option("--date", request.date,
                 "what the program's calendar clocks show when it begins, in seconds since 1970 (default: now): a "
                 "program that takes its seeds from them does the same again")
      .check(whole_number(1, sdsm::most_date_s))
      .type_name("SECONDS");
  app.add_flag("--lines", request.has_sites, "record which instruction touched each page first (for addr2line)");
  app.add_option("--words", request.words,
                 "record every word of this array's pages that a thread accesses, by single steps: tells false sharing "
                 "for sure, and is slow. A variable, a line FILE:LINE that allocates, or a name that `sdsm explain` "
                 "prints. Implies --lines")
      .type_name("ARRAY");
  app.add_flag("-q,--quiet", request.is_quiet, "no progress on stderr");
  if (!app.parse(std::move(arguments.own))) return 0;
  if (arguments.program.empty()) {
    throw BadInput("no program to trace. Put it behind --: sdsm trace -n 4 -o FILE -- PROGRAM ARGUMENTS");
  }
  request.has_sites |= !request.words.empty();
  request.program = std::move(arguments.program);
  return trace_program(request);
}

int run(Arguments arguments) {
  const std::string first = arguments.own.empty() ? "" : arguments.own.front();
  using Show = int (*)(std::vector<std::string>);
  const Show show = first == "info" ? &show_info : first == "dump" ? &show_dump : first == "mend" ? &mend : nullptr;
  if (!first.empty() && !first.starts_with('-') && show == nullptr) {
    throw BadInput(fmt::format(
        "'{0}' is neither info nor dump nor mend nor an option. To trace it: sdsm trace -n 4 -o FILE -- {0}; to look "
        "at a trace: sdsm trace info FILE",
        first));
  }
  if (show == nullptr) return trace(std::move(arguments));
  // A file's name may begin with a dash: then it stands behind --.
  arguments.own.erase(arguments.own.begin());
  if (arguments.has_separator) {
    arguments.own.emplace_back("--");
    arguments.own.insert(arguments.own.end(), arguments.program.begin(), arguments.program.end());
  }
  return show(std::move(arguments.own));
}

}  // namespace

int main(int argc, char** argv) {
  return exit_status_of([&] { return run({argc, argv}); });
}
