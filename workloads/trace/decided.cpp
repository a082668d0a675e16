#include "workloads/trace/decided.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

namespace sdsm::trace {
namespace {

/// A place at which threads take a lock, or operate on a variable.
struct Queue {
  std::pair<std::uint64_t, std::uint64_t> object;  ///< lock, or region and byte
  bool is_one = true;                              ///< it was always that object
  std::map<std::uint32_t, std::uint64_t> taken;    ///< by thread
  std::uint64_t compute_ns = 0;                    ///< between one time and the next of the same thread

  bool is_uneven(std::uint32_t threads) const {
    const auto differs = [&](const auto& one) { return one.second != taken.begin()->second; };
    return is_one && threads > 1 && (taken.size() < threads || std::any_of(taken.begin(), taken.end(), differs));
  }
};

enum class Work : std::uint8_t { plain, loop, task, single, queue };

/// What a thread's next interval is part of.
class State {
 public:
  Work work() const {
    if (in_loop_) return Work::loop;
    if (in_task_) return Work::task;
    if (in_single_) return Work::single;
    return queue_ != 0 ? Work::queue : Work::plain;
  }
  std::uint32_t queue() const { return queue_; }

  void pass(const Interval& interval) {
    const Event& event = interval.end;
    switch (event.kind) {
      case EventKind::loop_begin: in_loop_ = static_cast<Schedule>(event.detail) != Schedule::static_; break;
      case EventKind::loop_end: in_loop_ = false; break;
      case EventKind::task: in_task_ = true; break;
      case EventKind::single: in_single_ = event.detail == 1; break;
      case EventKind::acquire:
        if (static_cast<LockClass>(event.detail) != LockClass::ordered) take(interval.call_site);
        break;
      case EventKind::atomic: take(interval.call_site); break;
      case EventKind::fork:
      case EventKind::team_begin:
      case EventKind::join:
      case EventKind::barrier:
      case EventKind::copyprivate: *this = {}; break;
      default: break;
    }
  }

 private:
  void take(std::uint32_t call_site) {
    if (call_site != 0) queue_ = call_site;
  }
  bool in_loop_ = false;
  bool in_task_ = false;
  bool in_single_ = false;
  std::uint32_t queue_ = 0;  ///< call site
};

/// The object of a lock or an atomic operation; none for other events, and for ordered regions.
std::optional<std::pair<std::uint64_t, std::uint64_t>> taken_by(const Event& event) {
  const bool is_lock = event.kind == EventKind::acquire && static_cast<LockClass>(event.detail) != LockClass::ordered;
  if (is_lock) return std::pair{event.object, std::uint64_t{0}};
  if (event.kind == EventKind::atomic) return std::pair{event.object, event.value};
  return std::nullopt;
}

}  // namespace

Decided decided_when_traced(const File& file) {
  std::map<std::uint32_t, Queue> queues;
  std::uint64_t all_ns = 0, loops_ns = 0, tasks_ns = 0, singles_ns = 0, queues_ns = 0;
  const std::uint32_t threads = file.header().threads;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    State state;
    std::uint64_t behind_ns = 0;  // behind the last time at a queue
    ThreadCursor cursor = file.thread(thread);
    while (const Interval* interval = cursor.next()) {
      const std::uint64_t compute_ns = interval->compute_ns;
      all_ns += compute_ns;
      switch (state.work()) {
        case Work::plain: break;
        case Work::loop: loops_ns += compute_ns; break;
        case Work::task: tasks_ns += compute_ns; break;
        case Work::single: singles_ns += compute_ns; break;
        case Work::queue: behind_ns += compute_ns; break;
      }
      if (const auto object = taken_by(interval->end); object && interval->call_site != 0) {
        const auto [queue, is_new] = queues.try_emplace(interval->call_site, Queue{*object, true, {}, 0});
        // What follows the last time is no work that was taken.
        if (state.queue() == interval->call_site) queue->second.compute_ns += behind_ns;
        behind_ns = 0;
        queue->second.is_one &= queue->second.object == *object;
        ++queue->second.taken[thread];
      }
      state.pass(*interval);
      if (state.queue() == 0) behind_ns = 0;
    }
  }
  for (const auto& [call_site, queue] : queues) {
    if (queue.is_uneven(threads)) queues_ns += queue.compute_ns;
  }
  if (all_ns == 0) return {};
  const auto share = [&](std::uint64_t of_ns) { return static_cast<double>(of_ns) / static_cast<double>(all_ns); };
  return {share(loops_ns), share(tasks_ns), share(singles_ns), share(queues_ns)};
}

std::vector<std::pair<std::string, double>> Decided::notable() const {
  std::vector<std::pair<std::string, double>> found{
      {"dynamic loops", loops}, {"tasks", tasks}, {"singles", singles}, {"queues", queues}};
  std::erase_if(found, [](const auto& one) { return one.second < 0.01; });
  return found;
}

std::string note_of(const Decided& decided) {
  constexpr std::pair<double Decided::*, const char*> words[] = {
      {&Decided::loops, "loops whose threads take chunks as they come (dynamic, guided, sections)"},
      {&Decided::tasks, "tasks"},
      {&Decided::singles, "`single` regions, which the first thread executes"},
      {&Decided::queues, "work behind a lock or a counter that threads take as they come"}};
  std::vector<std::string> parts;
  for (const auto& [share, what] : words) {
    if (decided.*share >= 0.01) parts.push_back(fmt::format("{:.0f} % in {}", 100 * (decided.*share), what));
  }
  if (parts.empty()) return "";
  return fmt::format(
      "note: which thread does what was decided when it was traced for a part of the computing: {}. A cluster may "
      "share "
      "it out otherwise",
      fmt::join(parts, ", "));
}

}  // namespace sdsm::trace
