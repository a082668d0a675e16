#include "workloads/trace/uses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/icl/interval_map.hpp>
#include <limits>
#include <map>
#include <utility>

#include "commands/errors.hpp"

namespace sdsm::trace {
namespace {

using Lines = std::uint64_t;  // a bit for each line of a page
constexpr Lines all_lines = std::numeric_limits<Lines>::max();

template <typename Value, template <typename> class Combine>
using ByPage = boost::icl::interval_map<std::uint64_t, Value, boost::icl::partial_enricher, std::less, Combine>;
using Pages = boost::icl::discrete_interval<std::uint64_t>;
/// What one thread may have stored in a region, of all its intervals in parallel regions.
using Written = ByPage<Lines, boost::icl::inplace_bit_add>;

/// What several threads changed in the same pages.
struct Writers {
  std::uint32_t threads = 0;
  Lines lines = 0;
  bool have_lines_in_common = false;

  Writers& operator+=(const Writers& other) {
    have_lines_in_common = have_lines_in_common || other.have_lines_in_common || (lines & other.lines) != 0;
    threads += other.threads;
    lines |= other.lines;
    return *this;
  }
  bool are_apart() const { return threads > 1 && !have_lines_in_common; }
  bool operator==(const Writers&) const = default;
};
using WrittenBySeveral = ByPage<Writers, boost::icl::inplace_plus>;

void add(const Written& one, WrittenBySeveral& all) {
  for (const auto& [pages, lines] : one) all.add({pages, Writers{1, lines, false}});
}

using Sites = std::vector<std::map<std::uint32_t, SiteUse>>;  // by region and number

/// Reads one thread's intervals.
class ThreadUse {
 public:
  ThreadUse(std::uint32_t thread, std::vector<RegionUse>& regions, Sites& sites)
      : regions_(regions), sites_(sites), written_(regions.size()), is_initial_(thread == 0) {}

  void see(const Interval& interval) {
    PageWalk<LinesRun> lines(interval.lines);
    PageWalk<SiteRun> sites(interval.sites);
    for (const TouchRun& run : interval.touches) {
      see_sites(run, interval, sites);
      see_lines(run, interval, lines);
      RegionUse& use = regions_[index_of(run.region)];
      (run.access == Access::write ? use.writes : use.reads) += run.pages;
    }
    if (interval.end.kind == EventKind::fork) ++teams_;
    if (interval.end.kind == EventKind::join && teams_ > 0) --teams_;
  }

  std::vector<Written>& written() { return written_; }

 private:
  void see_sites(const TouchRun& run, const Interval& interval, PageWalk<SiteRun>& walk) {
    if (interval.sites.empty()) return;
    for (std::uint64_t left = run.pages; left > 0;) {
      const std::uint64_t pages = std::min(left, walk.pages_here());
      SiteUse& use = sites_[index_of(run.region)][walk.here().site];
      (run.access == Access::write ? use.writes : use.reads) += pages;
      walk.pass(pages);
      left -= pages;
    }
  }

  void see_lines(const TouchRun& run, const Interval& interval, PageWalk<LinesRun>& walk) {
    if (run.access != Access::write) return;
    const bool has_lines = is_partial(run.change) && !interval.lines.empty();
    for (std::uint64_t done = 0; done < run.pages;) {
      const std::uint64_t pages = has_lines ? std::min(run.pages - done, walk.pages_here()) : run.pages;
      // What was stored without changing anything may have been anywhere.
      const Lines changed = has_lines ? walk.here().changed.lines : all_lines;
      const std::uint64_t first = run.first + done;
      if (!is_initial_ || teams_ > 0) {
        written_[index_of(run.region)].add({Pages::right_open(first, first + pages), changed});
      }
      if (has_lines) walk.pass(pages);
      done += pages;
    }
  }

  std::vector<RegionUse>& regions_;
  Sites& sites_;
  std::vector<Written> written_;  ///< by region
  bool is_initial_;
  std::uint32_t teams_ = 0;  ///< that the thread has made and not left
};

ThreadUse read(const File& file, std::uint32_t thread, std::vector<RegionUse>& regions, Sites& sites) {
  ThreadUse own(thread, regions, sites);
  ThreadCursor cursor = file.thread(thread, Detail::pages);
  while (const Interval* interval = cursor.next()) own.see(*interval);
  return own;
}

}  // namespace

SharedPages pages_written_apart(const File& file) {
  std::vector<RegionUse> regions(file.regions().size());
  Sites sites(regions.size());
  std::vector<std::vector<Written>> written;  // by thread and region
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    written.push_back(std::move(read(file, thread, regions, sites).written()));
  }
  SharedPages shared(file.regions().size());
  std::uint64_t count = 0;
  for (std::size_t region = 0; region < shared.size(); ++region) {
    WrittenBySeveral writers;
    for (std::uint32_t thread = 0; thread < written.size(); ++thread) add(written[thread][region], writers);
    for (const auto& [pages, of] : writers) {
      if (!of.are_apart()) continue;
      count += boost::icl::cardinality(pages);
      if (count > most_shared_pages) {
        throw commands::BadInput(fmt::format("{}: several threads write on more than {} pages in lines of their own",
                                             file.path().string(), most_shared_pages));
      }
      for (std::uint64_t page = pages.lower(); page < pages.upper(); ++page) shared[region][page];
    }
    for (std::uint32_t thread = 0; thread < written.size(); ++thread) {
      for (auto& [page, threads] : shared[region]) {
        if (boost::icl::contains(written[thread][region], page)) threads.push_back(thread);
      }
    }
  }
  return shared;
}

std::vector<RegionUse> uses(const File& file) {
  std::vector<RegionUse> regions(file.regions().size());
  Sites sites(regions.size());
  std::vector<WrittenBySeveral> writers(regions.size());
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    ThreadUse own = read(file, thread, regions, sites);
    for (std::size_t region = 0; region < regions.size(); ++region) add(own.written()[region], writers[region]);
  }
  for (std::size_t region = 0; region < regions.size(); ++region) {
    RegionUse& use = regions[region];
    for (const auto& [pages, of] : writers[region]) {
      const std::uint64_t count = boost::icl::cardinality(pages);
      (of.threads == 1 ? use.written_by_one : of.are_apart() ? use.written_apart : use.written_together) += count;
    }
    for (auto& [site, use_of_site] : sites[region]) {
      use_of_site.site = site;
      use.sites.push_back(use_of_site);
    }
  }
  return regions;
}

std::vector<LockUse> lock_uses(const File& file) {
  std::map<std::pair<std::uint64_t, std::uint8_t>, LockUse> locks;
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    if (file.events(thread)[static_cast<std::size_t>(EventKind::acquire)] == 0) continue;
    std::map<std::pair<std::uint64_t, std::uint8_t>, std::uint64_t> taken;
    ThreadCursor cursor = file.thread(thread);
    while (const Interval* interval = cursor.next()) {
      if (interval->end.kind == EventKind::acquire) ++taken[{interval->end.object, interval->end.detail}];
    }
    for (const auto& [lock, count] : taken) {
      LockUse& use = locks[lock];
      use = {lock.second, lock.first, use.taken + count, use.threads + 1};
    }
  }
  std::vector<LockUse> uses;
  for (const auto& [lock, use] : locks) uses.push_back(use);
  return uses;
}

}  // namespace sdsm::trace
