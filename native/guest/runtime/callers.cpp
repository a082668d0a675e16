#include "native/guest/runtime/callers.hpp"

#include <unwind.h>

#include "native/guest/runtime/program_image.hpp"

namespace sdsm::program {
namespace {

/// Most functions that are searched; what recurs deeper has no name.
constexpr std::size_t most_functions = 64;

struct Walk {
  std::uintptr_t* found;
  std::size_t most;
  std::size_t count = 0;
  std::size_t seen = 0;
};

_Unwind_Reason_Code note_caller(_Unwind_Context* context, void* given) {
  Walk& walk = *static_cast<Walk*>(given);
  const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  if (program_image.is_own_code(address)) walk.found[walk.count++] = address;
  return walk.count == walk.most || ++walk.seen == most_functions ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

std::size_t callers_in_program(std::uintptr_t* found, std::size_t most) {
  Walk walk{found, most};
  if (most > 0) _Unwind_Backtrace(note_caller, &walk);
  return walk.count;
}

std::uintptr_t caller_in_program(std::uintptr_t caller) {
  std::uintptr_t found = caller;
  if (!program_image.is_own_code(caller)) callers_in_program(&found, 1);
  return found;
}

std::uintptr_t caller_of_runtime(std::uintptr_t end) {
  struct Frame {
    const Frame* outer;
    std::uintptr_t returns_to;
  };
  const AddressRange own{reinterpret_cast<std::uintptr_t>(&__ehdr_start), reinterpret_cast<std::uintptr_t>(&_end)};
  const auto* frame = static_cast<const Frame*>(__builtin_frame_address(0));
  while (own.holds(frame->returns_to)) {
    if (frame->outer <= frame || reinterpret_cast<std::uintptr_t>(frame->outer) >= end)
      return 0;  // the thread's first function, or one without a frame pointer
    frame = frame->outer;
  }
  return frame->returns_to;
}

}  // namespace sdsm::program
