/// The service thread: answers others.
#pragma once

#include <vector>

#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

/// Until the process ends. `sockets`: by process; others ask on them.
[[noreturn]] void serve(std::vector<int> sockets) REQUIRES(service);

}  // namespace sdsm::dsm
