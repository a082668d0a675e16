/// When what this process changed goes home, and when copies die.
#include <algorithm>
#include <vector>

#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/memory/single_writer_mode.hpp"
#include "native/dsm/protocol/scash/copies.hpp"
#include "native/dsm/protocol/single_writer/copies.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/protocol/single_writer/page_turns.hpp"
#include "native/dsm/protocol/single_writer/rights_requests.hpp"
#include "native/dsm/protocol/single_writer/stack_news.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/timing/timeline_log.hpp"

namespace sdsm::dsm {
namespace {

/// Local peers may not change the pages of which this process's acquire is about to drop the node's copies. Their
/// service threads shut them, while their application threads cannot: this process holds the node.
void shut_local_peers() REQUIRES(application) {
  const std::uint32_t first = index_of(own_node()) * self.layout.threads_per_node;
  for (std::uint32_t i = first; i < first + self.layout.threads_per_node; ++i) {
    if (ProcessId{i} != self.process) ask(ProcessId{i}, {.kind = WireKind::shut_copies});
  }
}

void flush_held(Sync sync, bool are_local_peers_shut = false) REQUIRES(application, node().mutex) {
  const bool is_open_stack = !are_local_peers_shut && !node().copies.of_stacks.empty();
  send_changes(sync, stops_the_world(single_writer_mode_here(), is_open_stack, false));
}

/// The copies that a synchronisation between barriers concerns.
Concerned concerned_copies() REQUIRES(application, node().mutex) {
  return node().copies.concerned(common_single_writer_mode());
}

void log_flush(Sync sync, const Grant* granted) REQUIRES(application, node().mutex) {
  using Kind = PageEvent::Kind;
  if (granted != nullptr) {
    log_in_turn({.value = granted->number, .object = index_of(granted->lock), .kind = Kind::take});
  } else {
    log_in_turn({.kind = sync == Sync::release ? Kind::give : Kind::ask});
  }
}

/// All of the node's threads that are in the team are here, and one speaks for them.
void drop_at_barrier() REQUIRES(application, node().mutex) {
  if (end_interval_of_node(is_in_single_writer_mode())) {
    note_stack_drop();
    node().copies.barrier(self.invalidation == Invalidation::changed);
    node().twinned.clear();
  }
  met.barrier();
  node().pages.take_dirty_home_pages(self.process);
  shut_dropped_copies();
  rest_own_pages();
  const Held nothing_is_handled(handling);
  forget_rights();
}

void drop_between_barriers(Sync sync) REQUIRES(application, node().mutex) {
  if (sync == Sync::acquire) log_in_turn({.kind = PageEvent::Kind::drop});
  if (concerned_copies() == Concerned::all_copies) {
    drop_copies();
  } else {
    drop_stack_copies();
  }
}

}  // namespace

void drop_copies() {
  await_late_diffs();
  if (self.layout.threads_per_node > 1) shut_local_peers();
  flush_held(Sync::acquire, true);
  drop_all_copies();
  shut_copies();
}

void drop_stack_copies(std::span<const std::uintptr_t> kept) {
  await_late_diffs();
  // What stays may have left its home before the latest news came.
  if (kept.empty()) note_stack_drop();
  auto& of_stacks = node().copies.of_stacks;
  const auto stays = [&](const Place& place) {
    return std::find(kept.begin(), kept.end(), place.address) != kept.end();
  };
  if (std::all_of(of_stacks.begin(), of_stacks.end(), stays)) return;
  if (self.layout.threads_per_node > 1) shut_local_peers();
  flush_held(Sync::acquire, true);
  std::erase_if(of_stacks, [&](const Place& place) REQUIRES(node().mutex) {
    if (stays(place)) return false;
    downgrade_copy(place.id, false);
    return true;
  });
  shut_copies();
}

void flush(Sync sync, const Grant* granted) {
  if (!are_pages_protected()) return;
  const Begun begun = begin();
  end_turn();
  if (self.layout.threads_per_node > 1 && sends_while_others_go_on(sync, common_single_writer_mode())) {
    {
      const NodeGuard guard;
      await_late_diffs();
      find_changes(sync);
    }
    send_found_changes();
  } else {
    const NodeGuard guard;
    await_late_diffs();
    // At a barrier a local peer may have stored a change, and may announce it to others by a plain store: it must not
    // find its change sent by this thread, and yet not at home.
    const bool is_barrier = sync == Sync::barrier || (sync == Sync::gang && !are_all_in_single_writer_mode());
    if (!is_barrier) log_flush(sync, granted);
    if (is_barrier) {
      flush_held(sync);
    } else if (concerned_copies() != Concerned::none) {
      flush_held(flushed_as(sync, single_writer_mode_here()));
    }
  }
  spend(Spent::diff, begun);
}

void drop(Sync sync) {
  if (!are_pages_protected()) return;
  const Begun begun = begin();
  const NodeGuard guard;
  const SyncRule rule = rule_of(sync);
  if (rule.rest_home_pages) {
    drop_at_barrier();
  } else if (rule.drop_copies) {
    drop_between_barriers(sync);
  }
  spend(Spent::protect, begun);
}

void send_stacks_home() {
  if (!is_in_single_writer_mode()) return;
  const NodeGuard guard;
  await_late_diffs();
  if (!node().copies.of_stacks.empty()) flush_held(Sync::release);
}

bool refetch_stacks() {
  const NodeGuard guard;
  const bool has_copies = !node().copies.of_stacks.empty();
  drop_stack_copies();
  return has_copies;
}

void join_single_writer_mode(SingleWriterMode wanted) {
  const NodeGuard guard;
  const SingleWriterMode before = single_writer_mode;
  single_writer_mode = std::max(before, wanted);
  if (before != SingleWriterMode::off) return;
  {
    const Held nothing_is_handled(handling);
    shut_for_single_writer_mode();
  }
  if (++node().in_single_writer_mode == self.layout.threads_per_node) {
    flush_held(Sync::acquire);
    drop_all_copies();
  }
  pthread_cond_broadcast(&node().arrival);
}

}  // namespace sdsm::dsm
