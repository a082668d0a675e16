/// How much memory a simulation may take, so that a trace that touches more pages than fit ends before they are
/// allocated.
#pragma once

#include <iosfwd>

#include "models/ids.hpp"
#include "models/units.hpp"
#include "workloads/trace/reader.hpp"

namespace sdsm::sim {

/// What --max-memory is unless given: half of the memory that is free now, or half of the container's limit if that is
/// less.
Bytes default_memory_limit();

/// The same, of the text of /proc/meminfo and of a container's memory.max (cgroups, version 2: bytes, or "max").
Bytes memory_limit_from(std::istream& meminfo, std::istream& container);

/// Throws BadInput if the tables of the trace's touched pages may need more than `limit` on the layout's nodes. Reads
/// the trace only if its regions could.
void check_memory(const trace::File& file, const Layout& layout, Bytes limit);

}  // namespace sdsm::sim
