/// A home's answers to requests for its pages, under any protocol.
#pragma once

#include <cstring>

#include "models/prefetch.hpp"
#include "native/dsm/memory/larger_pages.hpp"
#include "native/dsm/protocol/incoming_diffs.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/requests/answering.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {

/// Content of a page in a page_reply.
inline const std::byte* content_of(ProcessId from, std::uint64_t address, std::byte* room) REQUIRES(handling) {
  asked_view_of(from, address);
  return slot_content(address, room);
}

/// Sends the page that is asked for, and those that `names` asks for beside it. `is_changed` says of each page whether
/// the asker has to notice its touch; `operations`: what this home has done so far.
template <typename IsChanged>
void send_pages(ProcessId from, const Head& head, const std::byte* names, std::uint64_t operations,
                IsChanged is_changed) REQUIRES(handling) {
  const std::size_t further = head.bytes / sizeof(std::uint32_t);
  if (further > most_prefetch)
    program::end_run({"process ", program::Decimal(index_of(from)), " asks for too many pages at once"});
  const std::size_t each = shared_page_bytes();
  static std::byte* const pages = reserve_array<std::byte>((2 + most_prefetch) * each);
  std::byte* const room = pages + (1 + most_prefetch) * each;
  Head reply{
      .kind = WireKind::page_reply, .bytes = static_cast<std::uint32_t>((1 + further) * each), .address = operations};
  for (std::size_t i = 0; i <= further; ++i) {
    std::uint32_t behind = 0;
    if (i > 0) std::memcpy(&behind, names + (i - 1) * sizeof behind, sizeof behind);
    const std::uint64_t page = i == 0 ? head.address : slot_of(head.address) + std::uint64_t{behind} * each;
    {
      const auto nobody_stores = stop_the_world_at(page, false);
      std::memcpy(pages + i * each, content_of(from, page, room), each);
    }
    if (is_changed(page)) reply.value |= std::uint64_t{1} << i;
  }
  the_protocol().count_page_reply(from, reply.bytes);
  answer(from, reply, pages);
}

}  // namespace sdsm::dsm
