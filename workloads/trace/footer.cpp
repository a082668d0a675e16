#include "workloads/trace/footer.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <ranges>

#include "workloads/trace/content_error.hpp"
#include "workloads/trace/file_layout.hpp"
#include "workloads/trace/limits.hpp"
#include "workloads/trace/words.hpp"

namespace sdsm::trace {
namespace {

using nlohmann::json;

/// Deepest nesting of objects and lists; ours are three deep. A damaged footer could otherwise be a million deep, at
/// sixty bytes of memory per byte.
constexpr int max_json_depth = 8;

// The JSON library converts between kinds of numbers and wraps around, but a footer must be exact.

const json& member(const json& object, const char* key) {
  if (!object.is_object()) throw ContentError(fmt::format("an object with \"{}\" is missing", key));
  const auto found = object.find(key);
  if (found == object.end()) throw ContentError(fmt::format("\"{}\" is missing", key));
  return *found;
}

std::uint64_t unsigned_value(const json& value, const char* key, std::uint64_t max) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > max) {
    throw ContentError(fmt::format("\"{}\" is not a whole number of 0..{}", key, max));
  }
  return value.get<std::uint64_t>();
}

std::uint64_t unsigned_member(const json& object, const char* key, std::uint64_t max) {
  return unsigned_value(member(object, key), key, max);
}

std::uint32_t unsigned32_member(const json& object, const char* key,
                                std::uint32_t max = std::numeric_limits<std::uint32_t>::max()) {
  return static_cast<std::uint32_t>(unsigned_member(object, key, max));
}

int int_member(const json& object, const char* key) {
  const json& value = member(object, key);
  const bool in_range = value.is_number_unsigned()
                            ? value.get<std::uint64_t>() <= std::numeric_limits<int>::max()
                            : value.is_number_integer() && value.get<std::int64_t>() >= std::numeric_limits<int>::min();
  if (!in_range) throw ContentError(fmt::format("\"{}\" is not a whole number of 32 bits", key));
  return value.get<int>();
}

std::string text_value(const json& value, const char* key) {
  if (!value.is_string()) throw ContentError(fmt::format("\"{}\" is not a text", key));
  return value.get<std::string>();
}

std::string text_member(const json& object, const char* key) {
  return text_value(member(object, key), key);
}

const json& list_member(const json& object, const char* key, std::size_t max_size) {
  const json& value = member(object, key);
  if (!value.is_array()) throw ContentError(fmt::format("\"{}\" is not a list", key));
  if (value.size() > max_size) {
    throw ContentError(fmt::format("\"{}\" has {} entries, over {}", key, value.size(), max_size));
  }
  return value;
}

/// Returns the enumerator whose name the member holds. Enumerators are tried from 0 on until one has no name.
template <typename Enum>
Enum named_member(const json& object, const char* key) {
  const std::string name = text_member(object, key);
  for (std::uint8_t number = 0; name_of(static_cast<Enum>(number)) != "?"; ++number) {
    if (name_of(static_cast<Enum>(number)) == name) return static_cast<Enum>(number);
  }
  throw ContentError(fmt::format("\"{}\" is \"{}\", which is none of the known ones", key, name));
}

/// Writes sites as columns: numbers of the few files, and addresses.
template <typename Sites>
json sites_json(const Sites& sites) {
  std::map<std::string, std::size_t> numbers;
  json files = json::array(), numbered = json::array(), addresses = json::array();
  for (const Site& site : sites) {
    const auto [file, is_new] = numbers.try_emplace(site.file, numbers.size());
    if (is_new) files.push_back(site.file);
    numbered.push_back(file->second);
    addresses.push_back(site.address);
  }
  return {{"files", std::move(files)}, {"file", std::move(numbered)}, {"address", std::move(addresses)}};
}

/// Allows the largest number of sites, with names as long as paths usually are.
constexpr std::uint64_t most_site_name_bytes = max_sites * std::uint64_t{256};

std::vector<Site> sites_from(const json& value) {
  const json& files = list_member(value, "files", max_sites);
  const json& numbers = list_member(value, "file", max_sites);
  const json& addresses = list_member(value, "address", max_sites);
  if (numbers.size() != addresses.size()) {
    throw ContentError(fmt::format("\"file\" is for {} sites, \"address\" for {}", numbers.size(), addresses.size()));
  }
  std::vector<Site> sites;
  std::uint64_t name_bytes = 0;  // each site has its file's name
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint64_t file = unsigned_value(numbers[i], "file", max_sites);
    if (file >= files.size()) throw ContentError(fmt::format("file {} of {}", file, files.size()));
    std::string name = text_value(files[file], "files");
    name_bytes += name.size();
    if (name_bytes > most_site_name_bytes) {
      throw ContentError(fmt::format("the names of the sites' files take more than {} bytes", most_site_name_bytes));
    }
    sites.push_back(
        {std::move(name), unsigned_value(addresses[i], "address", std::numeric_limits<std::uint64_t>::max())});
  }
  return sites;
}

json call_sites_json(const std::vector<CallSite>& call_sites) {
  json value = sites_json(call_sites | std::views::transform(&CallSite::site));
  json& callers = value["caller"] = json::array();
  for (const CallSite& call_site : call_sites) callers.push_back(call_site.caller);
  return value;
}

std::vector<CallSite> call_sites_from(const json& value) {
  const std::vector<Site> sites = sites_from(value);
  const json& callers = list_member(value, "caller", max_call_sites);
  if (callers.size() != sites.size()) {
    throw ContentError(
        fmt::format("\"caller\" is for {} call sites, \"address\" for {}", callers.size(), sites.size()));
  }
  std::vector<CallSite> call_sites;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    call_sites.push_back({sites[i], static_cast<std::uint32_t>(unsigned_value(callers[i], "caller", max_call_sites))});
  }
  return call_sites;
}

std::vector<UnseenCall> unseen_from(const json& list) {
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  std::vector<UnseenCall> unseen;
  for (const json& value : list) {
    unseen.push_back({.call = text_member(value, "call"),
                      .calls = unsigned_member(value, "calls", any),
                      .bytes = unsigned_member(value, "bytes", any)});
  }
  return unseen;
}

json to_json(const Header& header) {
  json value = {
      {"program", header.program}, {"threads", header.threads},           {"passes", header.passes},
      {"machine", header.machine}, {"sdsm_version", header.sdsm_version}, {"exit_status", header.exit_status}};
  if (!header.sites.empty()) value["sites"] = sites_json(header.sites);
  if (!header.call_sites.empty()) value["call_sites"] = call_sites_json(header.call_sites);
  if (!header.unseen.empty()) value["unseen"] = unseen_json(header.unseen);
  if (!header.program_sha256.empty()) value["program_sha256"] = header.program_sha256;
  if (header.asked_threads != 0) value["asked_threads"] = header.asked_threads;
  if (header.reads_input) value["reads_input"] = true;
  if (header.ended_by) value["ended_by"] = *header.ended_by;
  if (header.begun_s != 0) value["begun_s"] = header.begun_s;
  for (const auto& [name, part] : speed_members) {
    if (header.speed.*part != 0) value[name] = header.speed.*part;
  }
  if (!header.words.array.empty()) value["words"] = words_json(header.words);
  return value;
}

Header header_from(const json& value, std::uint32_t format) {
  Header header;
  for (const json& argument : list_member(value, "program", max_footer_bytes)) {
    header.program.push_back(text_value(argument, "program"));
  }
  header.threads = unsigned32_member(value, "threads", max_threads);
  if (header.threads == 0) throw ContentError("\"threads\" is 0");
  header.passes = unsigned32_member(value, "passes");
  header.machine = text_member(value, "machine");
  header.sdsm_version = text_member(value, "sdsm_version");
  header.exit_status = int_member(value, "exit_status");
  if (format == first_format) return header;
  if (value.contains("sites")) header.sites = sites_from(value["sites"]);
  if (value.contains("call_sites") && format == format_version)
    header.call_sites = call_sites_from(value["call_sites"]);
  if (value.contains("unseen")) header.unseen = unseen_from(list_member(value, "unseen", max_footer_bytes));
  if (value.contains("program_sha256")) header.program_sha256 = text_member(value, "program_sha256");
  if (value.contains("asked_threads")) header.asked_threads = unsigned32_member(value, "asked_threads", max_threads);
  header.reads_input = value.contains("reads_input") && value["reads_input"] == true;
  if (value.contains("ended_by")) header.ended_by = unsigned32_member(value, "ended_by", header.threads - 1);
  if (value.contains("begun_s")) header.begun_s = unsigned_member(value, "begun_s", most_date_s);
  for (const auto& [name, part] : speed_members) {
    if (value.contains(name)) header.speed.*part = unsigned_member(value, name, most_speed);
  }
  if (value.contains("words")) header.words = words_from(value["words"]);
  return header;
}

json to_json(const Region& region) {
  json value = {{"kind", name_of(region.kind)},
                {"placement", name_of(region.placement)},
                {"pages", region.pages},
                {"owner", region.owner},
                {"name", region.name}};
  if (region.lead_pages != 0) value["lead_pages"] = region.lead_pages;
  if (region.is_filled) value["filled"] = true;
  if (!region.calls.empty()) value["calls"] = region.calls;
  return value;
}

std::vector<Region> regions_from(const json& list, const Header& header) {
  std::vector<Region> regions;
  for (const json& value : list) {
    Region region;
    region.id = RegionId{static_cast<std::uint32_t>(regions.size())};
    region.kind = named_member<RegionKind>(value, "kind");
    region.placement = named_member<Placement>(value, "placement");
    region.pages = unsigned_member(value, "pages", max_region_pages);
    region.owner = unsigned32_member(value, "owner");
    region.name = text_member(value, "name");
    if (value.contains("lead_pages")) region.lead_pages = unsigned32_member(value, "lead_pages");
    region.is_filled = value.contains("filled") && value["filled"] == true;
    if (value.contains("calls")) {
      for (const json& site : list_member(value, "calls", header.sites.size())) {
        region.calls.push_back(static_cast<std::uint32_t>(unsigned_value(site, "calls", max_sites)));
      }
    }
    if (const auto problem = problem_with(region, regions.size(), header)) throw ContentError(*problem);
    regions.push_back(std::move(region));
  }
  return regions;
}

Totals totals_from(const json& value) {
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  return {.intervals = unsigned_member(value, "intervals", any),
          .touch_runs = unsigned_member(value, "touch_runs", any),
          .page_touches = unsigned_member(value, "page_touches", any),
          .compute_ns = unsigned_member(value, "compute_ns", max_compute_ns)};
}

EventCounts events_from(const json& value) {
  const json& counts = member(value, "events");
  if (!counts.is_object()) throw ContentError("\"events\" is not an object");
  EventCounts events{};
  for (unsigned kind = 0; kind < event_kinds; ++kind) {
    const std::string name(name_of(static_cast<EventKind>(kind)));
    if (counts.contains(name)) {
      events[kind] = unsigned_member(counts, name.c_str(), std::numeric_limits<std::uint64_t>::max());
    }
  }
  return events;
}

/// One column of the block index.
struct Column {
  const char* name;
  std::uint32_t BlockEntry::*field;
  std::uint32_t max;
};

constexpr std::array block_columns = {
    Column{"thread", &BlockEntry::thread, max_threads - 1},
    Column{"stored_bytes", &BlockEntry::stored_bytes, max_stored_block_bytes},
    Column{"raw_bytes", &BlockEntry::raw_bytes, max_block_bytes},
    Column{"intervals", &BlockEntry::intervals, max_block_bytes},
    Column{"checksum", &BlockEntry::checksum, std::numeric_limits<std::uint32_t>::max()},
};

json to_json(const std::vector<BlockEntry>& blocks) {
  json columns = json::object();
  for (const Column& column : block_columns) {
    json values = json::array();
    for (const BlockEntry& block : blocks) values.push_back(block.*column.field);
    columns[column.name] = std::move(values);
  }
  return columns;
}

std::vector<BlockEntry> blocks_from(const json& columns) {
  std::vector<BlockEntry> blocks;
  for (const Column& column : block_columns) {
    const json& values = list_member(columns, column.name, max_footer_bytes);
    if (&column == &block_columns.front()) blocks.resize(values.size());
    if (values.size() != blocks.size()) {
      throw ContentError(fmt::format("\"{}\" is for {} blocks, \"{}\" for {}", block_columns.front().name,
                                     blocks.size(), column.name, values.size()));
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      blocks[i].*column.field = static_cast<std::uint32_t>(unsigned_value(values[i], column.name, column.max));
    }
  }
  return blocks;
}

void check_blocks(const Footer& footer) {
  std::vector<std::uint64_t> intervals(footer.header.threads);
  for (const BlockEntry& block : footer.blocks) {
    if (block.thread >= footer.header.threads) {
      throw ContentError(fmt::format("a block of thread {} of {}", block.thread, footer.header.threads));
    }
    if (block.stored_bytes < min_stored_block_bytes || block.raw_bytes == 0) throw ContentError("an empty block");
    intervals[block.thread] += block.intervals;
  }
  for (std::uint32_t thread = 0; thread < footer.header.threads; ++thread) {
    if (intervals[thread] != footer.totals[thread].intervals) {
      throw ContentError(fmt::format("thread {} has {} intervals, its blocks {}", thread,
                                     footer.totals[thread].intervals, intervals[thread]));
    }
  }
}

/// A callback of the parser's would see the depth too, but with one it walks through a list's elements after each of
/// them.
void check_depth(std::string_view text) {
  int depth = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') is_string = !is_string;
    if (is_string) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > max_json_depth) throw ContentError("JSON nested too deep for a trace");
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

json parse(std::string_view text) {
  check_depth(text);
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw ContentError(fmt::format("not the JSON that a trace has there: {}", error.what()));
  }
}

}  // namespace

json unseen_json(const std::vector<UnseenCall>& unseen) {
  json list = json::array();
  for (const UnseenCall& call : unseen) {
    list.push_back({{"call", call.call}, {"calls", call.calls}, {"bytes", call.bytes}});
  }
  return list;
}

json totals_json(const Totals& totals, const EventCounts& events) {
  json counts = json::object();
  for (unsigned kind = 0; kind < event_kinds; ++kind) {
    if (events[kind] != 0) counts[std::string(name_of(static_cast<EventKind>(kind)))] = events[kind];
  }
  return {{"intervals", totals.intervals},
          {"touch_runs", totals.touch_runs},
          {"page_touches", totals.page_touches},
          {"compute_ns", totals.compute_ns},
          {"events", std::move(counts)}};
}

std::string to_json_text(const Footer& footer) {
  json regions = json::array();
  for (const Region& region : footer.regions) regions.push_back(to_json(region));
  json threads = json::array();
  for (std::size_t i = 0; i < footer.totals.size(); ++i) {
    threads.push_back(totals_json(footer.totals[i], footer.events[i]));
  }
  const json document = {{"format", format_version},        {"page_bytes", page_bytes},
                         {"word_bytes", word_bytes},        {"header", to_json(footer.header)},
                         {"regions", std::move(regions)},   {"threads", std::move(threads)},
                         {"blocks", to_json(footer.blocks)}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Footer footer_from_json_text(std::string_view text, std::uint32_t format) {
  const json document = parse(text);
  for (const auto& [key, expected] : {std::pair{"format", std::size_t{format}}, std::pair{"page_bytes", page_bytes},
                                      std::pair{"word_bytes", word_bytes}}) {
    if (unsigned32_member(document, key) != expected) {
      throw ContentError(fmt::format("\"{}\" is {} instead of {}", key, member(document, key).dump(), expected));
    }
  }
  Footer footer;
  footer.header = header_from(member(document, "header"), format);
  if (const auto problem = problem_with(footer.header)) throw ContentError(*problem);
  footer.regions = regions_from(list_member(document, "regions", max_regions), footer.header);
  check_words(footer.header.words, footer.header, footer.regions);
  const json& threads = list_member(document, "threads", max_threads);
  if (threads.size() != footer.header.threads) {
    throw ContentError(fmt::format("totals of {} threads, but there are {}", threads.size(), footer.header.threads));
  }
  for (const json& thread : threads) {
    footer.totals.push_back(totals_from(thread));
    footer.events.push_back(events_from(thread));
  }
  footer.blocks = blocks_from(member(document, "blocks"));
  check_blocks(footer);
  return footer;
}

}  // namespace sdsm::trace
