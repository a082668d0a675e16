/// This process's messages with its launcher (control.hpp). Without a launcher the program runs alone, as one process.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "native/dsm/control.hpp"
#include "native/dsm/identity.hpp"

namespace sdsm::dsm {

/// Connects to the launcher that the environment names, and learns who this process is. Empty if there is none.
std::optional<Welcome> meet_launcher() REQUIRES(starting);

/// The payload of the launcher's next frame; ends the process if there is none, and the run if it is of another kind.
std::string receive_from_launcher(FrameKind wanted);
void send_to_launcher(FrameKind kind, const void* payload = nullptr, std::size_t bytes = 0);

/// Ends the process, and nothing else.
[[noreturn]] void leave(int status);

}  // namespace sdsm::dsm
