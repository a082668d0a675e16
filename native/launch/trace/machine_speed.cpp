#include "native/launch/trace/machine_speed.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>

namespace sdsm::trace_command {
namespace {

constexpr std::size_t means = 512;  ///< 4 KiB in, 4 KiB out
constexpr std::uint64_t operations_of_mean = 4;
constexpr int sweeps = 256;
/// Interruptions and low clocks only slow a pass down, so the best one counts.
constexpr int passes = 100;

std::uint64_t processor_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// to[i] = (from[i] + from[i + 1] + from[i + 2] + from[i + 3]) * quarter, for each i.
void sweep(const double* from, double* to, const double& quarter) {
  std::size_t i = 0;
  asm volatile(
      "1:\n\t"
      "movsd (%[from],%[i],8), %%xmm0\n\t"
      "addsd 8(%[from],%[i],8), %%xmm0\n\t"
      "addsd 16(%[from],%[i],8), %%xmm0\n\t"
      "addsd 24(%[from],%[i],8), %%xmm0\n\t"
      "mulsd %[quarter], %%xmm0\n\t"
      "movsd %%xmm0, (%[to],%[i],8)\n\t"
      "add $1, %[i]\n\t"
      "cmp %[means], %[i]\n\t"
      "jb 1b"
      : [i] "+r"(i)
      : [from] "r"(from), [to] "r"(to), [quarter] "m"(quarter), [means] "i"(means)
      : "xmm0", "cc", "memory");
}

}  // namespace

std::uint64_t machine_speed() {
  alignas(64) std::array<double, means + 3> values{};
  alignas(64) std::array<double, means> smoothed{};
  values.fill(1);
  const double quarter = 0.25;
  std::uint64_t best_ns = ~std::uint64_t{0};
  for (int pass = 0; pass < passes; ++pass) {
    const std::uint64_t begun = processor_ns();
    for (int i = 0; i < sweeps; ++i) sweep(values.data(), smoothed.data(), quarter);
    best_ns = std::min(best_ns, std::max<std::uint64_t>(processor_ns() - begun, 1));
  }
  constexpr std::uint64_t operations = operations_of_mean * means * sweeps;
  return operations * 1'000'000'000 / best_ns;
}

}  // namespace sdsm::trace_command
