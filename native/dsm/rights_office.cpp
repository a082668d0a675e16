#include <cstring>
#include <deque>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/page_sharing.hpp"
#include "native/dsm/asking.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/offices.hpp"
#include "native/dsm/opened_pages.hpp"
#include "native/dsm/recalls.hpp"
#include "native/dsm/stack_news.hpp"

namespace sdsm::dsm {
namespace {

struct Request {
  ProcessId from{};
  Head head;
  std::function<void()> change;  ///< of the home's memory, which the home's node needs the page alone for
  bool is_heard_of = false;      ///< the change: the home's own threads, too, ask for the page again

  NodeId node() const { return change ? own_node() : self.layout.node_of(from); }
  Right right() const { return change ? Right::write : PageWish{head.value}.right(); }
};

struct SharedPage {
  PageSharing sharing{own_node()};
  PageId id;
  bool is_changed = false;      ///< since the last barrier, by one whose right to write has ended
  std::deque<Request> waiting;  ///< the first one for those that end
  std::vector<PageSharing::Loss> ending;
  std::uint32_t awaited = 0;  ///< processes that have yet to give the page up
};

struct RightsOffice {
  std::unordered_map<std::uint64_t, SharedPage> pages;  ///< that other nodes have asked for, by address
  std::vector<std::uint64_t> granted;                   ///< by process: how often
  /// Of pages that their process has open for good: those that atomic operations have changed since the last barrier.
  std::unordered_set<std::uint64_t> changed_for_good;
  std::unordered_set<std::uint64_t> changed;  ///< by diffs since the last barrier
  bool has_unseen_changes = false;            ///< since the last barrier
};
RightsOffice office GUARDED_BY(handling);

std::uint64_t& granted_to(ProcessId process) REQUIRES(handling) {
  office.granted.resize(processes());
  return office.granted[index_of(process)];
}

std::vector<PageSharing::Loss> losses(const SharedPage& page, const Request& request) {
  return request.is_heard_of ? page.sharing.all_losses() : page.sharing.losses(request.node(), request.right());
}

void grant(SharedPage& page, const Request& request, bool is_changed) REQUIRES(handling) {
  if (!request.is_heard_of) page.sharing.grant(request.node(), request.right());
  if (request.change) {
    page.is_changed = true;
    return request.change();
  }
  ++granted_to(request.from);
  if (request.head.kind == WireKind::page_request) return send_page(request.from, request.head, is_changed);
  const OwnPage own{page.sharing.right_of(request.node()), is_changed};
  answer_value(request.from, own.number());
}

void recall(std::uint64_t address, SharedPage& page) REQUIRES(handling) {
  const std::uint32_t each = self.layout.threads_per_node;
  page.awaited = static_cast<std::uint32_t>(page.ending.size()) * each;
  // The last one's answer may come before this function returns.
  const std::vector<PageSharing::Loss> ending = page.ending;
  for (const PageSharing::Loss& loss : ending) {
    for (std::uint32_t i = index_of(loss.node) * each; i < (index_of(loss.node) + 1) * each; ++i) {
      const ProcessId to{i};
      const std::uint64_t grants = granted_to(to);
      const Head head{.kind = WireKind::recall,
                      .bytes = sizeof grants,
                      .address = address,
                      .value = PageWish::of(page.id, loss.kept).number};
      if (to == self.process) {
        hear_recall(to, head, reinterpret_cast<const std::byte*>(&grants));
      } else {
        notify(to, head, &grants);
      }
    }
  }
}

/// Grants what waits for the page, in its order, until somebody has to give it up first.
void go_on(std::uint64_t address, SharedPage& page) REQUIRES(handling) {
  while (page.awaited == 0 && !page.waiting.empty()) {
    const Request& request = page.waiting.front();
    page.ending = losses(page, request);
    if (!page.ending.empty()) return recall(address, page);
    const Request granted = std::move(page.waiting.front());
    page.waiting.pop_front();
    // A node asks itself for its own pages outside of flag mode, too.
    const bool is_in_flags = granted.head.kind != WireKind::home_request || is_in_flag_mode();
    const PageNews news{page.is_changed, office.changed.contains(address), office.has_unseen_changes,
                        is_in_flag_mode()};
    grant(page, granted, tells_of_stores(news, is_in_flags));
  }
}

void queue(std::uint64_t address, Request request) REQUIRES(handling) {
  SharedPage& page = office.pages[address];
  if (!request.change) page.id = PageWish{request.head.value}.page();
  page.waiting.push_back(std::move(request));
  go_on(address, page);
}

/// Pages that other nodes have not asked for are not listed; nor are those that their process has open for good.
bool is_listed(std::uint64_t page) REQUIRES(handling) {
  return office.pages.contains(page);
}

}  // namespace

void want_page(ProcessId from, const Head& head) {
  const Request request{from, head, {}};
  const std::uint64_t address = head.address;
  node().shares_pages = true;
  if (!is_own_memory(address) && (!is_on_own_node(from) || is_listed(address))) return queue(address, request);
  SharedPage unlisted;
  const bool is_changed = is_in_flag_mode() ? office.changed.contains(address) : is_changed_by_others(address);
  grant(unlisted, request, is_changed);
}

void change_alone(std::uint64_t page, std::function<void()> change) {
  if (!is_listed(page)) return change();
  queue(page, {self.process, {}, std::move(change)});
}

bool may_change_now(ProcessId from, std::uint64_t page) {
  const auto found = office.pages.find(page);
  if (found == office.pages.end()) return true;
  const PageSharing& sharing = found->second.sharing;
  if (sharing.right_of(self.layout.node_of(from)) == Right::write) return true;
  return !is_in_flag_mode() && sharing.losses(own_node(), Right::write).empty();
}

void operate_alone(std::uint64_t page, std::function<void()> operate) {
  node().shares_pages = true;
  if (is_own_memory(page)) {
    office.changed_for_good.insert(page);
    return change_own_memory(std::move(operate));
  }
  queue(page, {self.process, {}, std::move(operate), true});
}

bool may_operate_now(std::uint64_t page, bool is_in_flags) {
  if (is_in_flags || self.atomics == Atomics::relaxed) return may_change_now(self.process, page);
  // Companions would go on with the page. This thread will not.
  if (self.layout.threads_per_node > 1) return false;
  node().shares_pages = true;
  if (is_own_memory(page)) {
    office.changed_for_good.insert(page);
    return true;
  }
  SharedPage& shared = office.pages[page];
  if (shared.awaited > 0 || !shared.waiting.empty() || !shared.sharing.losses(own_node(), Right::write).empty())
    return false;
  shared.sharing.lose({own_node(), Right::none});
  shared.is_changed = true;
  return true;
}

bool is_changed_by_others(std::uint64_t page) {
  const auto found = office.pages.find(page);
  return found != office.pages.end() ? found->second.is_changed : office.changed_for_good.contains(page);
}

void note_changed(std::uint64_t page) {
  if (!is_own_memory(page)) office.changed.insert(page);
}

void note_unseen_changes() {
  office.has_unseen_changes |= self.home_pages == HomePages::open;
}

void hear_recalled(const Head& head, const std::byte* content) {
  const auto found = office.pages.find(head.address);
  if (found == office.pages.end() || found->second.awaited == 0) return;
  SharedPage& page = found->second;
  const Recalled recalled = Recalled::of(head.value);
  page.is_changed |= recalled.was_written;
  if (head.bytes > 0) take_content(head.address, recalled.parts, content);
  if (--page.awaited > 0) return;
  for (const PageSharing::Loss& loss : page.ending) page.sharing.lose(loss);
  page.ending.clear();
  go_on(head.address, page);
}

void forget_rights() {
  office.changed_for_good.clear();
  office.changed.clear();
  office.has_unseen_changes = false;
  std::erase_if(office.pages,
                [](const auto& entry) { return entry.second.awaited == 0 && entry.second.waiting.empty(); });
}

}  // namespace sdsm::dsm
