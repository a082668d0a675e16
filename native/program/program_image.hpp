/// The program in memory: where its code and its variables are, and whose allocations are shared memory.
#pragma once

#include <link.h>

#include <cstdint>

#include "native/program/thread_safety.hpp"

namespace sdsm::program {

struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
};

struct ProgramImage {
  std::uintptr_t load_offset = 0;  ///< added to the file's addresses (position-independent programs)
  AddressRange whole;
  AddressRange code;
  AddressRange variables;    ///< whole pages of .data and .bss, without what is read-only after relocation
  AddressRange cxx_library;  ///< libstdc++, whose operator new allocates for the program

  /// Whether an allocation requested by code at `caller` is the program's.
  bool is_program(std::uintptr_t caller) const { return whole.holds(caller) || cxx_library.holds(caller); }
  /// 0 for an address outside of the program.
  std::uintptr_t file_address(std::uintptr_t address) const { return whole.holds(address) ? address - load_offset : 0; }
};
/// Return address of the function that uses it, which lies in its caller's code.
#define SDSM_CALLER reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

extern const ProgramImage& program_image;

/// From the first to the last address of a loaded file.
AddressRange whole_of(const dl_phdr_info& object);

/// Looks the addresses up in the dynamic linker's list. From here on the program's allocations are shared memory, so no
/// code of the program may run before heap::start().
void find_program_image() REQUIRES(starting);

}  // namespace sdsm::program
