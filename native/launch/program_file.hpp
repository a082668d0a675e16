#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sdsm::program_start {

/// The program file called `name`: a path if it has a slash, else in PATH. Throws BadInput if none can run.
std::filesystem::path find_program(const std::string& name);

/// Throws BadInput, with advice, if the program cannot have our run-time: not x86-64 Linux, statically linked,
/// set-user-id, without OpenMP, with transactions, or built for libomp, as may be a library of it.
void check_program(const std::filesystem::path& program);

/// What to say of a program without a symbol table that has room for static arrays.
std::optional<std::string> unnamed_arrays_note(const std::filesystem::path& program);

}  // namespace sdsm::program_start
