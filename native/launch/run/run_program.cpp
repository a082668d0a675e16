#include "native/launch/run/run_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "commands/errors.hpp"
#include "commands/interruption.hpp"
#include "commands/output.hpp"
#include "commands/standard_streams.hpp"
#include "native/launch/program_file.hpp"
#include "native/launch/program_input.hpp"
#include "native/launch/run/atomics.hpp"
#include "native/launch/run/results.hpp"
#include "native/launch/tasks_note.hpp"
#include "workloads/trace/region_numbers.hpp"

namespace sdsm::run_command {

using namespace commands;
using namespace program_start;

namespace {

/// Throws BadInput for a program with inline atomic operations.
void refuse_atomics(const std::filesystem::path& program, ProtocolKind protocol) {
  std::vector<AtomicPlace> places = find_atomics(program);
  if (!places.empty()) throw BadInput(atomics_text(program, std::move(places), protocol));
}

/// What the program may need on another machine; the rest, such as a display's or a key agent's, belongs to this one.
bool is_for_hosts(const std::string& name, const std::vector<std::string>& exported) {
  constexpr std::array families{"OMP_", "GOMP_", "SDSM_", "LD_", "LC_"};
  constexpr std::array<std::string_view, 6> names{"LANG", "PATH", "HOME", "USER", "TZ", "TMPDIR"};
  return std::any_of(families.begin(), families.end(), [&](const char* family) { return name.starts_with(family); }) ||
         std::find(names.begin(), names.end(), name) != names.end() ||
         std::find(exported.begin(), exported.end(), name) != exported.end();
}

/// By these libgomp, which is still loaded, would bind each process to the first place.
void set_bindings_aside(program_start::Environment& environment, const RunRequest& request) {
  constexpr std::array<std::string_view, 3> bindings{"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"};
  const std::size_t before = environment.entries().size();
  environment.keep([&](const std::string& name) { return std::ranges::find(bindings, name) == bindings.end(); });
  if (environment.entries().size() == before || request.is_quiet) return;
  commands::say(fmt::format("note: {} have no effect here. `sdsm run --bind` keeps each process on one processor",
                            fmt::join(bindings, ", ")));
}

ProgramStart prepare(const RunRequest& request) {
  ProgramStart start;
  start.file = find_program(request.program.at(0));
  check_program(start.file);
  if (request.cluster.placement != HeapPlacement::as_asked && !request.is_quiet) {
    if (const auto note = unnamed_arrays_note(start.file)) commands::say(*note);
  }
  if (request.cluster.atomics == Atomics::refuse) refuse_atomics(start.file, request.cluster.protocol);
  start.arguments = request.program;
  if (request.cluster.hosts) {
    start.environment.keep([&](const std::string& name) { return is_for_hosts(name, request.exported); });
  }
  set_bindings_aside(start.environment, request);
  start.environment.preload(runtime_library("libsdsm-run.so", "sdsm-run-runtime"));
  // Binding a function at its first call would write to the program's memory at odd times.
  start.environment.set("LD_BIND_NOW", "1");
  start.environment.set("OMP_NUM_THREADS", std::to_string(request.cluster.layout.processes()));
  start.environment.set(dsm::control_variable, std::to_string(control_descriptor));
  return start;
}

/// Files that the run reads: its results must not be written over one of them.
std::vector<std::filesystem::path> inputs_of(const RunRequest& request, const ProgramStart& start) {
  std::vector<std::filesystem::path> inputs{start.file};
  if (request.cluster.emulation) {
    const EmulationRequest& emulation = *request.cluster.emulation;
    inputs.push_back(emulation.platform);
    if (emulation.trace) inputs.push_back(*emulation.trace);
    if (!emulation.scale.sequential_trace.empty()) inputs.emplace_back(emulation.scale.sequential_trace);
  }
  return inputs;
}

std::string silence_note(const std::vector<std::uint32_t>& threads) {
  return fmt::format(
      "note: the program ended in the middle of a parallel region. What these threads did is not in the results, which "
      "have zeros for them: {}",
      fmt::join(threads, ", "));
}

void write_logs(const RunRequest& request, const ProgramStart& start, const ClusterResult& run) {
  if (!request.pages.empty()) {
    const trace::RegionNames names = run.logs->names(RegionNamer(start.file));
    commands::write_output(trace::page_table_text(run.logs->figures(), names, request.cluster.layout), request.pages);
  }
  if (!request.order.empty()) commands::write_output(trace::order_text(run.logs->order()), request.order);
}

void write_timeline(const RunRequest& request, const ProgramStart& start, const ClusterResult& run) {
  const Layout& layout = request.cluster.layout;
  timelines::Labels labels;
  labels.run = "measured";
  labels.origin = request.program.at(0);
  labels.layout = layout;
  labels.tables = &tables_of(request.cluster.protocol);
  const std::uint32_t first_made = first_made_region(layout.processes());
  for (std::uint32_t region = 0; region < first_made; ++region) {
    labels.regions.push_back(trace::fixed_region_name(region));
  }
  for (const auto& [region, name] : run.logs->names(RegionNamer(start.file))) labels.regions.push_back(name);
  const timelines::Selection selection = selection_of(request.timeline, layout.processes());
  const timelines::Timeline timeline = run.timeline->timeline(selection, labels);
  timelines::write(request.timeline, timeline, labels);
}

}  // namespace

int run_program(const RunRequest& request) {
  ProgramStart start = prepare(request);
  const std::vector<std::filesystem::path> inputs = inputs_of(request, start);
  std::vector<std::string> outputs{request.json, request.pages, request.order};
  for (std::string& file : timelines::files_of(request.timeline)) outputs.push_back(std::move(file));
  commands::check_outputs(outputs, inputs);
  catch_interruptions();
  warn_of_cancellation();
  // A program that runs once reads the command's own input, a terminal's too.
  ProgramInput repeated_input;
  const bool has_outputs =
      !request.json.empty() || !request.pages.empty() || !request.order.empty() || !request.timeline.file.empty();
  std::vector<ClusterResult> runs;
  std::vector<RunFigures> figures;
  for (unsigned i = 0; i < request.repeat; ++i) {
    const int input = request.repeat == 1 ? STDIN_FILENO : repeated_input.next_pass();
    ClusterResult result = run_cluster(start, request.cluster, input);
    if (request.repeat > 1) repeated_input.end_pass();
    fit_to_run(result.processes);
    if (!request.is_quiet) {
      commands::tell(report_text(start.file.filename().string(), request.cluster, result.processes));
    }
    if (result.status != 0) {
      commands::say(fmt::format("the program ended with status {}{}", result.status,
                                has_outputs ? "; no results are written" : ""));
      return result.status;
    }
    if (!result.silent.empty() && (has_outputs || !request.is_quiet)) commands::say(silence_note(result.silent));
    figures.push_back(figures_of(result.processes));
    runs.push_back(std::move(result));
  }
  if (request.repeat > 1 && !request.is_quiet) commands::tell(repeats_text(figures));
  const ClusterResult& median = runs[median_run(figures)];
  if (!request.is_quiet) {
    for (const std::string& doubt : doubts_about(request.cluster, figures, median.processes_per_processor)) {
      commands::say(doubt);
    }
  }
  std::vector<TasksRun> tasks;
  for (const dsm::Result& process : median.processes) tasks.push_back({process.tasks, process.task_regions});
  if (const auto note = tasks_note(tasks); note && !request.is_quiet) commands::say(*note);
  write_logs(request, start, median);
  if (!request.timeline.file.empty()) write_timeline(request, start, median);
  if (request.json.empty()) return 0;
  const RunDescription description{request.program, request.cluster, inputs};
  write_result(description, median, figures, request.json);
  return 0;
}

}  // namespace sdsm::run_command
