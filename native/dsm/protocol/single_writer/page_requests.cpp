#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "models/scash/messages.hpp"
#include "models/single_writer/page_sharing.hpp"
#include "native/dsm/memory/larger_pages.hpp"
#include "native/dsm/memory/memory.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/memory/torn_words.hpp"
#include "native/dsm/protocol/incoming_diffs.hpp"
#include "native/dsm/protocol/page_replies.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/protocol/single_writer/page_requests.hpp"
#include "native/dsm/protocol/single_writer/rights_requests.hpp"
#include "native/dsm/protocol/single_writer/stack_news.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/dsm/wire/diff.hpp"
#include "native/guest/code/atomic_operation.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

void apply(ProcessId from, WireKind kind, const Incoming& diff) REQUIRES(handling) {
  store(from, diff, nullptr);
  if (kind == WireKind::diff) return answer(from, {.kind = WireKind::done});
  notify(from, {.kind = WireKind::late_done});
}

/// For other processes.
std::uint64_t operations GUARDED_BY(handling) = 0;

void operate_now(ProcessId from, std::uint64_t page, void* memory, const program::AtomicOperation& operation)
    REQUIRES(handling) {
  const auto outcome = program::operate(operation, memory);
  count_served(from, MessageKind::atomic_reply, atomic_payload.count);
  const Head head{.kind = WireKind::done, .bytes = sizeof outcome, .address = ++operations};
  if (!tells_behind_stacks(self.atomics, is_own_memory(page))) return answer(from, head, &outcome);
  answer_behind_stacks(from, [head, outcome] {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&outcome);
    return LateAnswer{head, {bytes, bytes + sizeof outcome}};
  });
}

/// Whether the page in `slot`, of the same region as `page`, was changed. Lists keep pages by their first parts; a page
/// whose parts are unknown here counts as changed.
bool is_other_page_changed(std::uint64_t page, std::uint64_t slot) REQUIRES(handling) {
  const Range& range = *find_range(page);
  const WholePage other = page_at(range, slot, region_number(range, page));
  return other.parts == 0 || is_changed_by_others(other.address);
}

}  // namespace

void send_page(ProcessId from, const Head& head, bool is_changed, const std::vector<HeldCopy>& held) {
  static std::byte* const room = reserve_array<std::byte>(shared_page_bytes());
  const auto bytes = static_cast<std::uint32_t>(shared_page_bytes());
  the_protocol().count_page_reply(from, bytes);
  const Head reply{.kind = WireKind::page_reply, .bytes = bytes, .address = operations, .value = is_changed ? 1U : 0U};
  if (!serves_behind_stacks(single_writer_mode_here(), is_own_memory(head.address)))
    return answer(from, reply, content_of(from, head.address, room));
  answer_behind_stacks(from, [from, reply, held, page = head.address]() REQUIRES(handling) {
    LateAnswer late{reply, std::vector<std::byte>(reply.bytes)};
    late.head.address = operations;
    const auto nobody_stores = stop_the_world_at(page, false);
    std::memcpy(late.content.data(), content_of(from, page, room), late.content.size());
    // It may show an operation that has been done since it was asked for.
    if (is_changed_by_others(page)) late.head.value |= 1;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (HeldCopy::hash_of(asked_view_of(from, held[i].address)) == held[i].hash)
        late.head.value |= std::uint64_t{2} << i;
    }
    return late;
  });
}

void serve_pages(ProcessId from, const Head& head, const std::byte* names) {
  if (head.bytes == 0) return send_page(from, head, is_changed_by_others(head.address));
  send_pages(from, head, names, operations, [&](std::uint64_t page) REQUIRES(handling) {
    return page == head.address ? is_changed_by_others(page) : is_other_page_changed(head.address, page);
  });
}

void receive_diff(ProcessId from, const Head& head, const std::byte* payload) {
  const Incoming* const whole = take_piece(from, head, payload);
  if (whole == nullptr) {
    if (head.kind == WireKind::diff) answer(from, {.kind = WireKind::done});
    return;
  }
  const Incoming& diff = *whole;
  const std::uint64_t page = address_of_diff(diff.diff.data());
  note_changed(page);
  if (is_own_memory(page)) {
    return change_own_memory([from, kind = head.kind, kept = diff]() REQUIRES(handling) { apply(from, kind, kept); });
  }
  if (may_change_now(from, page)) return apply(from, head.kind, diff);
  change_alone(page, [from, kind = head.kind, kept = diff]() REQUIRES(handling) { apply(from, kind, kept); });
}

void operate_for(ProcessId from, const Head& head, const std::byte* payload) {
  OperationAt asked_for;
  if (head.bytes == sizeof asked_for) std::memcpy(&asked_for, payload, sizeof asked_for);
  const program::AtomicOperation& operation = asked_for.operation;
  const bool is_known = operation.kind <= program::AtomicKind::compare_exchange_pair &&
                        std::has_single_bit(operation.bytes) && operation.bytes <= sizeof operation.operand;
  if (!is_known) end_run({"process ", Decimal(index_of(from)), " asks for an atomic operation that does not exist"});
  const std::uint64_t page = head.address;
  void* const memory = asked_view_of(from, page + asked_for.offset, operation.bytes);
  const auto operate = [=]() REQUIRES(handling) { operate_now(from, page, memory, asked_for.operation); };
  operate_when_taken(from, page, head.value != 0, operate);
}

}  // namespace sdsm::dsm
