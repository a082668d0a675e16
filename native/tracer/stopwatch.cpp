#include "native/tracer/stopwatch.hpp"

namespace sdsm::tracer {
namespace {

constinit ClockRates found GUARDED_BY(program::starting);

std::uint64_t wall_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

constinit const ClockRates& clock_rates = found;

void calibrate_clocks() {
  constexpr std::uint64_t span_ns = 2'000'000;
  const std::uint64_t start_ns = wall_ns();
  const std::uint64_t start_ticks = __rdtsc();
  std::uint64_t now_ns = start_ns;
  while (now_ns - start_ns < span_ns) now_ns = wall_ns();
  found.ns_per_tick = static_cast<double>(now_ns - start_ns) / static_cast<double>(__rdtsc() - start_ticks);

  // The least, as anything above it is something else's time.
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t before = thread_cpu_ns();
    const std::uint64_t after = thread_cpu_ns();
    if (after - before < least) least = after - before;
  }
  found.read_ns = least;
}

}  // namespace sdsm::tracer
