/// Tasks that are still incomplete when the thread that created them goes on: detached ones, whose event has yet to be
/// fulfilled, and those that depend on them, which run later. All others run in place (tasks.cpp).
#pragma once

#include <cstdint>

namespace sdsm::gomp {

/// A task as the compiler passes it. `arguments` are a copy if the task runs later.
struct Task {
  void (*body)(void*) = nullptr;
  void* arguments = nullptr;
  unsigned flags = 0;
};

/// Runs the body of a task, as a task of the calling thread.
void run_task(const Task& task);

/// Whether a task with these dependences has to wait for an unfinished one. Null: it has none.
bool must_wait(void** depend);
/// Waits until no unfinished task is left that a task with these dependences has to wait for.
void await_dependences(void** depend);
/// Runs the task when those before it are complete. Takes over `arguments`, of allocate_shared().
void run_later(const Task& task, void** depend, std::uint64_t event);

/// A new event's handle: never 0.
std::uint64_t create_event();
/// Keeps the event's task unfinished until somebody fulfils the event.
void detach(std::uint64_t event, void** depend);
void fulfil(std::uint64_t event);

/// Runs the tasks that have nothing left to wait for.
void run_ready();
/// Waits until the current task's children are complete.
void finish_children();
/// Waits until the thread's tasks since this number of tasks_so_far() are complete.
void finish_tasks(std::uint64_t since);
/// Waits until the task of the event is complete.
void finish_event(std::uint64_t event);
std::uint64_t tasks_so_far();

/// While it lives, the calling thread is in a task, whose children are a generation. At its end they are nobody's.
class Generation {
 public:
  Generation();
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;
};

}  // namespace sdsm::gomp
