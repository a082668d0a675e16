/// Finds loops of the program that only wait for a store. They load by plain moves. All else that an iteration changes
/// is the same after each, or counts them, and decides neither what the loop loads nor when it ends. A thread in such a
/// loop has to see others' stores in their order.
#pragma once

#include <cstdint>

#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"

namespace sdsm::program {

/// An instruction at which control comes to such a loop, or that loads its variable shortly before.
struct Wait {
  static constexpr std::size_t most_exits = 4;

  std::uintptr_t address = 0;
  /// Length of the loop that begins there, if a single instruction loads what it waits for; else 0.
  std::uint32_t bytes = 0;
  std::uintptr_t load = 0;                ///< that instruction
  std::uintptr_t behind = 0;              ///< the next one, in the loop
  std::uintptr_t exits[most_exits] = {};  ///< where control goes when it ends; the rest are 0
};

/// Functions that such a loop may call: they change nothing of the program's, as sched_yield().
struct Pauses {
  static constexpr std::size_t most = 8;
  std::uintptr_t functions[most] = {};
  std::size_t count = 0;
  AddressRange file;  ///< the loaded file, in which the linker's stubs and their tables lie

  bool has(std::uintptr_t function) const;
};

/// Adds the places of a function.
void find_waits(const std::uint8_t* code, std::uint32_t bytes, const Pauses& pauses, GrowingArray<Wait>& found);

}  // namespace sdsm::program
