#include <vector>

#include "models/prefetch.hpp"
#include "sim/scash_memory.hpp"

namespace sdsm::sim {
namespace {

class InTime final : public ScashMemory {
 public:
  InTime(Cluster& cluster, Thread& thread) : ScashMemory(cluster, thread) {}

  void begin(const trace::Interval&, std::uint64_t) override {}
  void end(std::uint64_t) override {}
  std::string position() const override { return {}; }

  void touch(const Touch& touch) override {
    const Owner owner = cluster_.owner_of(thread_.id(), touch.home);
    if (cluster_.layout.threads_per_node > 1) {
      for (std::uint64_t i = 0; i < touch.pages; ++i) {
        touch_among_companions({touch.first.region, touch.first.index + i}, touch, owner);
      }
      return;
    }
    for (PageId page = touch.first; page.index < touch.first.index + touch.pages;) {
      const std::uint64_t left = touch.first.index + touch.pages - page.index;
      const NodePages::AccessedRun run = pages_.access_run(thread_.id(), page, left, touch.home, owner, touch.access);
      if (run.kind) faults_.take(page, *run.kind, run.pages, touch.home, prefetched(page, *run.kind));
      for (std::uint64_t i = 0; touch.change && owner != Owner::home && i < run.pages; ++i) {
        pages_.changed({page.region, page.index + i}, owner, touch.change, cluster_.page_words);
      }
      page.index += run.pages;
    }
  }

  void acquire(LockId lock) override { perform(courses::acquire, Sync::acquire, cluster_.locks.about(thread_, lock)); }
  void release(LockId lock) override { perform(courses::release, Sync::release, cluster_.locks.about(thread_, lock)); }
  void post(std::uint64_t flag, Count count) override {
    perform(courses::release, Sync::release, cluster_.locks.count_up(thread_, flag, count));
  }
  void wait(std::uint64_t flag, FlagWait wait) override {
    perform(courses::acquire, Sync::acquire, cluster_.locks.wait(thread_, flag, wait));
  }

 private:
  void finish_touches() override {}
  void arrive(Spent) override {}

  void perform(Course course, Sync sync, const Exchange& exchange) {
    thread_.wait_for(
        [=, this](auto done) { cluster_.locks.perform(thread_, course, sync, exchange, std::move(done)); });
  }

  /// The pages that come with `page`, after a fault of that kind; the node has them now.
  std::vector<PageId> prefetched(PageId page, FaultKind kind) {
    std::vector<PageId> beside;
    const std::uint32_t region = index_of(page.region);
    if (cluster_.options.prefetch == 0 || !rule_of(kind).fetches_page || !cluster_.has_prefetch[region]) return beside;
    for (const std::uint64_t index :
         following(cluster_.homes[region], page.index, cluster_.options.prefetch, cluster_.layout.processes())) {
      const PageId next{page.region, index};
      if (cluster_.is_arriving(thread_.node(), next)) continue;
      if (pages_.prefetch(thread_.id(), next)) beside.push_back(next);
    }
    return beside;
  }

  /// Companions share the node's pages, so a thread looks at the node's state only when simulated time has reached it.
  void touch_among_companions(PageId page, const Touch& touch, Owner owner) {
    // Again if a companion took a lock, and with it dropped the page, while it was on its way.
    while (traps(touch.access, pages_.process_permission(thread_.id(), page, owner))) {
      thread_.catch_up_and_wait();
      const Time since = cluster_.clock.now();
      cluster_.await_arrival(thread_, page);
      const std::optional<FaultKind> kind = pages_.access(thread_.id(), page, touch.home, owner, touch.access);
      // The trap came before the wait for a companion's fetch, so the wait is part of this fault.
      thread_.waited(spent_on(*kind), since);
      const bool fetches = rule_of(*kind).fetches_page;
      if (fetches) cluster_.begin_arrival(thread_.node(), page);
      const std::vector<PageId> beside = prefetched(page, *kind);
      for (const PageId one : beside) cluster_.begin_arrival(thread_.node(), one);
      faults_.take_and_show(page, *kind, touch.home, beside);
      if (!fetches) break;
    }
    if (touch.change) pages_.changed(page, owner, touch.change, cluster_.page_words);
  }
};

}  // namespace

std::unique_ptr<Memory> scash_memory_in_time(Cluster& cluster, Thread& thread) {
  return std::make_unique<InTime>(cluster, thread);
}

}  // namespace sdsm::sim
