/// The program's clocks, in C, C++ and Fortran. Each reading is an event, and the engine beneath may answer it.
#pragma once

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>

#include <ctime>
#include <optional>

#include "native/guest/kernel/system_calls.hpp"

namespace sdsm::program {

/// What `clock` of clock_gettime() shows now, by the clocks that the program reads. False as clock_gettime().
bool show_clock(clockid_t clock, timespec& now);

/// The real clock's time when the program's clock shows `limit`.
timespec real_limit(clockid_t clock, const timespec& limit);

/// Serves a call that the program makes by syscall(). Nothing if the engine does not answer it.
std::optional<long> answer_clock_call(long number, const SystemCall& call);
/// To be called after the real call, which has answered the rest.
void answer_getrusage(int who, rusage* usage);

}  // namespace sdsm::program
