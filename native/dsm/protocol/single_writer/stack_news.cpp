#include "native/dsm/protocol/single_writer/stack_news.hpp"

#include <atomic>
#include <deque>
#include <utility>

#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/requests/asking.hpp"

namespace sdsm::dsm {
namespace {

/// Changes of this process's own memory, in their order. The local peers have yet to shut the stacks for the first one.
struct PutOff {
  std::deque<std::function<void()>> changes;
  std::uint32_t awaited = 0;  ///< local peers
};
PutOff put_off GUARDED_BY(handling);

/// Set by the service thread, which waits for nobody: a thread that holds the node's tables may be waiting for it.
constinit std::atomic<bool> has_news = false;
/// The application thread has opened copies of stacks since the service thread last shut them.
constinit std::atomic<bool> has_open_stacks = false;

/// First the news, then the pages: a thread that opens one meanwhile checks for news afterwards.
void shut_stacks() {
  has_news = true;
  if (has_open_stacks.exchange(false)) shut_stacks_of_others();
}

void notify_local_peers() REQUIRES(handling) {
  const std::uint32_t each = self.layout.threads_per_node;
  const std::uint32_t first = index_of(own_node()) * each;
  put_off.awaited = each - 1;
  ++node().stack_news;
  for (std::uint32_t i = first; i < first + each; ++i) {
    if (ProcessId{i} != self.process) notify(ProcessId{i}, {.kind = WireKind::stack_news});
  }
}

}  // namespace

void change_own_memory(std::function<void()> change) {
  // What was put off goes first, though single-writer mode may have ended meanwhile.
  if (!is_in_single_writer_mode() && put_off.changes.empty()) return change();
  if (self.layout.threads_per_node == 1) {
    ++node().stack_news;
    shut_stacks();
    return change();
  }
  put_off.changes.push_back(std::move(change));
  if (put_off.changes.size() == 1) notify_local_peers();
}

void receive_stack_news(ProcessId from) {
  shut_stacks();
  notify(from, {.kind = WireKind::stack_news_seen});
}

void receive_stack_news_seen() {
  if (--put_off.awaited > 0) return;
  shut_stacks();
  const auto change = std::move(put_off.changes.front());
  put_off.changes.pop_front();
  change();
  if (!put_off.changes.empty()) notify_local_peers();
}

bool take_stack_news() {
  return has_news.exchange(false) && node().stack_news != node().dropped_stack_news;
}

void note_open_stack() {
  has_open_stacks = true;
  if (has_news && has_open_stacks.exchange(false)) shut_stacks_of_others();
}

void note_stack_drop() {
  node().dropped_stack_news = node().stack_news;
}

}  // namespace sdsm::dsm
