#include "workloads/trace/decided.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sdsm::trace {
namespace {

/// A place at which threads of teams take a lock, or operate on a variable.
struct TakingPlace {
  std::pair<std::uint64_t, std::uint64_t> object;  ///< lock, or region and byte
  bool is_one = true;                              ///< it was always that object
  std::map<std::uint32_t, std::uint64_t> taken;    ///< by thread

  /// Whether threads take work there: several take it, and not as often as each other. A loop that is shared out evenly
  /// may have one more turn in some.
  bool is_queue() const {
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [least, most] = std::minmax_element(taken.begin(), taken.end(), fewer);
    return is_one && taken.size() > 1 && most->second > least->second + 1;
  }
};

enum class Work : std::uint8_t { plain, loop, task, single };

/// What a thread's next interval is part of.
class State {
 public:
  explicit State(std::uint32_t thread) : is_initial_(thread == 0) {}

  bool in_team() const { return !is_initial_ || teams_ > 0; }
  Work work() const {
    if (in_loop_) return Work::loop;
    if (in_task_) return Work::task;
    return in_single_ ? Work::single : Work::plain;
  }

  /// Returns whether threads met at the event.
  bool pass(const Event& event) {
    switch (event.kind) {
      case EventKind::loop_begin: in_loop_ = static_cast<Schedule>(event.detail) != Schedule::static_; return false;
      case EventKind::loop_end: in_loop_ = false; return false;
      case EventKind::task: in_task_ = true; return false;
      case EventKind::single: in_single_ = event.detail == 1; return false;
      case EventKind::fork: ++teams_; break;
      case EventKind::join: teams_ -= teams_ > 0 ? 1 : 0; break;
      case EventKind::team_begin:
      case EventKind::barrier:
      case EventKind::copyprivate: break;
      default: return false;
    }
    in_loop_ = in_task_ = in_single_ = false;
    return true;
  }

 private:
  bool is_initial_;
  std::uint32_t teams_ = 0;
  bool in_loop_ = false;
  bool in_task_ = false;
  bool in_single_ = false;
};

/// The object of a lock or an atomic operation; none for other events, and for ordered regions.
std::optional<std::pair<std::uint64_t, std::uint64_t>> taken_by(const Event& event) {
  const bool is_lock = event.kind == EventKind::acquire && static_cast<LockClass>(event.detail) != LockClass::ordered;
  if (is_lock) return std::pair{event.object, std::uint64_t{0}};
  if (event.kind == EventKind::atomic) return std::pair{event.object, event.value};
  return std::nullopt;
}

/// Calls visit(thread, state, interval) for each interval; the state is that before its event.
template <typename Visit>
void visit_intervals(const File& file, Visit visit) {
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    State state(thread);
    ThreadCursor cursor = file.thread(thread);
    while (const Interval* interval = cursor.next()) visit(thread, state, *interval);
  }
}

/// Call sites of queues of work.
std::set<std::uint32_t> queues_of(const File& file) {
  std::map<std::uint32_t, TakingPlace> places;
  visit_intervals(file, [&](std::uint32_t thread, State& state, const Interval& interval) {
    const auto object = taken_by(interval.end);
    if (object && interval.call_site != 0 && state.in_team()) {
      TakingPlace& place = places.try_emplace(interval.call_site, TakingPlace{*object, true, {}}).first->second;
      place.is_one &= place.object == *object;
      ++place.taken[thread];
    }
    state.pass(interval.end);
  });
  std::set<std::uint32_t> queues;
  for (const auto& [call_site, place] : places) {
    if (place.is_queue()) queues.insert(call_site);
  }
  return queues;
}

}  // namespace

Decided decided_when_traced(const File& file) {
  const std::set<std::uint32_t> queues = queues_of(file);
  std::uint64_t all_ns = 0, loops_ns = 0, tasks_ns = 0, singles_ns = 0, queues_ns = 0;
  std::uint64_t behind_ns = 0;            // plain work since the thread's last time at a queue
  std::set<std::uint32_t> visited;        // queues that the thread has come to since threads met
  std::optional<std::uint32_t> previous;  // thread
  visit_intervals(file, [&](std::uint32_t thread, State& state, const Interval& interval) {
    if (previous != thread) visited.clear();
    previous = thread;
    const std::uint64_t compute_ns = interval.compute_ns;
    all_ns += compute_ns;
    switch (state.work()) {
      case Work::plain: behind_ns += visited.empty() ? 0 : compute_ns; break;
      case Work::loop: loops_ns += compute_ns; break;
      case Work::task: tasks_ns += compute_ns; break;
      case Work::single: singles_ns += compute_ns; break;
    }
    if (state.in_team() && queues.contains(interval.call_site) && taken_by(interval.end)) {
      // What follows the last time is no work that was taken.
      if (!visited.insert(interval.call_site).second) queues_ns += std::exchange(behind_ns, 0);
      if (visited.size() == 1) behind_ns = 0;
    }
    if (!state.pass(interval.end)) return;
    visited.clear();
    behind_ns = 0;
  });
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
