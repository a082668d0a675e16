#include "workloads/trace/limits.hpp"

#include <fmt/format.h>

namespace sdsm::trace {
namespace {

enum class Value : std::uint8_t { none, team_size, any };

/// Which fields an event of one kind uses; the others are 0 (EventKind's comments, as a table).
struct EventRule {
  bool object = false;
  Value value = Value::none;
  std::uint8_t max_detail = 0;
};

constexpr auto lock_classes = static_cast<std::uint8_t>(LockClass::ordered);
constexpr auto schedules = static_cast<std::uint8_t>(Schedule::sections);

constexpr std::optional<EventRule> rule_of(EventKind kind) {
  switch (kind) {
    case EventKind::fork:
    case EventKind::team_begin:
    case EventKind::join: return EventRule{.object = true, .value = Value::team_size};
    case EventKind::barrier: return EventRule{.value = Value::team_size};
    case EventKind::acquire:
    case EventKind::release: return EventRule{.object = true, .max_detail = lock_classes};
    case EventKind::single: return EventRule{.object = true, .max_detail = 1};
    case EventKind::copyprivate: return EventRule{.object = true, .value = Value::team_size};
    case EventKind::loop_begin: return EventRule{.object = true, .value = Value::any, .max_detail = schedules};
    case EventKind::chunk: return EventRule{.object = true, .value = Value::any};
    case EventKind::loop_end: return EventRule{.object = true};
    case EventKind::flush:
    case EventKind::task:
    case EventKind::clock:
    case EventKind::end: return EventRule{};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> problem_with(const Event& event, std::uint32_t threads) {
  const auto rule = rule_of(event.kind);
  if (!rule) return fmt::format("event kind {} is unknown", static_cast<unsigned>(event.kind));
  if (event.detail > rule->max_detail) {
    return fmt::format("{}: detail {} is above {}", name_of(event.kind), event.detail, rule->max_detail);
  }
  if (!rule->object && event.object != 0) {
    return fmt::format("{}: has no object, but object is {}", name_of(event.kind), event.object);
  }
  const bool is_lock = event.kind == EventKind::acquire || event.kind == EventKind::release;
  if (is_lock && event.object > std::numeric_limits<std::uint32_t>::max()) {
    return fmt::format("{}: lock {} is above 2^32-1", name_of(event.kind), event.object);
  }
  if (rule->value == Value::none && event.value != 0) {
    return fmt::format("{}: has no value, but value is {}", name_of(event.kind), event.value);
  }
  if (rule->value == Value::team_size && (event.value < 1 || event.value > threads)) {
    return fmt::format("{}: team size {} is outside 1..{}", name_of(event.kind), event.value, threads);
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

std::optional<std::string> problem_with(const Region& region, std::uint64_t index, std::uint32_t threads) {
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
  if (region.owner >= threads) {
    return fmt::format("region {}: owner {} of {} threads", index, region.owner, threads);
  }
  return std::nullopt;
}

}  // namespace sdsm::trace
