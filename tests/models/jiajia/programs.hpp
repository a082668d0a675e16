/// What JIAJIA's own programs do to the pages of their arrays, from jia_startstat to the end.
#pragma once

#include <memory>

#include "tests/models/jiajia/played_cluster.hpp"

namespace sdsm::test {

/// Sizes as the programs' options name them.
struct Sor {
  std::uint32_t m = 254, n = 1023, iterations = 100;
};
struct Lu {
  std::uint32_t n = 1024, block = 32;
};
struct Mm {
  std::uint32_t n = 1024;
};

/// Each runs the program on a cluster whose rules are at first only `quirks`, and become `rules` where the program
/// begins to count.
std::unique_ptr<PlayedCluster> run(const Sor& sor, std::uint32_t processes, const jiajia::Rules& rules,
                                   Requests requests);
std::unique_ptr<PlayedCluster> run(const Lu& lu, std::uint32_t processes, const jiajia::Rules& rules,
                                   Requests requests);
std::unique_ptr<PlayedCluster> run(const Mm& mm, std::uint32_t processes, const jiajia::Rules& rules,
                                   Requests requests);

}  // namespace sdsm::test
