#pragma once

#include <optional>

#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

/// What has been registered in this process.
void run_exit_functions() REQUIRES(application);

/// From here on, the calling thread's regions are teams of one: the others work no more.
void leave_no_teams();

/// The initial thread exits: the functions that other threads have registered run before its own, as they are mostly
/// about younger objects. The program's status, if one of them has ended it. Does nothing in the midst of a region,
/// where the others are busy.
std::optional<int> have_others_exit() REQUIRES(application) EXCLUDES(handling);

}  // namespace sdsm::dsm
