#include "workloads/trace/trace.hpp"

#include <algorithm>
#include <iterator>

namespace sdsm::trace {

std::string unpredicted_clocks(const Header& header) {
  // Older traces have these; newer ones have events of all but the last.
  constexpr std::string_view names[] = {"clock_gettime", "gettimeofday", "timespec_get", "time", "clock", "rdtsc"};
  std::string found;
  for (const UnseenCall& unseen : header.unseen) {
    if (std::find(std::begin(names), std::end(names), unseen.call) == std::end(names)) continue;
    if (!found.empty()) found += ", ";
    found += unseen.call;
  }
  return found;
}

}  // namespace sdsm::trace
