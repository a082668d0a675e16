#include "platforms/file/properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "models/page_size.hpp"

namespace sdsm::platform_file {
namespace {

/// Largest error without a unit: a file may say that the cost is unknown.
constexpr double most_plain_error = 1e6;

constexpr double most_seconds_per_byte = 1;

constexpr double most_slowdown = 1000;

/// Keeps times within a run's longest.
constexpr Time most_noise_duration = std::chrono::hours(1);

double parse_number(std::string_view text, double low, double high) {
  double value = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || rest != text.data() + text.size() || !(value >= low && value <= high)) {
    throw std::invalid_argument(fmt::format("'{}' is not a number from {} to {}", text, low, high));
  }
  return value;
}

double parse_plain_error(std::string_view text) {
  return parse_number(text, 0, most_plain_error);
}

Time within(double most, Time time, std::string_view text, std::string_view unit) {
  if (time <= from_seconds(most)) return time;
  throw std::invalid_argument(fmt::format(
      "'{}' is more than {:g} {}, and nothing that a cluster does takes as long. Look at its unit", text, most, unit));
}

/// Largest frame or message: far more than any real one, and small enough that a run's sum fits in 63 bits.
constexpr Bytes most_message{std::int64_t{1} << 30};

Bytes parse_message_size(std::string_view text) {
  const Bytes size = parse_bytes(text);
  if (size > most_message) throw std::invalid_argument(fmt::format("'{}' is more than 1 GiB", text));
  return size;
}

Time parse_cost(std::string_view text) {
  return within(most_cost_seconds, parse_time(text), text, "s");
}

/// Parses one of two words.
bool parse_choice(std::string_view text, std::string_view no, std::string_view yes) {
  if (text != no && text != yes)
    throw std::invalid_argument(fmt::format("'{}' is neither '{}' nor '{}'", text, no, yes));
  return text == yes;
}

/// Returns a map's entry, made if the map is not constant.
template <typename Map>
auto& entry(Map& map, const typename Map::key_type& key) {
  if constexpr (std::is_const_v<Map>) {
    return map.at(key);
  } else {
    return map[key];
  }
}

/// A cost that is a time. `place` returns its place in Costs, constant or not.
template <typename Place>
Property time_cost(std::string id, std::string meaning, bool is_required, Place place) {
  return {std::move(id), std::move(meaning), is_required,
          [place](Reading& reading, std::string_view text) { place(reading.costs) = parse_cost(text); },
          ErrorRow{&parse_seconds, [place](const Costs& costs) { return to_seconds(place(costs)); },
                   [place](Costs& costs, double value) {
                     place(costs) = from_seconds(std::clamp(value, 0., most_cost_seconds));
                   }}};
}

void add_message_costs(ProtocolKind protocol, std::vector<Property>& rows) {
  const std::string prefix = prefix_of(protocol);
  rows.push_back(time_cost(
      prefix + "message.fixed", "time of an empty diff or control message, end to end",
      true, [=](auto& costs) -> auto& { return costs.of(protocol).message_fixed; }));
  rows.push_back({prefix + "message.per-byte", "further time for each byte of its payload", true,
                  [=](Reading& r, std::string_view text) {
                    r.costs.of(protocol).message_per_byte =
                        within(most_seconds_per_byte, parse_time_per_byte(text), text, "s/B");
                  },
                  ErrorRow{&parse_seconds_per_byte,
                           [=](const Costs& costs) { return to_seconds(costs.of(protocol).message_per_byte); },
                           [=](Costs& costs, double value) {
                             costs.of(protocol).message_per_byte =
                                 from_seconds(std::clamp(value, 0., most_seconds_per_byte));
                           }}});
}

void add_datagrams(ProtocolKind protocol, std::vector<Property>& rows) {
  const std::string prefix = prefix_of(protocol);
  const Bytes most = tables_of(protocol).most_payload;
  rows.push_back(
      {prefix + "message.size",
       fmt::format("bytes that each message has on the wire, whatever it carries: {}B or more (default: what "
                   "it carries)",
                   most.count),
       false, [=](Reading& r, std::string_view text) {
         const Bytes size = parse_message_size(text);
         if (size < most) {
           throw std::invalid_argument(
               fmt::format("'{}' is less than the {} bytes that a message may carry", text, most.count));
         }
         r.costs.of(protocol).datagram = size;
       }});
  rows.push_back(
      {prefix + "message.acknowledgement",
       "bytes of each message's answer, for which its sender waits before the next (default: none)", false,
       [=](Reading& r, std::string_view text) { r.costs.of(protocol).acknowledgement = parse_message_size(text); }});
}

/// Adds the costs that the protocol's tables name.
void add_costs_of(ProtocolKind protocol, std::vector<Property>& rows) {
  const std::string prefix = prefix_of(protocol);
  const std::size_t first = rows.size();
  const Tables& tables = tables_of(protocol);
  const std::span<const FaultRow> faults = tables.faults;
  for (std::size_t kind = 0; kind < faults.size(); ++kind) {
    rows.push_back(time_cost(
        fmt::format("{}fault.{}", prefix, faults[kind].name), "time of an uncontended fault of this kind",
        true, [=](auto& costs) -> auto& { return costs.of(protocol).fault[kind]; }));
  }
  if (tables.has_messages()) add_message_costs(protocol, rows);
  if (tables.has_datagrams) add_datagrams(protocol, rows);
  for (std::size_t which = 0; which < tables.further_costs.size(); ++which) {
    const CostRow& cost = tables.further_costs[which];
    rows.push_back(time_cost(
        prefix + std::string(cost.name), std::string(cost.meaning),
        cost.is_required, [=](auto& costs) -> auto& { return costs.of(protocol).further_cost[which]; }));
  }
  for (std::size_t row = first; row < rows.size(); ++row) rows[row].protocol = protocol;
}

void add_costs(std::vector<Property>& rows) {
  add_costs_of(default_protocol, rows);
  using Row = std::tuple<const char*, const char*, Time Costs::*>;
  for (const auto& [id, meaning, cost] : {
           Row{"fault.cold",
               "part of fault.WROH by which its trap slows the program's own work afterwards: accounts have it in "
               "compute (default 0us)",
               &Costs::fault_cold},
           Row{"fault.trap",
               "part of each fault: its trap's entry and exit. What is stolen meanwhile counts as a run counts it, as "
               "compute (default 0us)",
               &Costs::fault_trap},
           Row{"fault.first-copy", "what a node's first fetch of a page takes longer than later ones (default 0us)",
               &Costs::first_copy},
           Row{"fault.first-write",
               "what a node's first write of a page takes longer than later ones: on its own page after the trap, as "
               "compute; else for the twin (default 0us)",
               &Costs::first_write},
           Row{"barrier.dirty-home-page", "time at a barrier for each home page that its owner wrote (default 0us)",
               &Costs::dirty_home_page},
           Row{"barrier.further-run",
               "time at a barrier for each run of adjacent pages that a process protects again, but one (default 0us)",
               &Costs::further_run},
           Row{"prefetch.page", "processors' time for each page that --prefetch brings beside another (default 0us)",
               &Costs::further_page},
           Row{"atomic.own", "time of an atomic operation on a page of the own node (default: that of fault.WROH)",
               &Costs::atomic_own},
       }) {
    rows.push_back(time_cost(
        id, meaning, false, [at = cost](auto& costs) -> auto& { return costs.*at; }));
  }
  rows.push_back({"barrier.shape", "messages of a barrier on layouts that are not given: flat or tree (default flat)",
                  false, [](Reading& r, std::string_view text) {
                    r.costs.barrier_shape =
                        parse_choice(text, "flat", "tree") ? BarrierShape::tree : BarrierShape::flat;
                  }});
  rows.push_back({"local-part.home-share",
                  "share of a processor part that the home or receiver pays, 0 to 1 (default 0.5)", false,
                  [](Reading& r, std::string_view text) { r.costs.home_share = parse_number(text, 0, 1); },
                  ErrorRow{&parse_plain_error, [](const Costs& costs) { return costs.home_share; },
                           [](Costs& costs, double value) { costs.home_share = std::clamp(value, 0., 1.); }}});
  static constexpr double most_waiting_share = 10;
  rows.push_back(
      {"local-part.waiting-share",
       "the home's share of a fetch where its thread waits, or installs a page itself, 0 to 10: above "
       "local-part.home-share (the default) where processors have to be woken",
       false,
       [](Reading& r, std::string_view text) { r.costs.waiting_share = parse_number(text, 0, most_waiting_share); },
       ErrorRow{&parse_plain_error, [](const Costs& costs) { return costs.waiting_share.value_or(costs.home_share); },
                [](Costs& costs, double value) { costs.waiting_share = std::clamp(value, 0., most_waiting_share); }}});
  rows.push_back({"fetch.home-share",
                  "the home's share of a fetch, whatever its thread does, 0 to 1: 0 where its adapter answers without "
                  "a processor, "
                  "as RDMA does (default: the two above)",
                  false, [](Reading& r, std::string_view text) { r.costs.fetch_share = parse_number(text, 0, 1); }});
}

Time parse_noise_duration(std::string_view text) {
  const Time time = parse_time(text);
  if (time <= Time{} || time > most_noise_duration)
    throw std::invalid_argument(
        fmt::format("'{}' is not above 0s and at most {}", text, format_time(most_noise_duration)));
  return time;
}

void add_noise(std::vector<Property>& rows) {
  rows.push_back({"noise.deviation",
                  "system noise: by how much the time of a processor's work varies from one period to the next, as a "
                  "part of its mean, 0 to 1 (default 0)",
                  false, [](Reading& r, std::string_view text) { r.costs.noise_deviation = parse_number(text, 0, 1); },
                  ErrorRow{&parse_plain_error, [](const Costs& costs) { return costs.noise_deviation; },
                           [](Costs& costs, double value) { costs.noise_deviation = std::clamp(value, 0., 1.); }}});
  rows.push_back({"noise.duration", "mean length of such a period (default 100ms)", false,
                  [](Reading& r, std::string_view text) { r.costs.noise_duration = parse_noise_duration(text); }});
}

void add_network(std::vector<Property>& rows) {
  const std::size_t first = rows.size();
  rows.push_back({"reference.bandwidth", "bandwidth of a link of the network on which the costs were measured", true,
                  [](Reading& r, std::string_view text) { r.reference_bandwidth = parse_bandwidth(text); },
                  ErrorRow{&parse_bytes_per_second,
                           [](const Costs& costs) { return costs.reference.front().bandwidth.bytes_per_second; },
                           [](Costs& costs, double value) {
                             const Bandwidth drawn{std::clamp(value, least_bandwidth, most_bytes_per_second)};
                             for (LinkSpec& link : costs.reference) link.bandwidth = drawn;
                           }}});
  rows.push_back(
      {"reference.latency", "latency of a link of that network", true,
       [](Reading& r, std::string_view text) { r.reference_latency = parse_time(text); },
       ErrorRow{&parse_seconds, [](const Costs& costs) { return to_seconds(costs.reference.front().latency); },
                [](Costs& costs, double value) {
                  const Time drawn = from_seconds(std::clamp(value, 0., most_latency));
                  for (LinkSpec& link : costs.reference) link.latency = drawn;
                }}});
  rows.push_back(
      {"reference.links", "links between two of its nodes, 1 to 16", true, [](Reading& r, std::string_view text) {
         const double links = parse_number(text, 1, 16);
         if (links != std::floor(links)) {
           throw std::invalid_argument(fmt::format("'{}' is not a whole number", text));
         }
         r.reference_links = static_cast<int>(links);
       }});
  for (std::size_t row = first; row < rows.size(); ++row) rows[row].is_of_messages = true;
  rows.push_back(
      {"frame.payload", "largest payload of a frame (default 1460B)", false, [](Reading& r, std::string_view text) {
         r.costs.framing.payload = parse_message_size(text);
         if (r.costs.framing.payload.count < 1) {
           throw std::invalid_argument("a frame must carry at least one byte");
         }
       }});
  rows.push_back({"frame.overhead", "bytes on the wire that are no payload, for each frame (default 78B)", false,
                  [](Reading& r, std::string_view text) { r.costs.framing.overhead = parse_message_size(text); }});
  rows.push_back({"frame.minimum", "least bytes of a message on the wire (default 84B)", false,
                  [](Reading& r, std::string_view text) { r.costs.framing.minimum = parse_message_size(text); }});
}

void add_rules_and_range(std::vector<Property>& rows) {
  rows.push_back({"page.size",
                  "page with which faults were measured, and that programs have unless --page-size says otherwise: "
                  "4096B times a power of two, up to 64KiB (default 4096B)",
                  false, [](Reading& r, std::string_view text) { r.costs.page = parse_page_size(text); }});
  rows.push_back({"protocol.invalidation", "copies that a barrier drops: all or changed (default all)", false,
                  [](Reading& r, std::string_view text) {
                    r.costs.invalidation =
                        parse_choice(text, "all", "changed") ? Invalidation::changed : Invalidation::all;
                  }});
  rows.push_back({"protocol.atomics",
                  "how inline atomic operations are done: home, lock or relaxed (default home, as sdsm run)", false,
                  [](Reading& r, std::string_view text) {
                    const Atomics atomics = atomics_named(text);
                    if (atomics >= Atomics::refuse) {
                      throw std::invalid_argument(fmt::format("'{}' is none of home, lock and relaxed", text));
                    }
                    r.costs.atomics = atomics;
                  }});
  rows.push_back(
      {std::string(assumed_costs),
       "costs in this file that nobody measured, with blanks between (jiajia.* is all that begin so): results "
       "that rest on them say so",
       false, [](Reading& r, std::string_view text) {
         std::istringstream words{std::string(text)};
         r.assumed.assign(std::istream_iterator<std::string>(words), {});
       }});
  rows.push_back({"host.speed-is",
                  "where the hosts' speed is from, for --from-host-speed: measured (the speed that `sdsm trace info` "
                  "tells of a trace made there) or assumed",
                  false, [](Reading& r, std::string_view text) {
                    r.speed_origin =
                        parse_choice(text, "assumed", "measured") ? SpeedOrigin::measured : SpeedOrigin::assumed;
                  }});
  rows.push_back({"cache.latency",
                  "time of a load in a host's caches, for --from-host-speed, as `sdsm trace info` tells it", false,
                  [](Reading& r, std::string_view text) {
                    const Time time = parse_cost(text);
                    if (time <= Time{}) throw std::invalid_argument(fmt::format("'{}' is not above 0s", text));
                    r.host_memory.cache_latency = time;
                  }});
  rows.push_back({"memory.bandwidth",
                  "bandwidth of a host's memory for one thread, for --from-host-speed, as `sdsm trace info` tells it",
                  false, [](Reading& r, std::string_view text) {
                    r.host_memory.bandwidth = parse_bandwidth(text).bytes_per_second;
                    if (r.host_memory.bandwidth < least_bandwidth)
                      throw std::invalid_argument(fmt::format("'{}' is less than 1 B/s", text));
                  }});
  rows.push_back({"home.interrupt-delay", "wait until a computing home answers (default 0us; uncalibrated)", false,
                  [](Reading& r, std::string_view text) { r.costs.interrupt_delay = parse_cost(text); }});
  rows.push_back({std::string(correlation),
                  "of the errors of message.fixed and message.per-byte, which are fitted together, -1 to 1 (default 0)",
                  false, [](Reading& r, std::string_view text) { r.message_correlation = parse_number(text, -1, 1); }});
  rows.push_back(
      {"calibrated.nodes", "most nodes that were measured to calibrate", false, [](Reading& r, std::string_view text) {
         r.calibrated.nodes = static_cast<std::uint32_t>(parse_whole_number(text, 1, most_nodes));
       }});
  rows.push_back({"calibrated.threads-per-node", "most threads on a node that were measured", false,
                  [](Reading& r, std::string_view text) {
                    r.calibrated.threads_per_node =
                        static_cast<std::uint32_t>(parse_whole_number(text, 1, most_threads_per_node));
                  }});
  rows.push_back({"calibrated.diff", "payload of the largest diff whose time message.* were fitted to", false,
                  [](Reading& r, std::string_view text) { r.calibrated.diff = parse_bytes(text); }});
}

/// Returns the 4x2 of "barrier.4x2"; empty if the id is not of that form.
std::optional<Layout> layout_after(std::string_view prefix, std::string_view id) {
  if (!id.starts_with(prefix)) return std::nullopt;
  id.remove_prefix(prefix.size());
  Layout layout{0, 0};
  const char* const end = id.data() + id.size();
  const auto nodes = std::from_chars(id.data(), end, layout.nodes);
  if (nodes.ec != std::errc() || nodes.ptr == end || *nodes.ptr != 'x') return std::nullopt;
  const auto threads = std::from_chars(nodes.ptr + 1, end, layout.threads_per_node);
  if (threads.ec != std::errc() || threads.ptr != end || layout.nodes == 0 || layout.threads_per_node == 0 ||
      layout.nodes > most_nodes || layout.threads_per_node > most_threads_per_node) {
    return std::nullopt;
  }
  return layout;
}

/// Times that a platform gives for each measured layout. `name`: "barrier".
Family times_by_layout(const std::string& name, std::string meaning, std::map<Layout, Time> Costs::*times) {
  const std::string prefix = name + '.';
  const auto id_of = [prefix](Layout layout) {
    return fmt::format("{}{}x{}", prefix, layout.nodes, layout.threads_per_node);
  };
  const auto member = [=](std::string_view id) -> std::optional<Property> {
    const std::optional<Layout> layout = layout_after(prefix, id);
    if (!layout) return std::nullopt;
    return time_cost(
        id_of(*layout), {}, false, [ times, at = *layout ](auto& costs) -> auto& { return entry(costs.*times, at); });
  };
  const auto given = [=](const Costs& costs) {
    std::vector<std::string> ids;
    for (const auto& [layout, time] : costs.*times) ids.push_back(id_of(layout));
    return ids;
  };
  // Only these properties have a last part that begins like a number.
  const auto misnamed = [prefix](std::string_view id) -> std::string {
    const char first = id.size() > prefix.size() && id.starts_with(prefix) ? id[prefix.size()] : '\0';
    if (std::isdigit(static_cast<unsigned char>(first)) == 0 && first != '-') return {};
    return fmt::format("names no layout. Write {}NxT: 1 to {} nodes N, 1 to {} threads T on each", prefix, most_nodes,
                       most_threads_per_node);
  };
  return {prefix + "NxT", std::move(meaning), true, member, given, misnamed, default_protocol};
}

/// Returns the 4 of "memory-bus.4"; empty if the id is not of that form.
std::optional<std::uint32_t> threads_after(std::string_view prefix, std::string_view id, std::uint32_t least) {
  if (!id.starts_with(prefix)) return std::nullopt;
  id.remove_prefix(prefix.size());
  std::uint32_t threads = 0;
  const auto [rest, status] = std::from_chars(id.data(), id.data() + id.size(), threads);
  // Each number has one spelling, so that a property cannot appear twice.
  if (status != std::errc() || std::to_string(threads) != id || threads < least || threads > most_threads_per_node) {
    return std::nullopt;
  }
  return threads;
}

std::string no_number_of_threads(std::string_view prefix, std::string_view id, std::uint32_t least) {
  if (!id.starts_with(prefix)) return {};
  return fmt::format("names no number of threads. Write {}T: {} to {} threads T of a node", prefix, least,
                     most_threads_per_node);
}

/// Times by number of threads that a protocol's tables name.
Family times_by_threads(ProtocolKind protocol, std::size_t which, const CostRow& cost) {
  const std::string prefix = prefix_of(protocol) + std::string(cost.name) + '.';
  const auto times = [=](auto& costs) -> auto& {
    return costs.of(protocol).by_threads[which];
  };
  const auto member = [=](std::string_view id) -> std::optional<Property> {
    const std::optional<std::uint32_t> threads = threads_after(prefix, id, 1);
    if (!threads) return std::nullopt;
    Property property = time_cost(
        std::string(id), {}, false, [ times, at = *threads ](auto& costs) -> auto& { return entry(times(costs), at); });
    property.protocol = protocol;
    return property;
  };
  const auto given = [=](const Costs& costs) {
    std::vector<std::string> ids;
    if (!costs.further_protocols.contains(protocol)) return ids;
    for (const auto& [threads, time] : times(costs)) ids.push_back(fmt::format("{}{}", prefix, threads));
    return ids;
  };
  return {prefix + "T",
          std::string(cost.meaning),
          cost.is_required,
          member,
          given,
          [=](std::string_view id) { return no_number_of_threads(prefix, id, 1); },
          protocol};
}

constexpr std::string_view memory_bus_prefix = "memory-bus.";

Family memory_bus() {
  const auto member = [](std::string_view id) -> std::optional<Property> {
    const std::optional<std::uint32_t> threads = threads_after(memory_bus_prefix, id, 2);
    if (!threads) return std::nullopt;
    const std::uint32_t at = *threads;
    return Property{
        std::string(id),
        {},
        false,
        [at](Reading& r, std::string_view text) { r.costs.memory_bus[at] = parse_number(text, 1, most_slowdown); },
        ErrorRow{&parse_plain_error, [at](const Costs& costs) { return costs.memory_bus.at(at); },
                 [at](Costs& costs, double value) { costs.memory_bus.at(at) = std::clamp(value, 1., most_slowdown); }}};
  };
  const auto given = [](const Costs& costs) {
    std::vector<std::string> ids;
    for (const auto& [threads, slowdown] : costs.memory_bus) {
      ids.push_back(fmt::format("{}{}", memory_bus_prefix, threads));
    }
    return ids;
  };
  const auto misnamed = [](std::string_view id) { return no_number_of_threads(memory_bus_prefix, id, 2); };
  return {std::string(memory_bus_prefix) + "T",
          "slowdown of a memory-bound loop when T threads of a node run it, 1 to 1000 (optional; see sdsm simulate "
          "--memory-bound)",
          false,
          member,
          given,
          misnamed};
}

std::string nearest_property(std::string_view id) {
  std::vector<std::string> known;
  for (const Property& property : single_properties()) known.push_back(property.id);
  for (const Property& property : single_properties()) {
    if (!property.error) continue;
    known.push_back(error_of(property.id));
    known.push_back(runs_of(property.id));
  }
  return nearest(id, std::move(known), 1).front();
}

}  // namespace

const std::vector<Property>& single_properties() {
  static const std::vector<Property> table = [] {
    std::vector<Property> rows;
    add_costs(rows);
    add_noise(rows);
    add_network(rows);
    add_rules_and_range(rows);
    for (const ProtocolRow& row : protocol_rows) {
      if (base_of(row.kind) == row.kind && row.kind != default_protocol) add_costs_of(row.kind, rows);
    }
    return rows;
  }();
  return table;
}

const std::vector<Family>& families() {
  static const std::vector<Family> table = [] {
    std::vector<Family> all{
        times_by_layout("barrier", "EPCC overhead of an empty barrier on N nodes x T threads (at least one)",
                        &Costs::barrier),
        times_by_layout("lock", "EPCC overhead of LOCK/UNLOCK on N nodes x T threads (at least one)", &Costs::lock),
        memory_bus(),
    };
    for (const ProtocolRow& row : protocol_rows) {
      if (base_of(row.kind) != row.kind) continue;
      const std::span<const CostRow> costs = tables_of(row.kind).costs_by_threads;
      for (std::size_t which = 0; which < costs.size(); ++which) {
        all.push_back(times_by_threads(row.kind, which, costs[which]));
      }
    }
    return all;
  }();
  return table;
}

std::size_t letters_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
      }
    }
  }
  return least[a.size()][b.size()];
}

std::vector<std::string> nearest(std::string_view id, std::vector<std::string> known, std::size_t count) {
  // Longer than any name: the rest adds the same distance to each.
  constexpr std::size_t most_compared = 64;
  id = id.substr(0, most_compared);
  std::multimap<std::size_t, std::string> by_distance;  // keeps the order of equals
  for (std::string& name : known) by_distance.emplace(letters_between(name, id), std::move(name));
  known.clear();
  for (auto& [distance, name] : by_distance) {
    if (known.size() < count) known.push_back(std::move(name));
  }
  return known;
}

std::string error_of(std::string_view id) {
  return std::string(id).append(error_suffix);
}

std::string runs_of(std::string_view id) {
  return std::string(id).append(runs_suffix);
}

std::vector<std::string> words_of_runs(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  if (words.size() < least_runs || words.size() > most_runs) {
    throw std::invalid_argument(fmt::format("{} run{}. Give {} to {}, with blanks between them", words.size(),
                                            words.size() == 1 ? "" : "s", least_runs, most_runs));
  }
  return words;
}

std::string Property::usual() const {
  constexpr std::string_view mark = "(default";
  const std::size_t at = meaning.find(mark);
  if (at == std::string::npos) return "";
  const std::size_t begin = meaning.find_first_not_of(": ", at + mark.size());
  return meaning.substr(begin, meaning.find_first_of(",;)", begin) - begin);
}

std::optional<Property> property_named(std::string_view id) {
  for (const Family& family : families()) {
    if (std::optional<Property> member = family.member(id)) return member;
  }
  const auto& table = single_properties();
  const auto row = std::find_if(table.begin(), table.end(), [&](const Property& p) { return p.id == id; });
  return row == table.end() ? std::nullopt : std::optional(*row);
}

bool is_like_own(std::string_view id) {
  if (property_named(id) || id == "node.memory-contention") return true;
  for (const std::string_view suffix : {error_suffix, runs_suffix}) {
    if (id.ends_with(suffix)) return id == suffix || is_like_own(id.substr(0, id.size() - suffix.size()));
  }
  // "Lock_2x1" is meant for lock.2x1.
  std::string plain;
  for (const char letter : id) {
    const bool parts = letter == '_' || letter == '-' || letter == ':' || (letter == ' ' && !plain.empty());
    if (letter != ' ' || parts)
      plain += parts ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  const auto is_near = [](std::string_view own, std::string_view given, std::size_t most) {
    return !given.empty() && own.front() == given.front() && letters_between(own, given) <= most;
  };
  // What stands before the first dot of several properties, or before a family's numbers, is nobody else's.
  std::map<std::string, int> heads;
  for (const Property& property : single_properties()) ++heads[property.id.substr(0, property.id.find('.'))];
  for (const Family& family : families()) heads[family.form.substr(0, family.form.find('.'))] += 2;
  for (const auto& [own, count] : heads) {
    std::string head = own;
    std::replace(head.begin(), head.end(), '-', '.');
    for (std::size_t length = head.size() - 1; count > 1 && length <= head.size() + 1; ++length) {
      const bool ends = length < plain.size() && (plain[length] == '.' || std::isdigit(plain[length]) != 0);
      if (ends && is_near(head, plain.substr(0, length), 1)) return true;
    }
  }
  const std::string near = nearest_property(plain);
  return is_near(near, plain, near.size() / 4);
}

std::string unknown_property(std::string_view id) {
  if (id == "node.memory-contention") {
    return fmt::format(
        "property '{}' was removed. Write {}2 with 1 more than its value, and simulate with "
        "--memory-bound 1",
        id, memory_bus_prefix);
  }
  for (const Family& family : families()) {
    if (const std::string why = family.misnamed(id); !why.empty()) return fmt::format("property '{}' {}", id, why);
  }
  return fmt::format("unknown property '{}'. Did you mean '{}'? `sdsm check --properties` lists all", id,
                     nearest_property(id));
}

}  // namespace sdsm::platform_file

namespace sdsm {

std::string describe_properties() {
  using namespace platform_file;
  std::string lines, with_errors;
  const auto add = [&](std::string_view id, std::string_view meaning) {
    lines += fmt::format("{:<28}{}\n", id, meaning);
  };
  for (const Property& property : single_properties()) {
    const bool is_further = property.protocol && property.protocol != default_protocol;
    add(property.id, property.meaning + (!property.is_required ? ""
                                         : is_further          ? fmt::format(" (for {})", name_of(*property.protocol))
                                                               : " (required)"));
    const bool is_fault = property.id.starts_with("fault.");
    if (property.error && !is_fault) with_errors += (with_errors.empty() ? "" : ", ") + property.id;
  }
  for (const Family& family : families()) add(family.form, family.meaning);
  add(error_of("X"),
      "standard error of X, in a unit of X, for `sdsm simulate --uncertainty`. X is a fault, barrier.NxT,");
  add("", "lock.NxT, memory-bus.T, " + with_errors);
  add(runs_of("X"),
      fmt::format("values of such an X in {} to {} measured runs, the same ones for all costs, with blanks", least_runs,
                  most_runs));
  add("", "between: --uncertainty then draws what these costs have together in a single run");
  return lines;
}

}  // namespace sdsm
