/// Records that the run-time inside the traced program sends to the command through a pipe, in the order of events.
/// Both ends are built together and run on one machine, so records are plain structures.
#pragma once

#include <cstdint>

#include "models/diff.hpp"
#include "models/program/events.hpp"
#include "models/program/regions.hpp"

namespace sdsm::tracer {

/// Environment variables that carry the command's options to the run-time. It removes them, and itself from LD_PRELOAD,
/// so that programs that the traced program starts run untraced.
namespace variable {
inline constexpr char threads[] = "SDSM_TRACE_THREADS";    ///< size of the largest team
inline constexpr char stream[] = "SDSM_TRACE_STREAM";      ///< file descriptor of the pipe
inline constexpr char schedule[] = "SDSM_TRACE_SCHEDULE";  ///< file descriptor of the schedule's file
/// File descriptor of the clock's predicted readings: words of 64 bits. First the number of threads T, then T + 1
/// places in the file, counted in words: thread t's readings, in nanoseconds, stand from place t to place t + 1.
inline constexpr char readings[] = "SDSM_TRACE_READINGS";
inline constexpr char date[] = "SDSM_TRACE_DATE";  ///< what calendars show at the begin, in seconds since 1970
inline constexpr char clock_speed[] = "SDSM_TRACE_CLOCK_SPEED";  ///< how many times as fast the program's clock goes
inline constexpr char mode[] = "SDSM_TRACE_MODE";                ///< a Mode's letter
inline constexpr char words[] = "SDSM_TRACE_WORDS";              ///< pages whose words are recorded (choose_watched())
inline constexpr char sites[] = "SDSM_TRACE_SITES";              ///< "1": each touch comes with its instruction
}  // namespace variable

enum class Mode : char {
  record = 'r',  ///< untracked; writes the schedule
  replay = 'p',  ///< untracked; repeats the schedule
  track = 't',   ///< repeats the schedule with page tracking
};

inline constexpr std::uint32_t stream_version = 12;
/// The body of a team and the calls that led to its fork, at most.
inline constexpr std::size_t most_callers = 16;
inline constexpr std::uint32_t most_threads = 4096;

enum class RecordKind : std::uint32_t {
  hello,        ///< Hello: the run-time is there, main is about to run
  region,       ///< RegionRecord
  region_size,  ///< RegionSizeRecord: a region that has grown, or that is filled
  touches,      ///< TouchesHead, then TouchRecords: more of the interval that the thread is in
  sites,        ///< TouchesHead, then for each of the touches just sent its instruction's address (8 bytes)
  callers,   ///< TouchesHead, then addresses: the body of the team that is about to be forked, then the calls that led
             ///< there, the innermost first
  words,     ///< TouchesHead, then WordsRecords: of the interval that the thread is in
  object,    ///< ObjectRecord, then its file's name: before the first address in it
  unseen,    ///< UnseenRecord
  interval,  ///< IntervalRecord: ends the thread's interval
  atomic_words,  ///< AtomicWordsRecord: of the interval that the thread ended last; tracked pass only
  changes,       ///< ChangesHead, then ChangeRecords
  change_maps,   ///< ChangesHead, then ChangeMapRecords
  refused,       ///< text: the run-time has ended the program, and why
  woken,         ///< WokenRecord; first pass only
  diverged,      ///< DivergedRecord: this pass differs from the first
  cut,           ///< CutRecord: the program ended while a thread waited
  finished,      ///< FinishedRecord: the program has ended; its exit status is the process's
};

struct RecordHead {
  RecordKind kind{};
  std::uint32_t bytes = 0;  ///< that follow
};

struct Hello {
  std::uint32_t version = stream_version;
  std::uint32_t threads = 0;
};

struct RegionRecord {
  MemoryRegion region{};
  std::uint32_t id = 0;
  std::uint32_t lead_pages = 0;  ///< between the boundary of 64 KiB below the region and its first page
  std::uint32_t number =
      0;  ///< of heap blocks: in order of allocation, from 1; of thread stacks: 1 for the thread's variables
  std::uint64_t bytes = 0;    ///< asked for
  std::uint64_t address = 0;  ///< of static arrays and globals: in the addresses of the program's or the library's file
  std::uint64_t caller = 0;   ///< of heap blocks: the instruction after the call, in the program file's addresses; or 0
  char library[32] = {};      ///< of variables that are not the program's own: the file, cut
  /// The calls that led to a heap block's allocation, the innermost first, if sites are asked for; the rest are 0.
  std::uint64_t calls[4] = {};
};

struct RegionSizeRecord {
  std::uint32_t id = 0;
  std::uint32_t is_filled = 0;  ///< trace::Region's
  std::uint64_t pages = 0;
};

struct TouchesHead {
  std::uint32_t thread = 0;
  std::uint32_t count = 0;
};

struct TouchRecord {
  std::uint32_t region = 0;
  std::uint32_t page = 0;
  std::uint64_t time_and_access = 0;  ///< nanoseconds on the interval's stopwatch, times 2, plus 1 for a write

  std::uint64_t at_ns() const { return time_and_access >> 1; }
  bool is_write() const { return (time_and_access & 1) != 0; }
};

/// Words of a page that the thread has accessed at one site.
struct WordsRecord {
  /// Bits of `access`.
  enum Access : std::uint32_t {
    reads = 1,
    writes = 2,
    in_team = 4,     ///< within a parallel region
    is_unsized = 8,  ///< by an instruction whose access has an unknown size: `words` are all of the page
  };
  std::uint32_t region = 0;
  std::uint32_t page = 0;
  std::uint32_t access = 0;
  std::uint32_t unused = 0;
  std::uint64_t site = 0;        ///< the instruction's address
  std::uint64_t words[16] = {};  ///< bit w of the 1024: word w
};

/// A file in the program's memory: the program itself (without a name) or a library.
struct ObjectRecord {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t load_offset = 0;  ///< added to the file's own addresses
};

/// How often the program called one function; sent when it ends.
struct UnseenRecord {
  char call[48] = {};  ///< the function's name, ended by a zero
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  ///< of memory that the program got by them
};

struct IntervalRecord {
  std::uint32_t thread = 0;
  Event event{};
  /// Compute time. In the tracked pass it includes the kernel's time to deliver each touch's signal: see places_of in
  /// native/launch/trace/touch_places.hpp.
  std::uint64_t compute_ns = 0;
  std::uint64_t call_site = 0;  ///< address of the event's instruction; 0: unknown, or sent as callers
};

/// The thread, whose last interval ended with a wait in a loop of its own, polls again: thread `by` has run since
/// the last poll, and has to have begun `events` events before this one.
struct WokenRecord {
  std::uint32_t thread = 0;
  std::uint32_t by = 0;
  std::uint64_t events = 0;
};

struct AtomicWordsRecord {
  std::uint32_t thread = 0;
  std::uint32_t detail = 0;  ///< words that the operation changed, and compares_found (models/program/events.hpp)
};

/// Why the thread's pages were closed: the thread synchronised, or another thread had to run in mid-interval.
enum class Closing : std::uint32_t { at_synchronisation, in_between };

struct ChangesHead {
  std::uint32_t thread = 0;
  std::uint32_t count = 0;
  Closing closing{};
  std::uint32_t is_last = 0;  ///< nothing more comes for this closing
};

/// A changed page. Records come in the order of the pages' first writes.
struct ChangeRecord {
  std::uint32_t region = 0;
  std::uint32_t page = 0;
  Change change{};
  ChangedLines lines{};
};

struct ChangeMapRecord {
  std::uint32_t region = 0;
  std::uint32_t page = 0;
  std::uint64_t changed[16] = {};  ///< bit w of the 1024: word w has changed
};

/// The program ended while the thread waited for others: the event of its last interval did not happen.
struct CutRecord {
  std::uint32_t thread = 0;
};

struct FinishedRecord {
  std::uint32_t by = 0;       ///< thread that ended it
  std::uint32_t in_team = 0;  ///< 1: inside a parallel region
};

struct DivergedRecord {
  std::uint32_t thread = 0;
};

/// The schedule's file: what happened in the first pass and has to happen again, in order.
inline constexpr std::uint16_t wait_loop_unlearnt = 0, wait_loop_learnt = 1, wait_loop_poll = 2,
                               wait_loop_poll_with_pauses = 3;
struct ScheduleEntry {
  enum class Kind : std::uint8_t {
    pick,       ///< thread `self` reached a scheduling point; `chosen` went on
    wait,       ///< thread `self` waited for a flag, its wait number `value` here; `chosen` went on
    wait_loop,  ///< from here on there is a trap in a loop, at `value` in the program's file; `chosen`: wait_loop_...
    preempt,    ///< thread `self` was interrupted in its interval number `value`; `chosen` went on
    clock,      ///< thread `self` read its clock: `value` nanoseconds; `chosen`: clock_event, clock_...
  };
  Kind kind{};
  std::uint8_t unused = 0;
  std::uint16_t self = 0;
  std::uint16_t chosen = 0;
  std::uint16_t unused2 = 0;
  std::uint64_t value = 0;
};

}  // namespace sdsm::tracer
