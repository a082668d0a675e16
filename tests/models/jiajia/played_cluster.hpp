/// JIAJIA's processes without time, on a memory that is really distributed: one process acts at a time, and every
/// message has arrived when it is sent.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "models/homes.hpp"
#include "models/jiajia/counts.hpp"
#include "models/jiajia/courses.hpp"
#include "models/jiajia/notices.hpp"
#include "models/jiajia/process_pages.hpp"

namespace sdsm::test {

/// When homes serve the requests of an interval: before their own intervals end, or after. On a real cluster either may
/// happen, request by request.
enum class Requests : std::uint8_t { before_the_home_ends, after_the_home_ends };

class PlayedCluster {
 public:
  PlayedCluster(std::uint32_t processes, const jiajia::Rules& rules,
                Requests requests = Requests::before_the_home_ends);

  /// Pages with that home; returns the first one's number. Numbers go on.
  std::uint64_t allocate(std::uint64_t pages, std::uint32_t home);
  void set_rules(const jiajia::Rules& rules);
  /// Counts from zero.
  void reset() { counts_.assign(processes_, {}); }

  /// Words of a page that are distinguished; a diff counts the whole page.
  static constexpr std::size_t words = 4;
  std::uint64_t read(std::uint32_t process, std::uint64_t page, std::size_t word = 0);
  void write(std::uint32_t process, std::uint64_t page, std::uint64_t value = 1, std::size_t word = 0);
  /// Precondition: nobody has the lock.
  void lock(std::uint32_t process, std::uint32_t lock);
  void unlock(std::uint32_t process, std::uint32_t lock);
  void barrier(bool is_fork = false);
  /// Under Scope::openmp: a flag is posted, or waited for by a process that goes on at once.
  void post(std::uint32_t process, std::uint32_t flag);
  void wait(std::uint32_t process, std::uint32_t flag);
  /// Likewise: a barrier of processes 0 to team - 1.
  void barrier_of(std::uint32_t team);

  std::uint32_t processes() const { return processes_; }
  const jiajia::Counts& counts(std::uint32_t process) const { return counts_[process]; }
  std::uint32_t home(std::uint64_t page) const { return index_of(home_of(page)); }
  std::uint64_t at_home(std::uint64_t page, std::size_t word) const { return copies_[home(page)].at(page)[word]; }

 private:
  using Words = std::array<std::uint64_t, words>;

  static PageId id_of(std::uint64_t page) { return {RegionId{0}, page}; }
  ProcessId home_of(std::uint64_t page) const { return homes_.home(id_of(page), ProcessId{placed_[page]}); }
  void touch(std::uint32_t process, std::uint64_t page, Access access);
  void fetch(std::uint32_t process, std::uint64_t page);
  void perform(std::uint32_t process, const jiajia::courses::Step& step, Sync sync, jiajia::SyncObject object);
  std::uint32_t manager(jiajia::SyncObject object) const;
  void flush(std::uint32_t process, Sync sync);
  void meet(bool is_fork);
  void apply_barrier_notice(std::uint32_t process);
  void send(std::uint32_t from, std::uint32_t to, jiajia::MessageKind message, std::uint64_t times = 1);

  std::uint32_t processes_;
  jiajia::Rules rules_;
  Requests requests_;
  std::vector<std::uint32_t> placed_;
  Homes homes_;
  std::vector<std::uint64_t> unserved_;  ///< pages given to others, of which their homes do not know yet
  std::deque<jiajia::ProcessPages> pages_;
  std::deque<jiajia::LockNotices> locks_;  ///< by manager
  std::vector<jiajia::Notice> granted_;    ///< to the process that asked last
  jiajia::BarrierNotices met_;
  std::vector<jiajia::BarrierNotice> barrier_notices_;  ///< by the latest barrier
  std::vector<jiajia::Counts> counts_;
  std::vector<std::map<std::uint64_t, Words>> copies_, twins_;  ///< by process; a home's copy is the page
};

}  // namespace sdsm::test
