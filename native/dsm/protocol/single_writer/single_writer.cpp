/// SCASH with single-writer pages (models/single_writer/page_sharing.hpp) behind the door: what runs under the names of
/// SCASH and home_open. Until threads hand memory over by plain stores or atomic operations, it is SCASH alone.
#include <optional>
#include <utility>

#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/protocol/scash/copies.hpp"
#include "native/dsm/protocol/scash/scash.hpp"
#include "native/dsm/protocol/single_writer/copies.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/protocol/single_writer/operations.hpp"
#include "native/dsm/protocol/single_writer/page_requests.hpp"
#include "native/dsm/protocol/single_writer/page_turns.hpp"
#include "native/dsm/protocol/single_writer/rights_requests.hpp"
#include "native/dsm/protocol/single_writer/stack_news.hpp"
#include "native/dsm/wire/counting.hpp"

namespace sdsm::dsm {
namespace {

/// The local peer that asks holds the node meanwhile.
void shut_copies_for(ProcessId local_peer) REQUIRES(handling) {
  node().mutex.is_held_by_asker();
  shut_copies();
  answer(local_peer, {.kind = WireKind::done});
}

class SingleWriter final : public Scash {
 public:
  std::optional<std::size_t> take_fault(const Place& place, Access access, const At& at) REQUIRES(application)
      EXCLUDES(node().mutex) override {
    const std::optional<FaultKind> kind = find_right(place, access, at);
    return kind ? std::optional(static_cast<std::size_t>(*kind)) : std::nullopt;
  }

  void flush(Sync sync) REQUIRES(application) EXCLUDES(node().mutex) override {
    granted_.reset();
    dsm::flush(sync);
  }

  void flush_pages(const AddressRange& pages) REQUIRES(application, node().mutex) override { flush_early(pages); }

  void begin_interval(Sync sync) REQUIRES(application) EXCLUDES(node().mutex) override {
    // Handlers may have written while the thread waited for the grant.
    if (const auto granted = std::exchange(granted_, {})) dsm::flush(Sync::acquire, &*granted);
    drop(sync);
  }

  void come_to_barrier() REQUIRES(application) EXCLUDES(node().mutex) override {
    send_stacks_home();
    end_turn();
  }
  void pass_barrier_of_all() REQUIRES(application) EXCLUDES(node().mutex) override { end_single_writer_mode(); }

  bool sees_all_stores() const REQUIRES(application) override { return !is_single_writer_mode_due(); }
  bool look_for_stores() REQUIRES(application) EXCLUDES(node().mutex) override {
    const bool was_in_it = are_all_in_single_writer_mode();
    change_single_writer_mode(SingleWriterEvent::wait);
    return are_all_in_single_writer_mode() && (!was_in_it || refetch_stacks());
  }
  void show_stores() REQUIRES(application) EXCLUDES(node().mutex) override { send_stacks_home(); }
  void give_way() REQUIRES(application) EXCLUDES(node().mutex) override { dsm::give_way(); }
  program::AtomicOutcome operate(const Place& place, std::uintptr_t address, const program::AtomicOperation& operation)
      REQUIRES(application) EXCLUDES(node().mutex) override {
    return dsm::operate(place, address, operation);
  }
  void fence() REQUIRES(application) EXCLUDES(node().mutex) override { dsm::fence(); }

  bool serve(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling) override {
    switch (head.kind) {
      case WireKind::page_request:
        if (head.value == 0) {
          serve_pages(from, head, payload);
        } else {
          want_page(from, head, payload);
        }
        break;
      case WireKind::write_request:
        if (head.value != 0) want_page(from, head, payload);
        break;
      case WireKind::home_request: want_page(from, head, payload); break;
      case WireKind::diff:
      case WireKind::late_diff: receive_diff(from, head, payload); break;
      case WireKind::shut_copies: shut_copies_for(from); break;
      case WireKind::late_done: receive_late_done(); break;
      case WireKind::stack_news: receive_stack_news(from); break;
      case WireKind::stack_news_seen: receive_stack_news_seen(); break;
      case WireKind::downgrade_request: receive_downgrade_request(from, head, payload); break;
      case WireKind::downgraded: receive_downgraded(head, payload); break;
      case WireKind::single_writer_mode: receive_single_writer_mode(from, head); break;
      case WireKind::turn_ask:
      case WireKind::turn_end: serve_turns(from, head); break;
      case WireKind::atomic: operate_for(from, head, payload); break;
      default: return false;
    }
    return true;
  }
  bool try_again() REQUIRES(handling) override { return continue_downgrades(); }

 private:
  void take_plain_wait() REQUIRES(application) EXCLUDES(node().mutex) override {
    change_single_writer_mode(SingleWriterEvent::wait);
    ++asked.waits;
  }
};
constinit SingleWriter single_writer;

}  // namespace

Protocol* scash_protocol() {
  return &single_writer;
}
Protocol* home_open_protocol() {
  return &single_writer;
}

}  // namespace sdsm::dsm
