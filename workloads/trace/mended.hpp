/// Traces of programs with one thing mended, from which `sdsm simulate` tells what mending gains. Who touches what when
/// stays as traced, so the gain is right if the mended program does the same otherwise.
#pragma once

#include <cstdint>
#include <filesystem>

#include "workloads/trace/reader.hpp"

namespace sdsm::trace {

// Each writes `output` (trace::Writer) and returns how much was mended; if nothing, it writes nothing. Each reads the
// trace twice, and throws what its cursors and the writer throw.

/// Each page on which several threads write, no two of them the same line (RegionUse::written_apart), becomes a page
/// for each thread of the trace, thread t's at an index that is t modulo their number. What a thread reads of it
/// is its own part in intervals in which it writes the page, else all parts; so is what the initial thread does outside
/// of parallel regions. Pages of stacks, and of regions with atomic operations, stay. Returns the number of pages that
/// were divided.
std::uint64_t pad(const File& file, const std::filesystem::path& output);

/// A barrier of a whole team inside a region is left out if no thread touches after it, before the next that stays, a
/// page that another thread has written since the last that stays, or writes one that another has read; writes of
/// different lines do not meet. Returns the number of barriers that were left out, each counted once for the team.
std::uint64_t leave_out_barriers(const File& file, const std::filesystem::path& output);

/// No lock is taken (but for ordered regions) and no inline atomic operation done: the most that fewer of them can
/// gain. Returns how often one was.
std::uint64_t leave_out_locks(const File& file, const std::filesystem::path& output);

/// Between two barriers of a parallel region (fork and join included) all members compute equally long, together as
/// long as traced: each one's intervals all grow or shrink alike. Returns the number of such phases that were not
/// equal.
std::uint64_t balance(const File& file, const std::filesystem::path& output);

/// Pages of heap blocks and static arrays that the initial thread writes before the first parallel region, and threads
/// touch in parallel regions, are first written at that region's begin, before a barrier of its own, by the thread that
/// writes each most often there, or, if nobody does, reads it most often. Computing stays where it was. Returns the
/// number of pages that other threads than the initial one write first now; 0 also if the first region's team is not of
/// all threads.
std::uint64_t initialise_in_parallel(const File& file, const std::filesystem::path& output);

}  // namespace sdsm::trace
