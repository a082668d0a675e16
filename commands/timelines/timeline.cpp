#include "commands/timelines/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace sdsm::timelines {
namespace {

/// A state with this many faults is split, so that pending marks stay few.
constexpr std::size_t most_marks = 4096;

}  // namespace

Timeline::Timeline(Layout layout, const Tables& tables, Selection selection)
    : layout_(layout), tables_(tables), selection_(std::move(selection)), tracks_(layout.processes()) {}

std::vector<std::string> Timeline::state_names() const {
  std::vector<std::string> names{"compute"};
  for (const FaultRow& fault : tables_.faults) names.emplace_back(fault.name);
  names.resize(static_cast<std::size_t>(Spent::diff));
  for (const char* name : {"diff", "protect", "barrier", "lock", "stolen", "idle"}) names.emplace_back(name);
  return names;
}

void Timeline::start(ProcessId thread, Time when) {
  tracks_[index_of(thread)].known_until = when;
  tracks_[index_of(thread)].open = {0, when, when};
}

void Timeline::state(ProcessId thread, std::size_t state, Time from, Time to) {
  if (from == to || !is_shown(thread)) return;
  Track& track = tracks_[index_of(thread)];
  if (from != track.known_until) {
    track.ahead.push_back({state, from, to});
    return;
  }
  append(thread, track, {state, from, to});
  const auto next = [&] {
    return std::ranges::find_if(track.ahead, [&](const Slice& slice) { return slice.from == track.known_until; });
  };
  for (auto found = next(); found != track.ahead.end(); found = next()) {
    const Slice slice = *found;
    track.ahead.erase(found);
    append(thread, track, slice);
  }
}

void Timeline::append(ProcessId thread, Track& track, const Slice& slice) {
  track.known_until = slice.to;
  if (slice.state != track.open.state || track.marks.size() >= most_marks) {
    close(thread, track);
    track.open = slice;
  } else {
    track.open.to = slice.to;
  }
}

/// Makes the open state a slice, which contains those of its faults.
void Timeline::close(ProcessId thread, Track& track) {
  const Slice& slice = track.open;
  if (slice.from == slice.to) return;
  Event event{.begin = slice.from, .end = slice.to, .track = index_of(thread)};
  event.kind = static_cast<std::uint8_t>(slice.state);
  event.what = Event::What::state;
  add_slice(event);
  const bool is_fault = slice.state >= 1 && slice.state <= tables_.faults.size();
  event.what = Event::What::fault;
  while (is_fault && !track.marks.empty() && track.marks.front().when < slice.to) {
    const Mark mark = track.marks.front();
    track.marks.pop_front();
    // A fault without cost belongs to no state.
    event.kind = static_cast<std::uint8_t>(mark.state);
    event.begin = event.end = mark.when;
    if (mark.state == slice.state) {
      event.begin = std::max(mark.when, slice.from);
      const Time next = track.marks.empty() ? slice.to : track.marks.front().when;
      event.end = std::clamp(next, event.begin, slice.to);
    }
    event.number = mark.first.index;
    event.other = index_of(mark.first.region);
    event.pages = static_cast<std::uint32_t>(mark.pages);
    add_slice(event);
  }
}

void Timeline::faults(ProcessId thread, std::size_t kind, PageId first, std::uint64_t pages, Time when) {
  if (is_shown(thread)) tracks_[index_of(thread)].marks.push_back({kind + 1, first, pages, when});
}

void Timeline::serve(ProcessId home, Time came, Time from, Time to) {
  if (!is_shown(home)) return;
  add_slice({.begin = from, .end = to, .track = index_of(home), .what = Event::What::service});
  add_queue(index_of(home), came, from);
}

void Timeline::wait_for_link(std::uint32_t link, Time came, Time left) {
  add_queue(layout_.processes() + link, came, left);
}

void Timeline::message(const Message& message) {
  if (!is_shown(message.from) || !is_shown(message.to)) return;
  if (message.sent < selection_.begin || message.arrived >= selection_.end) return;
  add({.begin = message.sent,
       .end = message.arrived,
       .number = static_cast<std::uint64_t>(message.payload.count),
       .track = index_of(message.from),
       .other = index_of(message.to),
       .kind = static_cast<std::uint8_t>(message.kind.value_or(no_kind)),
       .what = Event::What::message});
}

void Timeline::add_slice(Event event) {
  // A slice without length may lie at the window's begin.
  if (event.end < selection_.begin || (event.end == selection_.begin && event.begin < event.end)) return;
  if (event.begin >= selection_.end) return;
  event.begin = std::max(event.begin, selection_.begin);
  event.end = std::min(event.end, selection_.end);
  add(event);
}

void Timeline::add_queue(std::uint32_t queue, Time came, Time left) {
  if (came == left || left <= selection_.begin || came >= selection_.end) return;
  Event event{.begin = std::max(came, selection_.begin), .track = queue, .what = Event::What::queue, .change = 1};
  add(event);
  event.begin = left;
  event.change = -1;
  if (left < selection_.end) add(event);
}

void Timeline::add(const Event& event) {
  if (event.begin >= horizon_) {
    ++cut_;
    return;
  }
  events_.push_back(event);
  if (events_.size() > selection_.most_events + selection_.most_events / 4) drop_the_latest();
}

void Timeline::drop_the_latest() {
  if (events_.size() <= selection_.most_events) return;
  const auto first_cut = events_.begin() + static_cast<std::ptrdiff_t>(selection_.most_events);
  const auto is_earlier = [](const Event& a, const Event& b) { return a.begin < b.begin; };
  std::nth_element(events_.begin(), first_cut, events_.end(), is_earlier);
  horizon_ = first_cut->begin;
  cut_ += std::erase_if(events_, [this](const Event& event) { return event.begin >= horizon_; });
}

void Timeline::end() {
  for (std::uint32_t thread = 0; thread < tracks_.size(); ++thread) {
    close(ProcessId{thread}, tracks_[thread]);
    tracks_[thread].open = {};
  }
  drop_the_latest();
  std::ranges::stable_sort(events_, [](const Event& a, const Event& b) {
    return std::tuple(a.begin, a.what, a.track, a.change) < std::tuple(b.begin, b.what, b.track, b.change);
  });
}

std::string what_was_cut(const Timeline& timeline) {
  if (timeline.cut() == 0) return "";
  return fmt::format(
      "the timeline has the first {} events, and {} that begin at {:.9f} s or later are cut: it is whole up to there. "
      "Choose a window (--timeline-window) or threads (--timeline-threads), or let it have more (--timeline-events)",
      timeline.events().size(), timeline.cut(), to_seconds(timeline.cut_from()));
}

}  // namespace sdsm::timelines
