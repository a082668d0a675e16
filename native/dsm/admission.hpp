/// Who may connect: whoever says the run's secret. Strangers - port scanners, silent ones, talkers of nonsense - are
/// sent away, and meanwhile keep nobody waiting. The launcher uses it, and each process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "native/dsm/control.hpp"

namespace sdsm::dsm {

/// What who connects says first.
struct Hello {
  std::uint8_t secret[secret_bytes] = {};
  std::uint32_t process = 0;  ///< to the launcher: agent_number for the host's agent itself
  std::uint32_t host = 0;     ///< to the launcher: number of the host in its list
  std::uint64_t fingerprint = 0;
};
inline constexpr std::uint32_t agent_number = ~std::uint32_t{0};

class Admission {
 public:
  /// Takes the listening socket over, which from then on does not block.
  Admission(int listener, const std::uint8_t* secret);
  ~Admission() { close_all(); }
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  struct Arrival {
    int socket = -1;  ///< blocks
    Hello hello;
  };
  /// The next who knows the secret. Nothing if nobody has come in `milliseconds`, or if the system refuses connections,
  /// which error() tells.
  std::optional<Arrival> next(int milliseconds);
  /// errno of the last failure; 0 if there was none.
  int error() const { return error_; }
  void close_all();

 private:
  struct Visitor {
    int socket = -1;
    std::size_t have = 0;  ///< bytes of `hello`
    std::uint64_t until_ms = 0;
    Hello hello;
  };
  enum class Verdict { waits, goes, is_known };

  void take_new();
  Verdict hear(Visitor& visitor) const;
  bool knows_secret(const Hello& hello) const;

  int listener_;
  const std::uint8_t* secret_;
  std::vector<Visitor> visitors_;  ///< the oldest first
  int error_ = 0;
};

}  // namespace sdsm::dsm
