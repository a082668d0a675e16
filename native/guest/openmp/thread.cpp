#include "native/guest/openmp/thread.hpp"

#include "native/guest/openmp/gangs.hpp"
#include "native/guest/openmp/unfinished.hpp"

namespace sdsm::gomp {

namespace {
thread_local ThreadState state;
constinit bool is_begun = false;
}  // namespace

ThreadState& this_thread() {
  return state;
}

void start_initial_thread() {
  state.variables = initial_control_variables(engine::default_threads());
  is_begun = true;
}

bool has_begun() {
  return is_begun;
}

OpenConstruct::OpenConstruct(ThreadState& thread)
    : thread_(thread),
      state_(thread.serialised ? &thread.own_construct : &engine::open_construct(thread.construct.number)) {}

OpenConstruct::~OpenConstruct() {
  if (!thread_.serialised) engine::close_construct(thread_.construct.number);
}

void begin_construct(ThreadState& thread) {
  refuse_in_gang(thread, "a work-sharing directive");
  thread.construct = {};
  thread.own_iterations_taken = 0;
  if (thread.serialised) {
    thread.own_construct = {};
  } else {
    thread.construct.number = thread.next_construct++;
  }
}

void leave_construct(ThreadState& thread) {
  if (!thread.serialised) engine::leave_construct(thread.construct.number, thread.team_size);
}

void note(const ThreadState& thread, EventKind kind, std::uint64_t object, std::uint64_t value, std::uint8_t detail) {
  if (!thread.serialised) engine::note({kind, detail, object, value});
}

void team_barrier(const ThreadState& thread) {
  refuse_in_gang(thread, "a barrier of OpenMP");
  finish_tasks(thread.tasks_before);
  if (!thread.serialised) engine::barrier(thread.team_size);
}

}  // namespace sdsm::gomp
