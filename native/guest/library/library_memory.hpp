/// Memory that functions of the C library allocate for the program: all its threads use it, and free it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sdsm::program {

/// While one lives, what the C library allocates in the calling thread comes from the program's heap, if `caller` is
/// the program's. Only around functions that give the kernel none of it, and call none of the program's.
class AllocatesForProgram {
 public:
  explicit AllocatesForProgram(std::uintptr_t caller);
  ~AllocatesForProgram();
  AllocatesForProgram& operator=(AllocatesForProgram&&) = delete;

 private:
  std::uintptr_t before_;
};

/// The code for which `caller` asks for memory: `caller`, or its caller if it is the C library's.
std::uintptr_t allocates_for(std::uintptr_t caller);

/// A block of the program's heap if `caller` is the program's. Null and errno if there is no memory.
char* room_for(std::size_t bytes, std::uintptr_t caller);
char* copy_of(const char* text, std::size_t length, std::uintptr_t caller);
/// Frees what malloc or room_for() gave.
void give_back(void* block);
/// Whether malloc is the program's: the C library's blocks lie in the program's memory then.
bool has_own_malloc();

}  // namespace sdsm::program
