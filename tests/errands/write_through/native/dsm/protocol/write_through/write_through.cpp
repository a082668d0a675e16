#include <array>
#include <set>

#include "models/diff.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/protocol/incoming_diffs.hpp"
#include "native/dsm/protocol/page_replies.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/dsm/wire/diff.hpp"

namespace sdsm::dsm {
namespace {

constexpr Bytes head_bytes{16};
constexpr std::size_t ask_message = 0, page_message = 1, words_message = 2, come = 3, go = 4;

std::set<PageId> copies GUARDED_BY(application);
DiffBuffer encoded GUARDED_BY(application);

std::uint64_t payload(std::uint64_t data) {
  return static_cast<std::uint64_t>(head_bytes.count) + data;
}

constexpr ModelOfMessages model{[](WireKind kind) -> std::optional<std::size_t> {
                                  switch (kind) {
                                    case WireKind::page_request: return ask_message;
                                    case WireKind::page_reply: return page_message;
                                    case WireKind::diff: return words_message;
                                    case WireKind::barrier_arrive: return come;
                                    case WireKind::barrier_release: return go;
                                    default: return std::nullopt;
                                  }
                                },
                                [](const Head& head) { return head_bytes + Bytes{head.bytes}; }};

class WriteThrough final : public Protocol {
 public:
  const ModelOfMessages& messages() const override { return model; }
  void start() REQUIRES(starting) override {}

  std::optional<std::size_t> take_fault(const Place& place, Access, const At&) REQUIRES(application)
      EXCLUDES(node().mutex) override {
    const bool is_missed = place.owner != Owner::home && copies.insert(place.id).second;
    if (is_missed) {
      ask_for_pages({{place}}, 0);
      make_twin(place);
      ++asked.faults[0];
    }
    const NodeGuard guard;
    if (is_missed) node().twinned.push_back(place);
    open_page(place, Permission::read_write);
    return is_missed ? std::optional<std::size_t>(0) : std::nullopt;
  }
  void count_page_request(ProcessId home, std::uint64_t) REQUIRES(application) override {
    count_message_of_kind(home, ask_message, payload(0));
  }

  void flush(Sync) REQUIRES(application) EXCLUDES(node().mutex) override {
    if (!are_pages_protected()) return;
    const NodeGuard guard;
    for (const Place& place : node().twinned) flush_page(place);
  }
  void flush_pages(const AddressRange& pages) REQUIRES(application, node().mutex) override {
    for (const Place& place : node().twinned) {
      if (pages.holds(place.address)) flush_page(place);
    }
  }
  void begin_interval(Sync sync) REQUIRES(application) EXCLUDES(node().mutex) override {
    if (!are_pages_protected()) return;
    if (sync == Sync::acquire) flush(sync);  // handlers may have stored while the thread waited
    const NodeGuard guard;
    node().twinned.clear();
    copies.clear();
    shut_copies();
  }

  Head ask_at(const SyncPoint& point, Head question, const void* more, Wait wait, std::uint64_t until_ns)
      REQUIRES(application) override {
    return ask(point.manager, question, more, nullptr, wait, until_ns);
  }
  void take_grant(const SyncPoint&, const Head&) REQUIRES(application) override {}
  Head hand_on(const SyncPoint& point, Head message, bool is_answered) REQUIRES(application) override {
    if (is_answered) return ask(point.manager, message);
    tell(point.manager, message);
    return {};
  }
  Release arrive(Head arrival, bool, Wait wait) REQUIRES(application) override {
    return {ask(barrier_master, arrival, nullptr, nullptr, wait)};
  }
  void count_arrival(ProcessId master) REQUIRES(application) override {
    count_message_of_kind(master, come, payload(0));
  }

  void gather_notices(ProcessId, const Head&, const std::byte*) REQUIRES(handling) override {}
  void tell_more_notices(ProcessId, const Head&) REQUIRES(handling) override {}
  bool sees_all_stores() const REQUIRES(application) override { return false; }
  bool serve(ProcessId from, const Head& head, const std::byte* data) REQUIRES(handling) override {
    if (head.kind == WireKind::page_request) {
      send_pages(from, head, data, 0, [](std::uint64_t) { return false; });
      return true;
    }
    if (head.kind != WireKind::diff) return false;
    if (const Incoming* const diff = take_piece(from, head, data)) store(from, *diff);
    answer(from, {.kind = WireKind::done});
    return true;
  }
  void count_page_reply(ProcessId to, std::uint32_t bytes) REQUIRES(handling) override {
    count_served_of_kind(to, page_message, payload(bytes));
  }
  void grant(ProcessId to, const Head& head) REQUIRES(handling) override { answer(to, head); }
  bool are_changes_home() REQUIRES(handling) override { return true; }
  void release_team(std::uint32_t size, Head release) REQUIRES(handling) override {
    for (std::uint32_t i = size; i-- > 0;) {
      count_served_of_kind(ProcessId{i}, go, payload(0));
      answer(ProcessId{i}, release);
    }
  }

 private:
  void take_plain_wait() REQUIRES(application) override {
    program::end_run({"the program waits by plain loads, which write-through does not hear of"});
  }
  /// Afterwards the twin is as the page is.
  static void flush_page(const Place& place) REQUIRES(application, node().mutex) {
    const EncodedDiff diff =
        encode_diff(place.address, view_of(place.address), twin_of(place.address), encoded, place.parts);
    if (!diff.change) return;
    send_diff(place, encoded.diff, encoded.twin_words, diff);
    const auto bytes = static_cast<std::uint64_t>(diff_bytes(diff.change).count);
    count_message_of_kind(place.home, words_message, payload(bytes));
    ++asked.diffs;
    asked.diff_bytes += bytes;
  }
};
constinit WriteThrough write_through;

}  // namespace

Protocol* write_through_protocol() {
  return &write_through;
}

}  // namespace sdsm::dsm
