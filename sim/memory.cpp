#include "sim/memory.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "sim/cluster.hpp"

namespace sdsm::sim {

#define SDSM_PROTOCOL_ROOM(name, why_not_run, meaning) std::unique_ptr<Room> make_##name##_room(Cluster& cluster);
SDSM_PROTOCOLS(SDSM_PROTOCOL_ROOM)
#undef SDSM_PROTOCOL_ROOM

void Memory::gang_barrier(std::uint32_t /*gang*/, std::uint32_t size) {
  throw std::invalid_argument(fmt::format(
      "the trace has a barrier of a gang, of {} threads, which this protocol's simulation has not. Simulate with "
      "--protocol scash",
      size));
}

std::unique_ptr<Room> make_room(Cluster& cluster) {
  switch (cluster.options.protocol) {
#define SDSM_PROTOCOL_CASE(name, why_not_run, meaning) \
  case ProtocolKind::name: return make_##name##_room(cluster);
    SDSM_PROTOCOLS(SDSM_PROTOCOL_CASE)
#undef SDSM_PROTOCOL_CASE
  }
  return nullptr;
}

}  // namespace sdsm::sim
