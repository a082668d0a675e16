#pragma once

namespace sdsm::program {

/// Gives the program's calls into libraries a table of addresses of their own. The linker's table (.got.plt) shares a
/// page with the program's first variables unless the program was linked with -z now: each call of a library function
/// would count as a read of that page.
void patch_calls();

}  // namespace sdsm::program
