/// Checks and writes the files of commands.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace sdsm::commands {

/// Returns the file that `path` means: the target of a link, even if it does not exist yet, so that writing keeps the
/// link. Throws std::system_error if links form a circle.
std::filesystem::path output_target(const std::filesystem::path& path);

/// Checks before a run whether `where` can be written; "" (not wanted) and "-" (stdout) can. Throws BadInput or
/// std::system_error if it is a folder or one of the `inputs`, under any name, or its folder is missing or read-only.
void check_output(const std::string& where, const std::vector<std::filesystem::path>& inputs = {});

/// Checks several outputs of one command. No two may be the same file, or both stdout.
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::filesystem::path>& inputs = {});

/// Checks the output of a trace, which needs a regular file of its own: neither a device, nor "", nor "-".
void check_trace_output(const std::string& where, const std::vector<std::filesystem::path>& inputs = {});

/// Whether output for this target is written beside it and then renamed: true for a regular or a new file. Devices and
/// pipes are written to directly.
bool is_replaced(const std::filesystem::path& target);

/// Returns the name of a trace until it is complete and gets the name `target`.
std::filesystem::path part_of(const std::filesystem::path& target);

/// Writes text to a file, or to stdout for "-" (the caller checks stdout's errors at its end). A regular file is
/// written whole or not at all. Throws what check_output throws, and std::system_error.
void write_output(std::string_view text, const std::string& where);
/// Writes what `write` writes, piece by piece.
void write_output(const std::function<void(std::ostream&)>& write, const std::string& where);

}  // namespace sdsm::commands
