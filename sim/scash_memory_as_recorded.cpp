#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "sim/scash_memory.hpp"

namespace sdsm::sim {
namespace {

using trace::OrderEvent;
using trace::OrderKind;

std::optional<Access> access_of(const OrderEvent* event) {
  if (event == nullptr) return std::nullopt;
  if (event->kind == OrderKind::read) return Access::read;
  if (event->kind == OrderKind::write) return Access::write;
  return std::nullopt;
}

class AsRecorded final : public ScashMemory {
 public:
  AsRecorded(Cluster& cluster, Thread& thread) : ScashMemory(cluster, thread), order_(*cluster.order) {}

  void begin(const trace::Interval& interval, std::uint64_t before) override {
    intervals_ = before;
    interval_ = &interval;
    current_ = nullptr;
    drops_at_interval_ = order_.drops_until_latest(thread_.id());
  }

  void touch(const Touch& touch) override {
    current_ = touch.run;
    const bool is_own = cluster_.owner_of(thread_.id(), touch.home) != Owner::remote;
    if (touch.access == Access::write && is_own) faults_.give_memory(touch.first, touch.pages);
    for (std::uint64_t i = 0; i < touch.pages; ++i) touch_page({touch.first.region, touch.first.index + i}, touch);
  }

  void post(std::uint64_t flag, FlagPost posted) override {
    if (next_of(OrderKind::give) == nullptr) misfit("it counts a flag up");
    perform(courses::release, Sync::release, cluster_.locks.post(thread_, flag, posted), "a flag");
  }

  void wait(std::uint64_t flag, FlagWait wait) override {
    if (next_of(OrderKind::ask) == nullptr) misfit("it waits for a flag");
    perform(courses::acquire, Sync::acquire, cluster_.locks.wait(thread_, flag, wait), "a flag");
  }

  void gang_barrier(std::uint32_t gang, std::uint32_t size) override {
    ScashMemory::gang_barrier(gang, size);
    if (cluster_.barrier.has_split_nodes()) {
      throw std::invalid_argument(
          "threads of one node are in different gangs, whose barriers no recorded order can repeat. Simulate without "
          "--order");
    }
  }

  /// A run's threads wait for the next region before they learn that there is none.
  void end(std::uint64_t intervals) override {
    intervals_ = intervals;
    const OrderEvent* const left = order_.next(thread_.id());
    if (left != nullptr && (left->kind != OrderKind::barrier || order_.second(thread_.id()) != nullptr)) {
      misfit("it has ended");
    }
    order_.retire(thread_.id());
  }

  std::string position() const override { return order_.position(thread_.id()); }

 private:
  void finish_touches() override {
    while (repeat_fault() || sync_in_interval()) {
    }
    interval_ = nullptr;
    current_ = nullptr;
    administrative_.reset();
  }

  void arrive(Spent item) override {
    if (next_of(OrderKind::barrier) == nullptr) misfit("it comes to a barrier");
    await_turn(item);
    order_.pass(thread_.id());
  }

  void acquire_among_others(LockId lock, std::optional<std::uint64_t> /*turn*/) override {
    const OrderEvent* const take = order_.second(thread_.id());
    if (next_of(OrderKind::ask) == nullptr || take == nullptr || take->kind != OrderKind::take ||
        take->object != index_of(lock)) {
      misfit(fmt::format("it asks for {}", name_of(lock)));
    }
    perform(courses::acquire, Sync::acquire, cluster_.locks.about(thread_, lock, take->value), name_of(lock));
  }

  void release_among_others(LockId lock) override {
    if (next_of(OrderKind::give) == nullptr) misfit(fmt::format("it gives {} back", name_of(lock)));
    perform(courses::release, Sync::release, cluster_.locks.about(thread_, lock), name_of(lock));
  }

  [[noreturn]] void misfit(const std::string& what) const {
    throw std::invalid_argument(fmt::format(
        "thread {}, after {} intervals: {}, but {}. The recorded order is of another program or other arguments than "
        "the trace, or of a run whose threads did not do what they did in the trace. Record it and trace again; but "
        "where timing decides who does what (who executes a single or a section, takes a chunk of a dynamic or guided "
        "loop, or repeats an atomic operation that another thread came before, as in a reduction over floating-point "
        "numbers), every run goes another way, and no order fits: simulate without --order",
        index_of(thread_.id()), intervals_, what, position()));
  }

  /// Plays each step when it is the thread's turn.
  void perform(Course course, Sync sync, const Exchange& exchange, const std::string& what) override {
    const auto in_turn = [this, sync](const Then& then) {
      flush_in_turn(sync);
      then();
    };
    const auto await_answer = [this, &exchange](const courses::Step& step, const Then& then) {
      if (step.action == protocol::Action::send) return exchange(step, then);
      exchange(step, [this] { thread_.bell.ring(); });
      thread_.bell.wait();
      then();
    };
    const auto begin_interval = [this, &what](const Then& then) {
      flush_in_turn(Sync::acquire);
      if (next_of(OrderKind::drop) == nullptr) misfit(fmt::format("it has got {}", what));
      drop();
      drops_at_interval_ = order_.drops_until_latest(thread_.id());
      then();
    };
    play<courses::Step>(course, {.flush = in_turn, .begin_interval = begin_interval, .exchange = await_answer}, [] {});
  }

  const OrderEvent* next_of(OrderKind kind) const {
    const OrderEvent* const next = order_.next(thread_.id());
    return next != nullptr && next->kind == kind ? next : nullptr;
  }

  void await_turn() {
    thread_.catch_up_and_wait();
    order_.at_turn(thread_.id(), [this] { thread_.bell.ring(); });
    thread_.bell.wait();
  }

  void await_turn(Spent item) {
    thread_.catch_up_and_wait();
    const Time since = cluster_.clock.now();
    await_turn();
    thread_.waited(item, since);
  }

  void touch_page(PageId page, const Touch& touch) {
    const Owner owner = cluster_.owner_of(thread_.id(), touch.home);
    const std::uint64_t drops_before = order_.drops_until_latest(thread_.id());
    current_page_ = page;
    if (touch.run == nullptr) administrative_ = page;
    const auto would_trap = [&] { return traps(touch.access, pages_.process_permission(thread_.id(), page, owner)); };
    for (;;) {
      const OrderEvent* const next = order_.next(thread_.id());
      if (access_of(next) == touch.access && order_.page_of(*next) == page) {
        fault(page, touch.home, touch.access);
      } else if (!repeat_fault() && !(would_trap() && sync_in_interval())) {
        break;
      }
    }
    // If another process of the node drops the page before the thread's next event, the touch may have come earlier.
    if (would_trap() && order_.drops_until_next(thread_.id()) == drops_before) {
      misfit(fmt::format("its {} of page {} of region {} traps", touch.access == Access::read ? "read" : "write",
                         page.index, index_of(page.region)));
    }
    if (touch.change) pages_.changed(page, owner, touch.change);
  }

  void fault(PageId page, ProcessId home, Access access) {
    thread_.catch_up_and_wait();
    const Time since = cluster_.clock.now();
    await_turn();
    cluster_.await_arrival(thread_, page);
    const std::optional<FaultKind> kind =
        pages_.access(thread_.id(), page, home, cluster_.owner_of(thread_.id(), home), access);
    if (!kind) misfit("its access does not trap");
    thread_.waited(spent_on(*kind), since);
    if (rule_of(*kind).fetches_page) cluster_.begin_arrival(thread_.node(), page);
    order_.pass(thread_.id());
    faults_.take_and_show(page, *kind, home, {});
  }

  /// Plays a repeated fault if the order has one, and returns whether it has. A trace has only a page's first touch in
  /// an interval. If a process of the same node takes a lock meanwhile and drops the page, a run traps again.
  bool repeat_fault() {
    const OrderEvent* const next = order_.next(thread_.id());
    const std::optional<Access> access = access_of(next);
    if (!access || order_.drops_until_next(thread_.id()) == drops_at_interval_) return false;
    const std::optional<PageId> page = order_.page_of(*next);
    if (!page || (!has_touched(*page, *access) && administrative_ != page)) return false;
    const bool is_first_touch = cluster_.homes[index_of(page->region)].placement == Placement::first_touch;
    fault(*page, is_first_touch ? cluster_.first_toucher(thread_, *page) : cluster_.home_of_page(*page), *access);
    return true;
  }

  /// Whether an earlier touch of the interval was such an access to the page.
  bool has_touched(PageId page, Access access) const {
    if (interval_ == nullptr || current_ == nullptr) return false;
    return std::any_of(interval_->touches.data(), current_ + 1, [&](const trace::TouchRun& run) {
      return run.region == page.region && page.index >= run.first && page.index - run.first < run.pages &&
             (access == Access::read || run.access == Access::write) &&
             (&run != current_ || page.index <= current_page_.index);
    });
  }

  /// Plays flushes and drops that a trace lacks: of a lock tested in vain, and of the run-time's own bookkeeping.
  bool sync_in_interval() {
    if (next_of(OrderKind::drop) != nullptr) {
      drop();
      return true;
    }
    const OrderEvent* const second = order_.second(thread_.id());
    if (next_of(OrderKind::ask) == nullptr || (second != nullptr && second->kind == OrderKind::take)) return false;
    flush_in_turn(Sync::acquire);
    return true;
  }

  /// Precondition: the thread has the turn.
  void flush_now(Sync sync) {
    cluster_.flushes[index_of(thread_.id())]->start(pages_.flush(thread_.id(), sync), [this] { thread_.bell.ring(); });
    thread_.bell.wait();
  }

  void flush_in_turn(Sync sync) {
    await_turn(Spent::diff);
    flush_now(sync);
    order_.pass(thread_.id());
  }

  void drop() {
    await_turn(Spent::diff);
    flush_now(Sync::acquire);
    pages_.drop(Sync::acquire);
    order_.pass(thread_.id());
  }

  ReplayedOrder& order_;
  std::uint64_t intervals_ = 0;                ///< intervals played
  const trace::Interval* interval_ = nullptr;  ///< the current interval
  const trace::TouchRun* current_ = nullptr;   ///< the latest of its runs
  PageId current_page_{};                      ///< the latest page of that run
  std::optional<PageId> administrative_;       ///< the run-time's page touched since the last interval's end
  std::uint64_t drops_at_interval_ = 0;        ///< drops of the node's copies before it began
};

}  // namespace

std::unique_ptr<Memory> scash_memory_as_recorded(Cluster& cluster, Thread& thread) {
  return std::make_unique<AsRecorded>(cluster, thread);
}

}  // namespace sdsm::sim
