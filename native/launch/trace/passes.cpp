#include "native/launch/trace/passes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "commands/errors.hpp"
#include "native/launch/trace/touch_places.hpp"
#include "native/tracer/record/diff.hpp"

namespace sdsm::trace_command {

using namespace commands;

namespace {

/// Pages have 40 bits and regions 20 (workloads/trace/limits.hpp); the stream has 32 for a page.
std::uint64_t key_of(std::uint32_t region, std::uint64_t page) {
  return std::uint64_t{region} << 32 | page;
}

std::uint64_t key_of(const trace::TouchRun& touch) {
  return key_of(index_of(touch.region), touch.first);
}

void add_lines(trace::Interval& interval, Change change, const ChangedLines& changed) {
  if (!trace::is_partial(change)) return;
  if (interval.lines.empty() || interval.lines.back().changed != changed) {
    interval.lines.push_back({changed, 1});
  } else {
    ++interval.lines.back().pages;
  }
}

void add_site(trace::Interval& interval, std::uint32_t site) {
  if (interval.sites.empty() || interval.sites.back().site != site) {
    interval.sites.push_back({site, 1});
  } else {
    ++interval.sites.back().pages;
  }
}

[[noreturn]] void fail_inconsistent() {
  throw RunError("the run-time's records contradict each other: please report this, with the program");
}

}  // namespace

void Pass::on_hello(const tracer::Hello& hello) {
  if (hello.version != tracer::stream_version) {
    throw RunError("libsdsm-trace.so is of another build than this command. Build both again.");
  }
  has_begun_ = true;
}

void FirstPass::on_interval(const tracer::IntervalRecord& record) {
  ++ended_;
  structure_.add(record.thread, record.event, record.compute_ns);
}

std::uint64_t RepeatedPass::next_interval(const tracer::IntervalRecord& record) {
  const std::uint64_t number = record.thread < intervals_.size() ? intervals_[record.thread] : 0;
  structure_.compare(number_, record.thread, number, record.event);
  ++intervals_[record.thread];
  ++ended_;
  return number;
}

void RepeatedPass::on_interval(const tracer::IntervalRecord& record) {
  const std::uint64_t number = next_interval(record);
  structure_.add_time(record.thread, number, record.compute_ns);
}

void RepeatedPass::on_finished(const tracer::FinishedRecord& record) {
  Pass::on_finished(record);
  for (std::uint32_t thread = 0; thread < intervals_.size(); ++thread) {
    structure_.compare_count(number_, thread, intervals_[thread]);
  }
}

TrackedPass::TrackedPass(Structure& structure, unsigned number, trace::Writer& writer,
                         const std::filesystem::path& program)
    : RepeatedPass(structure, number),
      writer_(writer),
      sites_(program.string()),
      namer_(program),
      states_(structure.threads()) {}

TrackedPass::ThreadState& TrackedPass::thread(std::uint32_t number) {
  if (number >= states_.size()) fail_inconsistent();
  return states_[number];
}

void TrackedPass::on_region(const tracer::RegionRecord& record) {
  if (record.id != regions_.size()) fail_inconsistent();
  trace::Region region{record.region, RegionId{record.id}, record.lead_pages};
  const auto name = namer_.name_of(
      {region.kind, region.owner, record.number, record.bytes, record.address, record.caller, record.library});
  if (!name) fail_inconsistent();
  region.name = *name;
  for (const std::uint64_t call : record.calls) {
    if (call != 0) region.calls.push_back(sites_.at(call));
  }
  regions_.push_back(std::move(region));
}

void TrackedPass::on_region_size(const tracer::RegionSizeRecord& record) {
  if (record.id >= regions_.size()) fail_inconsistent();
  regions_[record.id].pages = record.pages;
  regions_[record.id].is_filled = record.is_filled != 0;
}

void TrackedPass::on_touches(std::uint32_t number, std::span<const tracer::TouchRecord> touches) {
  ThreadState& state = thread(number);
  for (const auto& touch : touches) {
    trace::TouchRun run;
    run.region = RegionId{touch.region};
    run.first = touch.page;
    run.access = touch.is_write() ? Access::write : Access::read;
    state.touches.push_back(run);
    state.touch_times.push_back(touch.at_ns());
  }
}

void TrackedPass::on_object(const tracer::ObjectRecord& record, const std::string& file) {
  sites_.add_object(record, file);
}

void TrackedPass::on_sites(std::uint32_t number, std::span<const std::uint64_t> addresses) {
  for (const std::uint64_t address : addresses) thread(number).sites.push_back(sites_.at(address));
}

void TrackedPass::on_callers(std::uint32_t /*thread*/, std::span<const std::uint64_t> addresses) {
  callers_ = sites_.call_site(addresses);
}

/// All members of a team have the fork's call site where their part in it begins and ends.
std::uint32_t TrackedPass::call_site_of(const tracer::IntervalRecord& record) {
  const auto region = static_cast<std::size_t>(record.event.object);
  switch (record.event.kind) {
    case EventKind::fork:
      if (region != fork_sites_.size()) fail_inconsistent();
      fork_sites_.push_back(std::exchange(callers_, 0));
      return fork_sites_.back();
    case EventKind::team_begin:
    case EventKind::join: return region < fork_sites_.size() ? fork_sites_[region] : 0;
    default: return record.call_site == 0 ? 0 : sites_.call_site({&record.call_site, 1});
  }
}

void TrackedPass::on_unseen(const tracer::UnseenRecord& record) {
  unseen_.push_back({{record.call, strnlen(record.call, sizeof record.call)}, record.calls, record.bytes});
}

void TrackedPass::on_interval(const tracer::IntervalRecord& record) {
  const std::uint64_t number = next_interval(record);
  ThreadState& state = thread(record.thread);
  if (state.waiting_count == state.waiting.size()) state.waiting.emplace_back();
  trace::Interval& interval = state.waiting[state.waiting_count++];
  interval.compute_ns = structure_.least_compute_ns(record.thread, number);
  interval.end = record.event;
  if (is_decided_later(interval.end)) interval.end = structure_.event(record.thread, number);
  interval.call_site = call_site_of(record);
  const auto places = places_of({record.compute_ns, interval.compute_ns, state.touch_times});
  for (std::size_t i = 0; i < places.size(); ++i) state.touches[i].position = places[i];
  std::swap(interval.touches, state.touches);
  interval.lines.clear();
  interval.sites.clear();
  if (!state.sites.empty() && state.sites.size() != interval.touches.size()) fail_inconsistent();
  for (const std::uint32_t site : state.sites) add_site(interval, site);
  state.touches.clear();
  state.sites.clear();
  state.touch_times.clear();
}

void TrackedPass::on_changes(const tracer::ChangesHead& head, std::span<const tracer::ChangeRecord> changes) {
  ThreadState& state = thread(head.thread);
  state.changes.insert(state.changes.end(), changes.begin(), changes.end());
  if (head.is_last != 0 && head.closing == tracer::Closing::at_synchronisation) decide(head.thread);
}

void TrackedPass::on_change_maps(const tracer::ChangesHead& head, std::span<const tracer::ChangeMapRecord> maps) {
  ThreadState& state = thread(head.thread);
  state.is_split = true;
  for (const auto& map : maps) {
    auto [place, is_new] = state.maps.try_emplace(key_of(map.region, map.page), map);
    if (is_new) continue;
    for (unsigned i = 0; i < tracer::map_words; ++i) place->second.changed[i] |= map.changed[i];
  }
  if (head.is_last != 0 && head.closing == tracer::Closing::at_synchronisation) decide(head.thread);
}

/// The changes come in the order of the first writes: the n-th is the n-th write touch's.
void TrackedPass::decide_in_order(ThreadState& state) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < state.waiting_count; ++i) {
    for (trace::TouchRun& touch : state.waiting[i].touches) {
      if (touch.access != Access::write) continue;
      if (next == state.changes.size()) fail_inconsistent();
      const tracer::ChangeRecord& change = state.changes[next++];
      if (key_of(change.region, change.page) != key_of(touch)) fail_inconsistent();
      touch.change = change.change;
      add_lines(state.waiting[i], touch.change, change.lines);
    }
  }
  if (next != state.changes.size()) fail_inconsistent();
}

/// Other threads ran in between, and pages were touched anew: each page's first touches are kept, and the first write
/// gets all that changed.
void TrackedPass::decide_split(ThreadState& state) {
  enum Seen : std::uint8_t { was_read = 1, was_written = 2 };
  std::unordered_map<std::uint64_t, std::uint8_t> seen;
  for (std::size_t i = 0; i < state.waiting_count; ++i) {
    trace::Interval& interval = state.waiting[i];
    const std::vector<trace::SiteRun> sites = std::exchange(interval.sites, {});
    trace::PageWalk site(sites);
    std::erase_if(interval.touches, [&](trace::TouchRun& touch) {
      std::uint8_t& before = seen[key_of(touch)];
      const std::uint8_t now = touch.access == Access::read ? was_read : was_written;
      const bool is_repeated = now == was_read ? before != 0 : (before & was_written) != 0;
      before |= now;
      if (!sites.empty()) {
        if (!is_repeated) add_site(interval, site.here().site);
        site.pass(1);
      }
      if (is_repeated || now == was_read) return is_repeated;
      const auto map = state.maps.find(key_of(touch));
      if (map == state.maps.end()) fail_inconsistent();
      tracer::ChangeMap changed;
      std::copy(std::begin(map->second.changed), std::end(map->second.changed), std::begin(changed.bits));
      touch.change = tracer::count_changes(changed);
      add_lines(interval, touch.change, tracer::find_lines(changed.bits));
      return false;
    });
  }
}

void TrackedPass::decide(std::uint32_t number) {
  ThreadState& state = thread(number);
  if (state.is_split) {
    decide_split(state);
  } else {
    decide_in_order(state);
  }
  state.is_split = false;
  state.changes.clear();
  state.maps.clear();
  for (std::size_t i = 0; i < state.waiting_count; ++i) append(number, state.waiting[i]);
  state.waiting_count = 0;
}

void TrackedPass::append(std::uint32_t number, const trace::Interval& interval) {
  std::optional<trace::Interval>& last = thread(number).last;
  if (last) {
    writer_.append(number, *last);
    *last = interval;
  } else {
    last = interval;
  }
}

void TrackedPass::on_atomic_words(const tracer::AtomicWordsRecord& record) {
  std::optional<trace::Interval>& last = thread(record.thread).last;
  if (!last || last->end.kind != EventKind::atomic) fail_inconsistent();
  last->end.detail = static_cast<std::uint8_t>((last->end.detail & compares_found) | record.detail);
}

void TrackedPass::on_cut(const tracer::CutRecord& record) {
  std::optional<trace::Interval>& last = thread(record.thread).last;
  if (!last) fail_inconsistent();
  last->end = {.kind = EventKind::end};
  last->call_site = 0;
}

void TrackedPass::finish(trace::Header& header) {
  for (std::uint32_t number = 0; number < states_.size(); ++number) {
    // An interval that ends without synchronising has touched nothing, or was decided at the program's end.
    ThreadState& state = states_[number];
    for (std::size_t i = 0; i < state.waiting_count; ++i) append(number, state.waiting[i]);
    if (state.last) writer_.append(number, *state.last);
  }
  header.sites = sites_.sites();
  header.call_sites = sites_.call_sites();
  header.unseen = std::move(unseen_);
  writer_.finish(header, regions_);
}

}  // namespace sdsm::trace_command
