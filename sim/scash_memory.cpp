#include "sim/scash_memory.hpp"

namespace sdsm::sim {

/// After an interval whose stores others wait for, sends the changes home and lets them go on.
void ScashMemory::finish_interval(std::uint64_t event) {
  finish_touches();
  if (!cluster_.spins) return;
  thread_.catch_up_and_wait();
  if (cluster_.spins->is_awaited(thread_.id(), event)) send_changes();
  cluster_.spins->begin_event(thread_.id());
}

void ScashMemory::leave_region() {
  has_peers_ = false;
  is_alone_ = thread_.id() == ProcessId{0};
}

void ScashMemory::end_alone() {
  is_alone_ = false;
  for (const LockId lock : kept_.give_all()) {
    perform(courses::give_back, Sync::release, cluster_.locks.about(thread_, lock), {});
  }
}

void ScashMemory::acquire(LockId lock, std::optional<std::uint64_t> turn) {
  if (!is_alone_ || turn) return acquire_among_others(lock, turn);
  if (!kept_.take(lock)) return perform(courses::acquire_alone, Sync::acquire, cluster_.locks.about(thread_, lock), {});
  cluster_.locks.queue_of(lock).disclaim();
  if (!cluster_.costs.lock_is_measured({1, 1})) cluster_.extrapolated_lock = true;
  thread_.spend(Spent::lock, cluster_.costs.lock_alone());
  thread_.account.count_lock(thread_.local_now());
}

void ScashMemory::release(LockId lock) {
  const bool is_kept = is_alone_ && KeptLocks::may_keep(lock) && cluster_.locks.queue_of(lock).is_held_by(thread_.id());
  if (!is_kept) return release_among_others(lock);
  kept_.keep(lock);
}

void ScashMemory::barrier(std::uint32_t team, Arrival why) {
  if (is_alone_) end_alone();
  if (cluster_.has_flags) send_changes();
  arrive(why == Arrival::fork_worker ? Spent::idle : Spent::barrier);
  thread_.wait_for([=, this](auto through) { cluster_.barrier.arrive(thread_, team, why, std::move(through)); });
  met_.barrier();
  has_peers_ |= why != Arrival::inside;
}

Time ScashMemory::lone_barrier() const {
  const auto [first, second, third] = cluster_.costs.synchronisations({1, 1});
  return first + second + third;
}

void ScashMemory::gang_barrier(std::uint32_t gang, std::uint32_t size) {
  if (cluster_.has_flags) send_changes();
  arrive(Spent::barrier);
  thread_.wait_for(
      [=, this](auto through) { cluster_.barrier.arrive_in_gang(thread_, gang, size, std::move(through)); });
}

void ScashMemory::flush() {
  drop_copies();
}

void ScashMemory::fence() {
  cluster_.has_flags = true;
  begin_fence();
  flush();
  end_fence();
}

void ScashMemory::begin_fence() {
  if (begins_before_operation(cluster_.layout.threads_per_node) && is_single_writer_mode_due())
    enter_single_writer_mode();
}
void ScashMemory::end_fence() {
  met_.meet(is_single_writer_mode_due());
}

void ScashMemory::enter_single_writer_mode() {
  drop_copies();
  thread_.spend(Spent::lock, cluster_.rights->enter(thread_.node()));
}

/// Drops the node's copies after sending home what was changed in them.
void ScashMemory::drop_copies() {
  thread_.wait_for([this](auto flushed) { cluster_.locks.flush(thread_, std::move(flushed)); });
}

Moment ScashMemory::found_in(PageId page, ProcessId home) const {
  if (cluster_.owner_of(thread_.id(), home) != Owner::remote) return cluster_.compared.now();
  return cluster_.compared.of_copy(thread_.node(), page);
}

/// A relaxed operation leaves copies alone. But in single-writer mode, which begins with the thread's next touch, the
/// home invalidates the page's copies so that a load finds the word's new value.
std::optional<Moment> ScashMemory::operate(const WordOperation& asked, ProcessId home, bool orders) {
  const auto on_refusal = [this](std::optional<Moment> refused) { refused_ = refused; };
  if (orders) begin_fence();
  thread_.wait_for([=, this](auto done) {
    WordOperation operation = asked;
    if (asked.compares && !asked.found) {
      operation.found = orders ? found_in(asked.page, home) : cluster_.compared.now();
    }
    if (!orders) return cluster_.atomics.operate(thread_, operation, home, on_refusal, std::move(done));
    cluster_.atomics.operate_in_order(thread_, operation, home, on_refusal, std::move(done));
  });
  if (orders) end_fence();
  return refused_;
}

/// Waits for a store: asks the storing thread and waits for its answer. A real run notices such a wait and asks all
/// threads for their changes; the messages for it are not counted.
void ScashMemory::spin(ProcessId by, std::uint64_t events) {
  cluster_.has_flags = true;
  const Exchange ask = [=, this](const courses::Step&, Then then) {
    const auto go_on = [this, since = cluster_.clock.now(), then = std::move(then)] {
      thread_.waited(Spent::lock, since);
      then();
    };
    const NodeId asked = cluster_.layout.node_of(by);
    thread_.uncontended.spend(cluster_.idle->both_ways(thread_.node(), asked, control_payload));
    const auto answer = [=, this] { cluster_.send({by, thread_.id(), {}, control_payload}, go_on); };
    cluster_.send({thread_.id(), by, {}, control_payload}, [=, this] { cluster_.spins->ask(by, events, answer); });
  };
  thread_.wait_for(
      [=, this](auto done) { cluster_.locks.perform(thread_, courses::acquire, Sync::acquire, ask, std::move(done)); });
}

void ScashMemory::send_changes() {
  thread_.wait_for([this](auto sent) { cluster_.locks.send_changes(thread_, Sync::release, std::move(sent)); });
}

namespace {

class ScashRoom final : public Room {
 public:
  explicit ScashRoom(Cluster& cluster) : cluster_(cluster) {}

  std::unique_ptr<Memory> memory_of(Thread& thread) override {
    return cluster_.order ? scash_memory_as_recorded(cluster_, thread) : scash_memory_in_time(cluster_, thread);
  }

 private:
  Cluster& cluster_;
};

}  // namespace

std::unique_ptr<Room> make_scash_room(Cluster& cluster) {
  return std::make_unique<ScashRoom>(cluster);
}
std::unique_ptr<Room> make_home_open_room(Cluster& cluster) {
  return make_scash_room(cluster);
}

}  // namespace sdsm::sim
