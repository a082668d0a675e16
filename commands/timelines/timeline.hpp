/// Records a timeline: each thread's states and messages over time. Simulated and native runs share it. Viewers of
/// Chrome's trace format (Perfetto), of Paje's or Paraver's show it: docs/timelines.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "models/account.hpp"
#include "models/ids.hpp"
#include "models/protocol/tables.hpp"
#include "models/units.hpp"

namespace sdsm::timelines {

/// Which part of a run to keep.
struct Selection {
  Time begin{};  ///< in the run's time; events across a bound are cut there
  Time end = Time::max();
  std::vector<bool> threads{};  ///< by process; empty: all
  std::uint64_t most_events = 1'000'000;
};

/// Text about the run itself for a viewer.
struct Labels {
  std::string run;     ///< "simulated" or "measured"
  std::string origin;  ///< the trace or the program
  Layout layout;
  const Tables* tables = nullptr;    ///< the protocol's
  std::vector<std::string> regions;  ///< names, by RegionId; others have no name
  std::vector<std::string> links;    ///< names, by number
  std::optional<Time> measured_from, measured_until;
  std::vector<std::string> notes;  ///< whole sentences
};

struct Message {
  ProcessId from{};
  ProcessId to{};
  std::optional<std::size_t> kind;  ///< of the protocol's messages; a page's reply and a few others have none
  Bytes payload;
  Time sent{};
  Time arrived{};
};

/// A slice, a message, or a change of a queue's length. It is small, as a run has millions.
struct Event {
  enum class What : std::uint8_t { state, fault, service, message, queue };  ///< in the order of events of one moment
  Time begin{};
  Time end{};                ///< unused for a queue
  std::uint64_t number = 0;  ///< fault: the first page's index; message: payload, bytes
  std::uint32_t track = 0;   ///< the process; for a queue its number: one for each process's service, then the links
  std::uint32_t other = 0;   ///< fault: the pages' region; message: the receiver
  std::uint32_t pages = 0;   ///< fault
  std::uint8_t kind = 0;     ///< state and fault: the state; message: its kind, or no_kind
  What what{};
  std::int8_t change = 0;  ///< change of a queue's length
};
inline constexpr std::uint8_t no_kind = 0xff;

/// Records a run: at most the selection's events, the earliest to begin. Holds up to a quarter more, 40 bytes each.
class Timeline {
 public:
  Timeline(Layout layout, const Tables& tables, Selection selection);

  /// The thread's first state begins here, if not at 0.
  void start(ProcessId thread, Time when);
  /// Records that a thread was in a state: a place in state_names(). A thread's calls may come in any order, but in the
  /// end they leave no gap from 0 on.
  void state(ProcessId thread, std::size_t state, Time from, Time to);
  /// From `when` on, the thread's time in state `kind` + 1 is for a fault of each of these pages, until its next fault.
  void faults(ProcessId thread, std::size_t kind, PageId first, std::uint64_t pages, Time when);
  /// The process served from `from` to `to` a request that had waited since `came`.
  void serve(ProcessId home, Time came, Time from, Time to);
  /// A message waited for a link until `left`.
  void wait_for_link(std::uint32_t link, Time came, Time left);
  void message(const Message& message);

  void end();
  /// Returns the events in the order of their beginnings. Call end() before.
  const std::vector<Event>& events() const { return events_; }

  /// What the selection's limit cut: the number of events, and the earliest time at which one begins. The writers
  /// write it.
  std::uint64_t cut() const { return cut_; }
  Time cut_from() const { return horizon_; }
  const Selection& selection() const { return selection_; }
  const Layout& layout() const { return layout_; }

  /// Names by Spent, as results name a thread's times. Fault kinds that the protocol lacks have empty names.
  std::vector<std::string> state_names() const;

 private:
  struct Slice {
    std::size_t state = 0;
    Time from{};
    Time to{};
  };
  struct Mark {
    std::size_t state;
    PageId first;
    std::uint64_t pages;
    Time when;
  };
  struct Track {
    Time known_until{};        ///< states are known up to here
    std::vector<Slice> ahead;  ///< states behind a gap
    Slice open;                ///< the latest state, which may continue
    std::deque<Mark> marks;    ///< faults that belong to no slice yet
  };

  bool is_shown(ProcessId process) const { return selection_.threads.empty() || selection_.threads[index_of(process)]; }
  void append(ProcessId thread, Track& track, const Slice& slice);
  void close(ProcessId thread, Track& track);
  void add_slice(Event event);
  void add_queue(std::uint32_t queue, Time came, Time left);
  void add(const Event& event);
  void drop_the_latest();

  Layout layout_;
  const Tables& tables_;
  Selection selection_;
  std::vector<Track> tracks_;
  std::vector<Event> events_;
  Time horizon_ = Time::max();
  std::uint64_t cut_ = 0;
};

/// Writes Chrome's trace event format (JSON), as Perfetto reads it.
void write_chrome(std::ostream& out, const Timeline& timeline, const Labels& labels);
void write_paje(std::ostream& out, const Timeline& timeline, const Labels& labels);
/// Writes Paraver's three files: .prv, .pcf and .row.
void write_paraver(std::ostream& trace, std::ostream& description, std::ostream& rows, const Timeline& timeline,
                   const Labels& labels);

/// Returns one line for stderr if something was cut, else "".
std::string what_was_cut(const Timeline& timeline);

/// Rounds to nanoseconds, halves up, from the time itself, so that errors do not add up.
constexpr std::int64_t rounded_ns(Time time) {
  return (time.count() + 500) / 1000;
}

}  // namespace sdsm::timelines
