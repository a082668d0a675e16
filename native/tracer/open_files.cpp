/// Files under the tracer, whose threads are one process's.
#include "native/guest/kernel/open_files.hpp"

namespace sdsm::program::open_files {

bool are_shared() {
  return false;
}
int opened(int descriptor) {
  return descriptor;
}
void replaced(int /*descriptor*/) {}
bool find_elsewhere(int /*descriptor*/) {
  return false;
}
Closing::Closing(int /*descriptor*/, const FILE* /*stream*/) {}
Closing::~Closing() {}
void* room_for_stream() {
  return nullptr;
}
void opened_stream(FILE* /*stream*/) {}
void opened_unit(int /*unit*/) {}
void closed_unit(int /*unit*/) {}
void uses_unit(int /*unit*/) {}

}  // namespace sdsm::program::open_files
