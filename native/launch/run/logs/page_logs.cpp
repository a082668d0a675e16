#include "native/launch/run/logs/page_logs.hpp"

#include <algorithm>
#include <cstring>

#include "native/launch/run/logs/control_channel.hpp"
#include "workloads/trace/region_numbers.hpp"

namespace sdsm::run_command {
namespace {

using Kind = dsm::PageEvent::Kind;

template <typename Record, typename Take>
void for_each_record(const std::string& payload, Take take) {
  if (payload.size() % sizeof(Record) != 0) throw ProtocolError("sent the launcher a log that is cut off");
  for (std::size_t at = 0; at < payload.size(); at += sizeof(Record)) {
    Record record;
    std::memcpy(&record, payload.data() + at, sizeof record);
    take(record);
  }
}

[[noreturn]] void fail() {
  throw ProtocolError("sent the launcher a log of impossible events");
}

void add_all(std::map<PageId, trace::PageFigures>& to, const std::map<PageId, trace::PageFigures>& from) {
  for (const auto& [page, figures] : from) to[page] += figures;
}

void move_all(std::map<PageId, trace::PageFigures>& to, std::map<PageId, trace::PageFigures>& from) {
  add_all(to, from);
  from.clear();
}

trace::OrderKind order_kind(const dsm::PageEvent& event, const Tables& tables) {
  switch (event.kind) {
    case Kind::fault:
      return tables.faults[static_cast<std::size_t>(event.fault)].access == Access::read ? trace::OrderKind::read
                                                                                         : trace::OrderKind::write;
    case Kind::barrier: return trace::OrderKind::barrier;
    case Kind::ask: return trace::OrderKind::ask;
    case Kind::take: return trace::OrderKind::take;
    case Kind::drop: return trace::OrderKind::drop;
    case Kind::give: return trace::OrderKind::give;
    case Kind::diff:
    case Kind::clock:
    case Kind::leave: break;
  }
  fail();
}

}  // namespace

void PageLogs::take_events(std::uint32_t process, const std::string& payload) {
  for_each_record<dsm::PageEvent>(payload, [&](const dsm::PageEvent& event) { take(process, event); });
}

void PageLogs::take_regions(const std::string& payload) {
  for_each_record<dsm::RegionOrigin>(payload, [&](const dsm::RegionOrigin& origin) { origins_.push_back(origin); });
}

void PageLogs::take(std::uint32_t number, const dsm::PageEvent& event) {
  Process& process = processes_.at(number);
  if (static_cast<std::size_t>(event.fault) >= tables_.faults.size()) fail();
  const PageId page{RegionId{event.object}, event.value};
  Pages& latest = process.is_at_barrier ? process.at_barrier : process.behind_barrier;
  if (event.kind == Kind::diff) {
    latest[page] += trace::figures_of_diff(event.bytes);
    return;
  }
  if (event.kind == Kind::leave) {
    move_all(process.since, process.behind_barrier);
    move_all(process.since, process.at_barrier);
    process.is_at_barrier = false;
    return;
  }
  if (event.kind == Kind::barrier && event.bytes == dsm::PageEvent::of_team) process.is_at_barrier = true;
  if (event.kind == Kind::clock) {
    using AsOf = dsm::PageEvent::AsOf;
    Pages& bounded = dsm::calls_of(process.clock_calls) == 0 ? process.before : process.between;
    move_all(bounded, process.since);
    if (event.object != static_cast<std::uint32_t>(AsOf::leaving)) move_all(bounded, process.behind_barrier);
    if (event.object == static_cast<std::uint32_t>(AsOf::now)) move_all(bounded, process.at_barrier);
    if (dsm::rank_of(event.value) > dsm::rank_of(process.clock_calls)) {
      add_all(process.before, process.between);
      process.between.clear();
    }
    process.clock_calls = event.value;
    return;
  }
  if (event.kind == Kind::fault)
    latest[page] += trace::figures_of(tables_.faults[static_cast<std::size_t>(event.fault)]);
  if (!keeps_order_) return;
  if (!process.order.empty() && process.order.back().first >= event.turn) fail();
  process.order.push_back({event.turn, {ProcessId{number}, order_kind(event, tables_), event.object, event.value}});
}

trace::PageBook PageLogs::figures() const {
  trace::PageBook book;
  const bool has_region = dsm::calls_of(processes_.front().clock_calls) >= 2;
  for (std::uint32_t number = 0; number < processes_.size(); ++number) {
    const Process& process = processes_[number];
    Pages pages = process.between;
    if (!has_region) {
      add_all(pages, process.before);
      for (const Pages& part : {process.since, process.behind_barrier, process.at_barrier}) add_all(pages, part);
    }
    for (const auto& [page, figures] : pages) book[{page, ProcessId{number}}] = figures;
  }
  return book;
}

trace::RegionNames PageLogs::names(const program_start::RegionNamer& namer) const {
  trace::RegionNames names;
  std::uint32_t number = first_made_region(layout_.processes());
  for (const dsm::RegionOrigin& origin : origins_) {
    const auto name =
        namer.name_of({origin.kind, 0, origin.number, origin.bytes, origin.address, origin.caller, origin.library});
    names[number++] = name.value_or("?");
  }
  return names;
}

trace::Order PageLogs::order() const {
  trace::Order order{layout_, {}};
  for (std::uint32_t node = 0; node < layout_.nodes; ++node) {
    std::vector<std::pair<std::uint64_t, trace::OrderEvent>> events;
    for (std::uint32_t i = 0; i < layout_.threads_per_node; ++i) {
      const auto& own = processes_[node * layout_.threads_per_node + i].order;
      events.insert(events.end(), own.begin(), own.end());
    }
    std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<trace::OrderEvent>& sorted = order.nodes.emplace_back();
    for (const auto& [turn, event] : events) sorted.push_back(event);
  }
  return order;
}

}  // namespace sdsm::run_command
