/// Is it the real system? JIAJIA's rules with its quirks, against counters of real runs.
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/models/jiajia/programs.hpp"

using namespace sdsm;
using namespace sdsm::test;
using nlohmann::json;

namespace {

json real(const std::string& file) {
  std::ifstream in(SDSM_SOURCE_DIR "/tests/models/jiajia/" + file);
  return json::parse(in);
}

jiajia::Rules rules_of(const json& run) {
  return {.adaptive_write_detection = run["options"]["adwd"] == 1,
          .home_migration = run["options"]["hmig"] == 1,
          .quirks = jiajia::Quirks::all()};
}

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

std::vector<std::uint64_t> by_process(const PlayedCluster& cluster, const std::string& name) {
  std::vector<std::uint64_t> values;
  for (std::uint32_t p = 0; p < cluster.processes(); ++p) values.push_back(counter(cluster.counts(p), name));
  return values;
}

std::unique_ptr<PlayedCluster> play(const json& probe) {
  auto played = std::make_unique<PlayedCluster>(probe["processes"], rules_of(probe));
  PlayedCluster& cluster = *played;
  for (const std::uint32_t home : probe["homes"]) cluster.allocate(1, home);
  cluster.barrier();
  cluster.reset();
  std::istringstream operations(probe["ops"].get<std::string>());
  std::uint64_t value = 0;
  for (std::string one; std::getline(operations, one, ';');) {
    std::istringstream words(one);
    char what = 0;
    std::uint32_t process = 0, object = 0;
    words >> what >> process >> object;
    switch (what) {
      case 'r': cluster.read(process, object); break;
      case 'w': cluster.write(process, object, ++value); break;
      case 'l': cluster.lock(process, object); break;
      case 'u': cluster.unlock(process, object); break;
      default: cluster.barrier();
    }
  }
  return played;
}

/// Barrier grants of the barrier before the start may be among a real manager's.
bool are_as_real(const PlayedCluster& cluster, std::uint32_t process, const json& sent) {
  bool is_as_real = true;
  for (std::size_t i = 0; i < jiajia::message_kinds; ++i) {
    const std::uint64_t real = sent.value(std::string(jiajia::message_names[i]), 0);
    const std::uint64_t ours = cluster.counts(process).sent[i];
    const bool is_grant = static_cast<jiajia::Message>(i) == jiajia::Message::BARRGRANT && ours > 0;
    const std::uint64_t before_start = is_grant ? cluster.processes() - 1 : 0;
    if (real < ours || real > ours + before_start) is_as_real = false;
  }
  return is_as_real;
}

std::unique_ptr<PlayedCluster> run(const json& run, Requests requests) {
  std::map<std::string, std::uint32_t> given;
  const json& arguments = run["arguments"];
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    given[arguments[i]] = static_cast<std::uint32_t>(std::stoul(arguments[i + 1].get<std::string>()));
  }
  const auto set = [&](const std::string& option, std::uint32_t& value) {
    if (const auto found = given.find(option); found != given.end()) value = found->second;
  };
  const std::string program = run["program"];
  const std::uint32_t processes = run["processes"];
  if (program == "sor") {
    Sor sor;
    set("-m", sor.m);
    set("-n", sor.n);
    set("-i", sor.iterations);
    return test::run(sor, processes, rules_of(run), requests);
  }
  if (program == "lufix") {
    Lu lu;
    set("-n", lu.n);
    set("-b", lu.block);
    return test::run(lu, processes, rules_of(run), requests);
  }
  return test::run(Mm{program == "mm" ? 1024U : static_cast<std::uint32_t>(std::stoul(program.substr(2)))}, processes,
                   rules_of(run), requests);
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  std::uint64_t total = 0;
  for (const std::uint64_t value : values) total += value;
  return total;
}

/// Where real runs agree, one order of requests gives every process's counter. Where they differ, the sum of one order
/// lies in their range, widened by its own width to both sides; or the range of both orders, process by process,
/// contains the real ones.
bool agrees(const json& run, const std::string& name, const PlayedCluster& before, const PlayedCluster& after) {
  const auto real = run["counters"][name].get<std::vector<std::uint64_t>>();
  const auto one = by_process(before, name), other = by_process(after, name);
  if (real == one || real == other) return true;
  if (!run["range"].contains(name)) return false;
  const std::int64_t low = run["range"][name][0], high = run["range"][name][1];
  for (const auto& ours : {one, other}) {
    const auto total = static_cast<std::int64_t>(sum(ours));
    if (total >= low - (high - low) && total <= high + (high - low)) return true;
  }
  for (std::size_t p = 0; p < real.size(); ++p) {
    if (real[p] < std::min(one[p], other[p]) || real[p] > std::max(one[p], other[p])) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("JIAJIA's 36 probes: with all quirks every counter of every process is the real one") {
  const json probes = real("probes.json")["programs"];
  std::size_t counters = 0, messages = 0;
  for (const json& probe : probes) {
    CAPTURE(probe["seed"].get<int>());
    const std::unique_ptr<PlayedCluster> played = play(probe);
    const PlayedCluster& cluster = *played;
    for (const auto& [name, values] : probe["counters"].items()) {
      if (name == "sent_by_type") continue;
      CAPTURE(name);
      CHECK(by_process(cluster, name) == values.get<std::vector<std::uint64_t>>());
      counters += values.size();
    }
    for (std::uint32_t process = 0; process < cluster.processes(); ++process, ++messages) {
      CAPTURE(process);
      CHECK(are_as_real(cluster, process, probe["counters"]["sent_by_type"][process]));
    }
    std::vector<std::uint32_t> homes;
    for (std::uint64_t page = 0; page < probe["homes"].size(); ++page) homes.push_back(cluster.home(page));
    CHECK(homes == probe["homes_at_exit"].get<std::vector<std::uint32_t>>());
  }
  CHECK(probes.size() == 36);
  CHECK(counters == 1365);
  CHECK(messages == 105);
}

TEST_CASE("JIAJIA's sor, lu and mm count as the real runs, but for what the order of requests leaves open") {
  std::size_t counters = 0, exact = 0;
  std::set<std::string> others;
  const json runs = real("programs.json")["runs"];
  for (const json& one : runs) {
    const auto before = run(one, Requests::before_the_home_ends);
    const auto after = run(one, Requests::after_the_home_ends);
    for (const auto& [name, values] : one["counters"].items()) {
      ++counters;
      exact += by_process(*before, name) == values.get<std::vector<std::uint64_t>>() ? 1 : 0;
      if (agrees(one, name, *before, *after)) continue;
      std::ostringstream what;
      what << one["program"].get<std::string>();
      for (const json& argument : one["arguments"]) what << ' ' << argument.get<std::string>();
      what << " on " << one["processes"] << ' ' << one["options"] << ' ' << name;
      others.insert(what.str());
    }
  }
  CHECK(counters == 1020);
  CHECK(exact > 800);
  // sor with both options: the real system then writes past its table of homes, into the state of a copy. lufix: its
  // diffs share messages in the order of its cache's slots, and real homes serve some requests before and some after
  // their intervals end (mixed at random, the sum is 88 to 122; the real one is 99 to 102). sor with migration alone:
  // the real one traps 2 to 3 times less often of 1205, in no order of requests that was tried.
  CHECK(others == std::set<std::string>{
                      R"(lufix -n 512 -b 16 on 3 {"adwd":0,"hmig":1} diff_messages)",
                      R"(sor -n 2047 -i 20 on 4 {"adwd":1,"hmig":1} diffs)",
                      R"(sor -n 2047 -i 20 on 4 {"adwd":1,"hmig":1} invalidations)",
                      R"(sor -n 2047 -i 20 on 4 {"adwd":1,"hmig":1} page_requests)",
                      R"(sor -n 2047 -i 20 on 4 {"adwd":1,"hmig":1} remote_faults)",
                      R"(sor on 4 {"adwd":0,"hmig":1} remote_faults)",
                  });
}
