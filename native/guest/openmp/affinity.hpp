/// What omp_display_affinity prints of a thread.
#pragma once

namespace sdsm::gomp {

/// Whether OMP_DISPLAY_AFFINITY asks for it at the start of teams.
bool shows_affinity();
/// Prints the calling thread's line on stderr, by the format that it has.
void show_affinity();

}  // namespace sdsm::gomp
