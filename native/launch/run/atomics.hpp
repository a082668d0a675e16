/// Inline atomic operations of a program. Each node has its own copy of a page: an operation that is atomic on one copy
/// is a plain write for the other nodes, so one node's update overwrites another's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "models/protocol/registry.hpp"

namespace sdsm::run_command {

struct AtomicPlace {
  std::uint64_t address = 0;  ///< in the file's own addresses
  std::string instruction;
  bool is_fence = false;  ///< orders memory and changes none
  std::string function;   ///< "" if no symbol names it
  std::string source;     ///< file:line, "" if unknown
};

/// All instructions of the program file with a lock prefix, exchanges with memory (which lock without one) and mfence,
/// by ascending address, without sources. Leaves out what comes with every program (start-up code, calls into
/// libraries). Throws std::system_error if the file cannot be read.
std::vector<AtomicPlace> find_atomics(const std::filesystem::path& program);

/// Fills in functions (as C++ names) and sources from addr2line. False if there is no addr2line.
bool find_sources(const std::filesystem::path& program, std::vector<AtomicPlace>& places);

/// Ten places at most, and what to do about them, in several lines. The first begins with the program's name.
std::string atomics_text(const std::filesystem::path& program, std::vector<AtomicPlace> places,
                         ProtocolKind protocol = default_protocol);

}  // namespace sdsm::run_command
