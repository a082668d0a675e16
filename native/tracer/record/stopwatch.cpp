#include "native/tracer/record/stopwatch.hpp"

#include <csignal>

#include "native/guest/runtime/signals.hpp"

namespace sdsm::tracer {
namespace {

constinit ClockRates found GUARDED_BY(program::starting);

/// The least of some, as anything above it is something else's time.
template <typename Measure>
std::uint64_t least_of(Measure measure) {
  constexpr int samples = 50;
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < samples; ++i) {
    const std::uint64_t sample = measure();
    if (sample < least) least = sample;
  }
  return least;
}

std::uint64_t measure_traps() {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int /*signal*/) {};
  action.sa_flags = SA_ONSTACK;
  program::real_sigaction(SIGTRAP, &action, &before);
  const std::uint64_t ticks = least_of([] {
    const std::uint64_t begun = __rdtsc();
    asm volatile("int3" ::: "memory");
    return __rdtsc() - begun;
  });
  program::real_sigaction(SIGTRAP, &before, nullptr);
  return ticks;
}

}  // namespace

constinit const ClockRates& clock_rates = found;

void calibrate_clocks() {
  constexpr std::uint64_t span_ns = 2'000'000;
  const std::uint64_t start_ns = program::read_ns(CLOCK_MONOTONIC);
  const std::uint64_t start_ticks = __rdtsc();
  std::uint64_t now_ns = start_ns;
  while (now_ns - start_ns < span_ns) now_ns = program::read_ns(CLOCK_MONOTONIC);
  found.ns_per_tick = static_cast<double>(now_ns - start_ns) / static_cast<double>(__rdtsc() - start_ticks);

  found.read_ns = least_of([] {
    const std::uint64_t before = thread_cpu_ns();
    return thread_cpu_ns() - before;
  });
  found.trap_ticks = measure_traps();
}

}  // namespace sdsm::tracer
