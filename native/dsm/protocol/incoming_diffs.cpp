#include "native/dsm/protocol/incoming_diffs.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "native/dsm/memory/larger_pages.hpp"
#include "native/dsm/memory/memory.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/single_writer_mode.hpp"
#include "native/dsm/memory/torn_words.hpp"
#include "native/dsm/wire/diff.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

/// Incoming diffs by process, then late ones by process.
constinit std::vector<Incoming> incoming GUARDED_BY(handling);

/// Bytes from a page's address to the end of its slot, as far as the node has memory there.
std::size_t bytes_behind(std::uint64_t address) {
  return std::min(slot_of(address) + shared_page_bytes(), find_range(address)->end) - address;
}

/// Returns false if the diff contradicts itself.
bool store_in(const Incoming& diff, std::uint64_t address, std::byte* memory, std::optional<std::size_t>* torn) {
  return apply_diff(diff.diff.data(), diff.bytes, diff.twin_words.data(), diff.twin_bytes, memory, torn,
                    bytes_behind(address) / diff_word.count);
}

}  // namespace

Incoming& incoming_of(ProcessId from, const Head& head) {
  if (incoming.empty()) incoming.resize(std::size_t{2} * processes());
  return incoming[index_of(from) + (head.kind == WireKind::late_diff ? processes() : 0)];
}

std::byte* asked_view_of(ProcessId from, std::uint64_t address, std::size_t bytes) {
  const Range* range = find_range(address);
  if (range == nullptr || slot_of(address + bytes - 1) != slot_of(address) || bytes > range->end - address) {
    end_run({"process ", Decimal(index_of(from)), " asks for a page that does not exist"});
  }
  return range->view_of(address);
}

std::optional<StopTheWorld> stop_the_world_at(std::uint64_t address, bool is_at_once) {
  if (stops_the_world(single_writer_mode_here(), is_own_memory(address), is_at_once))
    return std::optional<StopTheWorld>(std::in_place);
  return std::nullopt;
}

void store(ProcessId from, const Incoming& diff, const TwinsAtHome* twins) {
  const std::uint64_t address = address_of_diff(diff.diff.data());
  std::byte* const page = asked_view_of(from, address);
  std::optional<std::size_t> torn;
  bool is_right = false;
  {
    const auto stopped = stop_the_world_at(address, changes_at_once(diff.diff.data(), diff.bytes));
    std::optional<Held> nobody_compares;
    if (twins != nullptr) nobody_compares.emplace(twins->mutex);
    is_right = store_in(diff, address, page, &torn);
    std::byte* const twin = twins != nullptr ? twins->twin_of(address) : nullptr;
    if (twin != nullptr) is_right = is_right && store_in(diff, address, twin, nullptr);
  }
  if (!is_right) end_run({"process ", Decimal(index_of(from)), " sent a diff that contradicts itself"});
  if (torn) report_torn_word(address + *torn);
}

void take_part(ProcessId from, Incoming& diff, const PartOfDiff& sizes, const std::byte* pieces, std::size_t left) {
  if (std::size_t{sizes.bytes} + sizes.twin_piece > left || sizes.diff_bytes > most_diff_bytes(shared_page_bytes()) ||
      sizes.twin_bytes > shared_page_bytes() || sizes.bytes > sizes.diff_bytes - diff.bytes ||
      sizes.twin_piece > sizes.twin_bytes - diff.twin_bytes) {
    end_run({"process ", Decimal(index_of(from)), " sent a diff whose pieces do not fit"});
  }
  if (diff.diff.size() < sizes.diff_bytes) diff.diff.resize(sizes.diff_bytes);
  if (diff.twin_words.size() < sizes.twin_bytes) diff.twin_words.resize(sizes.twin_bytes);
  std::memcpy(diff.diff.data() + diff.bytes, pieces, sizes.bytes);
  std::memcpy(diff.twin_words.data() + diff.twin_bytes, pieces + sizes.bytes, sizes.twin_piece);
  diff.bytes += sizes.bytes;
  diff.twin_bytes += sizes.twin_piece;
}

const Incoming* take_piece(ProcessId from, const Head& head, const std::byte* payload) {
  Incoming& diff = incoming_of(from, head);
  const auto before = static_cast<std::uint32_t>(head.address);
  if (before == 0) diff.bytes = diff.twin_bytes = 0;
  const auto sizes = std::bit_cast<DiffPiece>(head.value);
  if (before != diff.bytes || sizes.bytes > head.bytes || sizes.diff_bytes < diff.bytes ||
      sizes.twin_bytes < diff.twin_bytes) {
    end_run({"process ", Decimal(index_of(from)), " sent a diff whose pieces do not fit"});
  }
  take_part(from, diff, {sizes.diff_bytes, sizes.twin_bytes, sizes.bytes, head.bytes - sizes.bytes}, payload,
            head.bytes);
  return diff.bytes < sizes.diff_bytes ? nullptr : &diff;
}

}  // namespace sdsm::dsm
