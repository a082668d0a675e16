#pragma once

#include <filesystem>
#include <string>

namespace sdsm::program_start {

/// The file that `name` stands for: a path if it has a slash, else searched in PATH. Throws UsageError if there is none
/// that can be executed.
std::filesystem::path find_program(const std::string& name);

/// Throws UsageError, with what to do about it, if no run-time can be put into the program: no x86-64 program for
/// Linux, statically linked, set-user-id, built for another OpenMP run-time than libgomp, or without OpenMP.
void check_program(const std::filesystem::path& program);

}  // namespace sdsm::program_start
