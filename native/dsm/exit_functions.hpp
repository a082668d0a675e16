#pragma once

#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

/// What has been registered in this process.
void run_exit_functions() REQUIRES(application);

/// From here on, the calling thread's regions are teams of one: the others work no more.
void leave_no_teams();

/// The initial thread exits: the functions that other threads have registered run before its own, as they are mostly
/// about younger objects. Does nothing in the midst of a region, where the others are busy.
void have_others_exit() REQUIRES(application) EXCLUDES(handling);

}  // namespace sdsm::dsm
