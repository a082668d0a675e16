#include "workloads/trace/mended.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "commands/errors.hpp"
#include "workloads/trace/limits.hpp"
#include "workloads/trace/uses.hpp"
#include "workloads/trace/writer.hpp"

namespace sdsm::trace {
namespace {

/// An event that costs nothing and leaves pages alone.
constexpr Event nothing{.kind = EventKind::task};

bool holds(const CallSites& at, std::uint32_t call_site) {
  return at.empty() || at.contains(call_site);
}

/// Tracks whether a thread is in a parallel region.
class Parallel {
 public:
  explicit Parallel(std::uint32_t thread) : is_initial_(thread == 0) {}
  explicit operator bool() const { return !is_initial_ || teams_ > 0; }
  void pass(const Event& event) {
    if (event.kind == EventKind::fork) ++teams_;
    if (event.kind == EventKind::join && teams_ > 0) --teams_;
  }

 private:
  bool is_initial_;
  std::uint32_t teams_ = 0;
};

/// Calls `see(thread, interval)`, thread by thread.
template <typename See>
void for_each_interval(const File& file, See see, Detail detail = Detail::touches) {
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    ThreadCursor cursor = file.thread(thread, detail);
    while (const Interval* interval = cursor.next()) see(thread, *interval);
  }
}

/// `mend(thread, interval)` returns the interval's replacement.
template <typename Mend>
void write(const File& file, const std::filesystem::path& output, const std::vector<Region>& regions, Mend mend) {
  Writer writer(output, file.header().threads);
  const auto append = [&](std::uint32_t thread, const Interval& from) { writer.append(thread, mend(thread, from)); };
  for_each_interval(file, append, Detail::pages);
  Header header = file.header();
  header.words = {};  // these are of the original pages
  writer.finish(header, regions);
}

/// Maps the pages of a trace to those of a padded one.
class Padding {
 public:
  explicit Padding(const File& file) : shared_(pages_written_apart(file)), regions_(file.regions()) {
    keep_regions_with_atomics(file);
    for (Region& region : regions_) {
      auto& pages = shared_[index_of(region.id)];
      if (region.kind == RegionKind::initial_stack || region.kind == RegionKind::thread_stack) pages.clear();
      const std::uint64_t threads = file.header().threads;
      std::vector<Divided> divided;
      std::uint64_t behind = 0;     // end of the last divided page, in the original
      std::uint64_t behind_it = 0;  // end of its parts, in the padded region
      for (auto& [page, writers] : pages) {
        const std::uint64_t first = (behind_it + page - behind + threads - 1) / threads * threads;
        divided.push_back({page, first, first + threads, std::move(writers)});
        behind = page + 1;
        behind_it = first + threads;
      }
      region.pages += behind_it - behind;
      if (region.pages > max_region_pages) throw commands::BadInput("a padded region has over 2^40 pages");
      pages_ += divided.size();
      divided_.push_back(std::move(divided));
    }
  }

  std::uint64_t pages() const { return pages_; }
  const std::vector<Region>& regions() const { return regions_; }

  /// Valid until the next call.
  const Interval& of(std::uint32_t thread, bool is_parallel, const Interval& from) {
    thread_ = is_parallel ? std::optional(thread) : std::nullopt;
    to_.compute_ns = from.compute_ns;
    to_.end = from.end;
    to_.call_site = from.call_site;
    to_.touches.clear();
    to_.lines.clear();
    to_.sites.clear();
    written_.clear();
    for (const TouchRun& run : from.touches) note_written(run);
    PageWalk<LinesRun> lines(from.lines);
    PageWalk<SiteRun> sites(from.sites);
    for (const TouchRun& run : from.touches) put(run, from, lines, sites);
    return to_;
  }

 private:
  struct Divided {
    std::uint64_t page;
    std::uint64_t first;  ///< first part; thread t's is the t-th
    std::uint64_t end;
    std::vector<std::uint32_t> threads;
  };

  void keep_regions_with_atomics(const File& file) {
    if (count_of(file, EventKind::atomic) == 0) return;
    for_each_interval(file, [&](std::uint32_t, const Interval& interval) {
      if (interval.end.kind == EventKind::atomic) shared_[interval.end.object].clear();
    });
  }

  static std::vector<Divided>::const_iterator first_from(const std::vector<Divided>& divided, std::uint64_t page) {
    return std::lower_bound(divided.begin(), divided.end(), page,
                            [](const Divided& one, std::uint64_t wanted) { return one.page < wanted; });
  }

  void note_written(const TouchRun& run) {
    if (run.access != Access::write) return;
    const std::vector<Divided>& divided = divided_[index_of(run.region)];
    for (auto one = first_from(divided, run.first); one != divided.end() && one->page < run.first + run.pages; ++one) {
      written_.insert({run.region, one->page});
    }
  }

  void put(const TouchRun& run, const Interval& from, PageWalk<LinesRun>& lines, PageWalk<SiteRun>& sites) {
    const bool has_lines = is_partial(run.change) && !from.lines.empty();
    const bool has_sites = !from.sites.empty();
    const std::vector<Divided>& divided = divided_[index_of(run.region)];
    auto next = first_from(divided, run.first);
    const auto put_pages = [&](std::uint64_t first, std::uint64_t pages) {
      TouchRun moved = run;
      moved.first = first;
      moved.pages = static_cast<std::uint32_t>(pages);
      to_.touches.push_back(moved);
      if (has_lines) to_.lines.push_back({lines.here().changed, pages});
      if (has_sites) to_.sites.push_back({sites.here().site, pages});
    };
    for (std::uint64_t page = run.first; page < run.first + run.pages;) {
      std::uint64_t pages = run.first + run.pages - page;
      if (has_lines) pages = std::min(pages, lines.pages_here());
      if (has_sites) pages = std::min(pages, sites.pages_here());
      if (next != divided.end() && next->page == page) {
        pages = 1;
        for (const std::uint32_t thread : parts_of(run.region, *next)) put_pages(next->first + thread, 1);
        ++next;
      } else {
        if (next != divided.end()) pages = std::min(pages, next->page - page);
        put_pages(next == divided.begin() ? page : page - (next - 1)->page - 1 + (next - 1)->end, pages);
      }
      if (has_lines) lines.pass(pages);
      if (has_sites) sites.pass(pages);
      page += pages;
    }
  }

  /// Returns the threads whose parts a touch by this thread accesses.
  std::vector<std::uint32_t> parts_of(RegionId region, const Divided& one) const {
    const bool is_own = thread_ && std::binary_search(one.threads.begin(), one.threads.end(), *thread_) &&
                        written_.contains({region, one.page});
    return is_own ? std::vector{*thread_} : one.threads;
  }

  SharedPages shared_;
  std::vector<Region> regions_;
  std::vector<std::vector<Divided>> divided_;  ///< by region, ascending
  std::uint64_t pages_ = 0;
  std::optional<std::uint32_t> thread_;  ///< the interval's thread, if it is in a parallel region
  std::set<PageId> written_;             ///< written in the interval, in regions with divided pages
  Interval to_;
};

/// A barrier of a parallel region: the region's number, and the barrier's place in it.
using Barrier = std::pair<std::uint64_t, std::uint64_t>;

bool is_of_whole_team(const Event& event) {
  return event.kind == EventKind::barrier && event.team == 0;
}

/// Pages that each thread touched between two barriers.
class Accesses {
 public:
  /// Whether it writes the page. A thread that does may read it, too: a trace lacks reads after a thread's own write.
  using OfThread = std::unordered_map<std::uint64_t, bool>;

  bool meet(std::uint32_t thread, const OfThread& later) const {
    return std::ranges::any_of(later, [&](const auto& one) {
      const auto before = pages_.find(one.first);
      return before != pages_.end() && std::ranges::any_of(before->second, [&](const auto& earlier) {
               return earlier.first != thread && (one.second || earlier.second);
             });
    });
  }
  void add(std::uint32_t thread, const OfThread& more) {
    for (const auto& [page, writes] : more) pages_[page].emplace_back(thread, writes);
  }
  void clear() { pages_.clear(); }

 private:
  std::unordered_map<std::uint64_t, std::vector<std::pair<std::uint32_t, bool>>> pages_;
};

/// Reads one thread's part of the trace, a phase between barriers at a time.
class Member {
 public:
  Member(const File& file, std::uint32_t thread) : cursor_(file.thread(thread, Detail::pages)) { pass(); }

  const Interval* here() const { return here_; }
  void pass() { here_ = cursor_.next(); }

  /// Reads up to the next barrier of the whole team, or the end of the region; returns whether it was a barrier.
  bool read_phase() {
    accesses_.clear();
    while (here_ != nullptr) {
      note(*here_);
      const Event end = here_->end;
      const std::uint32_t call_site = here_->call_site;
      if (end.kind == EventKind::loop_begin) loop_ = call_site;
      // The barrier at a loop's end is the loop's.
      const bool is_of_loop = last_.kind == EventKind::loop_end && last_at_ == call_site;
      ended_at_ = {call_site, is_of_loop ? loop_ : call_site};
      last_ = end;
      last_at_ = call_site;
      pass();
      if (is_of_whole_team(end)) return true;
      if (end.kind == EventKind::join) return false;
    }
    return false;
  }
  const Accesses::OfThread& accesses() const { return accesses_; }
  /// Call sites of the event that ended the phase, and of the loop at whose end it stands.
  const std::array<std::uint32_t, 2>& ended_at() const { return ended_at_; }

 private:
  static constexpr std::uint64_t most_pages = std::uint64_t{1} << 24;  // 64 GiB of memory

  void note(const Interval& interval) {
    for (const TouchRun& run : interval.touches) {
      if (accesses_.size() + run.pages > most_pages) {
        throw commands::BadInput(fmt::format("a thread touches more than {} pages between two barriers", most_pages));
      }
      for (std::uint64_t i = 0; i < run.pages; ++i) {
        // Pages have 40 bits and regions 20 (limits.hpp).
        accesses_[std::uint64_t{index_of(run.region)} << 40 | (run.first + i)] |= run.access == Access::write;
      }
    }
    // Atomic operations are not among the touches.
    if (interval.end.kind == EventKind::atomic) {
      accesses_[std::uint64_t{interval.end.object} << 40 | interval.end.value / page_bytes] = true;
    }
  }

  ThreadCursor cursor_;
  const Interval* here_ = nullptr;
  Accesses::OfThread accesses_;
  std::array<std::uint32_t, 2> ended_at_{};
  std::uint32_t loop_ = 0;  ///< call site of the last loop's begin
  Event last_{};            ///< the event before, and its call site
  std::uint32_t last_at_ = 0;
};

/// Finds the needless barriers of one region, which the members have begun, among those at these call sites.
void find_needless(std::uint64_t region, std::vector<std::pair<std::uint32_t, Member*>>& team, const CallSites& at,
                   std::set<Barrier>& found) {
  Accesses before;
  const auto read_phase = [&] {
    // If the program ended within the region, some members have no next barrier.
    bool is_barrier = true;
    for (auto& [thread, member] : team) is_barrier = member->read_phase() && is_barrier;
    return is_barrier;
  };
  const auto add = [&] {
    for (const auto& [thread, member] : team) before.add(thread, member->accesses());
  };
  bool is_barrier = read_phase();
  add();
  for (std::uint64_t number = 0; is_barrier; ++number) {
    const auto& ended_at = team.front().second->ended_at();
    const bool is_kept = !holds(at, ended_at[0]) && !holds(at, ended_at[1]);
    is_barrier = read_phase();
    const bool is_needed = is_kept || std::any_of(team.begin(), team.end(), [&](const auto& one) {
                             return before.meet(one.first, one.second->accesses());
                           });
    if (is_needed) {
      before.clear();
    } else {
      found.emplace(region, number);
    }
    add();
  }
}

std::set<Barrier> needless_barriers(const File& file, const CallSites& at) {
  std::vector<Member> members;
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) members.emplace_back(file, thread);
  std::set<Barrier> found;
  Member& initial = members.front();
  while (initial.here() != nullptr) {
    const Event event = initial.here()->end;
    initial.pass();
    // The barriers of a team of one are free.
    if (event.kind != EventKind::fork || event.value <= 1) continue;
    std::vector<std::pair<std::uint32_t, Member*>> team{{0, &initial}};
    for (std::uint32_t thread = 1; thread < members.size(); ++thread) {
      const Interval* const next = members[thread].here();
      if (next == nullptr || next->end.kind != EventKind::team_begin || next->end.object != event.object) continue;
      members[thread].pass();
      team.emplace_back(thread, &members[thread]);
    }
    if (team.size() == event.value) find_needless(event.object, team, at, found);
  }
  return found;
}

/// Computing times of a region's members between two barriers.
class Phases {
 public:
  Phases(const File& file, const CallSites& at) {
    regions_.resize(file.header().threads);
    std::set<Barrier> concerned;
    for_each_interval(file, [&](std::uint32_t thread, const Interval& interval) {
      const auto phase = pass(thread, interval.end);
      if (!phase) return;
      phases_[*phase][thread].traced += interval.compute_ns;
      if (holds(at, interval.call_site)) concerned.insert(*phase);
    });
    std::erase_if(phases_, [&](const auto& one) { return !concerned.contains(one.first); });
    regions_.assign(regions_.size(), {});
  }

  std::uint64_t uneven() const {
    return static_cast<std::uint64_t>(std::count_if(phases_.begin(), phases_.end(), [](const auto& phase) {
      const Members& members = phase.second;
      return std::any_of(members.begin(), members.end(),
                         [&](const auto& one) { return one.second.traced != members.begin()->second.traced; });
    }));
  }

  /// Returns the balanced computing time of the interval, which is the thread's next.
  std::uint64_t compute_of(std::uint32_t thread, const Interval& interval) {
    const std::optional<Barrier> phase = pass(thread, interval.end);
    const auto found = phase ? phases_.find(*phase) : phases_.end();
    if (found == phases_.end()) return interval.compute_ns;
    Members& members = found->second;
    std::uint64_t all = 0;
    for (const auto& [member, share] : members) all += share.traced;
    const auto number = static_cast<std::uint64_t>(std::distance(members.begin(), members.find(thread)));
    const std::uint64_t due = all / members.size() + (number < all % members.size() ? 1 : 0);
    Share& own = members.at(thread);
    own.passed += interval.compute_ns;
    // A thread without traced computing does its share at once. The last interval's quotient is 1, so the sum is exact.
    const double part = own.traced == 0 ? 1 : static_cast<double>(own.passed) / static_cast<double>(own.traced);
    const auto given = static_cast<std::uint64_t>(part * static_cast<double>(due));
    return given - std::exchange(own.given, given);
  }

 private:
  struct Share {
    std::uint64_t traced = 0;
    std::uint64_t passed = 0;  ///< part of `traced` so far
    std::uint64_t given = 0;   ///< balanced time for it
  };
  using Members = std::map<std::uint32_t, Share>;

  /// Returns the phase of an interval with that end, in the outermost region, as a nested one has one thread.
  std::optional<Barrier> pass(std::uint32_t thread, const Event& end) {
    std::vector<Barrier>& regions = regions_[thread];
    const std::optional<Barrier> phase = regions.empty() ? std::nullopt : std::optional(regions.front());
    if (end.kind == EventKind::fork || end.kind == EventKind::team_begin) regions.emplace_back(end.object, 0);
    if (end.kind == EventKind::join && !regions.empty()) regions.pop_back();
    if (is_of_whole_team(end) && regions.size() == 1) ++regions.front().second;
    return phase;
  }

  std::map<Barrier, Members> phases_;
  std::vector<std::vector<Barrier>> regions_;  ///< by thread: its phase in each region that it is in
};

}  // namespace

std::uint64_t pad(const File& file, const std::filesystem::path& output) {
  Padding padding(file);
  if (padding.pages() == 0) return 0;
  std::vector<Parallel> parallel;
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) parallel.emplace_back(thread);
  write(file, output, padding.regions(), [&](std::uint32_t thread, const Interval& from) -> const Interval& {
    const Interval& padded = padding.of(thread, static_cast<bool>(parallel[thread]), from);
    parallel[thread].pass(from.end);
    return padded;
  });
  return padding.pages();
}

std::uint64_t leave_out_barriers(const File& file, const std::filesystem::path& output, const CallSites& at) {
  const std::set<Barrier> needless = needless_barriers(file, at);
  if (needless.empty()) return 0;
  std::vector<Barrier> next(file.header().threads);
  write(file, output, file.regions(), [&](std::uint32_t thread, Interval interval) {
    const Event& end = interval.end;
    Barrier& here = next[thread];
    if (end.kind == EventKind::fork || end.kind == EventKind::team_begin) here = {end.object, 0};
    if (!is_of_whole_team(end)) return interval;
    if (needless.contains(here)) interval.end = nothing;
    ++here.second;
    return interval;
  });
  return needless.size();
}

std::uint64_t leave_out_locks(const File& file, const std::filesystem::path& output, const CallSites& at) {
  std::vector<std::vector<std::uint64_t>> left_out(file.header().threads);  // locks, by the thread that would hold them
  std::uint64_t taken = 0;
  const auto leave_out = [&](std::uint32_t thread, const Interval& interval) {
    const Event& event = interval.end;
    std::vector<std::uint64_t>& own = left_out[thread];
    const auto held = std::find(own.begin(), own.end(), event.object);
    if (event.kind == EventKind::release && held != own.end()) {
      own.erase(held);
      return true;
    }
    const bool is_lock = event.kind == EventKind::acquire && static_cast<LockClass>(event.detail) != LockClass::ordered;
    if (!holds(at, interval.call_site) || (!is_lock && event.kind != EventKind::atomic)) return false;
    if (is_lock) own.push_back(event.object);
    ++taken;
    return true;
  };
  for_each_interval(file, leave_out);
  if (taken == 0) return 0;
  const std::uint64_t found = std::exchange(taken, 0);
  left_out.assign(left_out.size(), {});
  write(file, output, file.regions(), [&](std::uint32_t thread, Interval interval) {
    if (leave_out(thread, interval)) interval.end = nothing;
    return interval;
  });
  return found;
}

std::map<std::uint32_t, std::uint32_t> barriers_of_singles(const File& file) {
  std::map<std::uint32_t, std::uint32_t> barriers;  // 0: it has no barrier
  std::uint32_t passed = 0;                         // the single that the thread has just passed, or 0
  for_each_interval(file, [&](std::uint32_t, const Interval& interval) {
    if (passed != 0 && interval.end.kind == EventKind::copyprivate) return;
    if (passed != 0) {
      const std::uint32_t next = is_of_whole_team(interval.end) ? interval.call_site : 0;
      std::uint32_t& known = barriers.try_emplace(passed, next).first->second;
      if (known != next) known = 0;
    }
    const bool is_passed = interval.end.kind == EventKind::single && interval.end.detail == 0;
    passed = is_passed ? interval.call_site : 0;
  });
  std::erase_if(barriers, [](const auto& one) { return one.second == 0; });
  return barriers;
}

std::uint64_t leave_out_singles(const File& file, const std::filesystem::path& output, const CallSites& at) {
  const auto is_left_out = [&](const Interval& interval) {
    return interval.end.kind == EventKind::single && holds(at, interval.call_site);
  };
  const std::map<std::uint32_t, std::uint32_t> barriers = barriers_of_singles(file);
  std::uint64_t singles = 0;
  for_each_interval(file, [&](std::uint32_t thread, const Interval& interval) {
    if (thread == 0 && is_left_out(interval)) ++singles;
  });
  if (singles == 0) return 0;
  std::vector<std::uint32_t> open(file.header().threads);  // the barrier that has yet to come, or 0
  std::vector<bool> copies(file.header().threads);
  write(file, output, file.regions(), [&](std::uint32_t thread, Interval interval) {
    if (is_left_out(interval)) {
      const auto barrier = barriers.find(interval.call_site);
      open[thread] = barrier != barriers.end() ? barrier->second : 0;
      copies[thread] = true;
      interval.end = nothing;
    } else if (copies[thread] && interval.end.kind == EventKind::copyprivate) {
      copies[thread] = false;
      interval.end = nothing;
    } else if (is_of_whole_team(interval.end) || interval.end.kind == EventKind::join) {
      const bool is_singles = is_of_whole_team(interval.end) && open[thread] != 0 && open[thread] == interval.call_site;
      open[thread] = 0;
      copies[thread] = false;
      if (is_singles) interval.end = nothing;
    }
    return interval;
  });
  return singles;
}

std::uint64_t balance(const File& file, const std::filesystem::path& output, const CallSites& at) {
  Phases phases(file, at);
  const std::uint64_t uneven = phases.uneven();
  if (uneven == 0) return 0;
  write(file, output, file.regions(), [&](std::uint32_t thread, Interval interval) {
    interval.compute_ns = phases.compute_of(thread, interval);
    return interval;
  });
  return uneven;
}

}  // namespace sdsm::trace
