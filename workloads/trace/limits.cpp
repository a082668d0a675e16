#include "workloads/trace/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sdsm::trace {
namespace {

using Value = EventRule::Value;

constexpr auto lock_classes = static_cast<std::uint8_t>(LockClass::ordered);
constexpr auto objects = static_cast<std::uint8_t>(ObjectClass::writer);
constexpr auto schedules = static_cast<std::uint8_t>(Schedule::sections);
constexpr std::uint8_t most_words = 4;  // 16 bytes, the widest store of one instruction
constexpr std::uint8_t outcomes = compares_found + most_words;
constexpr auto clock_sources = static_cast<std::uint8_t>(ClockSource::getrusage);

/// Rules by EventKind.
constexpr std::array<EventRule, event_kinds> rules = {{
    {.object = true, .value = Value::team_size},                     // fork
    {.object = true, .value = Value::team_size},                     // team_begin
    {.object = true, .value = Value::team_size},                     // join
    {.value = Value::team_size},                                     // barrier
    {.object = true, .max_detail = lock_classes},                    // acquire
    {.object = true, .max_detail = lock_classes},                    // release
    {.object = true, .max_detail = 1},                               // single
    {.object = true, .value = Value::team_size},                     // copyprivate
    {.object = true, .value = Value::any, .max_detail = schedules},  // loop_begin
    {.object = true, .value = Value::any},                           // chunk
    {.object = true},                                                // loop_end
    {},                                                              // flush
    {},                                                              // task
    {.max_detail = clock_sources},                                   // clock
    {},                                                              // end
    {.object = true, .value = Value::any},                           // post
    {.object = true, .value = Value::any},                           // wait
    {.object = true, .value = Value::any, .max_detail = outcomes},   // atomic
    {},                                                              // fence
    {.object = true, .value = Value::any, .max_detail = objects},    // take
    {.object = true, .max_detail = objects},                         // give
    {.object = true, .value = Value::any},                           // meet
    {.object = true, .value = Value::any},                           // spin
}};

bool has_lock(EventKind kind) {
  switch (kind) {
    case EventKind::acquire:
    case EventKind::release:
    case EventKind::take:
    case EventKind::give:
    case EventKind::meet: return true;
    default: return false;
  }
}

}  // namespace

const EventRule* rule_of(EventKind kind) {
  const auto number = static_cast<unsigned>(kind);
  return number < rules.size() ? &rules[number] : nullptr;
}

std::optional<std::string> problem_with(const Event& event, std::uint32_t threads) {
  const EventRule* const rule = rule_of(event.kind);
  if (!rule) return fmt::format("event kind {} is unknown", static_cast<unsigned>(event.kind));
  if (event.detail > rule->max_detail) {
    return fmt::format("{}: detail {} is above {}", name_of(event.kind), event.detail, rule->max_detail);
  }
  if (!rule->object && event.object != 0) {
    return fmt::format("{}: has no object, but object is {}", name_of(event.kind), event.object);
  }
  if (has_turn(event) && event.value > std::numeric_limits<std::uint32_t>::max()) {
    return fmt::format("{}: turn {} is above 2^32-1", name_of(event.kind), event.value);
  }
  if (event.kind == EventKind::take && static_cast<ObjectClass>(event.detail) >= ObjectClass::semaphore &&
      event.value > std::numeric_limits<std::uint32_t>::max()) {
    return fmt::format("take: value {} of a {} is above 2^32-1", event.value,
                       name_of(static_cast<ObjectClass>(event.detail)));
  }
  if (has_lock(event.kind) && event.object > std::numeric_limits<std::uint32_t>::max()) {
    return fmt::format("{}: lock {} is above 2^32-1", name_of(event.kind), event.object);
  }
  if (event.kind == EventKind::spin && event.object >= threads) {
    return fmt::format("spin: thread {} of {}", event.object, threads);
  }
  if (event.kind == EventKind::atomic && words_changed(event) > most_words) {
    return fmt::format("atomic: {} words changed are over {}", words_changed(event), most_words);
  }
  if (event.kind == EventKind::atomic && event.object >= max_regions) {
    return fmt::format("atomic: region {} is above {}", event.object, max_regions - 1);
  }
  if (tells_try(event) && event.value > 1) {
    return fmt::format("{}: value {} of a lock is neither 0 nor 1", name_of(event.kind), event.value);
  }
  if (rule->value == Value::none && event.value != 0 && !has_turn(event) && !tells_try(event)) {
    return fmt::format("{}: has no value, but value is {}", name_of(event.kind), event.value);
  }
  if (rule->value == Value::team_size && (event.value < 1 || event.value > threads)) {
    return fmt::format("{}: team size {} is outside 1..{}", name_of(event.kind), event.value, threads);
  }
  if (rule->value != Value::team_size && event.team != 0) {
    return fmt::format("{}: has no team, but team is {}", name_of(event.kind), event.team);
  }
  return std::nullopt;
}

std::optional<std::string> problem_with(const TouchRun& run) {
  if (run.access != Access::read && run.access != Access::write) {
    return fmt::format("access {} is unknown", static_cast<unsigned>(run.access));
  }
  if (index_of(run.region) >= max_regions) {
    return fmt::format("region {} is above {}", index_of(run.region), max_regions - 1);
  }
  if (run.pages == 0) return "a run of no pages";
  if (run.first > max_region_pages || run.pages > max_region_pages - run.first) {
    return fmt::format("page {} is outside any region (at most 2^40 pages)", run.first);
  }
  if (run.access == Access::read && run.change != Change{}) return "a read that changes words";
  if (!possible(run.change)) {
    return fmt::format("no page has {} changed words in {} runs", run.change.words, run.change.runs);
  }
  return std::nullopt;
}

std::optional<std::string> problem_with(Change change, const ChangedLines& changed) {
  if (possible(change, changed)) return std::nullopt;
  return fmt::format("no page has {} changed words in {} runs in lines {:#x}{}{}", change.words, change.runs,
                     changed.lines, changed.first_word ? ", its first word among them" : "",
                     changed.last_word ? ", its last word among them" : "");
}

std::optional<std::string> problem_with_pages(const Interval& interval) {
  auto lines = interval.lines.begin();
  std::uint64_t passed = 0;  // pages of *lines
  for (const TouchRun& run : interval.touches) {
    if (!is_partial(run.change)) continue;
    for (std::uint64_t pages = run.pages; pages > 0;) {
      if (!possible(run.change, lines->changed)) return problem_with(run.change, lines->changed);
      const std::uint64_t alike = std::min(pages, lines->pages - passed);
      pages -= alike;
      passed += alike;
      if (passed < lines->pages) continue;
      ++lines;
      passed = 0;
    }
  }
  return std::nullopt;
}

std::optional<std::string> problem_with(const std::vector<Totals>& totals) {
  // In floating point, as a damaged file's sums may overflow.
  double touches = 0, compute_ns = 0;
  for (const Totals& one : totals) {
    touches += static_cast<double>(one.page_touches);
    compute_ns += static_cast<double>(one.compute_ns);
  }
  const double most = compute_ns * most_touches_per_ns * static_cast<double>(totals.size());
  if (touches <= most_touches_at_once || touches <= most) return std::nullopt;
  constexpr double ns_per_s = 1e9;
  return fmt::format("{:.4g} page touches in {:.3g} s of computing, which no processor can do", touches,
                     compute_ns / ns_per_s);
}

std::optional<std::string> problem_with(const Header& header) {
  if (header.sites.size() > max_sites) return fmt::format("{} sites are over {}", header.sites.size(), max_sites);
  if (header.call_sites.size() > max_call_sites)
    return fmt::format("{} call sites are over {}", header.call_sites.size(), max_call_sites);
  for (std::size_t i = 0; i < header.call_sites.size(); ++i) {
    const std::uint32_t caller = header.call_sites[i].caller;
    if (caller > i)
      return fmt::format("call site {}: it is called by call site {}, which does not come before", i + 1, caller);
  }
  return std::nullopt;
}

std::optional<std::string> problem_with(const Region& region, std::uint64_t index, const Header& header) {
  if (index_of(region.id) != index) return fmt::format("region {} has id {}", index, index_of(region.id));
  if (name_of(region.kind) == "?") {
    return fmt::format("region {}: kind {} is unknown", index, static_cast<unsigned>(region.kind));
  }
  if (name_of(region.placement) == "?") {
    return fmt::format("region {}: placement {} is unknown", index, static_cast<unsigned>(region.placement));
  }
  if (region.pages > max_region_pages) return fmt::format("region {}: {} pages are over 2^40", index, region.pages);
  if (region.kind != RegionKind::thread_stack && region.owner != 0) {
    return fmt::format("region {}: owner {}, but only a thread's stack has an owner", index, region.owner);
  }
  if (region.lead_pages > max_lead_pages) {
    return fmt::format("region {}: {} pages before it are over {}", index, region.lead_pages, max_lead_pages);
  }
  if (region.owner >= header.threads) {
    return fmt::format("region {}: owner {} of {} threads", index, region.owner, header.threads);
  }
  for (const std::uint32_t site : region.calls) {
    if (site >= header.sites.size()) {
      return fmt::format("region {}: site {} of {} called for it", index, site, header.sites.size());
    }
  }
  return std::nullopt;
}

}  // namespace sdsm::trace
