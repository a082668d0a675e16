/// How long campaigns of random cases are: SDSM_LONG=1 in the environment makes them fifty times as long, SDSM_SEED=N
/// runs others. With the address sanitizer a case takes five to ten times as long, and CI runs all cases without it
/// too: then a fourth of them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace sdsm::test {

inline std::uint64_t rounds(std::uint64_t usual) {
  const char* is_long = std::getenv("SDSM_LONG");
  if (is_long != nullptr && std::string_view(is_long) == "1") return 50 * usual;
#ifdef __SANITIZE_ADDRESS__
  return (usual + 3) / 4;
#else
  return usual;
#endif
}

/// Of a campaign that takes `usual` where the environment names none.
inline std::uint64_t seed(std::uint64_t usual) {
  const char* given = std::getenv("SDSM_SEED");
  return usual + (given == nullptr ? 0 : 1000 * std::strtoull(given, nullptr, 10));
}

}  // namespace sdsm::test
