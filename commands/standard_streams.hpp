/// A command's standard streams: what holds when they are closed or full, and the one way to speak on stderr.
#pragma once

#include <string_view>

namespace sdsm::commands {

/// Opens /dev/null in place of those of descriptors 0 to 2 that are closed, so that no file which the command opens
/// takes their numbers. What uses them fails as before: 0 is open for writing only, 1 and 2 for reading only. To be
/// called before anything is opened; ends the process with status 1 if there is no /dev/null.
void open_closed_streams();

/// Writes text to stderr as it is. What cannot be written there, for whatever reason, is lost: nothing that is said may
/// change a command's status or cost its results.
void tell(std::string_view text) noexcept;

/// tell() of the line "sdsm: <text>".
void say(std::string_view text);

}  // namespace sdsm::commands
