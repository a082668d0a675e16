/// Traces to write and read back: a small one by hand, random ones, and one of Laplace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/scratch.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

using test::Scratch;

struct Trace {
  Header header;
  std::vector<Region> regions;
  std::vector<std::vector<Interval>> threads;

  bool operator==(const Trace&) const = default;
};

/// Two threads, three regions, an event of each kind that a small program makes.
Trace small_trace();

/// A valid trace of arbitrary values: extremes as often as usual ones, no two runs that the writer would merge.
/// max_runs: in one interval.
Trace random_trace(std::mt19937_64& random, unsigned max_threads, unsigned max_intervals, unsigned max_runs);

/// A header and regions that fit `threads` and touches of pages below `pages` in regions 0..region_count-1.
Header header_for(std::uint32_t threads);
std::vector<Region> heap_blocks(std::uint32_t count, std::uint64_t pages);

/// Possible lines for an interval's changes, from each page's first line on, for tests that do not care.
void fill_lines(Interval& interval);

void write(const Trace& trace, const std::filesystem::path& path);
/// Everything in the file. Threads are read in turn, an interval each, as the simulator does.
Trace read(const std::filesystem::path& path);

}  // namespace sdsm::trace
