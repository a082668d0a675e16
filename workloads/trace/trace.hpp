/// A trace: for each thread of an OpenMP program, a sequence of intervals, pieces of work (compute time and the pages
/// that it touched) that end with an OpenMP event. Nodes, protocol, costs and network are chosen for its simulation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/diff.hpp"
#include "models/ids.hpp"
#include "models/placement.hpp"
#include "models/protocol/pages.hpp"

namespace sdsm::trace {

/// The writer's format; the reader reads format 1 too, which has no lines, sites, teams or unseen calls.
inline constexpr std::uint32_t format_version = 2;
inline constexpr std::uint32_t first_format = 1;
inline constexpr std::uint32_t page_bytes = 4096;
/// Diffs compare words of this size (docs/protocol.md).
inline constexpr std::uint32_t word_bytes = 4;
/// Units of a touch's place in its interval: position p is p/256 of the compute time.
inline constexpr unsigned position_steps = 256;

/// The event that closes an interval. Event's `object`, `value` and `detail` have the meaning given here, or are 0.
enum class EventKind : std::uint8_t {
  fork,        ///< initial thread: starts a team. object: number of the region (0, 1, ...); value: team size
  team_begin,  ///< other team members: begin the region. object, value: as in `fork`. Closes an empty interval
  join,        ///< every member: end of the region (an implied barrier). object, value: as in `fork`
  barrier,     ///< explicit or implied barrier inside a region. value: team size
  acquire,  ///< asks for a lock. object: LockId; detail: LockClass; value: of class ordered, the turn (has_turn()); of
            ///< a lock, 1 if the thread only tried to take it, and did (was_tried())
  release,  ///< releases a lock. object: LockId; detail: LockClass
  single,   ///< reaches a `single`. object: construct number; detail: 1 for the thread that executes it
  copyprivate,  ///< barrier at which a `single copyprivate` distributes its values. object: construct; value: team size
  loop_begin,  ///< begins a work-shared loop or sections. object: construct number; detail: Schedule; value: iterations
  chunk,       ///< takes a chunk from shared loop state. object: construct number; value: iterations in it (0: no more)
  loop_end,    ///< leaves a work-shared loop or sections (a barrier is a separate event). object: construct
  flush,       ///< an explicit flush seen by the run-time
  task,        ///< begins a task (run in place)
  clock,   ///< reads a clock. detail: ClockSource. The initial thread's readings bound the measured region (rank_of)
  end,     ///< the thread's last interval
  post,    ///< counts a flag up (doacross: depend(source)). object: flag (models/locks.hpp); value: the new count
  wait,    ///< waits for a flag's count (depend(sink)). object, value: as in `post`
  atomic,  ///< an inline atomic operation on shared memory. object: RegionId; value: its byte in the region; detail:
           ///< number of changed words (0 to 4)
  fence,   ///< a fence instruction: from here on, own changes are visible to others, and others' to the thread
  /// Takes a library's object (a unit of a semaphore, a read-write lock), or is woken by one. object: LockId; detail:
  /// ObjectClass. value of a semaphore or read-write lock: by how much its takes less its gives so far exceed its
  /// number (models/demand.hpp; 32 bits, with sign), as it may have been set, or its address reused. value of a
  /// condition, and of any object in older traces: least number of earlier gives
  take,
  give,  ///< releases or posts it, or wakes others. object, detail: as in `take`
  meet,  ///< meets others at a library's barrier. object: LockId; value: arrivals so far, in all
  spin,  ///< waited in its own loop for another thread's store. object: that thread; value: how many of its events had
         ///< begun
};

inline constexpr unsigned event_kinds = static_cast<unsigned>(EventKind::spin) + 1;

enum class LockClass : std::uint8_t { lock, nest_lock, critical, atomic, ordered };
/// Older traces use the first two.
enum class ObjectClass : std::uint8_t { given_semaphore, given_read_write_lock, condition, semaphore, reader, writer };
enum class Schedule : std::uint8_t { static_, dynamic, guided, sections };
/// The function by which the program read a clock; system_clock and steady_clock are C++'s.
enum class ClockSource : std::uint8_t {
  omp_get_wtime,
  clock_gettime,
  gettimeofday,
  timespec_get,
  time,
  clock,
  system_clock,
  steady_clock,
  fortran_system_clock,
  fortran_cpu_time,
  fortran_date_and_time,
  times,
  getrusage,
};

/// The measured region lies between the initial thread's first and last reading of its clocks of the highest rank.
/// Clocks that programs use for seeds, or that tell something else than the time, have the lowest rank.
constexpr unsigned rank_of(ClockSource source) {
  using enum ClockSource;
  if (source == omp_get_wtime) return 2;
  return source == time || source == times || source == getrusage ? 0 : 1;
}

struct Event {
  EventKind kind{};
  std::uint8_t detail = 0;
  std::uint64_t object = 0;
  std::uint64_t value = 0;
  /// For kinds whose value is a team's size: 0 for the team of the fork, else a part of it (a sub-team).
  std::uint32_t team = 0;

  bool operator==(const Event&) const = default;
};

/// Whether the event's value is its turn: the ordered region's place, from 1, in the order of the loops' iterations. It
/// is 0 in older traces, which lack it.
constexpr bool has_turn(const Event& event) {
  return event.kind == EventKind::acquire && event.detail == static_cast<std::uint8_t>(LockClass::ordered);
}
/// Whether programs may try to take such locks: by omp_test_lock and the like. A library's mutex counts as a lock.
constexpr bool may_be_tried(LockClass lock) {
  return lock <= LockClass::nest_lock;
}
/// Whether the event's value says if the thread only tried, and would have gone on without the lock.
constexpr bool tells_try(const Event& event) {
  return event.kind == EventKind::acquire && may_be_tried(static_cast<LockClass>(event.detail));
}
constexpr bool was_tried(const Event& event) {
  return tells_try(event) && event.value == 1;
}
/// In a file, the value of `acquire` occupies the bits of the event's object from this one on.
inline constexpr unsigned value_of_acquire_bit = 32;

/// Access: read or write. Change: words that an interval changed in a written page, compared with the bytes before the
/// first write: 0..1024 words in 0..512 runs of adjacent words; no runs exactly if no words.
using sdsm::Access;
using sdsm::Change;
using sdsm::ChangedLines;

/// Whether the event is a reading of a clock of this rank.
constexpr bool bounds_region(const Event& event, unsigned rank) {
  return event.kind == EventKind::clock && rank_of(static_cast<ClockSource>(event.detail)) == rank;
}

/// First touches of `pages` adjacent pages in ascending order at one position. In an interval, a page has at most one
/// read touch (only before its first write) and at most one write touch.
struct TouchRun {
  RegionId region{};
  std::uint32_t pages = 1;
  std::uint64_t first = 0;  ///< index of the first page in the region
  Access access{};
  std::uint8_t position = 0;  ///< 0..255, ascending within an interval
  Change change{};            ///< for writes: the same for each page of the run; {0, 0} for reads

  bool operator==(const TouchRun&) const = default;
};

/// Whether some words of a page changed and others did not. The trace says which lines (64 bytes) of such a page
/// changed.
constexpr bool is_partial(Change change) {
  return change.words != 0 && change.words != words_per_page;
}

/// `pages` pages in succession with the same changed lines.
struct LinesRun {
  ChangedLines changed{};
  std::uint64_t pages = 1;

  bool operator==(const LinesRun&) const = default;
};

/// Page touches in succession by one instruction, Header::sites[site].
struct SiteRun {
  std::uint32_t site = 0;
  std::uint64_t pages = 1;

  bool operator==(const SiteRun&) const = default;
};

struct Interval {
  std::uint64_t compute_ns = 0;
  std::vector<TouchRun> touches{};  ///< in the order of the touches
  Event end{};
  /// Lines of the touches' partially changed pages, in their order; empty in traces of format 1.
  std::vector<LinesRun> lines{};
  /// Sites of all of the touches' pages, in their order; empty if Header::sites is.
  std::vector<SiteRun> sites{};

  bool operator==(const Interval&) const = default;
};

/// Walks over an interval's lines or sites, in steps of pages.
template <typename Run>
class PageWalk {
 public:
  explicit PageWalk(const std::vector<Run>& runs) : runs_(runs) {}

  const Run& here() const { return runs_[at_]; }
  std::uint64_t pages_here() const { return here().pages - passed_; }
  void pass(std::uint64_t pages) {
    passed_ += pages;
    if (passed_ < here().pages) return;
    passed_ = 0;
    ++at_;
  }

 private:
  const std::vector<Run>& runs_;
  std::size_t at_ = 0;
  std::uint64_t passed_ = 0;  ///< pages of here() that were passed
};

enum class RegionKind : std::uint8_t { globals, mapped, heap_block, small_heap, initial_stack, thread_stack };

/// Whether `--placement` decides the homes of a region's pages: for heap blocks, and for static arrays that the program
/// does not place itself.
constexpr bool is_placed_by_option(RegionKind kind, Placement asked) {
  return kind == RegionKind::heap_block || (kind == RegionKind::mapped && asked == Placement::initial);
}

/// Whether a fetch brings further pages of the region (models/prefetch.hpp): for arrays, whose size is the same in a
/// trace and in a run.
constexpr bool has_prefetch(RegionKind kind) {
  return kind == RegionKind::heap_block || kind == RegionKind::mapped;
}

constexpr bool is_program_variable(RegionKind kind) {
  return kind == RegionKind::globals || kind == RegionKind::mapped;
}

/// Whether the home process has the pages open for good, so that its writes are free and not traced.
constexpr bool is_open_at_home(RegionKind kind) {
  return kind == RegionKind::initial_stack || kind == RegionKind::thread_stack;
}

/// Returns the placement of a region's pages under `--placement`. Process 0 has already touched regions that hold
/// values before main begins.
constexpr Placement placement_of(HeapPlacement wanted, RegionKind kind, Placement asked, bool is_filled) {
  if (!is_placed_by_option(kind, asked)) return asked;
  const Placement placement = heap_placement(wanted, asked);
  return is_filled && placement == Placement::first_touch ? Placement::initial : placement;
}

/// A region of memory. A thread_stack belongs to one thread (`owner`), whose accesses never fault and are not traced.
/// `placement` is what the program asked for, or the default of the region's kind.
struct Region {
  RegionId id{};
  RegionKind kind{};
  Placement placement{};
  std::uint64_t pages = 0;
  std::uint32_t owner = 0;       ///< thread_stack: the thread; else 0
  std::uint32_t lead_pages = 0;  ///< from the 64 KiB boundary below the region to its first page, 0..15
  bool is_filled = false;        ///< holds values before main begins; only for regions that is_placed_by_option()
  std::string name{};            ///< "globals", "heap #3 (8.0 MiB, laplace+0x13f2)", a static array's symbol, ...
  /// Calls that led to a heap block's allocation, by number in Header::sites, the innermost first. Empty if sites were
  /// not asked for.
  std::vector<std::uint32_t> calls{};

  bool operator==(const Region&) const = default;
};

/// An instruction that touched a page first, or allocated a heap block. `address` is the one in the file, like its
/// symbols': it does not depend on address randomisation.
struct Site {
  std::string file{};  ///< path; empty for code that is in no file
  std::uint64_t address = 0;

  bool operator==(const Site&) const = default;
};

/// Calls of one function that are not in the trace: their number, and the memory that they returned.
struct UnseenCall {
  std::string call{};
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;

  bool operator==(const UnseenCall&) const = default;
};

/// Latest date that a program's clock can show: in the year 2242, whose nanoseconds since 1970 fit 63 bits.
inline constexpr std::uint64_t most_date_s = 8'589'934'592;

/// Far above any processor's rate of dependent operations.
inline constexpr std::uint64_t most_speed_flops = 1'000'000'000'000'000;

/// The words of one page that a thread accessed in one interval at one site.
struct WordsRow {
  /// Bits of `access`.
  enum Access : std::uint8_t {
    reads = 1,
    writes = 2,
    in_team = 4,     ///< within a parallel region
    is_unsized = 8,  ///< the access's size is unknown: the words are all of the page
  };
  std::uint32_t thread = 0;
  std::uint64_t interval = 0;  ///< of the thread, from 0
  std::uint32_t region = 0;
  std::uint64_t page = 0;  ///< in the region
  std::uint8_t access = 0;
  std::uint32_t site = 0;  ///< index in Header::sites
  std::uint32_t set = 0;   ///< index in Words::sets

  bool operator==(const WordsRow&) const = default;
};

/// The result of `sdsm trace --words ARRAY`: all words of an array's pages that threads have accessed.
struct Words {
  std::string array{};  ///< as the user gave it; empty: not asked for
  std::vector<WordsRow> rows{};
  /// Sets of words: first word and number of words of each run, ascending and apart.
  std::vector<std::vector<std::uint32_t>> sets{};

  bool operator==(const Words&) const = default;
};

struct Header {
  std::vector<std::string> program{};  ///< argv of the traced program
  std::uint32_t threads = 0;
  std::uint32_t passes = 0;  ///< untracked passes; compute times are their minimum
  std::string machine{};     ///< CPU model and clock of the tracing machine, for people
  std::string sdsm_version{};
  int exit_status = 0;               ///< of the traced program (a trace of a failed program is still a trace)
  std::vector<Site> sites{};         ///< by number; empty if sites were not asked for
  std::vector<UnseenCall> unseen{};  ///< by function
  // For running the program again; empty, 0 and false in older traces.
  std::string program_sha256{};
  std::uint32_t asked_threads = 0;  ///< as `sdsm trace -n` gave it; `threads` may be larger
  bool reads_input = false;         ///< the program read standard input
  /// Thread that ended the program inside a parallel region; none in older traces.
  std::optional<std::uint32_t> ended_by{};
  std::uint64_t begun_s = 0;  ///< start time by the program's calendar clocks, in seconds since 1970
  /// Operations per second of sdsm's loop on the tracing machine (native/launch/trace/machine_speed.hpp); 0 in older
  /// traces.
  std::uint64_t speed_flops = 0;
  Words words{};

  bool operator==(const Header&) const = default;
};

/// Names the program's clocks that no simulation predicts, for people; empty if there is none.
std::string unpredicted_clocks(const Header& header);

struct Totals {
  std::uint64_t intervals = 0;
  std::uint64_t touch_runs = 0;
  std::uint64_t page_touches = 0;
  std::uint64_t compute_ns = 0;

  bool operator==(const Totals&) const = default;
};

/// Events of one thread, by EventKind.
using EventCounts = std::array<std::uint64_t, event_kinds>;

/// Return the enumerator as it is written here ("static" for static_); "?" for an unknown number.
std::string_view name_of(EventKind kind);
std::string_view name_of(LockClass lock_class);
std::string_view name_of(ObjectClass object_class);
std::string_view name_of(Schedule schedule);
std::string_view name_of(ClockSource source);
std::string_view name_of(Access access);
std::string_view name_of(RegionKind kind);

}  // namespace sdsm::trace
