/// The table of a platform file's properties: what each means, how it is read, whether it may have a standard error.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/file/platform.hpp"

namespace sdsm::platform_file {

/// The file's contents, before the reference network's route is built from them.
struct Reading {
  Costs costs;
  std::optional<Bandwidth> reference_bandwidth;
  std::optional<Time> reference_latency;
  std::optional<int> reference_links;
  CalibratedRange calibrated;
  SpeedOrigin speed_origin = SpeedOrigin::unknown;
  HostMemory host_memory;
  double message_correlation = 0;
  std::vector<std::string> assumed;  ///< names of costs, or beginnings with a `*` behind
};

/// How a standard error and the values of single runs are read, and where their cost is kept, in s, s/B, B/s or 1.
struct ErrorRow {
  double (*parse)(std::string_view);  ///< throws std::invalid_argument
  std::function<double(const Costs&)> get;
  std::function<void(Costs&, double)> set;
};

struct Property {
  std::string id;
  std::string meaning;
  bool is_required;
  std::function<void(Reading&, std::string_view)> read;  ///< throws std::invalid_argument
  std::optional<ErrorRow> error = {};                    ///< empty: no standard error
  std::optional<ProtocolKind> protocol = {};             ///< the cost's protocol; empty: the machine's
  bool is_of_messages = false;                           ///< required only if a protocol sends messages

  /// Returns the default, from `meaning` behind "default"; empty if there is none.
  std::string usual() const;
};

/// Properties that the file may give once for each layout, or for each number of threads.
struct Family {
  std::string form;  ///< "barrier.NxT"
  std::string meaning;
  bool is_required;  ///< at least one is
  /// Returns the property that `id` names, under its canonical id (barrier.2x1 for barrier.02x1); empty for none.
  std::function<std::optional<Property>(std::string_view id)> member;
  /// Returns the ids with a value, in order.
  std::function<std::vector<std::string>(const Costs&)> given;
  /// Describes what is wrong with an id that resembles one of the family; empty if it does not.
  std::function<std::string(std::string_view id)> misnamed;
  std::optional<ProtocolKind> protocol = {};  ///< the costs' protocol; empty: the machine's
};

/// Properties and families, in the order in which standard errors are drawn.
const std::vector<Property>& single_properties();
const std::vector<Family>& families();

/// Returns the property of that id, of a family or not; empty if there is none.
std::optional<Property> property_named(std::string_view id);

/// "message.fixed.standard-error" is the error of message.fixed.
inline constexpr std::string_view error_suffix = ".standard-error";
std::string error_of(std::string_view id);

/// "message.fixed.runs" are the values of message.fixed in each measured run.
inline constexpr std::string_view runs_suffix = ".runs";
inline constexpr std::size_t least_runs = 3;
inline constexpr std::size_t most_runs = 100;
std::string runs_of(std::string_view id);
/// Splits `text` at blanks. Throws std::invalid_argument for too few or too many runs.
std::vector<std::string> words_of_runs(std::string_view text);

inline constexpr std::string_view correlation = "message.correlation";
inline constexpr std::string_view assumed_costs = "costs.assumed";

/// Counts letters to insert, leave out, replace or swap with their neighbour to turn one text into the other.
std::size_t letters_between(std::string_view a, std::string_view b);
/// Returns the `count` names of `known` that are nearest to `id` by letters_between().
std::vector<std::string> nearest(std::string_view id, std::vector<std::string> known, std::size_t count);

/// Whether `id` is one of the properties, or resembles one. Others belong to other programs.
bool is_like_own(std::string_view id);
std::string unknown_property(std::string_view id);

}  // namespace sdsm::platform_file
