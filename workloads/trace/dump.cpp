#include "workloads/trace/dump.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>
#include <stdexcept>
#include <string>

#include "workloads/trace/footer.hpp"
#include "workloads/trace/words.hpp"

namespace sdsm::trace {
namespace {

using nlohmann::json;
using Line = fmt::memory_buffer;

json header_json(const File& file) {
  const Header& header = file.header();
  json sites = json::array();
  for (const Site& site : header.sites) sites.push_back({{"file", site.file}, {"address", site.address}});
  json call_sites = json::array();
  for (const auto& [site, caller] : header.call_sites) {
    call_sites.push_back({{"file", site.file}, {"address", site.address}, {"caller", caller}});
  }
  json value = {{"format", file.format()},
                {"program", header.program},
                {"threads", header.threads},
                {"passes", header.passes},
                {"machine", header.machine},
                {"sdsm_version", header.sdsm_version},
                {"page_bytes", page_bytes},
                {"word_bytes", word_bytes},
                {"position_steps", position_steps},
                {"exit_status", header.exit_status},
                {"sites", std::move(sites)},
                {"call_sites", std::move(call_sites)},
                {"unseen", unseen_json(header.unseen)},
                {"program_sha256", header.program_sha256},
                {"asked_threads", header.asked_threads},
                {"reads_input", header.reads_input},
                {"begun_s", header.begun_s}};
  for (const auto& [name, part] : speed_members) value[name] = header.speed.*part;
  if (header.ended_by) value["ended_by"] = *header.ended_by;
  if (!header.words.array.empty()) value["words"] = words_json(header.words);
  return value;
}

json region_json(const Region& region) {
  json value = {{"id", index_of(region.id)},  {"kind", name_of(region.kind)}, {"placement", name_of(region.placement)},
                {"pages", region.pages},      {"owner", region.owner},        {"lead_pages", region.lead_pages},
                {"filled", region.is_filled}, {"name", region.name}};
  if (!region.calls.empty()) value["calls"] = region.calls;
  return value;
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
    case EventKind::take:
    case EventKind::give: fmt::format_to(to, "\"{}\"", name_of(static_cast<ObjectClass>(event.detail))); break;
    case EventKind::loop_begin: fmt::format_to(to, "\"{}\"", name_of(static_cast<Schedule>(event.detail))); break;
    case EventKind::clock: fmt::format_to(to, "\"{}\"", name_of(static_cast<ClockSource>(event.detail))); break;
    default: fmt::format_to(to, "{}", event.detail);
  }
  fmt::format_to(to, ",\"object\":{},\"value\":{},\"team\":{}}}", event.object, event.value, event.team);
}

void append_run(Line& line, const TouchRun& run) {
  fmt::format_to(std::back_inserter(line),
                 "{{\"region\":{},\"first\":{},\"pages\":{},\"access\":\"{}\",\"position\":{},"
                 "\"change\":{{\"words\":{},\"runs\":{}}}}}",
                 index_of(run.region), run.first, run.pages, name_of(run.access), run.position, run.change.words,
                 run.change.runs);
}

/// Appends the lines as a hexadecimal number; its lowest bit is line 0.
void append_lines(Line& line, const LinesRun& run) {
  fmt::format_to(std::back_inserter(line), "{{\"lines\":\"{:016x}\",\"first_word\":{},\"last_word\":{},\"pages\":{}}}",
                 run.changed.lines, run.changed.first_word, run.changed.last_word, run.pages);
}

void append_site(Line& line, const SiteRun& run) {
  fmt::format_to(std::back_inserter(line), "{{\"site\":{},\"pages\":{}}}", run.site, run.pages);
}

template <typename Element>
void append_list(Line& line, const std::vector<Element>& list, void (*append)(Line&, const Element&)) {
  for (const Element& element : list) {
    if (&element != list.data()) line.push_back(',');
    append(line, element);
  }
}

void append_interval(Line& line, std::uint32_t thread, const Interval& interval) {
  fmt::format_to(std::back_inserter(line), "{{\"type\":\"interval\",\"thread\":{},\"compute_ns\":{},\"touches\":[",
                 thread, interval.compute_ns);
  const auto to = std::back_inserter(line);
  append_list(line, interval.touches, append_run);
  fmt::format_to(to, "],\"lines\":[");
  append_list(line, interval.lines, append_lines);
  fmt::format_to(to, "],\"sites\":[");
  append_list(line, interval.sites, append_site);
  fmt::format_to(to, "],\"end\":");
  append_event(line, interval.end);
  fmt::format_to(std::back_inserter(line), ",\"call_site\":{}}}\n", interval.call_site);
}

}  // namespace

void dump(const File& file, std::ostream& out) {
  put_typed(out, "header", header_json(file));
  for (const Region& region : file.regions()) put_typed(out, "region", region_json(region));
  Line line;
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    ThreadCursor cursor = file.thread(thread, Detail::pages);
    while (const Interval* interval = cursor.next()) {
      line.clear();
      append_interval(line, thread, *interval);
      put(out, line);
    }
  }
}

json info(const File& file) {
  json regions = json::array();
  for (const Region& region : file.regions()) {
    json placements;
    for (const HeapPlacement wanted : heap_placements)
      placements[std::string(name_of(wanted))] = name_of(placement_of(wanted, region, region.is_filled));
    regions.push_back(region_json(region));
    regions.back()["placements"] = std::move(placements);
  }
  json threads = json::array();
  Totals sum;
  EventCounts event_sum{};
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    const Totals totals = file.totals(thread);
    const EventCounts events = file.events(thread);
    threads.push_back(totals_json(totals, events));
    threads.back()["thread"] = thread;
    sum.intervals += totals.intervals;
    sum.touch_runs += totals.touch_runs;
    sum.page_touches += totals.page_touches;
    sum.compute_ns += totals.compute_ns;
    for (unsigned kind = 0; kind < event_kinds; ++kind) event_sum[kind] += events[kind];
  }
  json totals = totals_json(sum, event_sum);
  const json events = std::move(totals["events"]);
  totals.erase("events");
  json bytes_per_touch = nullptr;
  if (sum.page_touches > 0) {
    bytes_per_touch = static_cast<double>(file.file_bytes()) / static_cast<double>(sum.page_touches);
  }
  return {{"header", header_json(file)},
          {"regions", std::move(regions)},
          {"threads", std::move(threads)},
          {"totals", std::move(totals)},
          {"events", events},
          {"file_bytes", file.file_bytes()},
          {"bytes_per_page_touch", std::move(bytes_per_touch)}};
}

namespace {

json sites_json(const std::vector<SiteUse>& uses) {
  json sites = json::array();
  for (const SiteUse& site : uses) {
    sites.push_back({{"site", site.site}, {"reads", site.reads}, {"writes", site.writes}});
  }
  return sites;
}

}  // namespace

json locks_json(const std::vector<LockUse>& uses) {
  json list = json::array();
  for (const LockUse& use : uses) {
    json regions = json::array();
    for (const RegionTouches& touches : use.regions) {
      regions.push_back({{"region", index_of(touches.region)}, {"reads", touches.reads}, {"writes", touches.writes}});
    }
    list.push_back({{"class", name_of(static_cast<LockClass>(use.lock_class))},
                    {"lock", use.lock},
                    {"taken", use.taken},
                    {"threads", use.threads},
                    {"regions", std::move(regions)},
                    {"sites", sites_json(use.sites)}});
  }
  return list;
}

json atomics_json(const std::vector<AtomicUse>& uses) {
  json list = json::array();
  for (const AtomicUse& use : uses) {
    list.push_back({{"region", index_of(use.region)},
                    {"byte", use.byte},
                    {"operations", use.operations},
                    {"threads", use.threads}});
  }
  return list;
}

json uses_json(const std::vector<RegionUse>& uses) {
  json list = json::array();
  for (const RegionUse& use : uses) {
    list.push_back({{"region", list.size()},
                    {"reads", use.reads},
                    {"writes", use.writes},
                    {"written_by_one", use.written_by_one},
                    {"written_apart", use.written_apart},
                    {"written_together", use.written_together},
                    {"first_phase", use.first_phase},
                    {"last_phase", use.last_phase},
                    {"sites", sites_json(use.sites)}});
  }
  return list;
}

}  // namespace sdsm::trace
