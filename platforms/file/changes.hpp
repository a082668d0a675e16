/// What `--set KEY=VALUE` changes of a platform before it is used. KEY: a property, or a glob over the properties that
/// the file gives and the network's two; VALUE: as the file would give it, or xN, which multiplies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/file/platform.hpp"

namespace sdsm::platform_file {

inline constexpr std::string_view network_bandwidth = "network.bandwidth";
inline constexpr std::string_view network_latency = "network.latency";

/// A link's bandwidth or latency as the file writes it; in B/s or s.
struct LinkValue {
  std::string text;
  double value;
};

class Changes {
 public:
  /// Throws PlatformError if one of them is no KEY=VALUE.
  explicit Changes(const std::vector<std::string>& settings);

  /// What the settings make of one value, in their order: the last value given (empty: the file's), times a factor.
  struct Effect {
    std::optional<std::string> value;
    double factor = 1;
    bool is_any = false;
    std::string last_text;  ///< the last setting that met it, whole

    /// Why it cannot be, as a line: `problem`, and how to multiply where a bare number was given.
    std::string refusal(std::string_view problem) const;
    /// As text with its unit. Throws std::invalid_argument if `own`, what the file says, is no number to multiply.
    std::string of(std::string_view own) const;
  };
  /// On the property `id`. What changes a property changes its standard error and runs, too: a factor multiplies them.
  Effect effect_on(std::string_view id);

  /// Keys that met no property yet, are no glob and give a value: properties that the file leaves out.
  std::vector<std::string> left_out() const;

  /// The change of all links. Throws std::invalid_argument for one value where links differ, and for impossible ones.
  LinkChange change_links(std::string_view key, std::vector<LinkValue> links);

  void record(std::string property, std::optional<std::string> was, std::string is);
  /// Replaces what was recorded.
  void correct(std::string_view property, std::string is);

  /// A line for each setting that met nothing, with the names nearest to it. `known`: names that could be met.
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
