#include "native/guest/kernel/clocks.hpp"

#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "native/guest/runtime/engine.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/unseen.hpp"

namespace sdsm::program {
namespace {

constexpr std::int64_t whole_second_ns = 1'000'000'000;

/// What the clock shows: the date, the seconds since the program's begin, or nothing that the engine knows.
enum class Kind : std::uint8_t { calendar, since_begin, unknown };

/// CPU clocks show the time since the begin, too: a process of a DSM polls while it waits.
Kind kind_of(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI: return Kind::calendar;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID: return Kind::since_begin;
    default: break;
  }
  if (clock >= 0) return Kind::unknown;
  // As the kernel makes them: the complement of a process or thread from bit 3 on, what it is of in bits 0 to 2.
  constexpr clockid_t of_thread = 4, device = 3;
  if ((clock & device) == device) return Kind::unknown;
  const clockid_t owner = ~(clock >> 3);
  return (clock & of_thread) != 0 || owner == 0 || owner == getpid() ? Kind::since_begin : Kind::unknown;
}

/// The reader of the clock: the program, or the C++ or Fortran library for it; nothing for any other.
std::optional<ClockSource> source_of(std::uintptr_t caller, ClockSource own, ClockSource cxx, ClockSource fortran) {
  if (program_image.whole_cxx_library.holds(caller)) return cxx;
  if (program_image.whole_fortran_library.holds(caller)) return fortran;
  if (program_image.is_program(caller)) return own;
  return std::nullopt;
}
std::optional<ClockSource> source_of(std::uintptr_t caller, ClockSource own) {
  return source_of(caller, own, own, ClockSource::fortran_date_and_time);
}

std::optional<std::uint64_t> read(std::optional<ClockSource> source) {
  std::uint64_t since_begin_ns = 0;
  if (!source || !engine::read_clock(*source, since_begin_ns)) return std::nullopt;
  return since_begin_ns;
}

timespec shown(Kind kind, std::uint64_t since_begin_ns) {
  const std::uint64_t date = kind == Kind::calendar ? engine::date_of_begin() : 0;
  return {static_cast<time_t>(date + since_begin_ns / whole_second_ns),
          static_cast<long>(since_begin_ns % whole_second_ns)};
}
timeval in_microseconds(const timespec& time) {
  return {time.tv_sec, time.tv_nsec / 1000};
}

/// Writes to the program's memory as the C library would.
template <typename Value>
void store(Value* place, const Value& value) {
  if (place == nullptr) return;
  touch_for_kernel(place, sizeof *place, KernelUse::writes);
  *place = value;
  shut_after_use();
}

bool answer(std::optional<ClockSource> source, clockid_t clock, timespec* time) {
  const Kind kind = kind_of(clock);
  if (kind == Kind::unknown) {
    if (source) add_unseen(UnseenCall::clock_gettime, 0);
    return false;
  }
  const auto since_begin_ns = read(source);
  if (!since_begin_ns) return false;
  store(time, shown(kind, *since_begin_ns));
  return true;
}

bool answer(std::optional<ClockSource> source, timeval* time, void* zone) {
  const auto since_begin_ns = read(source);
  if (!since_begin_ns) return false;
  store(time, in_microseconds(shown(Kind::calendar, *since_begin_ns)));
  store(static_cast<struct timezone*>(zone), {});
  return true;
}

bool answer(std::optional<ClockSource> source, std::time_t* place, long& seconds) {
  const auto since_begin_ns = read(source);
  if (!since_begin_ns) return false;
  seconds = shown(Kind::calendar, *since_begin_ns).tv_sec;
  store(place, seconds);
  return true;
}

bool answer(std::optional<ClockSource> source, tms* place, long& ticks) {
  const auto since_begin_ns = read(source);
  if (!since_begin_ns) return false;
  ticks = static_cast<long>(*since_begin_ns / (whole_second_ns / getauxval(AT_CLKTCK)));
  store(place, {.tms_utime = ticks, .tms_stime = 0, .tms_cutime = 0, .tms_cstime = 0});
  return true;
}

/// The rest of `usage` is filled already.
void answer(std::optional<ClockSource> source, int who, rusage* usage) {
  if (who != RUSAGE_SELF && who != RUSAGE_THREAD) return;
  const auto since_begin_ns = read(source);
  if (!since_begin_ns) return;
  store(&usage->ru_utime, in_microseconds(shown(Kind::since_begin, *since_begin_ns)));
  store(&usage->ru_stime, {});
}

/// For the real functions, on pages that they can write to.
template <typename Value, typename Call>
auto fill(Value* place, Call call) {
  return with_open_pages(
      [&] {
        if (place != nullptr) touch_for_kernel(place, sizeof *place, KernelUse::writes);
      },
      call, [](auto given) { return given == -1 && errno == EFAULT; });
}

}  // namespace

bool show_clock(clockid_t clock, timespec& now) {
  std::uint64_t since_begin_ns = 0;
  const Kind kind = kind_of(clock);
  if (kind == Kind::unknown || !engine::clock_now(since_begin_ns)) return clock_gettime(clock, &now) == 0;
  now = shown(kind, since_begin_ns);
  return true;
}

timespec real_limit(clockid_t clock, const timespec& limit) {
  std::uint64_t since_begin_ns = 0;
  timespec real{};
  const Kind kind = kind_of(clock);
  if (kind == Kind::unknown || limit.tv_nsec < 0 || limit.tv_nsec >= whole_second_ns) return limit;
  // One so late is never, and a sum with it might be too large for its type.
  if (limit.tv_sec > static_cast<std::int64_t>(most_date_s)) return limit;
  if (!engine::clock_now(since_begin_ns) || clock_gettime(clock, &real) != 0) return limit;
  const timespec now = shown(kind, since_begin_ns);
  const std::int64_t ns = real.tv_nsec + limit.tv_nsec - now.tv_nsec;  // less than 2 seconds either way
  const std::int64_t whole = ns < 0 ? -1 : ns / whole_second_ns;
  const std::int64_t seconds = real.tv_sec + (limit.tv_sec - now.tv_sec) + whole;
  return {seconds, static_cast<long>(ns - whole * whole_second_ns)};
}

std::optional<long> answer_clock_call(long number, const SystemCall& call) {
  long answered = 0;
  const auto if_answered = [&](bool is_answered) { return is_answered ? std::optional{answered} : std::nullopt; };
  switch (number) {
    case SYS_clock_gettime:
      return if_answered(answer(ClockSource::clock_gettime, static_cast<clockid_t>(call.arguments[0]),
                                static_cast<timespec*>(call.at(1))));
    case SYS_gettimeofday:
      return if_answered(answer(ClockSource::gettimeofday, static_cast<timeval*>(call.at(0)), call.at(1)));
    case SYS_time: return if_answered(answer(ClockSource::time, static_cast<std::time_t*>(call.at(0)), answered));
    case SYS_times: return if_answered(answer(ClockSource::times, static_cast<tms*>(call.at(0)), answered));
    default: return std::nullopt;
  }
}
void answer_getrusage(int who, rusage* usage) {
  answer(ClockSource::getrusage, who, usage);
}

}  // namespace sdsm::program

using namespace sdsm::program;
using sdsm::ClockSource;

SDSM_ENTRY int clock_gettime(clockid_t clock, timespec* time) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(clockid_t, timespec*)> real{"clock_gettime"};
  auto* const next = real.for_caller(SDSM_CALLER);
  if (is_run_time(SDSM_CALLER)) return next(clock, time);
  const auto source = source_of(SDSM_CALLER, ClockSource::clock_gettime,
                                clock == CLOCK_REALTIME ? ClockSource::system_clock : ClockSource::steady_clock,
                                clock == CLOCK_REALTIME ? ClockSource::fortran_date_and_time
                                                        : (clock == CLOCK_MONOTONIC ? ClockSource::fortran_system_clock
                                                                                    : ClockSource::fortran_cpu_time));
  if (answer(source, clock, time)) return 0;
  return fill(time, [&] { return next(clock, time); });
}
SDSM_ENTRY int gettimeofday(timeval* time, void* zone) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(timeval*, void*)> real{"gettimeofday"};
  auto* const next = real.for_caller(SDSM_CALLER);
  if (answer(source_of(SDSM_CALLER, ClockSource::gettimeofday), time, zone)) return 0;
  return fill(time, [&] { return next(time, zone); });
}
SDSM_ENTRY int timespec_get(timespec* time, int base) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(timespec*, int)> real{"timespec_get"};
  auto* const next = real.for_caller(SDSM_CALLER);
  if (base == TIME_UTC && answer(source_of(SDSM_CALLER, ClockSource::timespec_get), CLOCK_REALTIME, time)) return base;
  return fill(time, [&] { return next(time, base); });
}
SDSM_ENTRY std::time_t time(std::time_t* place) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<std::time_t(std::time_t*)> real{"time"};
  auto* const next = real.for_caller(SDSM_CALLER);
  long seconds = 0;
  if (answer(source_of(SDSM_CALLER, ClockSource::time), place, seconds)) return seconds;
  return fill(place, [&] { return next(place); });
}
SDSM_ENTRY std::clock_t clock() noexcept {
  SDSM_NEXT_FUNCTION NextFunction<std::clock_t()> real{"clock"};
  auto* const next = real.for_caller(SDSM_CALLER);
  const auto source = source_of(SDSM_CALLER, ClockSource::clock, ClockSource::clock, ClockSource::fortran_cpu_time);
  if (const auto since_begin_ns = read(source)) {
    return static_cast<std::clock_t>(*since_begin_ns / (whole_second_ns / CLOCKS_PER_SEC));
  }
  return next();
}
SDSM_ENTRY std::clock_t times(tms* place) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<std::clock_t(tms*)> real{"times"};
  auto* const next = real.for_caller(SDSM_CALLER);
  long ticks = 0;
  if (answer(source_of(SDSM_CALLER, ClockSource::times), place, ticks)) return ticks;
  return fill(place, [&] { return next(place); });
}
SDSM_ENTRY int getrusage(int who, rusage* usage) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(int, rusage*)> real{"getrusage"};
  auto* const next = real.for_caller(SDSM_CALLER);
  const int status = fill(usage, [&] { return next(who, usage); });
  const auto source =
      source_of(SDSM_CALLER, ClockSource::getrusage, ClockSource::getrusage, ClockSource::fortran_cpu_time);
  if (status == 0) answer(source, who, usage);
  return status;
}
