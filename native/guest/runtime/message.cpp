#include "native/guest/runtime/message.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace sdsm::gomp {

void message(std::initializer_list<const char*> parts) {
  char line[1024];
  std::size_t length = 0;
  const auto append = [&](const char* text) {
    while (*text != '\0' && length < sizeof line - 1) line[length++] = *text++;
  };
  append("sdsm: ");
  for (const char* part : parts) append(part);
  line[length++] = '\n';
  // The raw call: `write` itself is a function that an engine may interpose.
  syscall(SYS_write, STDERR_FILENO, line, length);
}

}  // namespace sdsm::gomp
