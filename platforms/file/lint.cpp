#include "platforms/file/lint.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

#include "platforms/file/platform.hpp"

namespace sdsm::platform_file {

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

namespace {

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

std::string routing_problem(pugi::xml_node zone) {
  static constexpr std::array<std::string_view, 6> routings{"Full",          "Floyd",   "Dijkstra",
                                                            "DijkstraCache", "Cluster", "None"};
  const pugi::xml_attribute routing = zone.attribute("routing");
  if (!routing) return {};  // SimGrid reports a missing routing
  const std::string_view given = routing.value();
  // SimGrid ignores case here.
  const auto is_given = [&](std::string_view known) {
    return std::equal(known.begin(), known.end(), given.begin(), given.end(),
                      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
  };
  if (std::any_of(routings.begin(), routings.end(), is_given)) return {};
  const std::string_view why = is_given("Wifi")      ? "is wireless (Wifi): a shared medium with changing rates is"
                               : is_given("Vivaldi") ? "takes latencies from coordinates (Vivaldi), which are"
                                                     : "";
  if (!why.empty()) {
    return fmt::format(
        "the zone '{}' {} not simulated. Use the routing Full, with links of the measured rate and latency",
        zone.attribute("id").value(), why);
  }
  return fmt::format("the zone '{}' has the routing '{}', which SimGrid does not know. Give one of {}",
                     zone.attribute("id").value(), given, fmt::join(routings, ", "));
}

/// The count of numbers that a <cluster>'s radical names ("0-3,8"); nothing if SimGrid refuses, and so reports, it.
std::optional<std::uint64_t> count_of_radical(std::string_view radical) {
  std::uint64_t count = 0;
  for (std::size_t begin = 0; begin <= radical.size();) {
    const std::size_t end = std::min(radical.find(',', begin), radical.size());
    std::uint64_t first = 0, last = 0;
    const char* at = radical.data() + begin;
    const char* const stop = radical.data() + end;
    auto parsed = std::from_chars(at, stop, first);
    last = first;
    if (parsed.ec == std::errc() && parsed.ptr != stop && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, stop, last);
    }
    if (parsed.ec == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
    if (parsed.ec != std::errc() || parsed.ptr != stop || last < first) return std::nullopt;
    count += std::min(last - first, std::numeric_limits<std::uint64_t>::max() / 2) + 1;
    if (count > most_hosts) return count;
    begin = end + 1;
  }
  return count;
}

std::ptrdiff_t count_of_children(pugi::xml_node element, std::string_view name) {
  const auto children = element.children();
  return std::count_if(children.begin(), children.end(), [&](pugi::xml_node child) { return child.name() == name; });
}

/// What makes an element change while a program runs; empty if nothing does.
std::string changes_by_time(pugi::xml_node element) {
  const std::string_view name = element.name();
  if (name == "trace" || name == "trace_connect") return fmt::format("<{}>", name);
  for (const char* const attribute :
       {"bandwidth_file", "latency_file", "speed_file", "availability_file", "state_file"})
    if (*element.attribute(attribute).value() != '\0') return attribute;
  return {};
}

/// What is wrong with a factor of SimGrid's network, which would abort a run; empty if nothing is. SimGrid 4 takes
/// several, by size of message ("0:1;65472:0.9").
std::string problem_with_setting(std::string_view id, const std::string& text) {
  if (!id.starts_with("network/") || !id.ends_with("-factor") || text.find(':') != std::string::npos) return {};
  char* rest = nullptr;
  const double value = std::strtod(text.c_str(), &rest);
  if (rest != text.c_str() && *rest == '\0' && value > 0 && std::isfinite(value)) return {};
  return fmt::format("{} is '{}'. Give a number above 0, or leave it out", id, text);
}

}  // namespace

Lint::Lint(pugi::xml_node platform) {
  for (const pugi::xpath_node& link : platform.select_nodes(".//route[@src=@dst]/link_ctn"))
    loopbacks_.insert(link.node().attribute("id").value());
  for (const pugi::xpath_node& link : platform.select_nodes(".//*[@src!=@dst]/link_ctn")) {
    const std::string id = link.node().attribute("id").value();
    loopbacks_.erase(id);
    loopbacks_.erase(id.substr(0, id.rfind('_')));  // a SPLITDUPLEX link's _UP or _DOWN
  }
}

std::vector<std::string> Lint::too_many(pugi::xml_node element) {
  std::vector<std::string> found;
  const std::string_view name = element.name();
  const auto before = hosts_;
  if (name == "host") ++hosts_;
  if (name == "cluster" || name == "cabinet") {
    hosts_ +=
        std::min<std::uint64_t>(count_of_radical(element.attribute("radical").value()).value_or(0), most_hosts + 1);
  }
  if (before <= most_hosts && hosts_ > most_hosts) {
    found.push_back(fmt::format("with the {} '{}' there are more than {} hosts. Leave out those that no run uses", name,
                                element.attribute("id").value(), most_hosts));
  }
  if (name == "zone" || name == "AS") {
    if (const auto hosts = static_cast<std::size_t>(count_of_children(element, "host")); hosts > most_hosts_of_zone) {
      found.push_back(fmt::format("the zone '{}' has {} hosts; more than {} take a <cluster>, which needs no routes",
                                  element.attribute("id").value(), hosts, most_hosts_of_zone));
    }
  }
  if (name.ends_with("oute")) {  // route, zoneRoute, bypassRoute
    if (const auto links = static_cast<std::size_t>(count_of_children(element, "link_ctn"));
        links > most_links_of_route) {
      found.push_back(fmt::format("the route from '{}' to '{}' has {} links. Give it at most {}",
                                  element.attribute("src").value(), element.attribute("dst").value(), links,
                                  most_links_of_route));
    }
  }
  return found;
}

std::vector<std::string> Lint::problems_of(pugi::xml_node element, std::size_t line) {
  std::vector<std::string> found = too_many(element);
  const std::string_view name = element.name();
  if (name == "zone" || name == "AS") {
    if (std::string problem = routing_problem(element); !problem.empty()) found.push_back(std::move(problem));
  }
  const std::string id = element.attribute("id").value();
  if (const std::string by = changes_by_time(element); !by.empty()) {
    found.push_back(
        fmt::format("{}{} changes during a run ({}), and the simulator takes the platform as it is at the start. Leave "
                    "that out, or write a platform for each state",
                    name, id.empty() ? "" : fmt::format(" '{}'", id), by));
  }
  if (name == "prop" && std::string_view(element.parent().name()) == "config") {
    if (std::string problem = problem_with_setting(id, element.attribute("value").value()); !problem.empty())
      found.push_back(std::move(problem));
  }
  if (name != "link" && name != "host") return found;
  const std::string what = fmt::format("{} '{}'", name, id);
  if (const auto [first, fresh] = machines_.emplace(what, line); !fresh) {
    found.push_back(fmt::format("{} is given twice (first in line {}). Remove one", what, first->second));
  }
  if (std::string_view(element.attribute("sharing_policy").value()) == "WIFI") {
    found.push_back(
        fmt::format("{} is wireless (WIFI): a shared medium with changing rates is not simulated. Give it the "
                    "sharing_policy SHARED, and the measured rate and latency",
                    what));
  }
  for (const char* attribute : {"bandwidth", "latency", "speed"}) {
    if (name == "link" && loopbacks_.contains(id)) break;
    const char* const given = element.attribute(attribute).value();
    // A host may have several speeds, separated by commas, of which it has the pstate-th; a wireless link several
    // rates.
    std::istringstream values(given);
    std::string value;
    for (int i = std::atoi(element.attribute("pstate").value()); i >= 0 && std::getline(values, value, ','); --i)
      continue;
    if (const std::string problem = problem_with_machine(attribute, value); !problem.empty())
      found.push_back(fmt::format("{} has the {} '{}'. {}", what, attribute, given, problem));
  }
  const std::string_view core = element.attribute("core").value();
  if (core.starts_with('-')) {
    found.push_back(fmt::format("{} has the core '{}'. Give it at least one", what, core));
  } else if (core == "0") {
    found.push_back(fmt::format("{} has no core. Give it at least one", what));
  }
  return found;
}

}  // namespace sdsm::platform_file
