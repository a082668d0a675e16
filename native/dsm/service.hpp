/// The service thread: answers others.
#pragma once

#include <vector>

#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

/// Serves until the process ends. `sockets`: those on which others ask, by process.
[[noreturn]] void serve(std::vector<int> sockets) REQUIRES(service);

/// It tries again what was put off. Any other thread.
void wake_service();

}  // namespace sdsm::dsm
