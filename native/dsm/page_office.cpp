#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "models/scash/messages.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/diff.hpp"
#include "native/dsm/flags.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/offices.hpp"
#include "native/dsm/opened_pages.hpp"
#include "native/program/atomic_operation.hpp"
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
constinit std::byte snapshot[page_bytes] GUARDED_BY(handling);

/// The `bytes` at `address`, which lie on one page.
std::byte* view_of(ProcessId from, std::uint64_t address, std::size_t bytes = page_bytes) {
  const Range* range = find_range(address);
  if (range == nullptr || address % page_bytes + bytes > page_bytes) {
    end_run({"process ", Decimal(index_of(from)), " asks for a page that does not exist"});
  }
  return range->view_of(address);
}

/// Before a home page is changed for another process. Returns the number of the change.
std::uint64_t begin_change(std::uint64_t address) REQUIRES(handling, changing) {
  const std::uint64_t number = ++node().changes;
  if (is_in_flag_mode()) shut_before_change(page_down(address));
  return number;
}

void apply(ProcessId from, const Incoming& diff) REQUIRES(handling) {
  const std::uint64_t address = address_of_diff(diff.diff);
  std::byte* const page = view_of(from, address);
  const Held nothing_else_changes(changing);
  begin_change(address);
  if (apply_diff(diff.diff, diff.bytes, diff.twin_words, diff.twin_bytes, page)) return;
  end_run({"process ", Decimal(index_of(from)), " sent a diff that contradicts itself"});
}

}  // namespace

void send_page(ProcessId from, const Head& head) {
  count_served(from, static_cast<std::uint64_t>(page_payload.count));
  const std::byte* page = view_of(from, head.address);
  if (is_in_flag_mode()) {
    // Processes of this node may change the page: what the number does not count is not sent.
    std::memcpy(snapshot, page, page_bytes);
    page = snapshot;
  }
  answer(from,
         {.kind = WireKind::page_reply,
          .bytes = page_bytes,
          .address = node().changes_before_barrier,
          .value = node().changes},
         page);
}

void receive_page(ProcessId from, const Head& head, const std::byte* page) {
  std::memcpy(view_of(from, head.address), page, page_bytes);
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
  if (diff.bytes == sizes.diff_bytes) apply(from, diff);
  answer(from, {.kind = WireKind::done});
}

void operate_for(ProcessId from, const Head& head, const std::byte* payload) {
  program::AtomicOperation operation;
  if (head.bytes == sizeof operation) std::memcpy(&operation, payload, sizeof operation);
  const bool is_known = operation.kind <= program::AtomicKind::compare_exchange_pair &&
                        std::has_single_bit(operation.bytes) && operation.bytes <= sizeof operation.operand;
  if (!is_known) end_run({"process ", Decimal(index_of(from)), " asks for an atomic operation that does not exist"});
  void* const memory = view_of(from, head.address, operation.bytes);
  const Held nothing_else_changes(changing);
  const std::uint64_t number = begin_change(head.address);
  const auto outcome = program::operate(operation, memory);
  count_served(from, MessageKind::atomic_reply, atomic_payload.count);
  answer(from, {.kind = WireKind::done, .bytes = sizeof outcome, .value = number}, &outcome);
}

}  // namespace sdsm::dsm
