#include <stdexcept>
#include <utility>
#include <vector>

#include "models/prefetch.hpp"
#include "models/single_writer/touch.hpp"
#include "sim/scash_memory.hpp"

namespace sdsm::sim {
namespace {

class InTime final : public ScashMemory {
 public:
  InTime(Cluster& cluster, Thread& thread) : ScashMemory(cluster, thread) {}

  void touch(const Touch& touch) override {
    const Owner owner = cluster_.owner_of(thread_.id(), touch.home);
    if (touch.access == Access::write && owner != Owner::remote) faults_.give_memory(touch.first, touch.pages);
    const bool has_local_peers = cluster_.layout.threads_per_node > 1;
    const std::uint64_t end = touch.first.index + touch.pages;
    for (std::uint64_t index = touch.first.index; index < end;) {
      const PageId page{touch.first.region, index};
      if (has_local_peers || met_.is_stopped() || cluster_.rights->are_asked()) {
        touch_in_turn(page, touch, owner);
        ++index;
        continue;
      }
      const NodePages::AccessedRun run =
          pages_.access_run(thread_.id(), page, end - index, touch.home, owner, touch.access);
      if (run.kind && rule_of(*run.kind).fetches_page) {
        fetch(page, *run.kind, touch, owner);
      } else if (run.kind) {
        faults_.take(page, *run.kind, run.pages, touch.home);
      }
      for (std::uint64_t i = 0; touch.change && owner != Owner::home && i < run.pages; ++i) {
        pages_.changed({page.region, index + i}, owner, touch.change, cluster_.page_words);
      }
      index += run.pages;
    }
  }

  bool claim(LockId lock) override { return cluster_.locks.queue_of(lock).claim(thread_.id()); }
  void disclaim(LockId lock) override { cluster_.locks.queue_of(lock).disclaim(); }
  bool has(LockId lock) override { return cluster_.locks.queue_of(lock).is_held_by(thread_.id()); }
  void post(std::uint64_t flag, FlagPost posted) override {
    perform(courses::release, Sync::release, cluster_.locks.post(thread_, flag, posted), {});
  }
  void wait(std::uint64_t flag, FlagWait wait) override {
    perform(courses::acquire, Sync::acquire, cluster_.locks.wait(thread_, flag, wait), {});
  }

 private:
  void finish_touches() override {}
  void arrive(Spent) override {}

  void acquire_among_others(LockId lock, std::optional<std::uint64_t> turn) override {
    perform(courses::acquire, Sync::acquire, cluster_.locks.about(thread_, lock, turn), {});
  }
  void release_among_others(LockId lock) override {
    perform(courses::release, Sync::release, cluster_.locks.about(thread_, lock), {});
  }

  void perform(Course course, Sync sync, const Exchange& exchange, const std::string& /*what*/) override {
    thread_.wait_for(
        [=, this](auto done) { cluster_.locks.perform(thread_, course, sync, exchange, std::move(done)); });
  }

  /// Returns the pages that come with `page` after a fault of that kind; the node has them now.
  std::vector<PageId> prefetched(PageId page, FaultKind kind) {
    std::vector<PageId> beside;
    const std::uint32_t region = index_of(page.region);
    if (cluster_.options.prefetch == 0 || cluster_.rights->is_on() || !rule_of(kind).fetches_page ||
        !cluster_.has_prefetch[region])
      return beside;
    for (const std::uint64_t index :
         following(cluster_.homes[region], page.index, cluster_.options.prefetch, cluster_.layout.processes())) {
      const PageId next{page.region, index};
      if (cluster_.is_arriving(thread_.node(), next)) continue;
      if (pages_.prefetch(thread_.id(), next)) beside.push_back(next);
    }
    return beside;
  }

  void fetch(PageId page, FaultKind kind, const Touch& touch, Owner owner) {
    const std::vector<PageId> beside = prefetched(page, kind);
    faults_.take(page, kind, 1, touch.home, beside);
    cluster_.rights->note_copies(thread_.node(), page, 1 + beside.size());
    // Another thread's single-writer mode may have dropped the node's copies meanwhile.
    if (!cluster_.rights->are_asked()) return;
    Touched touched{*this, page, touch, owner};
    touched.is_copy = true;
    note_answer(touched, faults_.granted().is_changed);
    make_usable(touched);
  }

  /// A page that the thread touches, for models/single_writer/touch.hpp. A thread that finds the page on its way to
  /// another one of its node waits as a part of its own fault.
  struct Touched {
    InTime& memory;
    PageId page;
    const Touch& touch;
    Owner owner;
    bool has_answer = false;  ///< by the home, which grants the page to nobody else before this thread has used it
    bool is_changed = false;  ///< as the home's last answer says
    bool is_copy = false;

    PageRights& rights() const { return *memory.cluster_.rights; }
    static bool is_busy() { return false; }
    bool is_granted() const { return has_answer; }
    bool traps() const {
      return !has_answer &&
             sdsm::traps(touch.access, memory.pages_.process_permission(memory.thread_.id(), page, owner));
    }
    static bool is_copy_of_stack() { return false; }
    static bool has_to_send_other_stacks() { return false; }
    bool is_own_stack() const { return owner == Owner::home && rights().is_of_stack(page); }
    bool has_to_ask_home() const {
      return owner != Owner::remote && !is_own_stack() &&
             rights().has_to_ask(page, memory.thread_.node(), touch.access);
    }
    Meeting meeting() {
      if (!std::exchange(is_changed, false) || !memory.is_single_writer_mode_due()) return Meeting::none;
      return meeting_at(rights().is_of_stack(page), rights().copies(memory.thread_.node()), is_copy,
                        memory.cluster_.layout.threads_per_node);
    }
  };

  /// The processes of a node share its pages, and other nodes downgrade them in single-writer mode. So a thread reads
  /// the node's state only when simulated time has reached its own. Inline, this function would use up touch()'s
  /// registers.
  [[gnu::noinline]] void touch_in_turn(PageId page, const Touch& touch, Owner owner) {
    Touched touched{*this, page, touch, owner};
    if (!touched.is_own_stack() && met_.go_on() && is_single_writer_mode_due()) enter_single_writer_mode();
    make_usable(touched);
    if (touch.change) pages_.changed(page, owner, touch.change, cluster_.page_words);
  }

  void make_usable(Touched& touched) {
    for (;;) {
      switch (next_step(touched)) {
        case TouchStep::fault: take_fault(touched); break;
        case TouchStep::ask_home:
          ask_home(touched);
          touched.has_answer = true;
          break;
        case TouchStep::drop_copies: drop_copies(); break;
        case TouchStep::stop_at_next_touch: met_.meet(true); return;
        case TouchStep::use_page: return;
        // The page is never found busy, and the order of changes of several stacks is not simulated.
        case TouchStep::wait:
        case TouchStep::forget_grant:
        case TouchStep::send_other_stacks: throw std::logic_error("a step of a touch that no simulation has");
      }
    }
  }

  void take_fault(Touched& touched) {
    PageRights& rights = *cluster_.rights;
    const PageId page = touched.page;
    const Touch& touch = touched.touch;
    thread_.catch_up_and_wait();
    const Time since = cluster_.clock.now();
    cluster_.await_arrival(thread_, page);
    const FaultKind kind = *pages_.access(thread_.id(), page, touch.home, touched.owner, touch.access);
    // The trap came before the wait for the other process's fetch, so the wait is part of this fault.
    thread_.waited(spent_on(kind), since);
    const bool fetches = rule_of(kind).fetches_page;
    if (fetches) cluster_.begin_arrival(thread_.node(), page);
    const std::vector<PageId> beside = prefetched(page, kind);
    for (const PageId one : beside) cluster_.begin_arrival(thread_.node(), one);
    const bool was_on = rights.is_on();
    faults_.take_and_show(page, kind, touch.home, beside);
    if (!fetches) {
      // Another node may have got the page meanwhile.
      if (was_on && rule_of(kind).makes_twin && touched.owner == Owner::remote) ask_home(touched);
      return;
    }
    touched.is_copy = true;
    // In single-writer mode copies of other stacks are dropped, but not this page.
    if (!was_on) rights.note_copies(thread_.node(), page, 1 + beside.size());
    note_answer(touched, faults_.granted().is_changed);
    if (was_on) rights.note_copies(thread_.node(), page, 1);
    touched.has_answer = was_on;
  }

  /// Waits for the right to use a page that the node has.
  void ask_home(Touched& touched) {
    thread_.catch_up_and_wait();
    const Touch& touch = touched.touch;
    const auto [downgrades, is_changed] =
        cluster_.rights->grant(touched.page, touch.home, thread_.node(), touch.access);
    const NodeId home = cluster_.layout.node_of(touch.home);
    thread_.spend(Spent::lock, downgrades + cluster_.idle->both_ways(thread_.node(), home, control_payload));
    touched.is_copy = false;
    note_answer(touched, is_changed);
  }

  /// `is_changed`: the page may show what others have stored elsewhere.
  void note_answer(Touched& touched, bool is_changed) {
    const PageRights& rights = *cluster_.rights;
    if (!rights.is_on()) {
      touched.is_changed = is_changed;
    } else if (is_changed && rights.concerned(thread_.node()) != Concerned::none) {
      drop_copies();
    }
  }
};

}  // namespace

std::unique_ptr<Memory> scash_memory_in_time(Cluster& cluster, Thread& thread) {
  return std::make_unique<InTime>(cluster, thread);
}

}  // namespace sdsm::sim
