/// The program and its shared libraries in memory: their code, their variables, and whose allocations are shared.
#pragma once

#include <link.h>

#include <cstdint>

#include "native/guest/runtime/raw_memory.hpp"
#include "native/guest/runtime/thread_safety.hpp"

/// This library's first byte, and what is behind it; the linker defines them.
extern "C" [[gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;
extern "C" [[gnu::visibility("hidden")]] const char _end;

namespace sdsm::program {

struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
};

/// A loaded file.
struct ObjectImage {
  std::uintptr_t load_offset = 0;  ///< added to the file's addresses (position-independent programs)
  AddressRange whole;
  AddressRange code;
  AddressRange variables;  ///< whole pages of .data and .bss, without what is read-only after relocation
  std::uintptr_t file_end =
      0;  ///< behind the last page of variables with contents from the file: others begin as zeros
  const ElfW(Dyn) * dynamic = nullptr;
  const char* path = "";
  const char* name = "";  ///< of a library, without folders
};

struct ProgramImage {
  ObjectImage program;
  GrowingArray<ObjectImage> libraries;  ///< the program's own that were linked to it
  AddressRange cxx_library;             ///< the part of libstdc++ that allocates for the program: at first operator new
  AddressRange whole_cxx_library;
  AddressRange whole_fortran_library;
  AddressRange whole_c_library;

  /// Whether an allocation requested by code at `caller` is the program's.
  bool is_program(std::uintptr_t caller) const { return is_own_code(caller) || cxx_library.holds(caller); }
  /// Whether the address is in the program's file or in one of its own libraries.
  bool is_own_code(std::uintptr_t address) const {
    if (program.whole.holds(address)) return true;
    for (const ObjectImage& library : libraries) {
      if (library.whole.holds(address)) return true;
    }
    return false;
  }
  /// The variables of the object that has one at `address`; empty if none has.
  AddressRange variables_at(std::uintptr_t address) const {
    const ObjectImage* const object = object_of_variable(address);
    return object != nullptr ? object->variables : AddressRange{};
  }
  /// The object that has a variable at `address`; null if none has.
  const ObjectImage* object_of_variable(std::uintptr_t address) const {
    if (program.variables.holds(address)) return &program;
    for (const ObjectImage& library : libraries) {
      if (library.variables.holds(address)) return &library;
    }
    return nullptr;
  }
  /// The address in the variable's file; 0 if no object has a variable at `address`.
  std::uintptr_t variable_address(std::uintptr_t address) const {
    const ObjectImage* const object = object_of_variable(address);
    return object != nullptr ? address - object->load_offset : 0;
  }
  /// The library that has a variable at `address`; empty if none has.
  const char* library_of_variable(std::uintptr_t address) const {
    const ObjectImage* const object = object_of_variable(address);
    return object != nullptr ? object->name : "";
  }
  /// The address in the program's own file; 0 outside of it.
  std::uintptr_t file_address(std::uintptr_t address) const {
    return program.whole.holds(address) ? address - program.load_offset : 0;
  }
};
/// Return address of the function that uses this macro, which lies in its caller's code.
#define SDSM_CALLER reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

extern const ProgramImage& program_image;

/// Libraries whose memory each process has for itself, and that the run-times know. All others are the program's.
enum class SystemLibrary : std::uint8_t {
  none,
  own_locking,        ///< it locks instructions for itself only
  locks_for_program,  ///< its locked instructions may be on the program's memory
};
SystemLibrary system_library(const char* path);
/// Whether a loaded file is neither a system's library nor one that the user preloads.
bool is_library_of_program(const char* path);

/// From the first to the last address of a loaded file.
AddressRange whole_of(const dl_phdr_info& object);

/// Keeps the dynamic linker from running the constructors of the program's libraries, and those before them.
void drop_library_constructors() REQUIRES(starting);

/// Notes that the constructors of libraries have run: from here on the C++ library allocates for the program only.
void pass_library_constructors() REQUIRES(starting);

/// Whether the object is the program or one of its libraries.
bool is_of_program(const dl_phdr_info& object);

/// Looks the addresses up in the dynamic linker's list. From here on the program's allocations are shared memory, so no
/// code of the program may run before heap::start().
void find_program_image() REQUIRES(starting);

}  // namespace sdsm::program
