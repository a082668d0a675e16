/// Calls main, for both engines, at the same depth of its stack, so that its variables lie on the same pages.
#pragma once

#include "native/program/program_image.hpp"

namespace sdsm::program {

struct MainCall {
  int (*main)(int, char**, char**) = nullptr;
  int argc = 0;
  char** argv = nullptr;
  char** environment = nullptr;
  void (*end)(int status) = nullptr;  ///< called where main has returned; does not return
};

/// Calls main on `stack`. Its arguments, array and texts, are copied to the stack's end first, which all threads see.
/// The kernel has put them into each process's private memory, and programs change them (getopt, strtok). The copy has
/// pages of its own. Arguments that would take half of the stack stay where they are.
[[noreturn]] void call_main_on(const AddressRange& stack, const MainCall& call);

}  // namespace sdsm::program
