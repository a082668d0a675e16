/// The program's clocks, in C, C++ and Fortran. Each reading is an event, and the engine beneath may answer it.
#pragma once

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>

#include <ctime>

namespace sdsm::program {

/// What `clock` of clock_gettime() shows now, by the clocks that the program reads. False as clock_gettime().
bool show_clock(clockid_t clock, timespec& now);

/// The real clock's time when the program's clock shows `limit`.
timespec real_limit(clockid_t clock, const timespec& limit);

/// Serve system calls that the program makes by syscall(). Return whether the engine has answered.
bool answer_clock_gettime(clockid_t clock, timespec* time);
bool answer_gettimeofday(timeval* time, void* zone);
bool answer_time(std::time_t* place, long& seconds);
bool answer_times(tms* place, long& ticks);
/// To be called after the real call, which has answered the rest.
void answer_getrusage(int who, rusage* usage);

}  // namespace sdsm::program
