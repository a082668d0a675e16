#include "native/launch/trace/structure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/errors.hpp"

namespace sdsm::trace_command {

using namespace commands;

namespace {

constexpr const char* advice =
    "A program can be traced only if it does the same in each run: fix its random seed, let nothing depend on the time "
    "of day, on addresses, on what stdout and stderr are (/dev/null and a file in all passes but the last) or on files "
    "that it changes (`--before 'rm -f FILE'` removes one before each pass).";

std::string place(unsigned pass, std::uint32_t thread, std::uint64_t interval) {
  return fmt::format("pass {} differs from pass 1: thread {}, interval {}", pass, thread, interval);
}

}  // namespace

std::string describe(const Event& event) {
  const std::string name(name_of(event.kind));
  switch (event.kind) {
    case EventKind::fork:
    case EventKind::team_begin:
    case EventKind::join: return fmt::format("{} of region {} with {} threads", name, event.object, event.value);
    case EventKind::barrier:
      return fmt::format("{} of {} threads{}", name, event.value, event.team != 0 ? " of a gang" : "");
    case EventKind::acquire:
    case EventKind::release:
      return fmt::format("{} of {} {}", name, name_of(static_cast<LockClass>(event.detail)), event.object);
    case EventKind::loop_begin:
    case EventKind::chunk: return fmt::format("{} of {} iterations in construct {}", name, event.value, event.object);
    case EventKind::post:
    case EventKind::wait: return fmt::format("{} of {} at flag {:#x}", name, event.value, event.object);
    case EventKind::take:
    case EventKind::give:
      return fmt::format("{} of {} {}", name, name_of(static_cast<ObjectClass>(event.detail)), event.object);
    case EventKind::meet: return fmt::format("{} at barrier {}", name, event.object);
    case EventKind::spin: return "a wait for what another thread stores";
    case EventKind::atomic: return fmt::format("{} operation on byte {} of region {}", name, event.value, event.object);
    case EventKind::single:
    case EventKind::copyprivate:
    case EventKind::loop_end: return fmt::format("{} of construct {}", name, event.object);
    case EventKind::flush:
    case EventKind::fence:
    case EventKind::task:
    case EventKind::clock:
    case EventKind::end: break;
  }
  return name;
}

bool is_decided_later(const Event& event) {
  return event.kind == EventKind::spin || has_turn(event);
}

void Structure::add(std::uint32_t thread, const Event& event, std::uint64_t compute_ns) {
  if (thread >= threads_.size()) threads_.resize(thread + std::size_t{1});
  auto& steps = threads_[thread];
  // A thread that waits for its turn comes to no further event before it has it, and nobody has it meanwhile.
  if (!steps.empty() && has_turn(steps.back().event)) steps.back().event.value = ++turns_;
  steps.push_back({event, compute_ns});
}

void Structure::woken(std::uint32_t thread, std::uint32_t by, std::uint64_t events) {
  Event& spin = threads_.at(thread).back().event;
  spin.object = by;
  spin.value = events;
}

void Structure::cut(std::uint32_t thread) {
  threads_.at(thread).back().event = {.kind = EventKind::end};
}

std::vector<program_start::TasksRun> Structure::tasks() const {
  std::vector<program_start::TasksRun> threads;
  for (const auto& steps : threads_) {
    program_start::TasksRun tasks;
    Event begin{.value = 1};
    for (const Step& step : steps) {
      const EventKind kind = step.event.kind;
      if (kind == EventKind::fork || kind == EventKind::team_begin) begin = step.event;
      if (kind != EventKind::task || begin.value == 1) continue;
      ++tasks.count;
      tasks.regions |= std::uint64_t{1} << begin.object % 64;
    }
    threads.push_back(tasks);
  }
  return threads;
}

std::uint64_t Structure::count_of(EventKind kind) const {
  std::uint64_t count = 0;
  for (const auto& steps : threads_) {
    count += static_cast<std::uint64_t>(
        std::count_if(steps.begin(), steps.end(), [=](const Step& step) { return step.event.kind == kind; }));
  }
  return count;
}

std::uint64_t Structure::intervals(std::uint32_t thread) const {
  return threads_.at(thread).size();
}

const Event& Structure::event(std::uint32_t thread, std::uint64_t interval) const {
  return threads_.at(thread).at(interval).event;
}

std::uint64_t Structure::least_compute_ns(std::uint32_t thread, std::uint64_t interval) const {
  return threads_.at(thread).at(interval).least_compute_ns;
}

void Structure::compare(unsigned pass, std::uint32_t thread, std::uint64_t interval, const Event& event) {
  if (thread >= threads_.size()) {
    throw RunError(fmt::format("pass {} differs from pass 1: there was no thread {}. {}", pass, thread, advice));
  }
  const auto& steps = threads_[thread];
  if (interval >= steps.size()) {
    throw RunError(fmt::format("{} ends with {}, but the thread had only {} intervals. {}",
                               place(pass, thread, interval), describe(event), steps.size(), advice));
  }
  const Event& first = steps[interval].event;
  // A thread that was cut short still shows what it waited for.
  const bool was_cut = first.kind == EventKind::end && interval + 1 == steps.size();
  if (first == event || was_cut ||
      (is_decided_later(first) && first.kind == event.kind && first.detail == event.detail))
    return;
  throw RunError(fmt::format("{} ends with {} instead of {}. {}", place(pass, thread, interval), describe(event),
                             describe(first), advice));
}

void Structure::add_time(std::uint32_t thread, std::uint64_t interval, std::uint64_t compute_ns) {
  std::uint64_t& least = threads_[thread][interval].least_compute_ns;
  least = std::min(least, compute_ns);
}

void Structure::compare_count(unsigned pass, std::uint32_t thread, std::uint64_t interval) const {
  if (thread >= threads_.size() || interval == threads_[thread].size()) return;
  throw RunError(fmt::format("{} is missing: the thread ended after {} of {} intervals. {}",
                             place(pass, thread, interval), interval, threads_[thread].size(), advice));
}

}  // namespace sdsm::trace_command
