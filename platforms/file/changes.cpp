#include "platforms/file/changes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "commands/standard_streams.hpp"
#include "platforms/file/properties.hpp"

namespace sdsm {
namespace platform_file {
namespace {

constexpr double most_factor = 1e9;
constexpr std::size_t names_listed = 3;

/// Returns the 0.5 of "x0.5"; empty if the text is not of that form.
std::optional<double> factor_in(std::string_view text) {
  if (!text.starts_with('x')) return std::nullopt;
  text.remove_prefix(1);
  double factor = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), factor);
  const bool is_whole = status == std::errc() && rest == text.data() + text.size();
  if (!is_whole || !(factor >= 0 && factor <= most_factor)) return std::nullopt;
  return factor;
}

std::string multiplied(std::string_view text, double factor) {
  double value = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc()) throw std::invalid_argument(fmt::format("'{}' is no number to multiply", text));
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  return fmt::format("{:.12g}{}", value * factor, unit);
}

bool is_glob(std::string_view key) {
  return key.find_first_of("*?[") != std::string_view::npos;
}

bool meets(const std::string& key, std::string_view id) {
  for (const std::string_view suffix : {error_suffix, runs_suffix}) {
    if (key.ends_with(suffix) != id.ends_with(suffix)) return false;
  }
  return fnmatch(key.c_str(), std::string(id).c_str(), 0) == 0;
}

}  // namespace

Changes::Changes(const std::vector<std::string>& settings) {
  for (const std::string& text : settings) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw PlatformError(fmt::format(
          "--set '{}' is no KEY=VALUE. Write it such as fault.RUMR=300us, or 'fault.*=x0.5' to halve", text));
    }
    Setting setting{text, text.substr(0, equals), text.substr(equals + 1)};
    if (const auto property = property_named(setting.key)) setting.key = property->id;
    if (const auto factor = factor_in(*setting.value)) {
      setting.factor = *factor;
      setting.value.reset();
    }
    settings_.push_back(std::move(setting));
  }
}

std::string Changes::Effect::of(std::string_view own) const {
  if (!value && factor == 1) return std::string(own);
  return factor == 1 ? *value : multiplied(value ? *value : own, factor);
}

std::string Changes::Effect::refusal(std::string_view problem) const {
  const std::size_t value_at = last_text.find('=') + 1;
  const std::string factor_text = fmt::format("x{}", std::string_view(last_text).substr(value_at));
  const std::string remedy =
      fmt::format(" To multiply by it, write '{}{}'.", last_text.substr(0, value_at), factor_text);
  return fmt::format("--set '{}': {}.{}", last_text, problem, factor_in(factor_text) ? remedy : "");
}

Changes::Effect Changes::effect_on(std::string_view id) {
  Effect effect;
  for (Setting& setting : settings_) {
    if (!meets(setting.key, id)) continue;
    setting.is_met = effect.is_any = true;
    effect.last_text = setting.text;
    if (setting.value) {
      effect.value = setting.value;
      effect.factor = 1;
    } else {
      effect.factor *= setting.factor;
    }
  }
  return effect;
}

std::vector<std::string> Changes::left_out() const {
  std::vector<std::string> keys;
  for (const Setting& setting : settings_) {
    const bool is_listed = std::find(keys.begin(), keys.end(), setting.key) != keys.end();
    if (!setting.is_met && setting.value && !is_glob(setting.key) && property_named(setting.key) && !is_listed) {
      keys.push_back(setting.key);
    }
  }
  return keys;
}

LinkChange Changes::change_links(std::string_view key, std::vector<LinkValue> links) {
  const bool is_bandwidth = key == network_bandwidth;
  const Effect effect = effect_on(key);
  if (!effect.is_any) return {};
  if (links.empty()) throw std::invalid_argument("the file gives no link one. Give it links, or a <cluster>");
  std::sort(links.begin(), links.end(), [](const LinkValue& a, const LinkValue& b) { return a.value < b.value; });
  const LinkValue &least = links.front(), &most = links.back();
  const bool are_alike = most.value - least.value <= 1e-9 * most.value;
  LinkChange change{std::nullopt, effect.factor};
  if (effect.value) {
    change.value = is_bandwidth ? parse_bandwidth(*effect.value).bytes_per_second : parse_seconds(*effect.value);
    if (!are_alike) {
      throw std::invalid_argument(fmt::format(
          "links have from {} to {}. Give a factor, such as x10, that multiplies each", least.text, most.text));
    }
  }
  for (const LinkValue& link : {least, most}) {
    const double value = change.of(link.value);
    if (is_bandwidth ? value < least_bandwidth || value > most_bytes_per_second : value > most_latency) {
      throw std::invalid_argument(is_bandwidth ? fmt::format("give at least {} and at most {} bytes per second",
                                                             least_bandwidth, most_bytes_per_second)
                                               : fmt::format("give at most {} s", most_latency));
    }
  }
  const auto both = [&](const std::string& low, const std::string& high) {
    return are_alike ? low : fmt::format("{} to {}", low, high);
  };
  record(std::string(key), both(least.text, most.text), both(effect.of(least.text), effect.of(most.text)));
  return change;
}

void Changes::record(std::string property, std::optional<std::string> was, std::string is) {
  recorded_.push_back({std::move(property), std::move(was), std::move(is)});
}

void Changes::correct(std::string_view property, std::string is) {
  std::find_if(recorded_.begin(), recorded_.end(), [&](const PlatformChange& one) {
    return one.property == property;
  })->is = std::move(is);
}

std::vector<std::string> Changes::unmet(const std::vector<std::string>& known) const {
  std::vector<std::string> found;
  for (const Setting& setting : settings_) {
    if (setting.is_met) continue;
    std::string why = "there is no such property, nor is one that the file gives";
    if (property_named(setting.key)) why = "the file gives no such property, so there is nothing to multiply";
    found.push_back(fmt::format("--set '{}': {}. Nearest: {}. `sdsm check --properties` lists all", setting.text, why,
                                fmt::join(nearest(setting.key, known, names_listed), ", ")));
  }
  return found;
}

}  // namespace platform_file

void tell_changes(const Platform& platform, bool on_stdout) {
  for (const std::string& note : platform.notes) commands::say(note);
  if (!on_stdout || platform.changes.empty()) return;
  std::vector<std::string> changes;
  for (const PlatformChange& one : platform.changes) {
    const auto property = platform_file::property_named(one.property);
    const std::string usual = property ? property->usual() : "";
    const std::string unless_given = usual.empty() ? "not given" : usual + ", by default";
    changes.push_back(fmt::format("{} {} (was {})", one.property, one.is, one.was.value_or(unless_given)));
  }
  fmt::print("Changed by --set: {}\n", fmt::join(changes, ", "));
}

}  // namespace sdsm
