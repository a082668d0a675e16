/// A trace numbers regions in the order in which the tracer met them; page figures and orders use a run's numbers
/// (models/program/regions.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

/// Returns a run's numbers of a trace's regions, in the trace's order.
std::vector<std::uint32_t> running_regions(const std::vector<Region>& regions, std::uint32_t processes);

/// Returns the name of a region that exists from the start.
std::string fixed_region_name(std::uint32_t number);

}  // namespace sdsm::trace
