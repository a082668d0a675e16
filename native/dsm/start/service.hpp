/// The service thread, which answers other processes.
#pragma once

#include <vector>

#include "models/ids.hpp"
#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

/// Serves until the process ends. `sockets`: on which others ask, by process.
[[noreturn]] void serve(std::vector<int> sockets) REQUIRES(service);

}  // namespace sdsm::dsm
