#include <cstring>
#include <deque>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/atomics.hpp"
#include "models/single_writer/since_barrier.hpp"
#include "native/dsm/memory/memory.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/protocol/single_writer/page_requests.hpp"
#include "native/dsm/protocol/single_writer/rights_requests.hpp"
#include "native/dsm/protocol/single_writer/stack_news.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

struct Request {
  ProcessId from{};
  Head head;
  std::function<void()> change;  ///< of the home's memory, which the home's node needs the page alone for
  std::vector<HeldCopy> held;
  bool is_operation = false;  ///< the change: the home's threads, too, ask for the page again, unless it is theirs
  bool keeps_copy = false;    ///< at an operation: the node that asked for it

  NodeId node() const { return change ? own_node() : self.layout.node_of(from); }
  Right right() const { return change ? Right::write : PageWish{head.value}.right(); }
};

struct SharedPage {
  PageSharing sharing{own_node()};
  PageId id;
  std::deque<Request> waiting;  ///< the first one for those that end
  std::vector<PageSharing::Loss> ending;
  std::uint32_t awaited = 0;  ///< processes that have yet to give the page up
};

struct RightsHandler {
  std::unordered_map<std::uint64_t, SharedPage> pages;  ///< that other nodes have asked for, by address
  std::vector<std::uint64_t> granted;                   ///< by process: how often
  ChangesAtHome<std::unordered_set<std::uint64_t>> changes;
};
RightsHandler rights_handler GUARDED_BY(handling);

std::uint64_t& granted_to(ProcessId process) REQUIRES(handling) {
  rights_handler.granted.resize(processes());
  return rights_handler.granted[index_of(process)];
}

std::vector<PageSharing::Loss> losses(const SharedPage& page, const Request& request) {
  return request.is_operation
             ? page.sharing.losses_to_operation(own_node(), self.layout.node_of(request.from), request.keeps_copy)
             : page.sharing.losses(request.node(), request.right());
}

void grant(SharedPage& page, const Request& request, bool is_changed) REQUIRES(handling) {
  if (!request.is_operation) page.sharing.grant(request.node(), request.right());
  if (request.change) {
    page.sharing.note_change();
    return request.change();
  }
  ++granted_to(request.from);
  if (request.head.kind == WireKind::page_request)
    return send_page(request.from, request.head, is_changed, request.held);
  const OwnPage own{page.sharing.right_of(request.node()), is_changed};
  answer_value(request.from, own.number());
}

void request_downgrades(std::uint64_t address, SharedPage& page) REQUIRES(handling) {
  const std::uint32_t each = self.layout.threads_per_node;
  page.awaited = static_cast<std::uint32_t>(page.ending.size()) * each;
  // The last one's answer may come before this function returns.
  const std::vector<PageSharing::Loss> ending = page.ending;
  for (const PageSharing::Loss& loss : ending) {
    const std::uint32_t first = index_of(loss.node) * each;
    const std::uint64_t* const begin = &granted_to(ProcessId{first});
    const std::vector<std::uint64_t> grants(begin, begin + each);
    for (std::uint32_t i = first; i < first + each; ++i) {
      const ProcessId to{i};
      const Head head{.kind = WireKind::downgrade_request,
                      .bytes = static_cast<std::uint32_t>(each * sizeof grants[0]),
                      .address = address,
                      .value = PageWish::of(page.id, loss.kept).number};
      if (to == self.process) {
        receive_downgrade_request(to, head, reinterpret_cast<const std::byte*>(grants.data()));
      } else {
        notify(to, head, grants.data());
      }
    }
  }
}

/// Changes that need nothing from other nodes do not wait behind a request for the page. That may wait until this node
/// has downgraded it, which sends its own changes home first, and their homes may be waiting for these.
void change_ahead(SharedPage& page) REQUIRES(handling) {
  for (std::size_t i = 0; i < page.waiting.size();) {
    const Request& request = page.waiting[i];
    if (!request.change || request.is_operation || !losses(page, request).empty()) {
      ++i;
      continue;
    }
    const Request due = std::move(page.waiting[i]);
    page.waiting.erase(page.waiting.begin() + static_cast<std::ptrdiff_t>(i));
    grant(page, due, false);
  }
}

/// Grants what waits for the page, in its order, until somebody has to give it up first.
void go_on(std::uint64_t address, SharedPage& page) REQUIRES(handling) {
  while (page.awaited == 0 && !page.waiting.empty()) {
    const Request& request = page.waiting.front();
    page.ending = losses(page, request);
    if (!page.ending.empty()) {
      request_downgrades(address, page);
      break;
    }
    const Request granted = std::move(page.waiting.front());
    page.waiting.pop_front();
    // A node asks itself for its own pages outside of single-writer mode, too.
    const bool is_single_writer = granted.head.kind != WireKind::home_request || is_in_single_writer_mode();
    grant(page, granted,
          rights_handler.changes.tells(address, &page.sharing, is_own_memory(address), is_single_writer,
                                       is_in_single_writer_mode()));
  }
  change_ahead(page);
}

void queue(std::uint64_t address, Request request) REQUIRES(handling) {
  SharedPage& page = rights_handler.pages[address];
  if (!request.change) page.id = PageWish{request.head.value}.page();
  page.waiting.push_back(std::move(request));
  go_on(address, page);
}

/// Null for pages that other nodes have not asked for, and those that their process has open for good.
SharedPage* find_listed(std::uint64_t page) REQUIRES(handling) {
  const auto found = rights_handler.pages.find(page);
  return found == rights_handler.pages.end() ? nullptr : &found->second;
}

/// For a request outside of single-writer mode, or one that needs no list.
bool tells(std::uint64_t page, bool is_asked_in_single_writer_mode) REQUIRES(handling) {
  const SharedPage* const listed = find_listed(page);
  const PageSharing* const sharing = listed == nullptr ? nullptr : &listed->sharing;
  return rights_handler.changes.tells(page, sharing, is_own_memory(page), is_asked_in_single_writer_mode,
                                      is_in_single_writer_mode());
}

}  // namespace

void want_page(ProcessId from, const Head& head, const std::byte* payload) {
  Request request{from, head, {}, {}};
  if (head.bytes % sizeof(HeldCopy) != 0 || head.bytes > HeldCopy::most * sizeof(HeldCopy))
    program::end_run({"process ", program::Decimal(index_of(from)),
                      " asks for a page with a list of copies that is cut off or too long"});
  request.held.resize(head.bytes / sizeof(HeldCopy));
  if (head.bytes > 0) std::memcpy(request.held.data(), payload, head.bytes);
  const std::uint64_t address = head.address;
  node().shares_pages = true;
  // A process of another node that sends its wish is in single-writer mode.
  if (needs_list(is_own_memory(address), is_on_own_node(from), find_listed(address) != nullptr, true))
    return queue(address, request);
  SharedPage unlisted;
  grant(unlisted, request, tells(address, is_in_single_writer_mode()));
}

void change_alone(std::uint64_t page, std::function<void()> change) {
  if (find_listed(page) == nullptr) return change();
  queue(page, {self.process, {}, std::move(change), {}});
}

bool may_change_now(ProcessId from, std::uint64_t page) {
  const SharedPage* const listed = find_listed(page);
  if (listed == nullptr) return true;
  const PageSharing& sharing = listed->sharing;
  if (sharing.right_of(self.layout.node_of(from)) == Right::write) return true;
  return !is_in_single_writer_mode() && sharing.losses(own_node(), Right::write).empty();
}

void operate_when_taken(ProcessId by, std::uint64_t page, bool is_single_writer, std::function<void()> operate) {
  const Taken taken = taken_by({.orders_memory = self.atomics != Atomics::relaxed, .is_on_stack = is_own_memory(page)});
  if (taken == Taken::mark || taken == Taken::from_all) node().shares_pages = true;
  switch (taken) {
    case Taken::nothing: return operate();
    case Taken::mark: rights_handler.changes.operate_on_stack(page); return change_own_memory(std::move(operate));
    case Taken::from_others: return change_alone(page, std::move(operate));
    case Taken::from_all: {
      const bool keeps_copy = keeps_copy_at_operation(is_single_writer, self.layout.threads_per_node, false);
      return queue(page, {by, {}, std::move(operate), {}, true, keeps_copy});
    }
  }
}

bool may_operate_now(std::uint64_t page, bool is_single_writer) {
  const SharedPage* const listed = find_listed(page);
  const bool is_alone = listed == nullptr || listed->sharing.right_of(own_node()) == Right::write;
  const Taken taken = taken_by({.orders_memory = self.atomics != Atomics::relaxed,
                                .is_on_stack = is_own_memory(page),
                                .is_home_alone = is_alone,
                                .is_in_single_writer_mode = is_single_writer});
  if (taken == Taken::nothing) {
    if (is_single_writer) note_changed(page);
    return true;
  }
  if (taken == Taken::from_others) return may_change_now(self.process, page);
  // Outside of single-writer mode this thread stops at its next touch. Local peers would go on with the page.
  if (is_single_writer || self.layout.threads_per_node > 1) return false;
  node().shares_pages = true;
  if (taken == Taken::mark) {
    rights_handler.changes.operate_on_stack(page);
    return true;
  }
  SharedPage& shared = rights_handler.pages[page];
  if (shared.awaited > 0 || !shared.waiting.empty() || !shared.sharing.losses(own_node(), Right::write).empty())
    return false;
  shared.sharing.lose({own_node(), Right::none});
  shared.sharing.note_change();
  return true;
}

bool is_changed_by_others(std::uint64_t page) {
  return tells(page, false);
}

void note_changed(std::uint64_t page) {
  rights_handler.changes.diff(page, is_own_memory(page));
}

void note_single_writer_mode() {
  rights_handler.changes.enter_single_writer_mode(self.home_pages);
}

void receive_downgraded(const Head& head, const std::byte* content) {
  const auto found = rights_handler.pages.find(head.address);
  if (found == rights_handler.pages.end() || found->second.awaited == 0) return;
  SharedPage& page = found->second;
  const Downgraded downgraded = Downgraded::of(head.value);
  if (downgraded.was_written) page.sharing.note_change();
  if (head.bytes > 0) take_content(head.address, downgraded.parts, content);
  if (--page.awaited > 0) return;
  for (const PageSharing::Loss& loss : page.ending) page.sharing.lose(loss);
  page.ending.clear();
  go_on(head.address, page);
}

void forget_rights() {
  rights_handler.changes.barrier();
  std::erase_if(rights_handler.pages,
                [](const auto& entry) { return entry.second.awaited == 0 && entry.second.waiting.empty(); });
}

}  // namespace sdsm::dsm
