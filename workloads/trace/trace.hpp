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
#include "models/program/clocks.hpp"
#include "models/program/events.hpp"
#include "models/program/regions.hpp"
#include "models/protocol/pages.hpp"

namespace sdsm::trace {

/// The writer's format. The reader reads two older ones: format 2 has no call sites of events, and format 1 has no
/// lines, sites, teams and unseen calls either.
inline constexpr std::uint32_t format_version = 3;
inline constexpr std::uint32_t first_format = 1;
inline constexpr std::uint32_t first_format_with_lines = 2;

/// In a file, the value of `acquire` occupies the bits of the event's object from this one on.
inline constexpr unsigned value_of_acquire_bit = 32;

/// First touches of `pages` adjacent pages in ascending order at one position. In an interval, a page has at most one
/// read touch (only before its first write) and at most one write touch.
struct TouchRun {
  RegionId region{};
  std::uint32_t pages = 1;
  std::uint64_t first = 0;  ///< index of the first page in the region
  Access access{};
  std::uint8_t position = 0;  ///< 0..255, ascending within an interval
  /// For writes, compared with the bytes before the first one: the same for each page of the run. {0, 0} for reads.
  Change change{};

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
  /// Where the program called for the event, Header::call_sites[call_site - 1]; 0: unknown.
  std::uint32_t call_site = 0;

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

struct Region : MemoryRegion {
  RegionId id{};
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

/// An instruction that called the run-time for an event, or was the event, such as an atomic operation.
struct CallSite {
  Site site{};
  /// The call that led to it, Header::call_sites[caller - 1], which comes before; 0: unknown.
  std::uint32_t caller = 0;

  bool operator==(const CallSite&) const = default;
};

/// Calls of one function that are not in the trace: their number, and the memory that they returned.
struct UnseenCall {
  std::string call{};
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;

  bool operator==(const UnseenCall&) const = default;
};

/// Far above any processor's rate of dependent operations.
inline constexpr std::uint64_t most_speed = 1'000'000'000'000'000;
inline constexpr std::uint64_t most_speed_spread = 100'000;
/// Measurements of the traced machine's speed that differ by more say that it was busy; in thousandths.
inline constexpr std::uint64_t doubtful_speed_spread = 100;

/// How fast the tracing machine was in sdsm's loops (native/launch/trace/machine_speed.hpp); 0: not in the trace.
struct Speed {
  std::uint64_t flops = 0;             ///< operations per second in the first-level cache
  std::uint64_t cache_latency_ps = 0;  ///< of a load that needs the last one's result
  std::uint64_t memory_bandwidth = 0;  ///< bytes per second
  std::uint64_t spread = 0;  ///< between the two best measurements before, between and after the passes, in thousandths

  bool operator==(const Speed&) const = default;
};

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
  int exit_status = 0;                 ///< of the traced program (a trace of a failed program is still a trace)
  std::vector<Site> sites{};           ///< by number; empty if sites were not asked for
  std::vector<UnseenCall> unseen{};    ///< by function
  std::vector<CallSite> call_sites{};  ///< of events
  // For running the program again; empty, 0 and false in older traces.
  std::string program_sha256{};
  std::uint32_t asked_threads = 0;  ///< as `sdsm trace -n` gave it; `threads` may be larger
  bool reads_input = false;         ///< the program read standard input
  /// Thread that ended the program inside a parallel region; none in older traces.
  std::optional<std::uint32_t> ended_by{};
  std::uint64_t begun_s = 0;  ///< start time by the program's calendar clocks, in seconds since 1970
  Speed speed{};              ///< 0 in older traces
  Words words{};

  bool operator==(const Header&) const = default;
};

/// The best of measurements at several times. `spread` is that from the second best, as one alone may have been lucky
/// in nothing but that all others were disturbed.
Speed best_of(std::span<const Speed> measurements);

/// "6.012 Gf, cache 3.82 ns, memory 35.1 GB/s", and that it is doubtful where it is.
std::string in_words(const Speed& speed);

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

}  // namespace sdsm::trace
