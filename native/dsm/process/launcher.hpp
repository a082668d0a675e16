/// This process's messages with its launcher (control.hpp). Without a launcher the program runs alone, as one process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "native/dsm/wire/control.hpp"
#include "native/dsm/wire/identity.hpp"

namespace sdsm::dsm {

/// Connects to the launcher that the environment names, and learns who this process is. Empty if there is none.
std::optional<Welcome> meet_launcher() REQUIRES(starting);

/// The payload of the launcher's next frame; ends the process if there is none, and the run if it is of another kind.
std::string receive_from_launcher(FrameKind wanted);
void send_to_launcher(FrameKind kind, const void* payload = nullptr, std::size_t bytes = 0);

/// Logs are sent when they have so many records.
inline constexpr std::size_t long_log = 8192;
template <typename Record>
void send_records(FrameKind kind, const std::vector<Record>& records) {
  constexpr std::size_t most = most_frame_bytes / sizeof(Record);
  for (std::size_t sent = 0; sent < records.size();) {
    const std::size_t count = std::min(most, records.size() - sent);
    send_to_launcher(kind, records.data() + sent, count * sizeof(Record));
    sent += count;
  }
}

/// Ends the process, and nothing else.
[[noreturn]] void leave(int status);

}  // namespace sdsm::dsm
