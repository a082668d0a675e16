/// Is it the real system? JIAJIA's rules with its quirks, against counters of real runs.
#include <memory>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/models/jiajia/programs.hpp"
#include "tests/models/jiajia/real_counters.hpp"

using namespace sdsm;
using namespace sdsm::test;
using nlohmann::json;

namespace {

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
    const bool is_grant = static_cast<jiajia::MessageKind>(i) == jiajia::MessageKind::BARRGRANT && ours > 0;
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

}  // namespace

TEST_CASE("JIAJIA's 36 probes have the real counters with all quirks") {
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

// What it calls, the random programs call with the sanitizers.
TEST_CASE("JIAJIA's sor, lu and mm count as the real runs", "[unsanitized]") {
  Comparison compared;
  const json runs = real("programs.json")["runs"];
  for (const json& one : runs) {
    const auto before = run(one, Requests::before_the_home_ends);
    const auto after = run(one, Requests::after_the_home_ends);
    compared.add(one, *before, *after);
  }
  CHECK(compared.counters == 1020);
  CHECK(compared.exact > 800);
  // sor with both options: the real system then writes past its table of homes, into the state of a copy. lufix: its
  // diffs share messages in the order of its cache's slots, and real homes serve some requests before and some after
  // their intervals end (mixed at random, the sum is 88 to 122; the real one is 99 to 102). sor with migration alone:
  // the real one traps 2 to 3 times less often of 1205, in no order of requests that was tried.
  CHECK(compared.others == std::set<std::string>{
                               R"(lufix -n 512 -b 16 on 3 {"adwd":0,"hmig":1} diff_messages)",
                               R"(sor -n 2047 -i 20 on 4 {"adwd":1,"hmig":1} diffs)",
                               R"(sor -n 2047 -i 20 on 4 {"adwd":1,"hmig":1} invalidations)",
                               R"(sor -n 2047 -i 20 on 4 {"adwd":1,"hmig":1} page_requests)",
                               R"(sor -n 2047 -i 20 on 4 {"adwd":1,"hmig":1} remote_faults)",
                               R"(sor on 4 {"adwd":0,"hmig":1} remote_faults)",
                           });
}
