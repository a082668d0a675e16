/// Locks that this process has, as far as its managers of locks ask. Any thread.
#pragma once

#include "models/ids.hpp"

namespace sdsm::dsm {

void set_held(LockId lock, bool is_held);
/// This process has it, and has not begun to give it back.
bool holds_lock(LockId lock);

}  // namespace sdsm::dsm
