/// Admits connections that begin with the run's secret. It closes others (port scanners, silent ones, senders of
/// nonsense), which keep nobody waiting. The launcher and each process use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "native/dsm/wire/control.hpp"

namespace sdsm::dsm {

/// The first bytes on a connection.
struct Hello {
  std::uint8_t secret[secret_bytes] = {};
  std::uint32_t process = 0;  ///< to the launcher: agent_number for the host's agent itself
  std::uint32_t host = 0;     ///< to the launcher: number of the host in its list
  std::uint64_t fingerprint = 0;
};
inline constexpr std::uint32_t agent_number = ~std::uint32_t{0};

class Admission {
 public:
  /// Takes over the listening socket and makes it non-blocking.
  Admission(int listener, const std::uint8_t* secret);
  ~Admission() { close_all(); }
  Admission& operator=(Admission&&) = delete;

  struct Arrival {
    int socket = -1;  ///< blocks
    Hello hello;
  };
  /// The next connection with the secret. Empty if none has come in `milliseconds`, or if the system refuses
  /// connections: see error().
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
  Verdict read_name(Visitor& visitor) const;
  bool knows_secret(const Hello& hello) const;

  int listener_;
  const std::uint8_t* secret_;
  std::vector<Visitor> visitors_;  ///< the oldest first
  int error_ = 0;
};

}  // namespace sdsm::dsm
