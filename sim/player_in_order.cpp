/// A thread's part in the repetition of a real run's order (replayed_order.hpp): what of its touches trapped, and when
/// among its companions', is the order's say; what the trap was, the protocol's.
#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "sim/player.hpp"

namespace sdsm::sim {

using trace::OrderEvent;
using trace::OrderKind;

namespace {

std::optional<Access> access_of(const OrderEvent* event) {
  if (event == nullptr) return std::nullopt;
  if (event->kind == OrderKind::read) return Access::read;
  if (event->kind == OrderKind::write) return Access::write;
  return std::nullopt;
}

}  // namespace

void Player::misfit(const std::string& what) const {
  throw std::invalid_argument(fmt::format(
      "thread {}, after {} intervals: {}, but {}. The recorded order is of another program or other arguments than "
      "the trace, or of a run whose threads did not do what they did in the trace. Record it and trace again; but "
      "where timing decides who does what (who executes a single or a section, or takes a chunk of a dynamic or "
      "guided loop), every run goes another way, and no order fits: simulate without --order",
      index_of(thread_.id()), intervals_, what, cluster_.order->position(thread_.id())));
}

const OrderEvent* Player::next_of(OrderKind kind) const {
  const OrderEvent* const next = cluster_.order->next(thread_.id());
  return next != nullptr && next->kind == kind ? next : nullptr;
}

void Player::await_turn() {
  thread_.catch_up_and_wait();
  cluster_.order->at_turn(thread_.id(), [this] { thread_.bell.ring(); });
  thread_.bell.wait();
}

void Player::await_turn(Spent item) {
  thread_.catch_up_and_wait();
  const Time since = cluster_.clock.now();
  await_turn();
  thread_.waited(item, since);
}

void Player::touch_in_order(PageId page, ProcessId home, Owner owner, Access access, Change change) {
  const ReplayedOrder& order = *cluster_.order;
  const std::uint64_t drops_before = order.drops_until_latest(thread_.id());
  touched_page_ = page;
  const auto would_trap = [&] { return traps(access, pages_.process_permission(thread_.id(), page, owner)); };
  for (;;) {
    const OrderEvent* const next = order.next(thread_.id());
    if (access_of(next) == access && order.page_of(*next) == page) {
      fault_in_turn(page, home, access);
    } else if (!repeat_fault() && !(would_trap() && sync_in_interval())) {
      break;
    }
  }
  // Where a companion drops the page before the thread's next event, it may have been touched before that.
  if (would_trap() && order.drops_until_next(thread_.id()) == drops_before) {
    misfit(fmt::format("its {} of page {} of region {} traps", access == Access::read ? "read" : "write", page.index,
                       index_of(page.region)));
  }
  if (change) pages_.changed(page, owner, change);
}

void Player::fault_in_turn(PageId page, ProcessId home, Access access) {
  thread_.catch_up_and_wait();
  const Time since = cluster_.clock.now();
  await_turn();
  cluster_.await_arrival(thread_, page);
  const std::optional<FaultKind> kind =
      pages_.access(thread_.id(), page, home, cluster_.owner_of(thread_.id(), home), access);
  if (!kind) misfit("its access does not trap");
  thread_.waited(spent_on(*kind), since);
  if (rule_of(*kind).fetches_page) cluster_.begin_arrival(thread_.node(), page);
  cluster_.order->pass(thread_.id());
  finish_fault(page, *kind, home);
}

/// A trace tells of a page's first touch in an interval only. If a companion took a lock meanwhile, and dropped the
/// page, a run traps again; only the order tells of it. Whether that is so, and then it is done.
bool Player::repeat_fault() {
  const ReplayedOrder& order = *cluster_.order;
  const OrderEvent* const next = order.next(thread_.id());
  const std::optional<Access> access = access_of(next);
  if (!access || order.drops_until_next(thread_.id()) == drops_at_interval_) return false;
  const std::optional<PageId> page = order.page_of(*next);
  if (!page) return false;
  const trace::TouchRun* const current =
      interval_ == nullptr || touched_ == 0 ? nullptr : &interval_->touches[touched_ - 1];
  const auto is_touched = [&](const trace::TouchRun& run) {
    return run.region == page->region && page->index >= run.first && page->index - run.first < run.pages &&
           (*access == Access::read || run.access == Access::write) &&
           (&run != current || page->index <= touched_page_.index);
  };
  const bool is_own = interval_ != nullptr &&
                      std::any_of(interval_->touches.begin(), interval_->touches.begin() + touched_, is_touched);
  if (!is_own && administrative_ != page) return false;
  const bool is_first_touch = cluster_.homes[index_of(page->region)].placement == Placement::first_touch;
  fault_in_turn(*page, is_first_touch ? first_toucher(*page) : cluster_.home_of_page(*page), *access);
  return true;
}

/// A lock that was tested in vain, and what a run-time's own bookkeeping flushes, are no events of a trace.
bool Player::sync_in_interval() {
  if (next_of(OrderKind::drop) != nullptr) {
    drop_in_turn();
    return true;
  }
  const OrderEvent* const second = cluster_.order->second(thread_.id());
  if (next_of(OrderKind::ask) == nullptr || (second != nullptr && second->kind == OrderKind::take)) return false;
  flush_in_turn(Sync::acquire);
  return true;
}

void Player::begin_interval(const trace::Interval& interval) {
  interval_ = &interval;
  touched_ = 0;
  if (cluster_.order) drops_at_interval_ = cluster_.order->drops_until_latest(thread_.id());
}

void Player::finish_interval() {
  while (repeat_fault() || sync_in_interval()) {
  }
  interval_ = nullptr;
  administrative_.reset();
}

void Player::arrive_in_turn(Spent item) {
  if (next_of(OrderKind::barrier) == nullptr) misfit("it comes to a barrier");
  await_turn(item);
  cluster_.order->pass(thread_.id());
}

/// Precondition: the thread has the turn.
void Player::flush_now(Sync sync) {
  cluster_.flushes[index_of(thread_.id())]->start(pages_.flush(thread_.id(), sync), [this] { thread_.bell.ring(); });
  thread_.bell.wait();
}

void Player::flush_in_turn(Sync sync) {
  await_turn(Spent::diff);
  flush_now(sync);
  cluster_.order->pass(thread_.id());
}

void Player::drop_in_turn() {
  await_turn(Spent::diff);
  flush_now(Sync::acquire);
  pages_.drop(Sync::acquire);
  cluster_.order->pass(thread_.id());
}

void Player::acquire_in_turn(LockId lock) {
  const OrderEvent* const take = cluster_.order->second(thread_.id());
  if (next_of(OrderKind::ask) == nullptr || take == nullptr || take->kind != OrderKind::take ||
      take->object != index_of(lock)) {
    misfit(fmt::format("it asks for {}", name_of(lock)));
  }
  flush_in_turn(Sync::acquire);
  cluster_.locks.request(thread_, lock, take->value, [this] { thread_.bell.ring(); });
  thread_.bell.wait();
  flush_in_turn(Sync::acquire);
  if (next_of(OrderKind::drop) == nullptr) misfit(fmt::format("it has got {}", name_of(lock)));
  drop_in_turn();
  drops_at_interval_ = cluster_.order->drops_until_latest(thread_.id());
}

void Player::release_in_turn(LockId lock) {
  if (next_of(OrderKind::give) == nullptr) misfit(fmt::format("it gives {} back", name_of(lock)));
  flush_in_turn(Sync::release);
  cluster_.locks.give_back(thread_, lock);
}

/// A run's threads wait for the next region before they learn that there is none.
void Player::leave_order() {
  const OrderEvent* const left = cluster_.order->next(thread_.id());
  if (left != nullptr && (left->kind != OrderKind::barrier || cluster_.order->second(thread_.id()) != nullptr)) {
    misfit("it has ended");
  }
  cluster_.order->retire(thread_.id());
}

}  // namespace sdsm::sim
