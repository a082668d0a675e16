/// Inline atomic operations of a program. On a cluster whose memory is made in software each node has copies of pages:
/// an operation that is atomic on a node's copy is no more than a write, and two nodes' operations lose one another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sdsm::run_command {

struct AtomicPlace {
  std::uint64_t address = 0;  ///< in the file's own addresses
  std::string instruction;
  bool is_fence = false;  ///< orders memory and changes none
  std::string function;   ///< "" if the file's symbols do not tell
  std::string source;     ///< file:line, "" if unknown
};

/// All instructions of the program file with a lock prefix, exchanges with memory (which lock without one) and mfence,
/// in order of their addresses, without their sources. What comes with every program (start-up code, calls into
/// libraries) is left out. Throws std::system_error if the file cannot be read.
std::vector<AtomicPlace> find_atomics(const std::filesystem::path& program);

/// Fills in functions (as C++ names) and sources as addr2line tells them. False if there is no addr2line.
bool find_sources(const std::filesystem::path& program, std::vector<AtomicPlace>& places);

/// The places, ten at most, and what to do about them: several lines, the first of which begins with the program's
/// name.
std::string atomics_text(const std::filesystem::path& program, std::vector<AtomicPlace> places);

}  // namespace sdsm::run_command
