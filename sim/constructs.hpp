/// A thread's account by construct of the program: which parallel region, loop, barrier, lock, ... the time goes to.
/// Each picosecond and each count of the thread belongs to exactly one construct.
///
/// - An event's own costs and waits belong to its construct, and so does all between taking a lock and giving it back,
///   or from the begin of a loop that hands out chunks to its end.
/// - All else belongs to the construct that ends it: the work before a barrier to the barrier (a loop with a static
///   schedule has no events but its barrier), what is behind the last barrier to the region, what is outside of regions
///   to the region that follows (`serial`).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/tally.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::sim {

enum class ConstructKind : std::uint8_t {
  serial,   ///< the initial thread between regions, and the others' wait for it
  region,   ///< parallel region
  barrier,  ///< explicit, or at the end of a loop with a static schedule, a single, ...
  loop,     ///< that hands out chunks, or sections
  single,
  critical,
  lock,  ///< of omp_set_lock, a mutex
  ordered,
  atomic,
  doacross,
  object,  ///< of the C library: condition, semaphore, read-write lock, barrier
  wait,    ///< in a loop of the program's own
  fence,
  flush,
};
std::string_view name_of(ConstructKind kind);

/// `call_site`: as Interval::call_site; 0 is unknown, and that of the serial part behind the last region.
struct Construct {
  ConstructKind kind{};
  std::uint32_t call_site = 0;

  bool operator==(const Construct&) const = default;
};

struct ConstructTally {
  Construct construct;
  std::uint64_t times = 0;  ///< that the thread came to it
  Tally tally;
};

class ConstructAccount {
 public:
  /// What a charge belongs to: a construct, or a stretch of work whose construct is not known yet.
  using Part = std::uint64_t;

  /// Call sites of singles, by those of the barriers at their ends.
  using SinglesOfBarriers = std::map<std::uint32_t, std::uint32_t>;

  explicit ConstructAccount(SinglesOfBarriers singles = {});

  Part here() const { return here_; }
  /// The part that waits outside of regions belong to.
  Part idle() const { return idle_; }
  Tally& tally_of(Part part) { return is_stretch(part) ? stretch(part).tally : rows_[part].tally; }

  /// The thread comes to an event, at which the interval ends.
  void come_to(const Event& event, std::uint32_t call_site);
  /// Counts that the thread has come to the event's construct: not again at a barrier that is the end of another one.
  void count_time(EventKind kind) {
    ConstructTally& row = rows_[here_];
    if (kind != EventKind::barrier || row.construct.kind == ConstructKind::barrier) ++row.times;
  }
  /// The thread goes on behind the event.
  void pass(const Event& event, std::uint32_t call_site);
  /// All charges so far were made, so stretches whose construct is known can be added up.
  void settle();

  /// The whole account, at the end of the run.
  std::vector<ConstructTally> finish();

 private:
  struct Stretch {
    Tally tally;
    std::optional<std::size_t> row;
  };
  struct Section {
    LockId lock{};
    Part row = 0;
  };
  static constexpr Part stretch_bit = Part{1} << 63;
  static bool is_stretch(Part part) { return (part & stretch_bit) != 0; }
  Stretch& stretch(Part part) { return stretches_[(part & ~stretch_bit) - first_stretch_]; }
  Part row(Construct construct);
  Part row_of(const Event& event, std::uint32_t call_site);
  void end_stretch(Part row);
  void go_on();

  std::vector<ConstructTally> rows_;
  std::deque<Stretch> stretches_;  ///< the last one is open
  std::uint64_t first_stretch_ = 0;
  Part here_ = 0;
  Part idle_ = 0;
  std::vector<Section> sections_;  ///< locks that the thread holds, in the order of taking
  std::optional<Part> loop_;       ///< that the thread is in
  std::optional<Part> left_loop_;  ///< ended at `left_at_`, which may have a barrier
  std::uint32_t left_at_ = 0;
  std::vector<Part> regions_;
  SinglesOfBarriers singles_;
};

}  // namespace sdsm::sim
