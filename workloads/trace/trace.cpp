#include "workloads/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

namespace sdsm::trace {

Speed best_of(std::span<const Speed> measurements) {
  Speed best;
  const auto take = [&](std::uint64_t Speed::*part, auto is_better) {
    std::vector<std::uint64_t> values;
    for (const Speed& one : measurements) values.push_back(one.*part);
    std::sort(values.begin(), values.end(), is_better);
    if (values.empty()) return;
    best.*part = values[0];
    if (values.size() < 2) return;
    const auto [low, high] = std::minmax(values[0], values[1]);
    if (low > 0) best.spread = std::max(best.spread, std::min(1000 * (high - low) / low, most_speed_spread));
  };
  take(&Speed::flops, std::greater{});
  take(&Speed::cache_latency_ps, std::less{});
  take(&Speed::memory_bandwidth, std::greater{});
  return best;
}

std::string in_words(const Speed& speed) {
  std::string words = fmt::format("{:.3f} Gf", static_cast<double>(speed.flops) * 1e-9);
  if (speed.cache_latency_ps > 0) {
    words += fmt::format(", cache {:.2f} ns, memory {:.1f} GB/s", static_cast<double>(speed.cache_latency_ps) * 1e-3,
                         static_cast<double>(speed.memory_bandwidth) * 1e-9);
  }
  if (speed.spread > doubtful_speed_spread) {
    words += fmt::format(" (doubtful: measurements while it traced differ by {:.0f} %)",
                         static_cast<double>(speed.spread) * 0.1);
  }
  return words;
}

std::string unpredicted_clocks(const Header& header) {
  // Older traces have these; newer ones have events of all but the last.
  constexpr std::string_view names[] = {"clock_gettime", "gettimeofday", "timespec_get", "time", "clock", "rdtsc"};
  std::string found;
  for (const UnseenCall& unseen : header.unseen) {
    if (std::find(std::begin(names), std::end(names), unseen.call) == std::end(names)) continue;
    if (!found.empty()) found += ", ";
    found += unseen.call;
  }
  return found;
}

}  // namespace sdsm::trace
