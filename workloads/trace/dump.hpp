/// Prints a trace for people and for other programs. trace.hpp and docs/trace-format.md say what each field means.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>

#include "workloads/trace/reader.hpp"
#include "workloads/trace/uses.hpp"

namespace sdsm::trace {

/// Writes JSON lines: {"type": "header", ...}, {"type": "region", ...} for each region, then for each thread in turn
/// {"type": "interval", "thread": 0, ...} for each of its intervals. Memory is bounded by the largest interval's text.
/// Throws FormatError if the file is damaged, after writing the lines before the damage; std::runtime_error if `out`
/// fails.
void dump(const File& file, std::ostream& out);

/// Returns the header, regions, totals by thread and together, events by kind, the file's size and its bytes per page
/// touch (null without touches). Reads only the footer.
nlohmann::json info(const File& file);

/// Returns the member "locks" of `sdsm trace info --json`.
nlohmann::json locks_json(const std::vector<LockUse>& uses);
/// Returns the member "atomics".
nlohmann::json atomics_json(const std::vector<AtomicUse>& uses);

/// Returns an object for each region, in their order.
nlohmann::json uses_json(const std::vector<RegionUse>& uses);

}  // namespace sdsm::trace
