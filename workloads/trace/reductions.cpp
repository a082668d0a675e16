#include "workloads/trace/reductions.hpp"

#include <map>
#include <optional>
#include <utility>

namespace sdsm::trace {
namespace {

/// Region and byte of the variable.
using Place = std::pair<std::uint64_t, std::uint64_t>;

struct Part {
  std::uint32_t thread = 0;
  std::uint64_t interval = 0;
};
/// The members' operations at the end of a parallel region.
struct AtEnd {
  std::uint64_t team = 0;
  Place place;
  bool is_alike = true;
  std::vector<Part> parts;
};
using Ends = std::map<std::uint64_t, AtEnd>;

/// Adds the thread's parts: an operation just before a join, the thread's only one on that place in the region.
void add_parts(const File& file, std::uint32_t thread, Ends& ends) {
  ThreadCursor cursor = file.thread(thread);
  std::map<Place, std::uint64_t> operations;  // so far in the region
  std::optional<Place> last;                  // place of the operation that ended the last interval, if one did
  std::uint64_t number = 0;
  for (const Interval* interval; (interval = cursor.next()) != nullptr; ++number) {
    const Event& event = interval->end;
    const bool is_region = event.value > 1;
    if ((event.kind == EventKind::fork && is_region) || event.kind == EventKind::team_begin) operations.clear();
    if (event.kind == EventKind::join && is_region && last && operations[*last] == 1 && interval->touches.empty() &&
        interval->compute_ns <= most_after_reduction_ns) {
      AtEnd& end = ends[event.object];
      if (end.parts.empty()) {
        end.team = event.value;
        end.place = *last;
      }
      end.is_alike &= end.place == *last;
      end.parts.push_back({thread, number - 1});
    }
    last.reset();
    if (event.kind != EventKind::atomic) continue;
    last = {event.object, event.value};
    ++operations[*last];
  }
}

}  // namespace

Reductions find_reductions(const File& file) {
  Reductions found;
  const std::uint32_t threads = file.header().threads;
  found.parts.resize(threads);
  if (count_of(file, EventKind::atomic) == 0) return found;
  Ends ends;
  for (std::uint32_t thread = 0; thread < threads; ++thread) add_parts(file, thread, ends);
  for (const auto& [region, end] : ends) {
    if (!end.is_alike || end.parts.size() != end.team) continue;
    ++found.count;
    for (const Part& part : end.parts) {
      found.parts[part.thread].push_back({part.interval, static_cast<std::uint32_t>(end.team)});
    }
  }
  return found;
}

}  // namespace sdsm::trace
