/// Reports words of four bytes that two nodes changed at once, and that the home cannot merge byte by byte.
#pragma once

#include <cstdint>

#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

/// Reads the program's code. To be called before take_over_locked_instructions().
void find_short_stores() REQUIRES(starting);

/// Reports that the later change of the word at `address` was kept whole, which undid bytes of the earlier. Under
/// --atomics lock, which orders no plain stores, this ends the run, unless the program's code says that no shorter
/// variable can lie there. Else it warns, once.
void report_torn_word(std::uint64_t address) REQUIRES(handling);

}  // namespace sdsm::dsm
