#include "workloads/trace/dump.hpp"

#include <fmt/format.h>

#include <iterator>
#include <stdexcept>
#include <string>

namespace sdsm::trace {
namespace {

using nlohmann::json;
using Line = fmt::memory_buffer;

json header_json(const Header& header) {
  return {{"format", format_version},         {"program", header.program}, {"threads", header.threads},
          {"passes", header.passes},          {"machine", header.machine}, {"sdsm_version", header.sdsm_version},
          {"page_bytes", page_bytes},         {"word_bytes", word_bytes},  {"position_steps", position_steps},
          {"exit_status", header.exit_status}};
}

json region_json(const Region& region) {
  return {{"id", index_of(region.id)}, {"kind", name_of(region.kind)}, {"placement", name_of(region.placement)},
          {"pages", region.pages},     {"owner", region.owner},        {"name", region.name}};
}

void put(std::ostream& out, const Line& line) {
  out.write(line.data(), static_cast<std::streamsize>(line.size()));
  if (!out) throw std::runtime_error("cannot write the dump: the output is full or closed");
}

void put_typed(std::ostream& out, const char* type, json object) {
  object["type"] = type;
  Line line;
  fmt::format_to(std::back_inserter(line), "{}\n", object.dump());
  put(out, line);
}

void append_event(Line& line, const Event& event) {
  const auto to = std::back_inserter(line);
  fmt::format_to(to, "{{\"kind\":\"{}\",\"detail\":", name_of(event.kind));
  switch (event.kind) {
    case EventKind::acquire:
    case EventKind::release: fmt::format_to(to, "\"{}\"", name_of(static_cast<LockClass>(event.detail))); break;
    case EventKind::loop_begin: fmt::format_to(to, "\"{}\"", name_of(static_cast<Schedule>(event.detail))); break;
    default: fmt::format_to(to, "{}", event.detail);
  }
  fmt::format_to(to, ",\"object\":{},\"value\":{}}}", event.object, event.value);
}

void append_run(Line& line, const TouchRun& run) {
  fmt::format_to(std::back_inserter(line),
                 "{{\"region\":{},\"first\":{},\"pages\":{},\"access\":\"{}\",\"position\":{},"
                 "\"change\":{{\"words\":{},\"runs\":{}}}}}",
                 index_of(run.region), run.first, run.pages, name_of(run.access), run.position, run.change.words,
                 run.change.runs);
}

void append_interval(Line& line, std::uint32_t thread, const Interval& interval) {
  fmt::format_to(std::back_inserter(line), "{{\"type\":\"interval\",\"thread\":{},\"compute_ns\":{},\"touches\":[",
                 thread, interval.compute_ns);
  bool first = true;
  for (const TouchRun& run : interval.touches) {
    if (!first) line.push_back(',');
    first = false;
    append_run(line, run);
  }
  fmt::format_to(std::back_inserter(line), "],\"end\":");
  append_event(line, interval.end);
  fmt::format_to(std::back_inserter(line), "}}\n");
}

json totals_json(const Totals& totals) {
  return {{"intervals", totals.intervals},
          {"touch_runs", totals.touch_runs},
          {"page_touches", totals.page_touches},
          {"compute_ns", totals.compute_ns}};
}

json events_json(const EventCounts& events) {
  json counts = json::object();
  for (unsigned kind = 0; kind < event_kinds; ++kind) {
    if (events[kind] != 0) counts[std::string(name_of(static_cast<EventKind>(kind)))] = events[kind];
  }
  return counts;
}

}  // namespace

void dump(const File& file, std::ostream& out) {
  put_typed(out, "header", header_json(file.header()));
  for (const Region& region : file.regions()) put_typed(out, "region", region_json(region));
  Line line;
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    ThreadCursor cursor = file.thread(thread);
    while (const Interval* interval = cursor.next()) {
      line.clear();
      append_interval(line, thread, *interval);
      put(out, line);
    }
  }
}

json info(const File& file) {
  json regions = json::array();
  for (const Region& region : file.regions()) regions.push_back(region_json(region));
  json threads = json::array();
  Totals sum;
  EventCounts event_sum{};
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    const Totals totals = file.totals(thread);
    const EventCounts events = file.events(thread);
    json entry = totals_json(totals);
    entry["thread"] = thread;
    entry["events"] = events_json(events);
    threads.push_back(std::move(entry));
    sum.intervals += totals.intervals;
    sum.touch_runs += totals.touch_runs;
    sum.page_touches += totals.page_touches;
    sum.compute_ns += totals.compute_ns;
    for (unsigned kind = 0; kind < event_kinds; ++kind) event_sum[kind] += events[kind];
  }
  json bytes_per_touch = nullptr;
  if (sum.page_touches > 0) {
    bytes_per_touch = static_cast<double>(file.file_bytes()) / static_cast<double>(sum.page_touches);
  }
  return {{"header", header_json(file.header())},
          {"regions", std::move(regions)},
          {"threads", std::move(threads)},
          {"totals", totals_json(sum)},
          {"events", events_json(event_sum)},
          {"file_bytes", file.file_bytes()},
          {"bytes_per_page_touch", std::move(bytes_per_touch)}};
}

}  // namespace sdsm::trace
