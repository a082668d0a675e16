#include "sim/platform.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "commands/input.hpp"
#include "models/messages.hpp"

namespace sdsm::sim {
namespace {

/// What the file says about the idle reference network, until the route can be built from it.
struct Reading {
  Costs costs;
  std::optional<Bandwidth> reference_bandwidth;
  std::optional<Time> reference_latency;
  std::optional<int> reference_links;
  CalibratedRange calibrated;
  double message_correlation = 0;
};

double parse_number(std::string_view text, double low, double high) {
  double value = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || rest != text.data() + text.size() || !(value >= low && value <= high)) {
    throw std::invalid_argument(fmt::format("'{}' is not a number from {} to {}", text, low, high));
  }
  return value;
}

/// So that the time of no message comes near to what a run can last.
constexpr double least_bandwidth = 1;
constexpr double most_latency = 3600;

struct Property {
  std::string id;
  std::string meaning;
  bool required;
  std::function<void(Reading&, std::string_view)> read;
};

/// A table so that what a platform may say, what it means and how it is read stand in one place.
const std::vector<Property>& property_table() {
  static const std::vector<Property> table = [] {
    std::vector<Property> rows;
    for (const FaultRule& rule : fault_rules) {
      rows.push_back({fmt::format("fault.{}", rule.name), "time of an uncontended fault of this kind", true,
                      [kind = rule.kind](Reading& reading, std::string_view text) {
                        reading.costs.fault[static_cast<std::size_t>(kind)] = parse_time(text);
                      }});
    }
    const auto add = [&](std::string id, std::string meaning, bool required, auto read) {
      rows.push_back({std::move(id), std::move(meaning), required, read});
    };
    add("message.fixed", "time of an empty diff or control message, end to end", true,
        [](Reading& r, std::string_view text) { r.costs.message_fixed = parse_time(text); });
    add("message.per-byte", "further time for each byte of its payload", true,
        [](Reading& r, std::string_view text) { r.costs.message_per_byte = parse_time_per_byte(text); });
    add("barrier.dirty-home-page", "time at a barrier for each home page that its owner wrote (default 0us)", false,
        [](Reading& r, std::string_view text) { r.costs.dirty_home_page = parse_time(text); });
    add("barrier.shape", "messages of a barrier on layouts that are not given: flat or tree (default flat)", false,
        [](Reading& r, std::string_view text) {
          if (text != "flat" && text != "tree") {
            throw std::invalid_argument(fmt::format("'{}' is neither 'flat' nor 'tree'", text));
          }
          r.costs.barrier_shape = text == "tree" ? BarrierShape::tree : BarrierShape::flat;
        });
    add("local-part.home-share", "share of a processor part that the home or receiver pays, 0 to 1 (default 0.5)",
        false, [](Reading& r, std::string_view text) { r.costs.home_share = parse_number(text, 0, 1); });
    add("reference.bandwidth", "bandwidth of a link of the network on which the costs were measured", true,
        [](Reading& r, std::string_view text) { r.reference_bandwidth = parse_bandwidth(text); });
    add("reference.latency", "latency of a link of that network", true,
        [](Reading& r, std::string_view text) { r.reference_latency = parse_time(text); });
    add("reference.links", "links between two of its nodes, 1 to 16", true, [](Reading& r, std::string_view text) {
      const double links = parse_number(text, 1, 16);
      if (links != std::floor(links)) throw std::invalid_argument(fmt::format("'{}' is not a whole number", text));
      r.reference_links = static_cast<int>(links);
    });
    add("frame.payload", "largest payload of a frame (default 1460B)", false, [](Reading& r, std::string_view text) {
      r.costs.framing.payload = parse_bytes(text);
      if (r.costs.framing.payload.count < 1) throw std::invalid_argument("a frame must carry at least one byte");
    });
    add("frame.overhead", "bytes on the wire that are no payload, for each frame (default 78B)", false,
        [](Reading& r, std::string_view text) { r.costs.framing.overhead = parse_bytes(text); });
    add("frame.minimum", "least bytes of a message on the wire (default 84B)", false,
        [](Reading& r, std::string_view text) { r.costs.framing.minimum = parse_bytes(text); });
    add("protocol.invalidation", "copies that a barrier drops: all or changed (default all)", false,
        [](Reading& r, std::string_view text) {
          if (text == "all") {
            r.costs.invalidation = Invalidation::all;
          } else if (text == "changed") {
            r.costs.invalidation = Invalidation::changed;
          } else {
            throw std::invalid_argument(fmt::format("'{}' is neither 'all' nor 'changed'", text));
          }
        });
    add("home.interrupt-delay", "wait until a computing home answers (default 0us; uncalibrated)", false,
        [](Reading& r, std::string_view text) { r.costs.interrupt_delay = parse_time(text); });
    add("message.correlation",
        "of the errors of message.fixed and message.per-byte, which are fitted together, -1 to 1 (default 0)", false,
        [](Reading& r, std::string_view text) { r.message_correlation = parse_number(text, -1, 1); });
    add("calibrated.nodes", "most nodes that were measured to calibrate", false, [](Reading& r, std::string_view text) {
      r.calibrated.nodes = static_cast<std::uint32_t>(parse_whole_number(text, 1, most_nodes));
    });
    add("calibrated.threads-per-node", "most threads on a node that were measured", false,
        [](Reading& r, std::string_view text) {
          r.calibrated.threads_per_node =
              static_cast<std::uint32_t>(parse_whole_number(text, 1, most_threads_per_node));
        });
    add("calibrated.diff", "payload of the largest diff whose time message.* were fitted to", false,
        [](Reading& r, std::string_view text) { r.calibrated.diff = parse_bytes(text); });
    return rows;
  }();
  return table;
}

constexpr std::string_view error_suffix = ".standard-error";

/// A cost that may have a standard error: how that is written, and where the cost itself is kept.
struct ErrorRow {
  std::string of;
  double (*parse)(std::string_view);
  std::function<double(const Costs&)> get;
  std::function<void(Costs&, double)> set;
};

/// Of what has no unit: that nothing is known of it may be said, too.
constexpr double most_plain_error = 1e6;

/// Of a drawn time: far beyond any cost, and far from where picoseconds end.
constexpr double most_seconds = 1e6;

/// `place`: gives the time in Costs, constant or not, as they are.
template <typename Place>
ErrorRow error_of_time(std::string of, Place place) {
  return {std::move(of), &parse_seconds, [place](const Costs& costs) { return to_seconds(place(costs)); },
          [place](Costs& costs, double value) { place(costs) = from_seconds(std::clamp(value, 0., most_seconds)); }};
}

/// In the order in which standard errors are drawn from.
const std::vector<ErrorRow>& error_table() {
  static const std::vector<ErrorRow> table = [] {
    std::vector<ErrorRow> rows;
    for (const FaultRule& rule : fault_rules) {
      rows.push_back(error_of_time(
          fmt::format("fault.{}", rule.name), [kind = static_cast<std::size_t>(rule.kind)](auto& costs) -> auto& {
            return costs.fault[kind];
          }));
    }
    rows.push_back(error_of_time(
        "message.fixed", [](auto& costs) -> auto& { return costs.message_fixed; }));
    rows.push_back(
        {"message.per-byte", &parse_seconds_per_byte,
         [](const Costs& costs) { return to_seconds(costs.message_per_byte); },
         [](Costs& costs, double value) { costs.message_per_byte = from_seconds(std::clamp(value, 0., 1.)); }});
    rows.push_back(error_of_time(
        "barrier.dirty-home-page", [](auto& costs) -> auto& { return costs.dirty_home_page; }));
    rows.push_back({"local-part.home-share",
                    [](std::string_view text) { return parse_number(text, 0, most_plain_error); },
                    [](const Costs& costs) { return costs.home_share; },
                    [](Costs& costs, double value) { costs.home_share = std::clamp(value, 0., 1.); }});
    rows.push_back({"reference.bandwidth", &parse_bytes_per_second,
                    [](const Costs& costs) { return costs.reference.front().bandwidth.bytes_per_second; },
                    [](Costs& costs, double value) {
                      for (LinkSpec& link : costs.reference) {
                        link.bandwidth = {std::clamp(value, least_bandwidth, most_bytes_per_second)};
                      }
                    }});
    rows.push_back({"reference.latency", &parse_seconds,
                    [](const Costs& costs) { return to_seconds(costs.reference.front().latency); },
                    [](Costs& costs, double value) {
                      for (LinkSpec& link : costs.reference) {
                        link.latency = from_seconds(std::clamp(value, 0., most_latency));
                      }
                    }});
    return rows;
  }();
  return table;
}

/// "4x2" in "barrier.4x2"; empty if the id is not of that form.
std::optional<Layout> layout_after(std::string_view id, std::string_view prefix) {
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

constexpr std::string_view memory_bus_prefix = "memory-bus.";
constexpr double most_slowdown = 1000;

/// 4 in "memory-bus.4"; empty if the id is not of that form.
std::optional<std::uint32_t> threads_after_memory_bus(std::string_view id) {
  if (!id.starts_with(memory_bus_prefix)) return std::nullopt;
  id.remove_prefix(memory_bus_prefix.size());
  std::uint32_t threads = 0;
  const auto [rest, status] = std::from_chars(id.data(), id.data() + id.size(), threads);
  // One number has one name, so that no property can stand there twice.
  if (status != std::errc() || std::to_string(threads) != id || threads < 2 || threads > most_threads_per_node) {
    return std::nullopt;
  }
  return threads;
}

/// What a standard error may be of; empty if nothing has that name.
std::optional<ErrorRow> error_row(std::string_view of) {
  const auto named = [](std::string_view kind, Layout layout) {
    return fmt::format("{}.{}x{}", kind, layout.nodes, layout.threads_per_node);
  };
  if (const auto layout = layout_after(of, "barrier.")) {
    return error_of_time(
        named("barrier", *layout), [at = *layout](auto& costs) -> auto& { return costs.barrier.at(at); });
  }
  if (const auto layout = layout_after(of, "lock.")) {
    return error_of_time(
        named("lock", *layout), [at = *layout](auto& costs) -> auto& { return costs.lock.at(at); });
  }
  if (const auto threads = threads_after_memory_bus(of)) {
    return ErrorRow{std::string(of), [](std::string_view text) { return parse_number(text, 0, most_plain_error); },
                    [at = *threads](const Costs& costs) { return costs.memory_bus.at(at); },
                    [at = *threads](Costs& costs, double value) {
                      costs.memory_bus.at(at) = std::clamp(value, 1., most_slowdown);
                    }};
  }
  const auto& table = error_table();
  const auto row = std::find_if(table.begin(), table.end(), [&](const ErrorRow& r) { return r.of == of; });
  return row == table.end() ? std::nullopt : std::optional(*row);
}

/// A layout was meant, whether or not it is one: no other property's last part begins like a number.
bool is_meant_as_layout(std::string_view id) {
  for (const std::string_view prefix : {"barrier.", "lock."}) {
    if (id.starts_with(prefix)) {
      id.remove_prefix(prefix.size());
      return !id.empty() && (std::isdigit(static_cast<unsigned char>(id.front())) != 0 || id.front() == '-');
    }
  }
  return false;
}

/// A route takes some 100 bytes: so this has room for each pair of several hundred hosts.
constexpr std::uintmax_t most_platform_bytes = 64 << 20;

/// A quantity as SimGrid reads it: in bytes per second, seconds, or operations per second. Empty where SimGrid would
/// refuse it, and says so itself.
std::optional<double> simgrid_quantity(const std::string& text, std::string_view attribute) {
  char* rest = nullptr;
  const double value = std::strtod(text.c_str(), &rest);
  std::string_view unit = rest;
  if (rest == text.c_str()) return std::nullopt;
  if (attribute == "latency") {
    static const std::map<std::string_view, double> units{{"", 1},      {"w", 604800}, {"d", 86400}, {"h", 3600},
                                                          {"m", 60},    {"s", 1},      {"ms", 1e-3}, {"us", 1e-6},
                                                          {"ns", 1e-9}, {"ps", 1e-12}};
    const auto known = units.find(unit);
    return known == units.end() ? std::nullopt : std::optional(value * known->second);
  }
  double factor = 1;
  if (attribute == "bandwidth") {
    if (unit.ends_with("bps")) factor = 1. / 8;
    if (!unit.empty() && !unit.ends_with("bps") && !unit.ends_with("Bps")) return std::nullopt;
    if (!unit.empty()) unit.remove_suffix(3);
  }
  constexpr std::string_view prefixes = "kMGTPEZY";
  if (const auto at = unit.empty() ? std::string_view::npos : prefixes.find(unit.front());
      at != std::string_view::npos) {
    factor *= std::pow(unit.substr(1).starts_with('i') ? 1024. : 1000., static_cast<double>(at + 1));
  }
  return value * factor;
}

/// What is wrong with a host's speed or a link's bandwidth or latency, and what to give instead; empty if nothing is.
std::string problem_with_machine(std::string_view attribute, const std::string& text) {
  const std::optional<double> value = simgrid_quantity(text, attribute);
  if (!value) return {};
  if (attribute == "latency") {
    if (*value >= 0 && *value <= most_latency) return {};
    return fmt::format("Give one that is not below zero, and at most {} s", most_latency);
  }
  if (attribute == "bandwidth") {
    if (*value >= least_bandwidth && *value <= most_bytes_per_second) return {};
    return fmt::format(
        "Give at least {} and at most {} bytes per second: beyond that, a megabyte takes less than the picosecond that "
        "is counted in",
        least_bandwidth, most_bytes_per_second);
  }
  return *value > 0 && std::isfinite(*value) ? "" : "Give one above zero that is finite";
}

/// Letters to insert, leave out, replace or swap with their neighbour to make one text of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
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

std::string nearest_property(std::string_view id) {
  std::vector<std::string> known;
  for (const Property& property : property_table()) known.push_back(property.id);
  for (const ErrorRow& row : error_table()) known.push_back(row.of + std::string(error_suffix));
  return *std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) {
    return edit_distance(a, id) < edit_distance(b, id);
  });
}

class PropertyReader {
 public:
  PropertyReader(std::filesystem::path path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}

  Platform read() {
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(text_.data(), text_.size());
    if (!parsed) {
      throw PlatformError({commands::markup_problem(path_, text_, parsed.offset, parsed.description())});
    }
    const pugi::xml_node root = document.child("platform");
    if (!root) {
      report(0, "no <platform> element. Give a SimGrid platform file");
      throw PlatformError(findings_);
    }
    const pugi::xml_node zone = find_zone(root);
    if (!zone) {
      report(root.offset_debug(), "no <zone> in the <platform>. Put hosts, links, routes and properties into one");
      throw PlatformError(findings_);
    }
    visit(root, zone, 0);
    require(zone);
    check_errors();
    if (!findings_.empty()) throw PlatformError(findings_);
    const LinkSpec link{*reading_.reference_bandwidth, *reading_.reference_latency};
    reading_.costs.reference.assign(static_cast<std::size_t>(*reading_.reference_links), link);
    std::vector<UncertainCost> uncertain = uncertain_costs();
    return {path_,
            std::move(reading_.costs),
            std::move(order_),
            std::move(uncertain),
            reading_.message_correlation,
            reading_.calibrated,
            link};
  }

 private:
  static constexpr int max_depth = 64;  ///< of elements; no machine needs more, and the stack holds it

  static pugi::xml_node find_zone(pugi::xml_node root) {
    for (const char* name : {"zone", "AS"}) {
      if (const pugi::xml_node zone = root.child(name)) return zone;
    }
    return {};
  }

  /// Properties count on the outermost zone. Those of hosts and links mean nothing here: an unused property is an
  /// error.
  void visit(pugi::xml_node node, pugi::xml_node zone, int depth) {
    if (depth > max_depth) {
      return report(node.offset_debug(),
                    fmt::format("elements lie more than {} deep in each other. Mend the markup here", max_depth));
    }
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "link" || name == "host") check_machine(child);
      if (name == "zone" || name == "AS") check_routing(child);
      if (name != "prop") {
        visit(child, zone, depth + 1);
      } else if (node == zone) {
        read_property(child);
      } else {
        report(child.offset_debug(), fmt::format("property '{}' of a <{}> is not used. Properties go to the outermost "
                                                 "<zone>",
                                                 child.attribute("id").value(), node.name()));
      }
    }
  }

  /// What SimGrid lets pass, or ends the program for: links and hosts that are there twice, hosts without a processor,
  /// numbers that no machine has.
  void check_machine(pugi::xml_node element) {
    const auto fail = [&](const std::string& problem) { report(element.offset_debug(), problem); };
    const std::string what = fmt::format("{} '{}'", element.name(), element.attribute("id").value());
    if (const auto [first, fresh] = machine_.emplace(what, line_of(element.offset_debug())); !fresh) {
      fail(fmt::format("{} is given twice (first in line {}). Remove one", what, first->second));
    }
    for (const char* attribute : {"bandwidth", "latency", "speed"}) {
      // A host may have several speeds, with commas between them.
      std::istringstream values(element.attribute(attribute).value());
      for (std::string value; std::getline(values, value, ',');) {
        if (const std::string problem = problem_with_machine(attribute, value); !problem.empty()) {
          fail(fmt::format("{} has the {} '{}'. {}", what, attribute, element.attribute(attribute).value(), problem));
          break;
        }
      }
    }
    const std::string_view core = element.attribute("core").value();
    if (core.starts_with('-')) {
      fail(fmt::format("{} has the core '{}'. Give it at least one", what, core));
    } else if (core == "0") {
      fail(fmt::format("{} has no core. Give it at least one", what));
    }
  }

  void check_routing(pugi::xml_node zone) {
    static constexpr std::array<std::string_view, 8> routings{"Full",    "Floyd",   "Dijkstra", "DijkstraCache",
                                                              "Cluster", "Vivaldi", "Wifi",     "None"};
    const pugi::xml_attribute routing = zone.attribute("routing");
    if (!routing) return;  // SimGrid says itself that it must be there
    const std::string_view given = routing.value();
    // SimGrid does not tell capital letters from small ones here.
    const auto is_given = [&](std::string_view known) {
      return std::equal(known.begin(), known.end(), given.begin(), given.end(),
                        [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
    };
    if (std::none_of(routings.begin(), routings.end(), is_given)) {
      report(zone.offset_debug(),
             fmt::format("the zone '{}' has the routing '{}', which SimGrid does not know. Give one "
                         "of {}",
                         zone.attribute("id").value(), given, fmt::join(routings, ", ")));
    }
  }

  void read_property(pugi::xml_node prop) {
    const std::string id = prop.attribute("id").value();
    const std::string_view value = prop.attribute("value").value();
    const auto fail = [&](const std::string& problem) { report(prop.offset_debug(), problem); };
    if (id.empty()) return fail("a <prop> without an id");
    if (const auto [first, fresh] = lines_.emplace(id, line_of(prop.offset_debug())); !fresh) {
      return fail(fmt::format("property '{}' is given twice (first in line {}). Remove one", id, first->second));
    }
    order_.push_back(id);
    try {
      if (const auto layout = layout_after(id, "barrier.")) {
        reading_.costs.barrier[*layout] = parse_time(value);
        return;
      }
      if (const auto layout = layout_after(id, "lock.")) {
        reading_.costs.lock[*layout] = parse_time(value);
        return;
      }
      if (id.ends_with(error_suffix)) {
        const std::string of = id.substr(0, id.size() - error_suffix.size());
        if (const auto row = error_row(of)) {
          errors_[row->of] = {row->parse(value), of, prop.offset_debug()};
          return;
        }
      }
      if (const auto threads = threads_after_memory_bus(id)) {
        reading_.costs.memory_bus[*threads] = parse_number(value, 1, most_slowdown);
        return;
      }
      if (id.starts_with(memory_bus_prefix)) {
        return fail(fmt::format("property '{}' names no number of threads. Write {}T: 2 to {} threads T of a node", id,
                                memory_bus_prefix, most_threads_per_node));
      }
      const auto& table = property_table();
      const auto row = std::find_if(table.begin(), table.end(), [&](const Property& p) { return p.id == id; });
      if (id == "node.memory-contention") {
        return fail(
            fmt::format("property '{}' is no more. Write {}2 with 1 more than its value, and simulate with "
                        "--memory-bound 1",
                        id, memory_bus_prefix));
      }
      if (row == table.end() && is_meant_as_layout(id)) {
        return fail(
            fmt::format("property '{}' names no layout. Write {}NxT: 1 to {} nodes N, 1 to {} threads T on each", id,
                        id.substr(0, id.find('.') + 1), most_nodes, most_threads_per_node));
      }
      if (row == table.end()) {
        return fail(fmt::format("unknown property '{}'. Did you mean '{}'? `sdsm check --properties` lists all", id,
                                nearest_property(id)));
      }
      if (id == correlation) correlation_at_ = prop.offset_debug();
      row->read(reading_, value);
    } catch (const std::invalid_argument& error) {
      fail(fmt::format("property '{}': {}", id, error.what()));
    }
  }

  void require(pugi::xml_node where) {
    std::vector<std::string> missing;
    for (const Property& property : property_table()) {
      if (property.required && !lines_.contains(property.id)) missing.push_back(property.id);
    }
    if (reading_.costs.barrier.empty() && !lines_.contains("barrier.1x1")) missing.emplace_back("barrier.NxT");
    if (reading_.costs.lock.empty() && !lines_.contains("lock.1x1")) missing.emplace_back("lock.NxT");
    if (!missing.empty()) {
      report(where.offset_debug(),
             fmt::format("missing propert{} {}. Add <prop id=\"...\" value=\"...\"/> to this zone; "
                         "`sdsm check --properties` explains each",
                         missing.size() == 1 ? "y" : "ies", fmt::join(missing, ", ")));
    }
  }

  /// Errors without what they are errors of.
  void check_errors() {
    for (const auto& [name, error] : errors_) {
      if (lines_.contains(error.of)) continue;
      report(error.at,
             fmt::format("property '{}{}' is the error of nothing: there is no '{}'. Give that too, or remove "
                         "the error",
                         error.of, error_suffix, error.of));
    }
    if (!correlation_at_) return;
    for (const std::string of : {"message.fixed", "message.per-byte"}) {
      const std::string id = of + std::string(error_suffix);
      if (lines_.contains(id)) continue;
      report(*correlation_at_,
             fmt::format("property '{}' is one of two errors, but there is no '{}'. Give that too, or remove the "
                         "correlation",
                         correlation, id));
    }
  }

  /// In the table's order, then by layout and number of threads.
  std::vector<UncertainCost> uncertain_costs() const {
    std::vector<UncertainCost> found;
    const auto add = [&](const ErrorRow& row) {
      if (const auto error = errors_.find(row.of); error != errors_.end()) {
        found.push_back({row.of, error->second.value, row.get, row.set});
      }
    };
    for (const ErrorRow& row : error_table()) add(row);
    const auto add_layouts = [&](std::string_view kind, const std::map<Layout, Time>& costs) {
      for (const auto& [layout, cost] : costs) {
        add(*error_row(fmt::format("{}.{}x{}", kind, layout.nodes, layout.threads_per_node)));
      }
    };
    add_layouts("barrier", reading_.costs.barrier);
    add_layouts("lock", reading_.costs.lock);
    for (const auto& [threads, slowdown] : reading_.costs.memory_bus) {
      add(*error_row(fmt::format("{}{}", memory_bus_prefix, threads)));
    }
    return found;
  }

  std::size_t line_of(std::ptrdiff_t offset) const { return commands::line_at(text_, offset); }

  void report(std::ptrdiff_t offset, const std::string& problem) {
    findings_.push_back(fmt::format("{}:{}: {}.", path_.string(), line_of(offset), problem));
  }

  static constexpr std::string_view correlation = "message.correlation";
  struct GivenError {
    double value = 0;
    std::string of;  ///< as the file writes it: 02x1 is the layout 2x1
    std::ptrdiff_t at = 0;
  };

  std::filesystem::path path_;
  std::string text_;
  Reading reading_;
  std::map<std::string, GivenError> errors_;  ///< by what they are errors of
  std::optional<std::ptrdiff_t> correlation_at_;
  std::vector<std::string> order_;
  std::map<std::string, std::size_t> lines_;    ///< of properties, by id
  std::map<std::string, std::size_t> machine_;  ///< lines of hosts and links, by "host 'id'"
  std::vector<std::string> findings_;
};

}  // namespace

PlatformError::PlatformError(std::vector<std::string> findings)
    : std::runtime_error(fmt::format("{}", fmt::join(findings, "\n"))), findings_(std::move(findings)) {}

Platform read_platform(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) {
    throw PlatformError({fmt::format("{}: {}. Give a SimGrid platform file", path.string(), why)});
  };
  if (const std::string problem = commands::input_problem(path, most_platform_bytes); !problem.empty()) refuse(problem);
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) refuse("is empty");
  return PropertyReader(path, std::move(text)).read();
}

std::string describe_properties() {
  std::string lines;
  for (const Property& property : property_table()) {
    lines += fmt::format("{:<28}{}{}\n", property.id, property.meaning, property.required ? " (required)" : "");
  }
  lines += fmt::format("{:<28}{}\n", "barrier.NxT",
                       "EPCC overhead of an empty barrier on N nodes x T threads (at least one)");
  lines += fmt::format("{:<28}{}\n", "lock.NxT", "EPCC overhead of LOCK/UNLOCK on N nodes x T threads (at least one)");
  lines += fmt::format("{:<28}{}\n", "memory-bus.T",
                       "times that a memory-bound loop takes with T threads of a node at it, 1 to 1000 (optional; see "
                       "sdsm simulate --memory-bound)");
  lines +=
      fmt::format("{:<28}{}\n", std::string("X").append(error_suffix),
                  "standard error of X, in a unit of X, for `sdsm simulate --uncertainty`. X is a fault, barrier.NxT,");
  std::string others;
  for (const ErrorRow& row : error_table()) {
    if (!row.of.starts_with("fault.")) others += (others.empty() ? "" : ", ") + row.of;
  }
  lines += fmt::format("{:<28}lock.NxT, memory-bus.T, {}\n", "", others);
  return lines;
}

}  // namespace sdsm::sim
