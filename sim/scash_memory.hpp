/// The part of SCASH's memory that does not depend on the order of a node's threads.
#pragma once

#include "sim/cluster.hpp"
#include "sim/memory.hpp"
#include "sim/page_faults.hpp"

namespace sdsm::sim {

class ScashMemory : public Memory {
 public:
  void finish_interval(std::uint64_t event) override;
  void barrier(std::uint32_t team, Arrival why) override;
  void leave_region() override;
  void acquire(LockId lock, std::optional<std::uint64_t> turn) final;
  void release(LockId lock) final;
  Time lone_barrier() const override;
  void gang_barrier(std::uint32_t gang, std::uint32_t size) override;
  void flush() override;
  void fence() override;
  std::optional<Moment> operate(const WordOperation& operation, ProcessId home, bool orders) override;
  void spin(ProcessId by, std::uint64_t events) override;

 protected:
  ScashMemory(Cluster& cluster, Thread& thread)
      : cluster_(cluster),
        thread_(thread),
        pages_(cluster.pages(thread.node())),
        faults_(cluster, thread),
        is_alone_(thread.id() == ProcessId{0}) {}

  /// Finishes the interval's touches; arrive() waits for the thread's turn at a barrier and charges the wait to `item`.
  virtual void finish_touches() = 0;
  virtual void arrive(Spent item) = 0;
  /// Plays a course about `what`, whose first flush is for `sync`.
  virtual void perform(Course course, Sync sync, const Exchange& exchange, const std::string& what) = 0;
  virtual void acquire_among_others(LockId lock, std::optional<std::uint64_t> turn) = 0;
  virtual void release_among_others(LockId lock) = 0;

  /// Whether a thread that meets others has to enter single-writer mode before it goes on
  /// (models/single_writer/page_sharing.hpp).
  bool is_single_writer_mode_due() const {
    return !cluster_.order &&
           sdsm::is_single_writer_mode_due(cluster_.rights->mode(), has_peers_, cluster_.layout.nodes);
  }
  void enter_single_writer_mode();
  void drop_copies();

  Cluster& cluster_;
  Thread& thread_;
  NodePages& pages_;
  PageFaults faults_;
  MetOthers met_;

 private:
  void begin_fence();
  void end_fence();
  void end_alone();
  void send_changes();
  /// Returns the moment at which the page's home had what the thread sees.
  Moment found_in(PageId page, ProcessId home) const;

  std::optional<Moment> refused_;  ///< result of the latest atomic operation
  bool has_peers_ = false;         ///< other threads run the program, too
  bool is_alone_;                  ///< the initial thread, outside of parallel regions
  KeptLocks kept_;
};

/// Plays threads in the order of simulated time.
std::unique_ptr<Memory> scash_memory_in_time(Cluster& cluster, Thread& thread);

/// Plays threads in the cluster's recorded order, which says what touches trapped, and when among the node's; the
/// protocol says what kind of trap each was. Throws std::invalid_argument where order and trace do not match.
std::unique_ptr<Memory> scash_memory_as_recorded(Cluster& cluster, Thread& thread);

}  // namespace sdsm::sim
