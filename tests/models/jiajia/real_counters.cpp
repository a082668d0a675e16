#include "tests/models/jiajia/real_counters.hpp"

#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace sdsm::test {

using nlohmann::json;

namespace {

std::uint64_t counter(const jiajia::Counts& counts, const std::string& name) {
  if (name == "remote_faults") return counts.remote_faults();
  if (name == "local_faults") return counts.local_faults();
  if (name == "page_requests") return counts.page_requests();
  if (name == "diffs_at_home" || name == "diffs") return counts.diffs_served;
  if (name == "diff_messages_at_home" || name == "diff_messages") return counts.diff_messages_served;
  if (name == "invalidations") return counts.invalidations;
  if (name == "migrated_in") return counts.migrated_in;
  if (name == "migrated_out") return counts.migrated_out;
  if (name == "locks") return counts.locks;
  if (name == "barriers") return counts.barriers;
  if (name == "twins") return counts.twins();
  if (name == "emptydiffs") return counts.empty_diffs;
  if (name == "notes_out") return counts.notices;
  throw std::invalid_argument("no counter is called " + name);
}

bool agrees(const json& run, const std::string& name, const PlayedCluster& before, const PlayedCluster& after) {
  const auto real = run["counters"][name].get<std::vector<std::uint64_t>>();
  const auto one = by_process(before, name), other = by_process(after, name);
  if (real == one || real == other) return true;
  if (!run["range"].contains(name)) return false;
  const std::int64_t low = run["range"][name][0], high = run["range"][name][1];
  for (const auto& ours : {one, other}) {
    const auto total = static_cast<std::int64_t>(std::accumulate(ours.begin(), ours.end(), std::uint64_t{0}));
    if (total >= low - (high - low) && total <= high + (high - low)) return true;
  }
  for (std::size_t p = 0; p < real.size(); ++p) {
    if (real[p] < std::min(one[p], other[p]) || real[p] > std::max(one[p], other[p])) return false;
  }
  return true;
}

}  // namespace

json real(const std::string& file) {
  std::ifstream in(SDSM_SOURCE_DIR "/tests/models/jiajia/" + file);
  return json::parse(in);
}

jiajia::Rules rules_of(const json& run) {
  return {.adaptive_write_detection = run["options"]["adwd"] == 1,
          .home_migration = run["options"]["hmig"] == 1,
          .quirks = jiajia::Quirks::all()};
}

std::vector<std::uint64_t> by_process(const PlayedCluster& cluster, const std::string& name) {
  std::vector<std::uint64_t> values;
  for (std::uint32_t p = 0; p < cluster.processes(); ++p) values.push_back(counter(cluster.counts(p), name));
  return values;
}

void Comparison::add(const json& run, const PlayedCluster& before, const PlayedCluster& after) {
  for (const auto& [name, values] : run["counters"].items()) {
    ++counters;
    exact += by_process(before, name) == values.get<std::vector<std::uint64_t>>() ? 1 : 0;
    if (agrees(run, name, before, after)) continue;
    std::ostringstream what;
    what << run["program"].get<std::string>();
    for (const json& argument : run["arguments"]) what << ' ' << argument.get<std::string>();
    what << " on " << run["processes"] << ' ' << run["options"] << ' ' << name;
    others.insert(what.str());
  }
}

}  // namespace sdsm::test
