/// A command's standard streams, which may be closed or full, and the only functions that write on stderr.
#pragma once

#include <string_view>

namespace sdsm::commands {

/// Opens /dev/null for closed descriptors among 0 to 2, so that no file of the command gets their numbers. Their use
/// still fails: 0 is open for writing only, 1 and 2 for reading only. Must be called before anything is opened. Ends
/// the process with status 1 if there is no /dev/null.
void open_closed_streams();

/// Writes text to stderr unchanged. Text that cannot be written is lost: a message may neither change a command's
/// status nor cost its results.
void tell(std::string_view text) noexcept;

/// Writes the line "sdsm: <text>" by tell().
void say(std::string_view text);

}  // namespace sdsm::commands
