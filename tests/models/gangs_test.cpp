/// The threads of gangs, and the messages at their barriers, each by hand.
#include <vector>

#include "models/barrier_shape.hpp"
#include "tests/catch.hpp"
#include "workloads/include/sdsm/partition.h"

using namespace sdsm;

namespace {

using Gangs = std::vector<std::vector<int>>;

/// The members of each gang, by each function of the rule.
Gangs gangs_of(const sdsm_division& division) {
  Gangs gangs(static_cast<std::size_t>(division.gangs));
  for (int thread = 0; thread < division.threads; ++thread) {
    auto& gang = gangs.at(static_cast<std::size_t>(sdsm_gang_of(&division, thread)));
    CHECK(sdsm_member_number(&division, thread) == static_cast<int>(gang.size()));
    gang.push_back(thread);
  }
  for (int gang = 0; gang < division.gangs; ++gang) {
    const auto& members = gangs[static_cast<std::size_t>(gang)];
    CHECK(sdsm_gang_size(&division, gang) == static_cast<int>(members.size()));
    for (int m = 0; m < static_cast<int>(members.size()); ++m) {
      CHECK(sdsm_thread_of(&division, gang, m) == members[static_cast<std::size_t>(m)]);
    }
  }
  return gangs;
}

std::vector<ProcessId> processes(const std::vector<std::uint32_t>& numbers) {
  std::vector<ProcessId> list;
  for (const std::uint32_t number : numbers) list.push_back(ProcessId{number});
  return list;
}

}  // namespace

TEST_CASE("by block a gang has whole units of consecutive threads") {
  CHECK(gangs_of({sdsm_by_block, 2, 1, 8}) == Gangs{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(gangs_of({sdsm_by_block, 3, 1, 7}) == Gangs{{0, 1}, {2, 3}, {4, 5, 6}});
  CHECK(gangs_of({sdsm_by_block, 2, 2, 7}) == Gangs{{0, 1, 2, 3}, {4, 5, 6}});
  CHECK(gangs_of({sdsm_by_block, 2, 4, 12}) == Gangs{{0, 1, 2, 3}, {4, 5, 6, 7, 8, 9, 10, 11}});
  CHECK(gangs_of({sdsm_by_block, 1, 5, 3}) == Gangs{{0, 1, 2}});
}

TEST_CASE("by round robin units of threads go to the gangs in turn") {
  CHECK(gangs_of({sdsm_by_round_robin, 2, 1, 7}) == Gangs{{0, 2, 4, 6}, {1, 3, 5}});
  CHECK(gangs_of({sdsm_by_round_robin, 2, 2, 7}) == Gangs{{0, 1, 4, 5}, {2, 3, 6}});
  CHECK(gangs_of({sdsm_by_round_robin, 3, 2, 7}) == Gangs{{0, 1, 6}, {2, 3}, {4, 5}});
}

TEST_CASE("each thread is in one gang, and no gang is empty") {
  for (int threads = 1; threads <= 12; ++threads) {
    for (int unit = 1; unit <= 5; ++unit) {
      for (int gangs = 1; gangs <= (threads + unit - 1) / unit; ++gangs) {
        for (const int partition : {sdsm_by_block, sdsm_by_round_robin}) {
          CAPTURE(threads, unit, gangs, partition);
          const sdsm_division division{partition, gangs, unit, threads};
          CHECK(sdsm_problem_of(&division) == nullptr);
          for (const auto& gang : gangs_of(division)) CHECK_FALSE(gang.empty());
        }
      }
    }
  }
}

TEST_CASE("an impossible division is reported") {
  const auto problem = [](sdsm_division division) { return std::string(sdsm_problem_of(&division)); };
  CHECK(problem({sdsm_by_block, 5, 1, 4}) == "more gangs than threads. Ask for fewer");
  CHECK(problem({sdsm_by_round_robin, 3, 2, 4}) == "more gangs than units of threads. Ask for fewer, or smaller units");
  CHECK(problem({sdsm_by_block, 0, 1, 4}) == "it asks for no gang. Ask for one at least");
  CHECK(problem({sdsm_by_block, 2, 0, 4}).starts_with("a unit has one thread"));
  CHECK(problem({2, 2, 1, 4}).starts_with("there is no such partition"));
}

TEST_CASE("a gang has its members' nodes, all with the most threads") {
  const Layout cluster{4, 2};
  CHECK(layout_of(processes({0, 1, 2, 3, 4, 5, 6, 7}), cluster) == cluster);
  CHECK(layout_of(processes({4, 5, 6, 7}), cluster) == Layout{2, 2});
  CHECK(layout_of(processes({0, 2, 4, 6}), cluster) == Layout{4, 1});
  CHECK(layout_of(processes({1, 2, 3}), cluster) == Layout{2, 2});
  CHECK(layout_of(processes({5}), cluster) == Layout{1, 1});
}

TEST_CASE("a gang's first member is its master, its node the root") {
  const Layout cluster{8, 2};
  const auto half = processes({8, 9, 10, 11, 12, 13, 14, 15});
  const auto to = [&](std::size_t place, BarrierShape shape) { return reports_to(place, half, cluster, shape); };
  for (const auto shape : {BarrierShape::flat, BarrierShape::tree}) {
    CHECK(to(0, shape) == std::nullopt);
    CHECK(to(1, shape) == std::nullopt);
  }
  for (std::size_t place = 2; place < 8; ++place) CHECK(to(place, BarrierShape::flat) == std::size_t{0});
  // Nodes 4 to 7 are the tree's 0 to 3: 1 and 2 report to 0, 3 to 2; their second processes to nobody.
  CHECK(to(2, BarrierShape::tree) == std::size_t{0});
  CHECK(to(4, BarrierShape::tree) == std::size_t{0});
  CHECK(to(6, BarrierShape::tree) == std::size_t{4});
  CHECK(to(7, BarrierShape::tree) == std::nullopt);
}
