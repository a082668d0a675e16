/// The memory that a thread polls, by which a wait is known where neither its code nor its registers show it.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sdsm::program {

/// The number in memory, with or without a fraction, that an instruction loads, stores or compares.
struct Poll {
  std::uintptr_t address = 0;
  std::uint32_t bytes = 0;  ///< 1, 2, 4 or 8
};

/// Longest instruction, in bytes.
inline constexpr std::size_t longest_instruction = 15;

/// The poll of a thread with these registers, whose instruction pointer says where it is. `code`: the instruction's
/// bytes, of which `longest_instruction` may be read. Nothing for instructions by which no loop waits.
std::optional<Poll> poll_of(const std::uint8_t* code, const greg_t* registers);

}  // namespace sdsm::program
