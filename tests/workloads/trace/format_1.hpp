/// Writes format 1, which only tests still do: to compare sizes, and to damage.
#pragma once

#include "tests/workloads/trace/forge.hpp"
#include "tests/workloads/trace/samples.hpp"

namespace sdsm::trace {

/// Returns the part of `trace` that format 1 can hold: no lines, sites, teams, unseen calls, sources of clocks.
Trace as_format_1(Trace trace);

/// The file as the last writer of format 1 wrote it, but for the order of different threads' blocks.
FileBytes write_format_1(const Trace& trace);

}  // namespace sdsm::trace
