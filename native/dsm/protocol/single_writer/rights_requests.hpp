/// The home of a page in single-writer mode: who may use the page (models/single_writer/page_sharing.hpp).
#pragma once

#include <cstdint>
#include <functional>

#include "native/dsm/requests/answering.hpp"

namespace sdsm::dsm {

/// Answers as soon as the process has the right that it wants.
void want_page(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);
/// Changes a page of this process as soon as no other node has it.
void change_alone(std::uint64_t page, std::function<void()> change) REQUIRES(handling);
/// Whether the process's node alone has the page.
bool may_change_now(ProcessId from, std::uint64_t page) REQUIRES(handling);
/// Does an atomic operation as soon as the nodes from which it takes the page (models/single_writer/page_sharing.hpp)
/// have lost it. `is_single_writer`: the process that asks for it is in single-writer mode.
void operate_when_taken(ProcessId by, std::uint64_t page, bool is_single_writer, std::function<void()> operate)
    REQUIRES(handling);
/// Whether this process's thread may do an atomic operation at once. If so, later touches of the page notice it.
bool may_operate_now(std::uint64_t page, bool is_single_writer) REQUIRES(handling);
/// Notes that a diff changes the page. In single-writer mode its next reader may know what else the sender stored.
void note_changed(std::uint64_t page) REQUIRES(handling);
/// Notes that this process enters single-writer mode.
void note_single_writer_mode() REQUIRES(handling);
/// Whether an atomic operation, or a node in single-writer mode, has changed the page since the last barrier.
bool is_changed_by_others(std::uint64_t page) REQUIRES(handling);
/// A process has downgraded the page. It sends the content if that was changed.
void receive_downgraded(const Head& head, const std::byte* content) REQUIRES(handling);
/// To be called at a barrier at which all nodes drop their copies.
void forget_rights() REQUIRES(handling);

}  // namespace sdsm::dsm
