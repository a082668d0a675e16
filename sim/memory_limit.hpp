/// Limits the memory of a simulation: a trace that touches too many pages is refused before they are allocated.
#pragma once

#include <iosfwd>

#include "models/ids.hpp"
#include "models/units.hpp"
#include "workloads/trace/reader.hpp"

namespace sdsm::sim {

/// Default of --max-memory: half of the free memory, or half of the container's limit if that is less.
Bytes default_memory_limit();

/// Computes the same from the texts of /proc/meminfo and of a container's memory.max (cgroups 2: bytes, or "max").
Bytes memory_limit_from(std::istream& meminfo, std::istream& container);

/// Throws BadInput if the tables of the trace's touched pages may need more than `limit` on the layout's nodes. Reads
/// the trace only if its regions are large enough for that.
void check_memory(const trace::File& file, const Layout& layout, Bytes limit);

}  // namespace sdsm::sim
