/// Gangs: parts of a team that meet at barriers of their own (workloads/include/sdsm/divide.h).
#pragma once

#include <cstdint>

#include "workloads/include/sdsm/partition.h"

namespace sdsm::gomp {

struct ThreadState;

/// The calling thread's gang, smaller than its team or not.
struct Gang {
  Gang* outer = nullptr;   ///< that was divided; null: the team
  sdsm_division division;  ///< of `outer`
  std::uint32_t part = 0;  ///< number of this gang in it
  std::uint32_t size = 1;
  std::uint32_t number = 0;     ///< of the calling thread
  std::uint32_t divisions = 0;  ///< of this gang, so far
  /// Key that all members have, and no other gang of the run.
  std::uint64_t key = 0;
  std::uint64_t division_key = 0;  ///< key of the division, for all members of the whole
  /// Id that no other gang has whose members wait at the same time; 0: all of the team.
  std::uint32_t id = 0;

  /// Number in the team of the gang's member `member`; ascends with it.
  std::uint32_t thread_of(std::uint32_t member) const;
};

/// A barrier of the thread's gang, or of its team if it is in none.
void gang_barrier(ThreadState& thread);

/// Ends the run if the thread, which is about to do `what` with all of its team, is in a gang that is smaller.
void refuse_in_gang(const ThreadState& thread, const char* what);

/// Ends the run if the thread, at the end of its region, is in a gang or in its loop.
void end_region_outside_of_gangs(const ThreadState& thread);

}  // namespace sdsm::gomp
