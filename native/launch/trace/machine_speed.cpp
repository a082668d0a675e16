#include "native/launch/trace/machine_speed.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <limits>
#include <vector>

#include <emmintrin.h>

namespace sdsm::trace_command {
namespace {

std::uint64_t processor_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Returns the least of the passes' times. `before` prepares each.
template <typename Before, typename Pass>
double least_ns(int passes, Before before, Pass pass) {
  std::uint64_t best = ~std::uint64_t{0};
  for (int i = 0; i < passes; ++i) {
    before();
    const std::uint64_t begun = processor_ns();
    pass();
    best = std::min(best, std::max<std::uint64_t>(processor_ns() - begun, 1));
  }
  return static_cast<double>(best);
}

constexpr std::size_t means = 512;  ///< 4 KiB in, 4 KiB out

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

double operations_per_second() {
  constexpr int sweeps = 256, operations_of_mean = 4;
  alignas(64) std::array<double, means + 3> values{};
  alignas(64) std::array<double, means> smoothed{};
  values.fill(1);
  const double quarter = 0.25;
  const double ns = least_ns(
      30, [] {},
      [&] {
        for (int i = 0; i < sweeps; ++i) sweep(values.data(), smoothed.data(), quarter);
      });
  return static_cast<double>(operations_of_mean * means * sweeps) * 1e9 / ns;
}

constexpr std::size_t line_bytes = 64;

/// In each of several places, as pages of one may share lines of the cache with each other.
double cache_latency_ns() {
  constexpr std::size_t lines = (256 << 10) / line_bytes, places = 4, loads = 4 * lines;
  struct alignas(line_bytes) Line {
    const Line* next;
  };
  std::vector<Line> all(places * lines);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t place = 0; place < places; ++place) {
    Line* const own = &all[place * lines];
    // A walk in odd steps visits each line once, and no prefetcher follows this one.
    constexpr std::size_t step = 1597;
    for (std::size_t i = 0; i < lines; ++i) own[i].next = &own[(i + step) % lines];
    const Line* at = own;
    const auto walk = [&] {
      std::size_t left = loads;
      asm volatile(
          "1:\n\t"
          "mov (%[at]), %[at]\n\t"
          "sub $1, %[left]\n\t"
          "jnz 1b"
          : [at] "+r"(at), [left] "+r"(left)
          :
          : "cc", "memory");
    };
    best = std::min(best, least_ns(
                              5, [] {}, walk));
  }
  return best / static_cast<double>(loads);
}

double memory_bytes_per_second() {
  constexpr std::size_t bytes = 4 << 20;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  char* const begin = static_cast<char*>(memory);
  std::fill_n(begin, bytes, char{1});
  const double ns = least_ns(
      12,
      [&] {
        for (std::size_t at = 0; at < bytes; at += line_bytes) _mm_clflush(begin + at);
        _mm_mfence();
      },
      [&] {
        std::size_t at = 0;
        asm volatile(
            "1:\n\t"
            "addpd (%[begin],%[at]), %%xmm0\n\t"
            "addpd 16(%[begin],%[at]), %%xmm1\n\t"
            "addpd 32(%[begin],%[at]), %%xmm2\n\t"
            "addpd 48(%[begin],%[at]), %%xmm3\n\t"
            "add $64, %[at]\n\t"
            "cmp %[bytes], %[at]\n\t"
            "jb 1b"
            : [at] "+r"(at)
            : [begin] "r"(begin), [bytes] "r"(bytes)
            : "xmm0", "xmm1", "xmm2", "xmm3", "cc", "memory");
      });
  munmap(memory, bytes);
  return static_cast<double>(bytes) * 1e9 / ns;
}

}  // namespace

trace::Speed measured_speed() {
  return {.flops = static_cast<std::uint64_t>(operations_per_second()),
          .cache_latency_ps = static_cast<std::uint64_t>(std::llround(1000 * cache_latency_ns())),
          .memory_bandwidth = static_cast<std::uint64_t>(memory_bytes_per_second())};
}

}  // namespace sdsm::trace_command
