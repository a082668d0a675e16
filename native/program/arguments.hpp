#pragma once

#include <cstdint>

#include "native/program/program_image.hpp"

namespace sdsm::program {

/// Copies main's arguments, array and texts, to the end of its stack, which all threads see: the kernel has put them
/// where each process has its own, and programs change them (getopt, strtok). The copy has pages of its own, and the
/// stack begins below them: `top`. Arguments that would take half of the stack stay where they are.
struct CopiedArguments {
  char** arguments;
  std::uintptr_t top;
};
CopiedArguments copy_arguments(int count, char** arguments, const AddressRange& stack);

}  // namespace sdsm::program
