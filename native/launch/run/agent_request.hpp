/// The launcher's request to a host's agent. It goes through the agent's standard input: the request holds the run's
/// secret, and everybody on a host sees command lines.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "native/dsm/wire/control.hpp"

namespace sdsm::run_command {

/// A file that has to be the same on all hosts.
struct SameFile {
  std::string path;
  std::string sha256;
  bool is_program = false;  ///< has to be executable
};

struct AgentRequest {
  std::array<std::uint8_t, dsm::secret_bytes> secret{};
  std::uint32_t host = 0;
  std::string name;  ///< of the host, for messages
  std::uint32_t threads_per_node = 1;
  std::vector<std::uint32_t> nodes;  ///< that this host makes
  std::string launcher;              ///< where to connect: "tcp:ADDRESS:PORT"
  std::string own_address;           ///< to connect from; "": any
  std::uint32_t patience_ms = 0;     ///< until the launcher counts as out of reach
  std::string folder;                ///< to work in
  std::vector<SameFile> files;
  std::string program;  ///< one of the files
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  ///< "NAME=VALUE", all of it
};

/// The request as text. Its first line has the format and the number of bytes that follow.
std::string text_of(const AgentRequest& request);

/// Reads a request and nothing behind it. Throws RunError if there is none, or one of another version of sdsm.
AgentRequest read_request(int input);

}  // namespace sdsm::run_command
