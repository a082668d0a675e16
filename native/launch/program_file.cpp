#include "native/launch/program_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "commands/errors.hpp"
#include "native/launch/elf_file.hpp"
#include "native/launch/program_start.hpp"

namespace sdsm::program_start {

using namespace commands;

namespace {

bool is_executable_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::filesystem::path search_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path candidate = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (is_executable_file(candidate)) return candidate;
  }
  throw BadInput(fmt::format("{}: no such program in PATH. Give its path, such as ./{}.", name, name));
}

/// LD_PRELOAD has no effect on programs that run with other rights than their caller's.
bool has_own_rights(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  if ((status.st_mode & (S_ISUID | S_ISGID)) != 0) return true;
  return getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

/// What the dynamic linker would load for the program, a library in each line. It lists them and starts nothing.
std::string loaded_libraries(const std::filesystem::path& program, const std::string& interpreter) {
  // A name without a slash would be searched where libraries are.
  return output_of({interpreter, "--list", std::filesystem::absolute(program).string()}, true);
}

bool uses(const ElfFile& file, const char* prefix) {
  const std::vector<std::string> symbols = file.undefined_symbols();
  return std::any_of(symbols.begin(), symbols.end(), [&](const std::string& name) { return name.starts_with(prefix); });
}

constexpr const char* calls_of_libomp = "__kmpc_";

/// The first library that calls libomp, of a list as `loaded_libraries` makes it. Empty: none does.
std::string library_for_libomp(const std::string& list) {
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    // "name => path (address)", or "path (address)" where the program names a path.
    const std::size_t arrow = line.find("=> ");
    const std::size_t begin = line.find('/', arrow == std::string::npos ? 0 : arrow);
    const std::size_t end = line.rfind(" (");
    if (begin == std::string::npos || end == std::string::npos || end < begin) continue;
    const std::string path = line.substr(begin, end - begin);
    if (uses(ElfFile(path), calls_of_libomp)) return std::filesystem::path(path).lexically_normal();
  }
  return {};
}

}  // namespace

std::filesystem::path find_program(const std::string& name) {
  if (name.empty()) throw BadInput("the program's name is empty. Give a program after --.");
  if (name.find('/') == std::string::npos) return search_path(name);
  struct stat status {};
  if (stat(name.c_str(), &status) != 0) {
    throw BadInput(
        fmt::format("{}: the program cannot be found ({}). Give its path after --", name, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) throw BadInput(fmt::format("{}: a folder, not a program", name));
  if (!is_executable_file(name)) {
    throw BadInput(fmt::format("{}: not executable. Is it the program, and may you run it (chmod +x)?", name));
  }
  return name;
}

void check_program(const std::filesystem::path& program) {
  const auto refuse = [&](const std::string& why) { throw BadInput(fmt::format("{}: {}", program.string(), why)); };
  if (access(program.c_str(), R_OK) != 0) refuse("the file cannot be read, so it cannot be checked for OpenMP");
  const ElfFile file(program);
  if (file.is_script()) refuse("a script, not a program. Give the program that it starts.");
  if (!file.is_elf()) refuse("not a program for Linux");
  if (!file.is_x86_64_program()) refuse("not an x86-64 program, and other kinds are not supported");
  const std::string interpreter = file.interpreter();
  if (interpreter.empty()) {
    refuse("statically linked, so its OpenMP run-time cannot be replaced. Link it without -static.");
  }
  if (has_own_rights(program)) {
    refuse("runs with rights of its own (set-user-id or capabilities), so nothing can be loaded into it. Give a copy.");
  }
  const char* const known = "gcc -fopenmp: only libgomp's calls are known.";
  if (uses(file, calls_of_libomp)) {
    refuse(fmt::format("built for libomp (clang, or Intel's compiler). Build it with {}", known));
  }
  const std::string libraries = loaded_libraries(program, interpreter);
  if (uses(file, "_ITM_beginTransaction") || libraries.find("libitm.so") != std::string::npos) {
    refuse(
        "has transactions (gcc -fgnu-tm), or a library with them: what runs them keeps its locks and versions in each "
        "process. Use critical sections, locks or atomic operations.");
  }
  if (uses(file, "GOMP_")) return;
  if (libraries.find("libgomp.so") != std::string::npos) return;
  if (const std::string library = library_for_libomp(libraries); !library.empty()) {
    refuse(
        fmt::format("{}, which it needs, is built for libomp (clang, or Intel's compiler). Build that library with {}",
                    library, known));
  }
  if (uses(file, "omp_")) return;
  refuse("does not use OpenMP, nor does a library linked to it. Build it with gcc, g++ or gfortran -fopenmp.");
}

std::optional<std::string> unnamed_arrays_note(const std::filesystem::path& program) {
  constexpr std::uint64_t few_bytes = 64 * 1024;
  const std::uint64_t bytes = ElfFile(program).unnamed_variable_bytes();
  if (bytes <= few_bytes) return std::nullopt;
  return fmt::format(
      "note: {} has no symbol table, so nobody can tell its static arrays apart: --placement leaves its {} KiB of "
      "variables with process 0. To have arrays placed, do not strip the program",
      program.string(), bytes / 1024);
}

}  // namespace sdsm::program_start
