/// Locks that this process holds, for managers that ask. Any thread.
#pragma once

#include "models/ids.hpp"

namespace sdsm::dsm {

void set_held(LockId lock, bool is_held);
/// Whether this process holds the lock and has not begun to give it back.
bool holds_lock(LockId lock);

}  // namespace sdsm::dsm
