#include "sim/baselines.hpp"

#include <algorithm>

#include "sim/network.hpp"

namespace sdsm::sim {

Time IdleNetwork::time(NodeId from, NodeId to, Bytes payload) {
  if (from == to) return {};
  const Bytes bytes = costs_.on_wire(payload);
  // A payload is a few pages at most, and there are at most 65536 nodes.
  const std::uint64_t key =
      (std::uint64_t{index_of(from)} << 16 | index_of(to)) << 32 | static_cast<std::uint32_t>(bytes.count);
  const auto [known, is_new] = known_.try_emplace(key);
  if (is_new) {
    std::vector<LinkSpec> route;
    for (const std::uint32_t link : topology_.route(from, to)) route.push_back(topology_.link(link).spec);
    known->second = idle_time(model_, route, costs_.costs().framing, bytes);
  }
  return known->second;
}

Baselines BaselineWindow::between(const std::vector<Uncontended>& last) const {
  const std::vector<Uncontended>& end = end_.empty() ? last : end_;
  Baselines found;
  for (std::size_t thread = 0; thread < end.size(); ++thread) {
    const Uncontended begin = begin_.empty() ? Uncontended{} : begin_[thread];
    found.counts = std::max(found.counts, end[thread].alone - begin.alone);
    const bool is_ahead = end_.empty() || thread == 0;
    const Time path_begin = begin_.empty() ? Time{} : begin_[0].path;
    if (is_ahead) found.critical_path = std::max(found.critical_path, end[thread].path - path_begin);
  }
  return found;
}

}  // namespace sdsm::sim
