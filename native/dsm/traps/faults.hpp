#pragma once

#include "native/dsm/wire/threads.hpp"
#include "native/guest/runtime/program_image.hpp"

namespace sdsm::dsm {

/// Protects the shared memory except the process's own part (opened_pages.hpp), and begins to take faults.
void start_faults(const program::AddressRange& stack, const program::AddressRange& variables) REQUIRES(starting);

}  // namespace sdsm::dsm
