/// Request handlers, one file (*_requests.cpp) for each thing that a process keeps for others. A handler gets one
/// request at a time, from the service thread or from this process's own application thread, and answers by answer(),
/// now or later.
#pragma once

#include <cstddef>

#include "native/dsm/requests/answering.hpp"

namespace sdsm::dsm {

/// Hands a request to its handler. `payload` has head.bytes bytes.
void handle(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

}  // namespace sdsm::dsm
