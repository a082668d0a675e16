#include "tests/workloads/trace/samples.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "workloads/trace/limits.hpp"
#include "workloads/trace/reader.hpp"
#include "workloads/trace/writer.hpp"

namespace sdsm::trace {
namespace {

template <typename T>
T pick(std::mt19937_64& random, T low, T high) {
  return static_cast<T>(std::uniform_int_distribution<std::uint64_t>(low, high)(random));
}

bool chance(std::mt19937_64& random, unsigned one_in) {
  return pick<unsigned>(random, 1, one_in) == 1;
}

/// As many numbers of each length in bits, so that short and long varints both occur.
std::uint64_t any_size(std::mt19937_64& random, std::uint64_t max) {
  if (chance(random, 20)) return max;
  return std::min(max, random() >> pick<unsigned>(random, 0, 63));
}

Change random_change(std::mt19937_64& random) {
  if (chance(random, 3)) return {};
  if (chance(random, 8)) return {.words = 1024, .runs = 1};
  if (chance(random, 8)) return {.words = 512, .runs = 512};
  const auto words = pick<std::uint16_t>(random, 1, 1024);
  const auto most = static_cast<std::uint16_t>(std::min<int>({words, 512, 1025 - words}));
  return {.words = words, .runs = pick<std::uint16_t>(random, 1, most)};
}

Event random_event(std::mt19937_64& random, std::uint32_t threads) {
  Event event{.kind = static_cast<EventKind>(pick<unsigned>(random, 0, event_kinds - 1))};
  // Tries values until the rules take them: the rules are what says which are valid.
  for (;;) {
    event.detail = chance(random, 2) ? std::uint8_t{0} : pick<std::uint8_t>(random, 0, 4);
    event.object = chance(random, 2) ? 0 : any_size(random, std::numeric_limits<std::uint64_t>::max());
    event.value = chance(random, 3)   ? 0
                  : chance(random, 2) ? pick<std::uint64_t>(random, 1, threads)
                                      : any_size(random, std::numeric_limits<std::uint64_t>::max());
    if (!problem_with(event, threads)) return event;
  }
}

bool would_merge(const TouchRun& run, const TouchRun& next) {
  return next.region == run.region && next.access == run.access && next.position == run.position &&
         next.change == run.change && next.first == run.first + run.pages;
}

std::vector<TouchRun> random_touches(std::mt19937_64& random, const std::vector<Region>& regions, unsigned max_runs) {
  std::vector<TouchRun> touches;
  std::uint8_t position = 0;
  const unsigned runs = pick<unsigned>(random, 0, max_runs);
  while (touches.size() < runs) {
    const Region& region = regions[pick<std::size_t>(random, 0, regions.size() - 1)];
    if (region.pages == 0) {
      if (std::all_of(regions.begin(), regions.end(), [](const Region& r) { return r.pages == 0; })) break;
      continue;
    }
    TouchRun run{.region = region.id};
    // Mostly on from an earlier run, as programs do.
    if (!touches.empty() && !chance(random, 4)) {
      run = touches[touches.size() - 1 - pick<std::size_t>(random, 0, std::min<std::size_t>(touches.size() - 1, 7))];
      run.first += run.pages;
    }
    const std::uint64_t pages = regions[index_of(run.region)].pages;
    if (run.first >= pages || chance(random, 10)) run.first = any_size(random, pages - 1);
    if (chance(random, 4)) run.pages = static_cast<std::uint32_t>(1 + any_size(random, (std::uint64_t{1} << 32) - 2));
    run.pages = static_cast<std::uint32_t>(std::min<std::uint64_t>(run.pages, pages - run.first));
    if (chance(random, 3)) run.access = chance(random, 2) ? Access::read : Access::write;
    if (run.access == Access::read) run.change = {};
    if (run.access == Access::write && chance(random, 3)) run.change = random_change(random);
    if (chance(random, 3)) position = static_cast<std::uint8_t>(std::min(255, position + pick<int>(random, 0, 4)));
    run.position = position;
    if (touches.empty() || !would_merge(touches.back(), run)) touches.push_back(run);
  }
  return touches;
}

}  // namespace

Scratch::Scratch() {
  // Thousands of small files: in memory where there is such a place, as a disk would take a minute for them.
  const bool has_memory = access("/dev/shm", W_OK) == 0;
  const std::filesystem::path parent = has_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
  std::string pattern = (parent / "sdsm-trace-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch folder " + pattern);
  folder_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Header header_for(std::uint32_t threads) {
  return {.program = {"./laplace", "--size", "1024"},
          .threads = threads,
          .passes = 3,
          .machine = "a machine",
          .sdsm_version = "0.1.0",
          .exit_status = 0};
}

std::vector<Region> heap_blocks(std::uint32_t count, std::uint64_t pages) {
  std::vector<Region> regions;
  for (std::uint32_t i = 0; i < count; ++i) {
    regions.push_back({.id = RegionId{i},
                       .kind = RegionKind::heap_block,
                       .placement = Placement::round_robin,
                       .pages = pages,
                       .owner = 0,
                       .name = "heap #" + std::to_string(i)});
  }
  return regions;
}

Trace small_trace() {
  using enum Access;
  const RegionId globals{0};
  const RegionId grid{1};
  Trace trace;
  trace.header = header_for(2);
  trace.regions = {
      {.id = globals, .kind = RegionKind::globals, .placement = Placement::initial, .pages = 3, .name = "globals"},
      {.id = grid, .kind = RegionKind::heap_block, .placement = Placement::block, .pages = 2048, .name = "heap #1"},
      {.id = RegionId{2},
       .kind = RegionKind::thread_stack,
       .placement = Placement::round_robin,
       .pages = 16,
       .owner = 1,
       .name = "stack of thread 1"}};
  trace.threads = {
      {{.compute_ns = 1'000'000,
        .touches = {{.region = globals, .pages = 1, .first = 2, .access = read, .position = 0},
                    {.region = grid, .pages = 2048, .first = 0, .access = write, .position = 1, .change = {2, 1}}},
        .end = {.kind = EventKind::fork, .object = 0, .value = 2}},
       {.compute_ns = 500'000,
        .touches = {{.region = grid, .pages = 2, .first = 0, .access = read, .position = 0},
                    {.region = grid, .pages = 2, .first = 0, .access = write, .position = 0, .change = {1024, 1}},
                    {.region = grid, .pages = 2, .first = 2, .access = read, .position = 128},
                    {.region = grid, .pages = 2, .first = 2, .access = write, .position = 255, .change = {512, 512}}},
        .end = {.kind = EventKind::barrier, .value = 2}},
       {.compute_ns = 7, .touches = {}, .end = {.kind = EventKind::loop_begin, .detail = 1, .object = 3, .value = 100}},
       {.compute_ns = 7, .touches = {}, .end = {.kind = EventKind::join, .object = 0, .value = 2}},
       {.compute_ns = 0, .touches = {}, .end = {.kind = EventKind::end}}},
      {{.compute_ns = 0, .touches = {}, .end = {.kind = EventKind::team_begin, .object = 0, .value = 2}},
       {.compute_ns = 480'000,
        .touches = {{.region = grid, .pages = 100, .first = 1024, .access = read, .position = 3},
                    {.region = globals, .pages = 1, .first = 0, .access = write, .position = 200, .change = {1, 1}}},
        .end = {.kind = EventKind::acquire, .detail = 2, .object = 77}},
       {.compute_ns = 10, .touches = {}, .end = {.kind = EventKind::release, .detail = 2, .object = 77}},
       {.compute_ns = 20, .touches = {}, .end = {.kind = EventKind::barrier, .value = 2}},
       {.compute_ns = 30, .touches = {}, .end = {.kind = EventKind::join, .object = 0, .value = 2}},
       {.compute_ns = 0, .touches = {}, .end = {.kind = EventKind::end}}}};
  return trace;
}

Trace random_trace(std::mt19937_64& random, unsigned most_threads, unsigned max_intervals, unsigned max_runs) {
  Trace trace;
  const auto threads = pick<std::uint32_t>(random, 1, most_threads);
  trace.header = header_for(threads);
  trace.header.exit_status = chance(random, 2) ? 0 : static_cast<std::int32_t>(random());
  trace.header.machine = "\u00b5 \"quoted\" \\ \n";
  const unsigned regions = pick<unsigned>(random, 1, 6);
  for (std::uint32_t i = 0; i < regions; ++i) {
    Region region{.id = RegionId{i}, .kind = static_cast<RegionKind>(pick<unsigned>(random, 0, 5))};
    region.placement = static_cast<Placement>(pick<unsigned>(random, 0, 2));
    region.pages = any_size(random, max_region_pages);
    if (region.kind == RegionKind::thread_stack) region.owner = pick<std::uint32_t>(random, 0, threads - 1);
    region.name = std::string(pick<unsigned>(random, 0, 20), 'r');
    trace.regions.push_back(region);
  }
  trace.threads.resize(threads);
  for (auto& intervals : trace.threads) {
    const unsigned count = pick<unsigned>(random, 0, max_intervals);
    for (unsigned i = 0; i < count; ++i) {
      intervals.push_back({.compute_ns = any_size(random, max_compute_ns / (count + 1)),
                           .touches = random_touches(random, trace.regions, chance(random, 3) ? max_runs : 8),
                           .end = random_event(random, threads)});
    }
  }
  return trace;
}

void write(const Trace& trace, const std::filesystem::path& path) {
  Writer writer(path, trace.header.threads);
  std::size_t longest = 0;
  for (const auto& intervals : trace.threads) longest = std::max(longest, intervals.size());
  for (std::size_t i = 0; i < longest; ++i) {
    for (std::uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
      if (i < trace.threads[thread].size()) writer.append(thread, trace.threads[thread][i]);
    }
  }
  writer.finish(trace.header, trace.regions);
}

Trace read(const std::filesystem::path& path) {
  const File file(path);
  Trace trace{.header = file.header(), .regions = file.regions(), .threads = {}};
  std::vector<ThreadCursor> cursors;
  for (std::uint32_t thread = 0; thread < trace.header.threads; ++thread) cursors.push_back(file.thread(thread));
  trace.threads.resize(cursors.size());
  for (bool more = true; more;) {
    more = false;
    for (std::size_t thread = 0; thread < cursors.size(); ++thread) {
      if (const Interval* interval = cursors[thread].next()) {
        trace.threads[thread].push_back(*interval);
        more = true;
      }
    }
  }
  return trace;
}

}  // namespace sdsm::trace
