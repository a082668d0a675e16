/// Names of a program's memory regions for people.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "models/program/regions.hpp"
#include "native/launch/elf_file.hpp"

namespace sdsm::program_start {

/// What a run-time knows of a region, beside its pages.
struct RegionFacts {
  RegionKind kind{};
  std::uint32_t owner = 0;  ///< of thread stacks
  std::uint32_t number =
      0;  ///< of heap blocks: in order of allocation, from 1; of thread stacks: 1 for the thread's variables
  std::uint64_t bytes = 0;    ///< asked for
  std::uint64_t address = 0;  ///< of static arrays: in the addresses of the program's or the library's file
  std::uint64_t caller = 0;   ///< of heap blocks: the instruction after the call, in the program file's addresses; or 0
  std::string library{};      ///< of variables that are not the program's own
};

class RegionNamer {
 public:
  /// Throws what ElfFile throws.
  explicit RegionNamer(const std::filesystem::path& program) : file_(program), program_(program.filename().string()) {}

  /// The region's name; empty if its kind is unknown.
  std::optional<std::string> name_of(const RegionFacts& region) const;

 private:
  ElfFile file_;
  std::string program_;
};

}  // namespace sdsm::program_start
