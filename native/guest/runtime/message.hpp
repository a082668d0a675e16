/// Lines on stderr without the C library's formatted output: its locks and buffers belong to the program.
#pragma once

#include <initializer_list>

namespace sdsm::gomp {

/// Writes "sdsm: <parts>\n" to stderr in one piece (cut at 1 KiB). Safe in a signal handler.
void message(std::initializer_list<const char*> parts);

}  // namespace sdsm::gomp
