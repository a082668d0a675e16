#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "models/messages.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/diff.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/offices.hpp"
#include "native/program/ending.hpp"

namespace sdsm::dsm {
namespace {

/// Pieces of a diff come one after another on one connection.
struct Incoming {
  std::uint32_t bytes = 0;
  std::uint32_t twin_bytes = 0;
  std::byte diff[most_diff_bytes];
  std::byte twin_words[most_twin_bytes];
};
constinit std::vector<Incoming> incoming GUARDED_BY(handling);  ///< by process

std::byte* view_of_page(ProcessId from, std::uint64_t address) {
  const Range* range = find_range(address);
  if (range == nullptr || address % page_bytes != 0) {
    end_run({"process ", Decimal(index_of(from)), " asks for a page that does not exist"});
  }
  return range->view_of(address);
}

}  // namespace

void send_page(ProcessId from, const Head& head) {
  count_served(from, static_cast<std::uint64_t>(page_payload.count));
  answer(from, {.kind = WireKind::page_reply, .bytes = page_bytes}, view_of_page(from, head.address));
}

void receive_page(ProcessId from, const Head& head, const std::byte* page) {
  std::memcpy(view_of_page(from, head.address), page, page_bytes);
  answer(from, {.kind = WireKind::done});
}

void receive_diff(ProcessId from, const Head& head, const std::byte* payload) {
  if (incoming.size() < processes()) incoming.resize(processes());
  Incoming& diff = incoming[index_of(from)];
  if (head.address == 0) diff.bytes = diff.twin_bytes = 0;
  const auto sizes = std::bit_cast<DiffPiece>(head.value);
  const std::uint32_t twin_piece = head.bytes - std::min(head.bytes, sizes.bytes);
  if (head.address != diff.bytes || sizes.bytes > head.bytes || sizes.diff_bytes > most_diff_bytes ||
      sizes.twin_bytes > most_twin_bytes || diff.bytes + sizes.bytes > sizes.diff_bytes ||
      diff.twin_bytes + twin_piece > sizes.twin_bytes) {
    end_run({"process ", Decimal(index_of(from)), " sent a diff whose pieces do not fit"});
  }
  std::memcpy(diff.diff + diff.bytes, payload, sizes.bytes);
  std::memcpy(diff.twin_words + diff.twin_bytes, payload + sizes.bytes, twin_piece);
  diff.bytes += sizes.bytes;
  diff.twin_bytes += twin_piece;
  if (diff.bytes == sizes.diff_bytes && !apply_diff(diff.diff, diff.bytes, diff.twin_words, diff.twin_bytes,
                                                    view_of_page(from, address_of_diff(diff.diff)))) {
    end_run({"process ", Decimal(index_of(from)), " sent a diff that contradicts itself"});
  }
  answer(from, {.kind = WireKind::done});
}

}  // namespace sdsm::dsm
