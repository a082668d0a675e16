/// The project's view of a platform file: the costs in its <prop>s. Topology (hosts, links, routes) is SimGrid's
/// business; `Topology` (sim/network.hpp) reads it from the loaded engine.
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

/// A platform file that cannot be used. Each finding is "file:line: problem (why) what to do".
using PlatformError = commands::BadInput;

/// Largest layout that a property may name.
inline constexpr std::uint32_t most_nodes = 65536;
inline constexpr std::uint32_t most_threads_per_node = 4096;

/// Of a platform, whether named one by one or by a <cluster>: SimGrid takes some kilobytes for each.
inline constexpr std::uint64_t most_hosts = 65536;
/// Of one zone, but those in a <cluster>: a zone of full routing holds a table of all pairs.
inline constexpr std::size_t most_hosts_of_zone = 4096;
inline constexpr std::size_t most_links_of_route = 1000;
/// SimGrid's parser takes time with the square of blanks in a row.
inline constexpr std::size_t most_blanks = 64 << 10;
/// Largest cost, given or drawn: far above any, and so far below what picoseconds can hold that sums of a few are, too.
inline constexpr double most_cost_seconds = 1000;
/// A route takes some 100 bytes: so this has room for each pair of several hundred hosts.
inline constexpr std::uintmax_t most_platform_bytes = 64 << 20;

/// Bounds of a link, in B/s and s: they keep any message far below the 104 days that a run can last.
inline constexpr double least_bandwidth = 1;
inline constexpr double most_latency = 3600;

/// A number among the costs whose standard error or runs the file gives; all in s, s/B, B/s or 1.
struct UncertainCost {
  std::string property;
  double standard_error;     ///< of runs alone: that of their mean
  std::vector<double> runs;  ///< what it was in each measured run, in one order for all costs; empty: not told
  std::function<double(const Costs&)> get;
  std::function<void(Costs&, double)> set;  ///< sets it to the nearest possible value: a time below zero becomes zero
};

/// The most that was measured when the costs were calibrated; empty where the file does not say.
struct CalibratedRange {
  std::optional<std::uint32_t> nodes;
  std::optional<std::uint32_t> threads_per_node;
  std::optional<Bytes> diff;

  bool is_known() const { return nodes || threads_per_node || diff; }
};

/// What --set makes of the bandwidth or latency of each link.
struct LinkChange {
  std::optional<double> value;  ///< instead of its own, in B/s or s
  double factor = 1;

  double of(double own) const { return value.value_or(own) * factor; }
};

/// A property, network.bandwidth or network.latency that has another value than in the file; both as text.
struct PlatformChange {
  std::string property;
  std::optional<std::string> was;  ///< empty: the file does not give it
  std::string is;
};

/// How fast hosts compute, as the file says it; in operations per second.
struct HostSpeed {
  std::string text;
  double flops;
};

/// What the hosts' speeds are, by the property host.speed-is.
enum class SpeedOrigin : std::uint8_t { unknown, assumed, measured };

struct Platform {
  std::filesystem::path path;
  Costs costs;
  std::vector<std::string> properties;        ///< ids of the properties given, in the order of the file
  std::vector<UncertainCost> uncertain = {};  ///< in an order that does not depend on the file's
  double message_correlation = 0;             ///< of the errors of message.fixed and message.per-byte
  CalibratedRange calibrated = {};
  /// A link of the reference network as the file gives it. If `costs` hold a drawn one instead, the platform's links
  /// that equal this one are simulated as the drawn one, so that costs still belong to the simulated network.
  LinkSpec reference_link = {};
  LinkChange bandwidth = {}, latency = {};   ///< of all links
  std::vector<std::string> settings = {};    ///< as --set gave them
  std::vector<PlatformChange> changes = {};  ///< that came of them
  std::optional<WireModel> model = {};       ///< the one on which the costs are possible, where --set made them for it
  std::vector<std::string> notes = {};       ///< on changes that came out otherwise than asked for
  std::vector<ProtocolKind> protocols = {};  ///< whose costs the file gives
  std::vector<HostSpeed> host_speeds = {};   ///< those that differ, in the order of the file
  SpeedOrigin speed_origin = SpeedOrigin::unknown;
};

/// What stands in a platform whose hosts' speed nobody knows, in operations per second: SimGrid wants one.
inline constexpr double placeholder_flops = 1e9;

/// The speed of the hosts, to scale computing by. Throws PlatformError where hosts differ, and for placeholder_flops
/// of which host.speed-is says nothing.
const HostSpeed& host_speed(const Platform& platform);

inline constexpr const char* platform_help =
    "SimGrid platform file with the costs of the machine, or the name of one of sdsm's own, such as p3-score";

/// The file that `name` names: itself, or where there is none and it is a bare name, sdsm's own platform of that name
/// with or without .xml (p3-score), which lies in platforms/ of the checkout or of share/sdsm where sdsm is installed.
std::filesystem::path find_platform(const std::string& name);

/// What to read otherwise than the file says.
struct Settings {
  std::vector<std::string> changes;  ///< of --set, each KEY=VALUE
  /// How long messages take, of which a fault consists beside its processor part: a factor on a fault whose messages
  /// take longer than the factor leaves it acts on that part alone.
  WireModel model = WireModel::store_and_forward;
};

inline constexpr const char* settings_help =
    "change the platform: KEY is a property (sdsm check --properties), network.bandwidth or network.latency of all "
    "links, or a glob such as 'fault.*'; VALUE has its unit, or is xN: N times as much. May be repeated";

/// Prints what --set changed, on stdout if asked to, and notes on stderr.
void tell_changes(const Platform& platform, bool on_stdout);

/// Reads the properties. Throws PlatformError with everything that is wrong: no XML, an unknown, repeated or missing
/// property, a value that is no quantity, mistakes in hosts, links and zones that SimGrid would let pass, and settings
/// that meet nothing.
Platform read_platform(const std::filesystem::path& path, const Settings& settings = {});

/// Throws PlatformError if the file gives no costs of the protocol.
void require_costs(const Platform& platform, ProtocolKind protocol);

/// One line for each property: its id, its meaning, and whether it is required. For `sdsm check --properties`.
std::string describe_properties();

}  // namespace sdsm
