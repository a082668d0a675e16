#pragma once

#include <optional>

#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

/// Runs the functions that were registered in this process.
void run_exit_functions() REQUIRES(application);

/// Makes the calling thread's later regions teams of one: the others work no more.
void leave_no_teams();

/// Called by the initial thread at its exit: runs the functions that other threads have registered before its own, as
/// they are mostly about younger objects. Returns the program's status, if one of them has ended it. Does nothing in
/// the midst of a region, where the others are busy.
std::optional<int> have_others_exit() REQUIRES(application) EXCLUDES(handling);

}  // namespace sdsm::dsm
