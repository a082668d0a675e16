#include "native/tracer/program_clock.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include "native/tracer/ending.hpp"
#include "native/tracer/options.hpp"

namespace sdsm::tracer {
namespace {

/// Words of the file (stream.hpp).
constinit const std::uint64_t* predicted GUARDED_BY(turn) = nullptr;

}  // namespace

void open_readings() {
  if (options.readings < 0 || is_replay()) return;
  struct stat status {};
  if (fstat(options.readings, &status) != 0) end_run({"the predicted readings of the clock cannot be read"});
  void* memory = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, options.readings, 0);
  if (memory == MAP_FAILED) end_run({"the predicted readings of the clock cannot be mapped"});
  predicted = static_cast<const std::uint64_t*>(memory);
}

std::uint64_t next_reading(VirtualThread& self) {
  ++self.clock_ns;
  std::uint64_t reading = self.clock_ns + self.clock_ahead_ns;
  if (predicted != nullptr && self.number < predicted[0]) {
    const std::uint64_t* const next = predicted + predicted[1 + self.number] + self.readings;
    if (next < predicted + predicted[2 + self.number]) reading = *next;
  }
  // Two readings in a row must differ, or a program that divides by the difference fails.
  if (reading <= self.last_reading_ns) reading = self.last_reading_ns + 1;
  ++self.readings;
  self.last_reading_ns = reading;
  self.clock_ahead_ns = reading - self.clock_ns;
  return reading;
}

}  // namespace sdsm::tracer
