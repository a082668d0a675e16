#include "native/guest/openmp/gangs.hpp"

#include <new>

#include "native/guest/openmp/thread.hpp"
#include "native/guest/openmp/unfinished.hpp"
#include "native/guest/runtime/entry.hpp"

namespace sdsm::gomp {
namespace {

enum class Query : int { thread_num, num_threads, gang_num, num_gangs };

/// S. Vigna's finaliser (SplitMix64): each bit of the result depends on each of `number`.
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9U;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebU;
  return number ^ (number >> 31);
}

std::uint32_t depth_of(const Gang* gang) {
  std::uint32_t depth = 0;
  for (; gang != nullptr; gang = gang->outer) ++depth;
  return depth;
}

void divide(ThreadState& thread, int partition, int gangs, int unit) {
  Gang* const outer = thread.gang;
  if (thread.in_gang_loop) engine::refuse("sdsm_divide", SDSM_IN_GANG_LOOP);
  Gang gang;
  gang.outer = outer;
  gang.division = {partition, gangs, unit, static_cast<int>(outer != nullptr ? outer->size : thread.team_size)};
  if (const char* problem = sdsm_problem_of(&gang.division)) engine::refuse("sdsm_divide", problem);
  // Ids have 32 bits, for 65536 threads at each depth.
  constexpr std::uint32_t most_divisions = 1000;
  if (depth_of(outer) >= most_divisions) {
    engine::refuse("sdsm_divide", "divisions are nested a thousand deep. Unite what is divided");
  }
  const int number = static_cast<int>(outer != nullptr ? outer->number : thread.number);
  const int part = sdsm_gang_of(&gang.division, number);
  gang.part = static_cast<std::uint32_t>(part);
  gang.size = static_cast<std::uint32_t>(sdsm_gang_size(&gang.division, part));
  gang.number = static_cast<std::uint32_t>(sdsm_member_number(&gang.division, number));
  // A team's divisions count as its constructs, whose numbers no other region's have.
  gang.division_key = outer != nullptr ? mixed(outer->key + ++outer->divisions) : mixed(++thread.next_construct);
  gang.key = mixed(gang.division_key + gang.part) | 1U;
  if (gang.size < thread.team_size) gang.id = depth_of(outer) * thread.team_size + gang.thread_of(0) + 1;
  engine::note_division(gang);
  thread.gang = new (engine::allocate_private(sizeof gang)) Gang(gang);
}

void unite(ThreadState& thread) {
  Gang* const gang = thread.gang;
  if (gang == nullptr) engine::refuse("sdsm_unite", SDSM_NOT_DIVIDED);
  if (thread.in_gang_loop) engine::refuse("sdsm_unite", SDSM_IN_GANG_LOOP);
  if (gang->id != 0) engine::leave_gang(*gang);
  thread.gang = gang->outer;
  engine::free_private(gang);
  gang_barrier(thread);
}

std::uint32_t answer(const ThreadState& thread, Query query) {
  const Gang* const gang = thread.gang;
  switch (query) {
    case Query::thread_num: return gang != nullptr ? gang->number : thread.number;
    case Query::num_threads: return gang != nullptr ? gang->size : thread.team_size;
    case Query::gang_num: return gang != nullptr ? gang->part : 0;
    case Query::num_gangs: return gang != nullptr ? static_cast<std::uint32_t>(gang->division.gangs) : 1;
  }
  return 0;
}

}  // namespace

std::uint32_t Gang::thread_of(std::uint32_t member) const {
  auto thread = static_cast<int>(member);
  for (const Gang* gang = this; gang != nullptr; gang = gang->outer) {
    thread = sdsm_thread_of(&gang->division, static_cast<int>(gang->part), thread);
  }
  return static_cast<std::uint32_t>(thread);
}

void gang_barrier(ThreadState& thread) {
  const Gang* const gang = thread.gang;
  if (gang == nullptr || gang->id == 0) return team_barrier(thread);
  finish_tasks(thread.tasks_before);
  engine::gang_barrier(*gang);
}

void refuse_in_gang(const ThreadState& thread, const char* what) {
  if (thread.gang != nullptr && thread.gang->id != 0) {
    engine::refuse(what, "it is the whole team's, and the calling thread is in a gang. Use divide.h's functions there");
  }
}

void end_region_outside_of_gangs(const ThreadState& thread) {
  if (thread.gang != nullptr) engine::refuse("the end of a parallel region", SDSM_LEFT_UNDIVIDED);
  if (thread.in_gang_loop) engine::refuse("the end of a parallel region", SDSM_IN_GANG_LOOP);
}

}  // namespace sdsm::gomp

using namespace sdsm;
using gomp::this_thread;

SDSM_ENTRY_AS(void, sdsm_rt_divide, (int partition, int gangs, int unit),
              gomp::divide(this_thread(), partition, gangs, unit))
SDSM_ENTRY_AS(void, sdsm_rt_unite, (), gomp::unite(this_thread()))
SDSM_ENTRY_AS(int, sdsm_rt_gang, (int query),
              static_cast<int>(gomp::answer(this_thread(), static_cast<gomp::Query>(query))))

SDSM_ENTRY void sdsm_rt_gang_barrier() {
  gomp::ThreadState& thread = this_thread();
  if (thread.in_gang_loop) engine::refuse("sdsm_gang_barrier", SDSM_IN_GANG_LOOP);
  gomp::gang_barrier(thread);
}

SDSM_ENTRY void sdsm_rt_gang_loop(int begins) {
  gomp::ThreadState& thread = this_thread();
  if (begins != 0 && thread.in_gang_loop) engine::refuse("sdsm_for_begin", SDSM_IN_GANG_LOOP);
  if (begins == 0 && !thread.in_gang_loop) engine::refuse("sdsm_for_end", SDSM_NO_GANG_LOOP);
  thread.in_gang_loop = begins != 0;
}
