/// Times in nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace sdsm::program {

inline constexpr std::uint64_t second_ns = 1'000'000'000;

constexpr std::uint64_t ns_of(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * second_ns + static_cast<std::uint64_t>(time.tv_nsec);
}
constexpr timespec timespec_of(std::uint64_t ns) {
  return {static_cast<time_t>(ns / second_ns), static_cast<long>(ns % second_ns)};
}

inline std::uint64_t read_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return ns_of(now);
}

}  // namespace sdsm::program
