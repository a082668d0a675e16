/// Applies `--set KEY=VALUE` to a platform before it is used. KEY is a property, or a glob over the properties that the
/// file gives and the network's two. VALUE is written as in the file, or xN, which multiplies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/file/platform.hpp"

namespace sdsm::platform_file {

inline constexpr std::string_view network_bandwidth = "network.bandwidth";
inline constexpr std::string_view network_latency = "network.latency";

/// A link's bandwidth or latency as the file writes it, and in B/s or s.
struct LinkValue {
  std::string text;
  double value;
};

class Changes {
 public:
  /// Throws PlatformError if one of the settings is no KEY=VALUE.
  explicit Changes(const std::vector<std::string>& settings);

  /// The settings' effect on one value, in their order: the last value given (empty: the file's), times a factor.
  struct Effect {
    std::optional<std::string> value;
    double factor = 1;
    bool is_any = false;
    std::string last_text;  ///< the whole last setting that affected it

    /// Returns a line about an impossible value: `problem`, and how to multiply if the setting is a bare number.
    std::string refusal(std::string_view problem) const;
    /// Returns the value as text with its unit. Throws std::invalid_argument if `own`, the file's, is no number.
    std::string of(std::string_view own) const;
  };
  /// Returns the effect on the property `id`. A factor multiplies its standard error and runs, too.
  Effect effect_on(std::string_view id);

  /// Returns keys that give a value, are no glob and have met no property: properties that the file leaves out.
  std::vector<std::string> left_out() const;

  /// Returns the change of all links. Throws std::invalid_argument for one value of unequal links, and impossible ones.
  LinkChange change_links(std::string_view key, std::vector<LinkValue> links);

  void record(std::string property, std::optional<std::string> was, std::string is);
  /// Replaces the recorded value.
  void correct(std::string_view property, std::string is);

  /// Returns a line for each setting that met nothing, with the nearest names in `known`.
  std::vector<std::string> unmet(const std::vector<std::string>& known) const;

  std::vector<PlatformChange> recorded() const { return recorded_; }

 private:
  struct Setting {
    std::string text, key;
    std::optional<std::string> value;  ///< empty: multiply
    double factor = 1;
    bool is_met = false;
  };
  std::vector<Setting> settings_;
  std::vector<PlatformChange> recorded_;
};

}  // namespace sdsm::platform_file
