#include "native/tracer/record/options.hpp"

#include <fcntl.h>
#include <cstdlib>

#include "native/guest/kernel/processes.hpp"
#include "native/guest/openmp/settings.hpp"
#include "native/tracer/record/ending.hpp"

namespace sdsm::tracer {
namespace {

/// A program may ask for more threads than the run has by default, as under any OpenMP run-time.
constexpr std::uint32_t usual_thread_limit = 1024;

int read_descriptor(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return -1;
  const int descriptor = std::atoi(text);
  // Programs that the traced one starts are not traced.
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

}  // namespace

void read_options() {
  const char* threads = std::getenv(variable::threads);
  if (threads == nullptr) threads = std::getenv("OMP_NUM_THREADS");
  const std::uint32_t wanted = threads ? gomp::parse_threads(threads) : 0;
  options.threads = wanted == 0 ? 1 : wanted;
  if (options.threads > most_threads) end_run({"at most ", Decimal(most_threads), " threads can be traced"});
  options.thread_limit = options.threads < usual_thread_limit ? usual_thread_limit : options.threads;
  if (const char* limit = std::getenv("OMP_THREAD_LIMIT")) {
    const std::uint32_t number = gomp::parse_threads(limit);
    if (number > 0 && number < options.thread_limit) options.thread_limit = number;
  }
  options.stream = read_descriptor(variable::stream);
  options.schedule = read_descriptor(variable::schedule);
  options.readings = read_descriptor(variable::readings);
  if (const char* date = std::getenv(variable::date)) options.date = std::strtoull(date, nullptr, 10);
  if (const char* speed = std::getenv(variable::clock_speed)) options.clock_speed = std::strtoull(speed, nullptr, 10);
  if (const char* mode = std::getenv(variable::mode)) options.mode = static_cast<Mode>(mode[0]);
  options.has_sites = std::getenv(variable::sites) != nullptr;
  options.words = std::getenv(variable::words);
  for (const char* name : {variable::threads, variable::stream, variable::schedule, variable::readings, variable::date,
                           variable::clock_speed, variable::mode, variable::sites, variable::words}) {
    unsetenv(name);
  }
  program::leave_preload();
}

}  // namespace sdsm::tracer
