#include "tests/workloads/trace/samples.hpp"

#include <algorithm>
#include <limits>

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

/// Draws as many numbers of each length in bits, so that short and long varints both occur.
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

Event random_event(std::mt19937_64& random, std::uint32_t threads, const std::vector<Region>& regions) {
  Event event{.kind = static_cast<EventKind>(pick<unsigned>(random, 0, event_kinds - 1))};
  // Tries values until the rules accept them: only the rules say which are valid.
  for (;;) {
    event.detail = chance(random, 2) ? std::uint8_t{0} : pick<std::uint8_t>(random, 0, 4);
    event.object = chance(random, 2) ? 0 : any_size(random, std::numeric_limits<std::uint64_t>::max());
    event.value = chance(random, 3)   ? 0
                  : chance(random, 2) ? pick<std::uint64_t>(random, 1, threads)
                                      : any_size(random, std::numeric_limits<std::uint64_t>::max());
    event.team = chance(random, 4) ? static_cast<std::uint32_t>(random()) : 0;
    if (event.kind == EventKind::atomic) {
      event.object = pick<std::size_t>(random, 0, regions.size() - 1);
      const std::uint64_t bytes = regions[event.object].pages * page_bytes;
      if (bytes == 0) return {.kind = EventKind::fence};
      event.value = any_size(random, bytes - 1);
    }
    if (!problem_with(event, threads)) return event;
  }
}

/// Merges equal neighbours, as a reader returns them.
void append(std::vector<LinesRun>& runs, const LinesRun& run) {
  if (!runs.empty() && runs.back().changed == run.changed) {
    runs.back().pages += run.pages;
  } else {
    runs.push_back(run);
  }
}
void append(std::vector<SiteRun>& runs, const SiteRun& run) {
  if (!runs.empty() && runs.back().site == run.site) {
    runs.back().pages += run.pages;
  } else {
    runs.push_back(run);
  }
}

/// Draws lines of a page in which the change's runs may lie anywhere.
ChangedLines random_lines(std::mt19937_64& random, Change change) {
  // Each run has a word at least, and so has each gap between two; the others go anywhere.
  std::vector<unsigned> lengths(2 * change.runs + 1U, 1);
  lengths.front() = lengths.back() = 0;
  const auto lengthen = [&](std::size_t first, unsigned count) {
    const std::size_t choices = (lengths.size() - first + 1) / 2;
    for (unsigned i = 0; i < count; ++i) ++lengths[first + 2 * pick<std::size_t>(random, 0, choices - 1)];
  };
  lengthen(1, change.words - change.runs);
  lengthen(0, words_per_page - change.words - (change.runs - 1U));
  ChangedLines changed;
  unsigned word = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    for (unsigned end = word + lengths[i]; word < end; ++word) {
      if (i % 2 == 1) changed.lines |= std::uint64_t{1} << (word / words_per_line);
    }
  }
  changed.first_word = lengths.front() == 0;
  changed.last_word = lengths.back() == 0;
  return changed;
}

/// Mostly alike from page to page, as in programs; else each page has others, though not so many that the writer cuts
/// the run.
void add_random_pages(std::mt19937_64& random, Interval& interval, std::uint32_t sites) {
  for (const TouchRun& run : interval.touches) {
    const std::uint64_t alike = chance(random, 4) ? pick<std::uint64_t>(random, 1, 3) : run.pages;
    constexpr std::uint64_t most = 60;
    for (std::uint64_t done = 0, few = 0; done < run.pages; ++few) {
      const std::uint64_t pages = few < most ? std::min(alike, run.pages - done) : run.pages - done;
      if (is_partial(run.change)) append(interval.lines, {random_lines(random, run.change), pages});
      if (sites > 0) append(interval.sites, {pick<std::uint32_t>(random, 0, sites - 1), pages});
      done += pages;
    }
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

Header header_for(std::uint32_t threads) {
  return {.program = {"./laplace", "--size", "1024"},
          .threads = threads,
          .passes = 3,
          .machine = "a machine",
          .sdsm_version = "0.1.0",
          .exit_status = 0,
          .speed = {3'141'592'653, 3'820, 35'100'000'000, 12}};
}

std::vector<Region> heap_blocks(std::uint32_t count, std::uint64_t pages) {
  std::vector<Region> regions;
  for (std::uint32_t i = 0; i < count; ++i) {
    const MemoryRegion block{RegionKind::heap_block, Placement::round_robin, 0, pages};
    regions.push_back({block, RegionId{i}, 0, false, "heap #" + std::to_string(i)});
  }
  return regions;
}

Trace small_trace() {
  using enum Access;
  const RegionId globals{0};
  const RegionId grid{1};
  Trace trace;
  trace.header = header_for(2);
  trace.header.unseen = {{.call = "mmap", .calls = 3, .bytes = 12'288}};
  trace.header.call_sites = {{{"./laplace", 64}, 0}, {{"./laplace", 96}, 1}};
  trace.regions = {
      {{RegionKind::globals, Placement::initial, 0, 3}, globals, 5, false, "globals"},
      {{RegionKind::heap_block, Placement::block, 0, 2048}, grid, 0, false, "heap #1"},
      {{RegionKind::thread_stack, Placement::round_robin, 1, 16}, RegionId{2}, 0, false, "stack of thread 1"}};
  trace.threads = {
      {{.compute_ns = 1'000'000,
        .touches = {{.region = globals, .pages = 1, .first = 2, .access = read, .position = 0},
                    {.region = grid, .pages = 2048, .first = 0, .access = write, .position = 1, .change = {2, 1}}},
        .end = {.kind = EventKind::fork, .object = 0, .value = 2},
        .lines = {{{.lines = 1, .first_word = true}, 2048}}},
       {.compute_ns = 500'000,
        .touches = {{.region = grid, .pages = 2, .first = 0, .access = read, .position = 0},
                    {.region = grid, .pages = 2, .first = 0, .access = write, .position = 0, .change = {1024, 1}},
                    {.region = grid, .pages = 2, .first = 2, .access = read, .position = 128},
                    {.region = grid, .pages = 2, .first = 2, .access = write, .position = 255, .change = {512, 512}}},
        .end = {.kind = EventKind::barrier, .value = 2},
        .lines = {{{.lines = ~std::uint64_t{0}, .first_word = true}, 1},
                  {{.lines = ~std::uint64_t{0}, .last_word = true}, 1}},
        .call_site = 2},
       {.compute_ns = 7, .touches = {}, .end = {.kind = EventKind::loop_begin, .detail = 1, .object = 3, .value = 100}},
       {.compute_ns = 7, .touches = {}, .end = {.kind = EventKind::join, .object = 0, .value = 2}},
       {.compute_ns = 0, .touches = {}, .end = {.kind = EventKind::end}}},
      {{.compute_ns = 0, .touches = {}, .end = {.kind = EventKind::team_begin, .object = 0, .value = 2}},
       {.compute_ns = 480'000,
        .touches = {{.region = grid, .pages = 100, .first = 1024, .access = read, .position = 3},
                    {.region = globals, .pages = 1, .first = 0, .access = write, .position = 200, .change = {1, 1}}},
        .end = {.kind = EventKind::acquire, .detail = 2, .object = 77},
        .lines = {{{.lines = std::uint64_t{1} << 63, .last_word = true}, 1}}},
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
  if (chance(random, 2)) {
    for (unsigned i = pick<unsigned>(random, 1, 400); i > 0; --i)
      trace.header.sites.push_back({i % 3 ? "a" : "b", random()});
    trace.header.unseen = {{"mmap", random(), random()}, {"clock_gettime", random() % 10, 0}};
    for (unsigned i = pick<unsigned>(random, 0, 400); i > 0; --i) {
      const auto callers = static_cast<std::uint32_t>(trace.header.call_sites.size());
      trace.header.call_sites.push_back({{i % 5 ? "a" : "c", random()}, pick<std::uint32_t>(random, 0, callers)});
    }
  }
  const unsigned regions = pick<unsigned>(random, 1, 6);
  for (std::uint32_t i = 0; i < regions; ++i) {
    Region region{
        {static_cast<RegionKind>(pick<unsigned>(random, 0, 5)), static_cast<Placement>(pick<unsigned>(random, 0, 2))},
        RegionId{i}};
    region.pages = any_size(random, max_region_pages);
    if (region.kind == RegionKind::thread_stack) region.owner = pick<std::uint32_t>(random, 0, threads - 1);
    region.lead_pages = chance(random, 2) ? 0 : pick<std::uint32_t>(random, 0, max_lead_pages);
    region.is_filled = chance(random, 2);
    region.name = std::string(pick<unsigned>(random, 0, 20), 'r');
    trace.regions.push_back(region);
  }
  trace.threads.resize(threads);
  for (auto& intervals : trace.threads) {
    const unsigned count = pick<unsigned>(random, 0, max_intervals);
    for (unsigned i = 0; i < count; ++i) {
      intervals.push_back({.compute_ns = any_size(random, max_compute_ns / (count + 1)),
                           .touches = random_touches(random, trace.regions, chance(random, 3) ? max_runs : 8),
                           .end = random_event(random, threads, trace.regions)});
      const bool goes_round = chance(random, 2);  // as in a loop
      const std::size_t call_sites = trace.header.call_sites.size();
      intervals.back().call_site = static_cast<std::uint32_t>(goes_round ? std::min<std::size_t>(i % 4, call_sites)
                                                                         : pick<std::size_t>(random, 0, call_sites));
      add_random_pages(random, intervals.back(), static_cast<std::uint32_t>(trace.header.sites.size()));
    }
  }
  return trace;
}

void fill_lines(Interval& interval) {
  interval.lines.clear();
  for (const TouchRun& run : interval.touches) {
    if (!is_partial(run.change)) continue;
    const unsigned lines = (run.change.words + run.change.runs + words_per_line - 2U) / words_per_line;
    append(interval.lines, {{.lines = ~std::uint64_t{0} >> (64 - lines)}, run.pages});
  }
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
  for (std::uint32_t thread = 0; thread < trace.header.threads; ++thread)
    cursors.push_back(file.thread(thread, Detail::pages));
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
