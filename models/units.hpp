/// Time and size units. Time is an integer number of picoseconds: sums are exact in any order, and a result such as
/// "uncontended cost equals the measured one" can be tested to the digit. 63 bits reach 106 days of simulated time.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace sdsm {

using Time = std::chrono::duration<std::int64_t, std::pico>;

using namespace std::chrono_literals;

/// Nearest picosecond, for inputs and outputs only (SimGrid's clock, JSON, XML). Precondition: |seconds| < 9e6.
Time from_seconds(double seconds);

constexpr double to_seconds(Time time) {
  return static_cast<double>(time.count()) * 1e-12;
}

/// A number of bytes. A separate type, so that a page count or a word count cannot be passed for it.
struct Bytes {
  std::int64_t count = 0;

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  friend constexpr Bytes operator*(std::int64_t n, Bytes a) { return {n * a.count}; }
};

/// No bandwidth may be larger: beyond it a megabyte takes less than a picosecond, the unit of time.
inline constexpr double most_bytes_per_second = 1e18;

/// Bytes per second of a link or a copy.
struct Bandwidth {
  double bytes_per_second = 0;

  /// Time that `bytes` take, to the nearest picosecond.
  Time time_of(Bytes bytes) const;
};

/// These read quantities as people write them. Each throws std::invalid_argument whose text says what was read and
/// what is expected. A unit is always required, so that "8" is never taken for seconds by accident.
Time parse_time(std::string_view text);            ///< "8us", "587 us", "7.5s", "0.2ms", "61.66us", "140ns", "5ps"
Bytes parse_bytes(std::string_view text);          ///< "64B", "4KiB", "512KiB", "1kB"
Bandwidth parse_bandwidth(std::string_view text);  ///< "100Mbps", "1Gbps" (bits), "12.5MBps" (bytes), as in SimGrid
Time parse_time_per_byte(std::string_view text);   ///< "0.181919us/B": rounded to a picosecond, so 181919 ps

/// parse_time() in seconds, not rounded: for standard errors, which may be below a picosecond.
double parse_seconds(std::string_view text);
double parse_seconds_per_byte(std::string_view text);
double parse_bytes_per_second(std::string_view text);  ///< 0 is allowed: it may be an error

/// A count or a seed from `least` to `most`, in plain digits: no sign, and no leading zero, which some readers take for
/// octal. Throws as above.
std::uint64_t parse_whole_number(std::string_view text, std::uint64_t least = 0,
                                 std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// "587.000 us", "4.190 s": a time for people, in the unit that gives it one to three digits before the point.
std::string format_time(Time time);

}  // namespace sdsm
