/// How commands write their files, and which exit status an error of the system is worth.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace sdsm::commands {

/// What is wrong with the name of a file, or nothing: a script's variable that is not set must not pass for an option
/// that is not given.
inline std::string name_problem(const std::string& name) {
  return name.empty() ? "the name is empty" : "";
}

/// The file that is meant by `path`: where a link leads, whether or not there is something yet, so that the link stays.
/// Throws std::system_error if links lead in a circle.
std::filesystem::path output_target(const std::filesystem::path& path);

/// Throws std::invalid_argument or std::system_error if a file cannot be written at `where` for a reason that can be
/// told before a run: it is a folder, lies in none or in one that cannot be written to, or one of the `inputs` (under
/// whatever name, those that do not exist aside) would be lost by it. Nothing is wrong with "" (not wanted) and "-"
/// (stdout).
void check_output(const std::string& where, const std::vector<std::filesystem::path>& inputs = {});

/// The same for several outputs of one command, of which no two may be one file, or both stdout.
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::filesystem::path>& inputs = {});

/// The same for a trace, which needs a regular file of its own: neither a device, nor "", nor "-".
void check_trace_output(const std::string& where, const std::vector<std::filesystem::path>& inputs = {});

/// Whether what is written for this target is made beside it and takes its place: a regular file, or none yet. Devices
/// and pipes are written to as they are.
bool is_replaced(const std::filesystem::path& target);

/// Under which name an output is written until it is whole, and takes the name `target`.
std::filesystem::path part_of(const std::filesystem::path& target);

/// Writes text to a file, or to stdout for "-" (whose errors the caller looks for at its end). A regular file is
/// written whole or not at all; devices and pipes are written to. Throws what check_output throws, and
/// std::system_error.
void write_output(std::string_view text, const std::string& where);

/// Whether the user can put it right by naming another file (exit status 2); else the run itself failed (1), as with a
/// full disk.
bool is_bad_input(const std::error_code& error);

}  // namespace sdsm::commands
