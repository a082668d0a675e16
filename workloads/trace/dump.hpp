/// Prints a trace for people and for other programs. trace.hpp and docs/trace-format.md say what each field means.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>

#include "workloads/trace/reader.hpp"
#include "workloads/trace/uses.hpp"

namespace sdsm::trace {

/// Writes JSON lines: {"type": "header", ...}, {"type": "region", ...} for each region, then for each thread in turn
/// {"type": "interval", "thread": 0, ...} for each of its intervals. Memory is bounded by the largest interval's text.
/// Throws FormatError where the file is damaged (the lines before it are written), std::runtime_error if `out` fails.
void dump(const File& file, std::ostream& out);

/// Header, regions, totals by thread and together, events by kind, the file's size and its bytes per page touch (null
/// without touches). Reads the footer alone.
nlohmann::json info(const File& file);

/// The member "locks" of `sdsm trace info --json`.
nlohmann::json locks_json(const std::vector<LockUse>& uses);
/// The member "atomics".
nlohmann::json atomics_json(const std::vector<AtomicUse>& uses);

/// An object for each region, in their order.
nlohmann::json uses_json(const std::vector<RegionUse>& uses);

}  // namespace sdsm::trace
