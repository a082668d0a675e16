/// Reads the costs in a platform file's <prop>s. SimGrid reads the topology (hosts, links, routes), and `Topology`
/// (sim/network.hpp) gets it from the loaded engine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/errors.hpp"
#include "models/costs.hpp"

namespace sdsm {

/// An unusable platform file. Each finding is "file:line: problem (why) what to do".
using PlatformError = commands::BadInput;

/// Largest layout that a property may name.
inline constexpr std::uint32_t most_nodes = 65536;
inline constexpr std::uint32_t most_threads_per_node = 4096;

/// Most hosts of a platform, named one by one or by a <cluster>: SimGrid takes some kilobytes for each.
inline constexpr std::uint64_t most_hosts = 65536;
/// Most hosts of one zone outside of a <cluster>: a zone of full routing has a table of all pairs.
inline constexpr std::size_t most_hosts_of_zone = 4096;
inline constexpr std::size_t most_links_of_route = 1000;
/// SimGrid's parser takes time with the square of the number of successive blanks.
inline constexpr std::size_t most_blanks = 64 << 10;
/// Largest cost, given or drawn: far above any real one, and so small that sums of a few fit in picoseconds.
inline constexpr double most_cost_seconds = 1000;
/// Has room for a route between each pair of several hundred hosts, at some 100 bytes each.
inline constexpr std::uintmax_t most_platform_bytes = 64 << 20;

/// Bounds of a link, in B/s and s: they keep any message far below the 104-day limit of a run.
inline constexpr double least_bandwidth = 1;
inline constexpr double most_latency = 3600;

/// A cost with a standard error or runs in the file; all values in s, s/B, B/s or 1.
struct UncertainCost {
  std::string property;
  double standard_error;     ///< for runs: that of their mean
  std::vector<double> runs;  ///< its value in each measured run, in one order for all costs; may be empty
  std::function<double(const Costs&)> get;
  std::function<void(Costs&, double)> set;  ///< sets the nearest possible value: zero for a time below zero
};

/// Largest values measured for the calibration; empty if the file lacks them.
struct CalibratedRange {
  std::optional<std::uint32_t> nodes;
  std::optional<std::uint32_t> threads_per_node;
  std::optional<Bytes> diff;

  bool is_known() const { return nodes || threads_per_node || diff; }
};

/// A change of each link's bandwidth or latency by --set.
struct LinkChange {
  std::optional<double> value;  ///< replaces the link's own, in B/s or s
  double factor = 1;

  double of(double own) const { return value.value_or(own) * factor; }
};

/// A property, network.bandwidth or network.latency that --set changed, as text.
struct PlatformChange {
  std::string property;
  std::optional<std::string> was;  ///< empty: not in the file
  std::string is;
};

/// The hosts' computing speed: the file's text, and operations per second.
struct HostSpeed {
  std::string text;
  double flops;
};

/// Loads that need each other's result, and sums of an array in memory, as `sdsm trace` measures them; both 0: not
/// given.
struct HostMemory {
  Time cache_latency{};
  double bandwidth = 0;  ///< B/s
};

/// Origin of the hosts' speeds, by the property host.speed-is.
enum class SpeedOrigin : std::uint8_t { unknown, assumed, measured };

struct Platform {
  std::filesystem::path path;
  Costs costs;
  std::vector<std::string> properties;        ///< ids of the given properties, in the order of the file
  std::vector<UncertainCost> uncertain = {};  ///< in an order that does not depend on the file's
  double message_correlation = 0;             ///< between the errors of message.fixed and message.per-byte
  CalibratedRange calibrated = {};
  /// A link of the reference network as the file gives it. If `costs` hold a drawn one instead, the platform's links
  /// that equal this one are simulated as the drawn one, so that the costs still belong to the simulated network.
  LinkSpec reference_link = {};
  LinkChange bandwidth = {}, latency = {};   ///< of all links
  std::vector<std::string> settings = {};    ///< as --set gave them
  std::vector<PlatformChange> changes = {};  ///< their effects
  std::optional<WireModel> model = {};  ///< the only model on which the costs are possible, if --set adapted them to it
  std::vector<std::string> notes = {};  ///< about changes with another result than asked for
  std::vector<ProtocolKind> protocols = {};  ///< protocols whose costs the file gives
  std::vector<HostSpeed> host_speeds = {};   ///< distinct speeds, in the order of the file
  SpeedOrigin speed_origin = SpeedOrigin::unknown;
  HostMemory host_memory = {};
  std::vector<std::string> assumed = {};  ///< properties whose values nobody measured, in the order of the file

  bool assumes(std::string_view property) const;
};

/// Speed in a platform whose hosts' speed is unknown, in operations per second: SimGrid requires one.
inline constexpr double placeholder_flops = 1e9;

/// Returns the hosts' speed, for scaling computing times. Throws PlatformError if hosts differ, or if the speed is
/// placeholder_flops, unless host.speed-is says that it is assumed.
const HostSpeed& host_speed(const Platform& platform);

inline constexpr const char* platform_help =
    "SimGrid platform file with the costs of the machine, or the name of one of sdsm's own, such as p3-score";

/// Returns the file `name` or, if there is none and it is a bare name, sdsm's own platform of that name with or without
/// .xml (p3-score). These lie in platforms/ of the checkout, or of share/sdsm in an installed sdsm.
std::filesystem::path find_platform(const std::string& name);

/// Changes to apply while reading a file.
struct Settings {
  std::vector<std::string> changes;  ///< arguments of --set, each KEY=VALUE
  /// Model of the messages' time, which is part of a fault's. Where a factor on a fault leaves less than its messages
  /// take, it applies to the processor part alone.
  WireModel model = WireModel::store_and_forward;
};

inline constexpr const char* settings_help =
    "change the platform: KEY is a property (sdsm check --properties), network.bandwidth or network.latency of all "
    "links, or a glob such as 'fault.*'; VALUE has its unit, or is xN: N times as much. May be repeated";

/// Prints the effects of --set, on stdout if asked to, and notes on stderr.
void tell_changes(const Platform& platform, bool on_stdout);

/// Reads the properties. Throws PlatformError with all that is wrong: no XML, a property unknown, repeated, missing or
/// without a quantity, mistakes in hosts, links and zones that SimGrid accepts, and settings that meet nothing.
Platform read_platform(const std::filesystem::path& path, const Settings& settings = {});

/// Throws PlatformError if the file gives no costs of the protocol.
void require_costs(const Platform& platform, ProtocolKind protocol);

/// Returns one line for each property: its id, its meaning, and whether it is required. For `sdsm check --properties`.
std::string describe_properties();

}  // namespace sdsm
