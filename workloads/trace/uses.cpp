#include "workloads/trace/uses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/icl/interval_map.hpp>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "commands/errors.hpp"

namespace sdsm::trace {
namespace {

using Lines = std::uint64_t;  // a bit for each line of a page
constexpr Lines all_lines = std::numeric_limits<Lines>::max();

template <typename Value, template <typename> class Combine>
using ByPage = boost::icl::interval_map<std::uint64_t, Value, boost::icl::partial_enricher, std::less, Combine>;
using Pages = boost::icl::discrete_interval<std::uint64_t>;
/// One thread's possible stores in a region, in all of its intervals in parallel regions.
using Written = ByPage<Lines, boost::icl::inplace_bit_add>;

/// Changes of several threads to the same pages.
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

using SitesByNumber = std::map<std::uint32_t, SiteUse>;
using Sites = std::vector<SitesByNumber>;  // by region

/// `sites_of(region)` returns the counts to which a touch of the region adds.
template <typename SitesOf>
void add_sites(const Interval& interval, SitesOf sites_of) {
  if (interval.sites.empty()) return;
  PageWalk<SiteRun> walk(interval.sites);
  for (const TouchRun& run : interval.touches) {
    for (std::uint64_t left = run.pages; left > 0;) {
      const std::uint64_t pages = std::min(left, walk.pages_here());
      SiteUse& use = sites_of(run.region)[walk.here().site];
      (run.access == Access::write ? use.writes : use.reads) += pages;
      walk.pass(pages);
      left -= pages;
    }
  }
}

std::vector<SiteUse> listed(const SitesByNumber& sites) {
  std::vector<SiteUse> list;
  for (const auto& [number, use] : sites) list.push_back({number, use.reads, use.writes});
  return list;
}

/// A phase. First: twice the number of the last parallel region that has begun, plus 1 within it. Second: the number of
/// the whole team's barriers in it so far.
using Phase = std::pair<std::uint64_t, std::uint64_t>;

/// Tracks a thread's phase.
class PhaseOfThread {
 public:
  const Phase& here() const { return here_; }
  bool is_in_team() const { return depth_ > 0; }

  void pass(const Event& event) {
    if (event.kind == EventKind::fork || event.kind == EventKind::team_begin) {
      if (depth_++ == 0) here_ = {2 * event.object + 1, 0};
    } else if (event.kind == EventKind::join && depth_ > 0) {
      if (--depth_ == 0) here_ = {here_.first + 1, 0};
    } else if (event.kind == EventKind::barrier && event.team == 0 && depth_ == 1) {
      ++here_.second;
    }
  }

 private:
  Phase here_{0, 0};
  std::uint32_t depth_ = 0;  ///< nesting of parallel regions
};

struct Span {
  Phase first;
  Phase last;
};
using Spans = std::vector<std::optional<Span>>;  // by region, if it is touched

void number_phases(const Spans& spans, std::vector<RegionUse>& regions) {
  std::map<Phase, std::uint64_t> numbers;
  for (const auto& span : spans) {
    if (!span) continue;
    numbers[span->first];
    numbers[span->last];
  }
  std::uint64_t next = 0;
  for (auto& [phase, number] : numbers) number = next++;
  for (std::size_t region = 0; region < regions.size(); ++region) {
    if (!spans[region]) continue;
    regions[region].first_phase = numbers[spans[region]->first];
    regions[region].last_phase = numbers[spans[region]->last];
  }
}

class ThreadUse {
 public:
  ThreadUse(std::uint32_t thread, std::vector<RegionUse>& regions, Sites& sites, Spans& spans)
      : regions_(regions), sites_(sites), spans_(spans), written_(regions.size()), is_initial_(thread == 0) {}

  void see(const Interval& interval) {
    PageWalk<LinesRun> lines(interval.lines);
    add_sites(interval, [&](RegionId region) -> SitesByNumber& { return sites_[index_of(region)]; });
    for (const TouchRun& run : interval.touches) {
      see_lines(run, interval, lines);
      RegionUse& use = regions_[index_of(run.region)];
      (run.access == Access::write ? use.writes : use.reads) += run.pages;
      see_phase(run.region);
    }
    phase_.pass(interval.end);
  }

  std::vector<Written>& written() { return written_; }

 private:
  void see_phase(RegionId region) {
    std::optional<Span>& span = spans_[index_of(region)];
    if (!span) span = Span{phase_.here(), phase_.here()};
    span->first = std::min(span->first, phase_.here());
    span->last = std::max(span->last, phase_.here());
  }

  void see_lines(const TouchRun& run, const Interval& interval, PageWalk<LinesRun>& walk) {
    if (run.access != Access::write) return;
    const bool has_lines = is_partial(run.change) && !interval.lines.empty();
    for (std::uint64_t done = 0; done < run.pages;) {
      const std::uint64_t pages = has_lines ? std::min(run.pages - done, walk.pages_here()) : run.pages;
      // A store that changed nothing may have been to any line.
      const Lines changed = has_lines ? walk.here().changed.lines : all_lines;
      const std::uint64_t first = run.first + done;
      if (!is_initial_ || phase_.is_in_team()) {
        written_[index_of(run.region)].add({Pages::right_open(first, first + pages), changed});
      }
      if (has_lines) walk.pass(pages);
      done += pages;
    }
  }

  std::vector<RegionUse>& regions_;
  Sites& sites_;
  Spans& spans_;
  std::vector<Written> written_;  ///< by region
  bool is_initial_;
  PhaseOfThread phase_;
};

ThreadUse read(const File& file, std::uint32_t thread, std::vector<RegionUse>& regions, Sites& sites, Spans& spans) {
  ThreadUse own(thread, regions, sites, spans);
  ThreadCursor cursor = file.thread(thread, Detail::pages);
  while (const Interval* interval = cursor.next()) own.see(*interval);
  return own;
}

}  // namespace

SharedPages pages_written_apart(const File& file) {
  std::vector<RegionUse> regions(file.regions().size());
  Sites sites(regions.size());
  Spans spans(regions.size());
  std::vector<std::vector<Written>> written;  // by thread and region
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    written.push_back(std::move(read(file, thread, regions, sites, spans).written()));
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
  Spans spans(regions.size());
  std::vector<WrittenBySeveral> writers(regions.size());
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    ThreadUse own = read(file, thread, regions, sites, spans);
    for (std::size_t region = 0; region < regions.size(); ++region) add(own.written()[region], writers[region]);
  }
  for (std::size_t region = 0; region < regions.size(); ++region) {
    RegionUse& use = regions[region];
    for (const auto& [pages, of] : writers[region]) {
      const std::uint64_t count = boost::icl::cardinality(pages);
      (of.threads == 1 ? use.written_by_one : of.are_apart() ? use.written_apart : use.written_together) += count;
    }
    use.sites = listed(sites[region]);
  }
  number_phases(spans, regions);
  return regions;
}

namespace {

using LockKey = std::pair<std::uint64_t, std::uint8_t>;  // number and class

/// One thread's uses of locks.
class ThreadLocks {
 public:
  struct Use {
    std::uint64_t taken = 0;
    std::map<RegionId, RegionTouches> regions{};
    SitesByNumber sites{};
  };

  void see(const Interval& interval) {
    if (!held_.empty()) see_touches(interval, uses_[held_.back()]);
    const LockKey lock{interval.end.object, interval.end.detail};
    if (interval.end.kind == EventKind::acquire) {
      ++uses_[lock].taken;
      held_.push_back(lock);
    } else if (interval.end.kind == EventKind::release) {
      const auto last = std::find(held_.rbegin(), held_.rend(), lock);
      if (last != held_.rend()) held_.erase(std::next(last).base());
    }
  }

  const std::map<LockKey, Use>& uses() const { return uses_; }

 private:
  static void see_touches(const Interval& interval, Use& use) {
    add_sites(interval, [&](RegionId) -> SitesByNumber& { return use.sites; });
    for (const TouchRun& run : interval.touches) {
      RegionTouches& touches = use.regions[run.region];
      (run.access == Access::write ? touches.writes : touches.reads) += run.pages;
    }
  }

  std::map<LockKey, Use> uses_;
  std::vector<LockKey> held_;  ///< in the order of taking
};

template <typename Touches>
void add(const Touches& more, Touches& all) {
  for (const auto& [key, touches] : more) {
    all[key].reads += touches.reads;
    all[key].writes += touches.writes;
  }
}

}  // namespace

std::vector<LockUse> lock_uses(const File& file) {
  std::map<LockKey, ThreadLocks::Use> all;
  std::map<LockKey, std::uint32_t> threads;
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    if (file.events(thread)[static_cast<std::size_t>(EventKind::acquire)] == 0) continue;
    ThreadLocks own;
    ThreadCursor cursor = file.thread(thread, Detail::pages);
    while (const Interval* interval = cursor.next()) own.see(*interval);
    for (const auto& [lock, use] : own.uses()) {
      ++threads[lock];
      all[lock].taken += use.taken;
      add(use.regions, all[lock].regions);
      add(use.sites, all[lock].sites);
    }
  }
  std::vector<LockUse> uses;
  for (const auto& [lock, use] : all) {
    LockUse& listed_use = uses.emplace_back(LockUse{lock.second, lock.first, use.taken, threads[lock]});
    for (const auto& [region, touches] : use.regions)
      listed_use.regions.push_back({region, touches.reads, touches.writes});
    listed_use.sites = listed(use.sites);
  }
  return uses;
}

std::vector<AtomicUse> atomic_uses(const File& file) {
  std::map<std::pair<RegionId, std::uint64_t>, AtomicUse> variables;
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    if (file.events(thread)[static_cast<std::size_t>(EventKind::atomic)] == 0) continue;
    std::map<std::pair<RegionId, std::uint64_t>, std::uint64_t> operations;
    ThreadCursor cursor = file.thread(thread);
    while (const Interval* interval = cursor.next()) {
      const Event& end = interval->end;
      if (end.kind == EventKind::atomic) ++operations[{static_cast<RegionId>(end.object), end.value}];
    }
    for (const auto& [variable, count] : operations) {
      AtomicUse& use = variables[variable];
      use = {variable.first, variable.second, use.operations + count, use.threads + 1};
    }
  }
  std::vector<AtomicUse> uses;
  for (const auto& [variable, use] : variables) uses.push_back(use);
  std::stable_sort(uses.begin(), uses.end(),
                   [](const AtomicUse& one, const AtomicUse& other) { return one.operations > other.operations; });
  if (uses.size() > most_atomic_uses) uses.resize(most_atomic_uses);
  return uses;
}

}  // namespace sdsm::trace
