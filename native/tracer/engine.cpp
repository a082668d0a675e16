/// The rest of what the front end asks for: events that make nobody wait, the clock, memory, refusals.
#include "native/gomp/engine.hpp"

#include <cstring>

#include "native/program/shared_memory.hpp"
#include "native/tracer/ending.hpp"
#include "native/tracer/options.hpp"
#include "native/tracer/schedule_log.hpp"
#include "native/tracer/threads.hpp"

extern "C" void* __libc_malloc(std::size_t);
extern "C" void __libc_free(void*);

namespace sdsm::engine {

using namespace sdsm::tracer;

std::uint32_t default_threads() {
  return options.threads;
}
std::uint32_t thread_limit() {
  return options.thread_limit;
}

void note(const gomp::Event& event) {
  VirtualThread& self = *running;
  end_interval(self, event);
  begin_interval(self);
}

double wtime() {
  VirtualThread& self = *running;
  end_interval(self, {gomp::EventKind::clock, 0, 0, 0});
  ScheduleEntry entry;
  entry.kind = ScheduleEntry::Kind::clock;
  entry.self = static_cast<std::uint16_t>(self.number);
  if (is_replay()) {
    entry = schedule_log::take(ScheduleEntry::Kind::clock, self.number);
  } else {
    // Two reads in a row must differ, or a program that divides by the difference fails.
    entry.value = ++self.clock_ns;
    schedule_log::append(entry);
  }
  begin_interval(self);
  return static_cast<double>(entry.value) * 1e-9;
}

void* allocate_shared(std::size_t bytes, std::size_t alignment) {
  void* block = shared_heap::allocate({.bytes = bytes, .alignment = alignment});
  if (block != nullptr) shared_heap::clear(block, bytes);
  return block;
}

void* reallocate_shared(void* block, std::size_t bytes) {
  return shared_heap::reallocate(block, bytes, 0);
}

void free_shared(void* block) {
  if (block != nullptr) shared_heap::free(block);
}

void* allocate_private(std::size_t bytes) {
  void* block = __libc_malloc(bytes > 0 ? bytes : 1);
  if (block == nullptr) end_run({"there is no memory left"});
  return block;
}

void free_private(void* block) {
  __libc_free(block);
}

void refuse(const char* what, const char* why) {
  end_run({"the program calls ", what, ": ", why});
}

}  // namespace sdsm::engine
