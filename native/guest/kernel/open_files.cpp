#include "native/guest/kernel/open_files.hpp"

#include <unistd.h>

#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/program_image.hpp"

using namespace sdsm::program;

namespace sdsm::program::open_files {
namespace {
constinit thread_local void* next_room = nullptr;
}

NextRoom::NextRoom(void* room) {
  next_room = room;
}
NextRoom::~NextRoom() {
  next_room = nullptr;
}

void* take_room(std::size_t bytes) {
  if (next_room == nullptr || bytes < sizeof(FILE) || bytes > room_bytes) return nullptr;
  void* const room = next_room;
  next_room = nullptr;
  return room;
}

}  // namespace sdsm::program::open_files

/// The run-time's own, too: a call at the end of a region's body seems to come from the run-time.
SDSM_ENTRY int close(int descriptor) {
  SDSM_NEXT_FUNCTION NextFunction<int(int)> real{"close"};
  const open_files::Closing noted(descriptor);
  return real.for_caller(SDSM_CALLER)(descriptor);
}
