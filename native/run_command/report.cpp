#include "native/run_command/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "native/run_command/figures.hpp"
#include "native/run_command/result_document.hpp"

namespace sdsm::run_command {
namespace {

struct Column {
  std::string title;
  std::function<std::string(const dsm::Tally&)> cell;
};

std::string time_cell(std::uint64_t nanoseconds) {
  return fmt::format("{:.4f}", seconds(nanoseconds));
}

std::uint64_t fault_time(const dsm::Tally& tally) {
  std::uint64_t sum = 0;
  for (const std::uint64_t time : tally.fault_ns) sum += time;
  return sum;
}

std::vector<Column> columns(const std::vector<dsm::Result>& processes) {
  const auto time = [](std::string title, std::uint64_t dsm::Tally::*which) {
    return Column{std::move(title), [which](const dsm::Tally& tally) { return time_cell(tally.*which); }};
  };
  const auto count = [](std::string title, std::uint64_t dsm::Tally::*which) {
    return Column{std::move(title), [which](const dsm::Tally& tally) { return std::to_string(tally.*which); }};
  };
  std::vector<Column> all{
      {"compute", [](const dsm::Tally& tally) { return time_cell(compute_ns(tally)); }},
      {"fault", [](const dsm::Tally& tally) { return time_cell(fault_time(tally)); }},
      time("diff", &dsm::Tally::diff_ns),
      time("protect", &dsm::Tally::protect_ns),
      time("barrier", &dsm::Tally::barrier_ns),
      time("lock", &dsm::Tally::lock_ns),
      time("idle", &dsm::Tally::idle_ns),
  };
  for (const FaultRule& rule : fault_rules) {
    const auto kind = static_cast<std::size_t>(rule.kind);
    const bool occurs = std::any_of(processes.begin(), processes.end(),
                                    [&](const dsm::Result& result) { return result.region.faults[kind] > 0; });
    if (!occurs) continue;
    all.push_back(
        {std::string(rule.name), [kind](const dsm::Tally& tally) { return std::to_string(tally.faults[kind]); }});
  }
  for (auto& column : {count("messages", &dsm::Tally::messages_sent), count("bytes", &dsm::Tally::bytes_sent),
                       count("diffs", &dsm::Tally::diffs), count("barriers", &dsm::Tally::barriers),
                       count("locks", &dsm::Tally::locks)}) {
    all.push_back(column);
  }
  const bool has_atomics = std::any_of(processes.begin(), processes.end(),
                                       [](const dsm::Result& result) { return result.region.atomics > 0; });
  if (has_atomics) all.push_back(count("atomics", &dsm::Tally::atomics));
  return all;
}

std::string plural(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string report_text(const std::string& program, const Layout& layout, const std::vector<dsm::Result>& processes) {
  const bool has_region = processes.front().clock_calls >= 2;
  std::string text = fmt::format("sdsm: {} on {} of {}: {:.4f} s", program, plural(layout.nodes, "node"),
                                 plural(layout.threads_per_node, "thread"), makespan_s(processes));
  text += has_region ? fmt::format(" between its first and last omp_get_wtime ({:.4f} s in all)\n",
                                   whole_makespan_s(processes))
                     : " from begin to end\n";
  text += "times in s\n";
  // A row of cells for each thread, below the titles.
  std::vector<std::vector<std::string>> rows{{"thread", "node"}};
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    rows.push_back({std::to_string(i), std::to_string(index_of(layout.node_of(ProcessId{i})))});
  }
  for (const Column& column : columns(processes)) {
    rows[0].push_back(column.title);
    for (std::size_t i = 0; i < processes.size(); ++i) rows[i + 1].push_back(column.cell(processes[i].region));
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::size_t width = 0;
      for (const auto& other : rows) width = std::max(width, other[i].size());
      text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", row[i], width);
    }
    text += "\n";
  }
  return text;
}

std::string repeats_text(const std::vector<double>& makespans_s) {
  const auto [least, most] = std::minmax_element(makespans_s.begin(), makespans_s.end());
  return fmt::format("sdsm: {} runs: median {:.4f} s, least {:.4f} s, most {:.4f} s\n", makespans_s.size(),
                     makespans_s[median_run(makespans_s)], *least, *most);
}

}  // namespace sdsm::run_command
