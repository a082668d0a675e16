/// Process 0 keeps the books of regions, first touches, heap, names of locks and states of work-sharing constructs.
#pragma once

#include "native/dsm/requests/answering.hpp"

namespace sdsm::dsm {

/// Process 0: where the page was placed. Precondition: a page that is placed by first touch was touched.
ProcessId placed_home(PageId page) REQUIRES(handling);

void keep_books(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

}  // namespace sdsm::dsm
