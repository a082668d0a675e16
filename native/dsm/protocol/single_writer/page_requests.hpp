/// The home of a page.
#pragma once

#include <vector>

#include "native/dsm/requests/answering.hpp"

namespace sdsm::dsm {

/// `held`: copies that `from` has of this process's stack.
void send_page(ProcessId from, const Head& head, bool is_changed, const std::vector<HeldCopy>& held = {})
    REQUIRES(handling);
/// Sends the page, and those that `names` asks for beside it.
void serve_pages(ProcessId from, const Head& head, const std::byte* names) REQUIRES(handling);
void receive_diff(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);
void operate_for(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

}  // namespace sdsm::dsm
