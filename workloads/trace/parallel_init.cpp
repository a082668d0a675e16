#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "workloads/trace/mended.hpp"
#include "workloads/trace/writer.hpp"

namespace sdsm::trace {
namespace {

/// The initial thread's first write to a page before the first parallel region.
struct FirstWrite {
  Change change{};
  std::optional<ChangedLines> lines{};  ///< if the trace has them
  std::optional<std::uint32_t> site{};
  std::uint32_t owner = 0;  ///< the thread that uses the page most in parallel regions
};
using FirstWrites = std::map<PageId, FirstWrite>;

/// A thread's use of a page in parallel regions. Among equal threads, the first one is the owner.
struct Use {
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;  ///< decide between threads that write equally often

  auto operator<=>(const Use&) const = default;
};

/// Calls `see(run, page, lines, site)` for each page of the interval's touches, in their order.
template <typename See>
void for_each_page(const Interval& interval, See see) {
  PageWalk<LinesRun> lines(interval.lines);
  PageWalk<SiteRun> sites(interval.sites);
  for (const TouchRun& run : interval.touches) {
    const bool has_lines = is_partial(run.change) && !interval.lines.empty();
    for (std::uint64_t page = run.first; page < run.first + run.pages; ++page) {
      std::optional<ChangedLines> changed;
      std::optional<std::uint32_t> site;
      if (has_lines) {
        changed = lines.here().changed;
        lines.pass(1);
      }
      if (!interval.sites.empty()) {
        site = sites.here().site;
        sites.pass(1);
      }
      see(run, page, changed, site);
    }
  }
}

void put(Interval& to, TouchRun run, std::uint64_t page, std::optional<ChangedLines> lines,
         std::optional<std::uint32_t> site) {
  run.first = page;
  run.pages = 1;
  to.touches.push_back(run);
  if (lines) to.lines.push_back({*lines, 1});
  if (site) to.sites.push_back({*site, 1});
}

bool begins_first_team(const File& file, const Event& event) {
  const bool is_begin = event.kind == EventKind::fork || event.kind == EventKind::team_begin;
  return is_begin && event.value > 1 && event.value == file.header().threads;
}

/// Returns nothing if the first team lacks some thread.
FirstWrites written_before_first_team(const File& file) {
  FirstWrites found;
  ThreadCursor cursor = file.thread(0, Detail::pages);
  while (const Interval* interval = cursor.next()) {
    for_each_page(*interval, [&](const TouchRun& run, std::uint64_t page, auto lines, auto site) {
      const Region& region = file.regions()[index_of(run.region)];
      if (run.access != Access::write || region.is_filled) return;
      if (!is_placed_by_option(region)) return;
      found.try_emplace({run.region, page}, FirstWrite{run.change, lines, site});
    });
    if (begins_first_team(file, interval->end)) return found;
    if (interval->end.kind == EventKind::fork && interval->end.value > 1) return {};
  }
  return {};
}

/// Keeps the pages that some thread touches in a parallel region, each with its owner.
void find_owners(const File& file, FirstWrites& pages) {
  std::map<PageId, Use> most;
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    std::map<PageId, Use> uses;
    std::uint32_t regions = 0;  // number of regions around the thread; other threads than the initial one are always in
                                // one
    ThreadCursor cursor = file.thread(thread);
    while (const Interval* interval = cursor.next()) {
      for (const TouchRun& run : interval->touches) {
        if (thread == 0 && regions == 0) continue;
        const PageId end{run.region, run.first + run.pages};
        for (auto page = pages.lower_bound({run.region, run.first}); page != pages.end() && page->first < end; ++page) {
          Use& use = uses[page->first];
          ++(run.access == Access::write ? use.writes : use.reads);
        }
      }
      if (interval->end.kind == EventKind::fork) ++regions;
      if (interval->end.kind == EventKind::join && regions > 0) --regions;
    }
    for (const auto& [page, use] : uses) {
      if (use <= most[page]) continue;
      most[page] = use;
      pages[page].owner = thread;
    }
  }
  std::erase_if(pages, [&](const auto& one) { return !most.contains(one.first); });
}

Interval without(const FirstWrites& pages, const Interval& from) {
  Interval to{.compute_ns = from.compute_ns, .end = from.end, .call_site = from.call_site};
  for_each_page(from, [&](const TouchRun& run, std::uint64_t page, auto lines, auto site) {
    if (!pages.contains({run.region, page})) put(to, run, page, lines, site);
  });
  return to;
}

Interval own_part(const FirstWrites& pages, std::uint32_t thread, std::uint32_t threads) {
  Interval to{.end = {.kind = EventKind::barrier, .value = threads}};
  for (const auto& [page, write] : pages) {
    if (write.owner != thread) continue;
    put(to, {.region = page.region, .access = Access::write, .change = write.change}, page.index, write.lines,
        write.site);
  }
  return to;
}

}  // namespace

std::uint64_t initialise_in_parallel(const File& file, const std::filesystem::path& output) {
  FirstWrites pages = written_before_first_team(file);
  find_owners(file, pages);
  const auto moved = std::count_if(pages.begin(), pages.end(), [](const auto& one) { return one.second.owner != 0; });
  if (moved == 0) return 0;
  const std::uint32_t threads = file.header().threads;
  Writer writer(output, threads);
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    bool has_begun = false;
    ThreadCursor cursor = file.thread(thread, Detail::pages);
    while (const Interval* interval = cursor.next()) {
      Interval kept = has_begun ? *interval : without(pages, *interval);
      // Every thread has an extra barrier by then, and a spin event counts its events.
      if (has_begun && kept.end.kind == EventKind::spin) ++kept.end.value;
      writer.append(thread, kept);
      if (has_begun || !begins_first_team(file, interval->end)) continue;
      writer.append(thread, own_part(pages, thread, threads));
      has_begun = true;
    }
  }
  Header header = file.header();
  header.words = {};  // their threads have changed
  writer.finish(header, file.regions());
  return static_cast<std::uint64_t>(moved);
}

}  // namespace sdsm::trace
