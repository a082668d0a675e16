/// Where the functions of a loaded object lie, according to the tables with which C++ exceptions unwind the stack
/// (.eh_frame). Compilers for x86-64 make them for every function of any language.
#pragma once

#include <link.h>

#include "native/guest/runtime/program_image.hpp"

namespace sdsm::program {

struct FunctionExtent {
  AddressRange code;
  /// Parts of the function may be reached by exceptions alone.
  bool has_landing_pads = false;
};

/// Calls `visit` for each function. An object without the tables is one function for each of its segments of code.
void for_each_function(const dl_phdr_info& object, void (*visit)(const FunctionExtent&, void*), void* data);

}  // namespace sdsm::program
