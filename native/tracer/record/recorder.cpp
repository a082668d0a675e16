#include "native/tracer/record/recorder.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace sdsm::tracer::recorder {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

struct Output {
  bool is_connected = false;
  int stream = 0;  ///< a file descriptor
  std::size_t used = 0;
  alignas(64) char buffer[buffer_bytes] = {};
};
constinit Output output GUARDED_BY(turn);

void write_out(const char* bytes, std::size_t count) REQUIRES(turn) {
  while (count > 0) {
    const long written = syscall(SYS_write, output.stream, bytes, count);
    if (written < 0) {
      if (errno == EINTR) continue;
      // The command is gone, and nobody wants the trace any more.
      for (;;) syscall(SYS_exit_group, 1);
    }
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
}

void append(const void* bytes, std::size_t count) REQUIRES(turn) {
  if (count > buffer_bytes - output.used) flush();
  if (count > buffer_bytes) {
    write_out(static_cast<const char*>(bytes), count);
    return;
  }
  if (count > 0) std::memcpy(output.buffer + output.used, bytes, count);
  output.used += count;
}

}  // namespace

void connect(int descriptor) {
  output.is_connected = true;
  output.stream = descriptor;
}
void disconnect() {
  output.is_connected = false;
  output.used = 0;
}
bool is_connected() {
  return output.is_connected;
}

void put(RecordKind kind, const void* part, std::size_t bytes, const void* more, std::size_t more_bytes) {
  if (!output.is_connected) return;
  const RecordHead head{kind, static_cast<std::uint32_t>(bytes + more_bytes)};
  append(&head, sizeof head);
  append(part, bytes);
  append(more, more_bytes);
}

void put_text(RecordKind kind, std::initializer_list<const char*> parts) {
  std::size_t bytes = 0;
  for (const char* part : parts) bytes += std::strlen(part);
  const RecordHead head{kind, static_cast<std::uint32_t>(bytes)};
  append(&head, sizeof head);
  for (const char* part : parts) append(part, std::strlen(part));
}

void flush() {
  if (output.is_connected) write_out(output.buffer, output.used);
  output.used = 0;
}

}  // namespace sdsm::tracer::recorder
