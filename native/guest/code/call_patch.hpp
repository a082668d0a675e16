#pragma once

namespace sdsm::program {

/// Gives the program's calls into libraries an address table in private memory. Unless a program is linked with -z now,
/// the linker's table (.got.plt) shares a page with its first variables, and each call would count as a read of it.
void patch_calls();

}  // namespace sdsm::program
