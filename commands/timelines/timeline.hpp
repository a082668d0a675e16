/// A timeline: what each thread of a run did when. Simulated and native runs record alike, and viewers of Chrome's
/// trace format (Perfetto) or of Paje's read it: docs/timelines.md.
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

/// What is kept of a run.
struct Selection {
  Time begin{};  ///< of the run's time; what lies across a bound is cut there
  Time end = Time::max();
  std::vector<bool> threads{};  ///< by process; empty: all
  std::uint64_t most_events = 1'000'000;
};

/// What a viewer shows of the run itself.
struct Labels {
  std::string run;     ///< "simulated" or "measured"
  std::string origin;  ///< the trace or the program
  Layout layout;
  const Tables* tables = nullptr;    ///< of the protocol
  std::vector<std::string> regions;  ///< names, by RegionId; a page of another has none
  std::vector<std::string> links;    ///< names, by number
  std::optional<Time> measured_from, measured_until;
  std::vector<std::string> notes;  ///< sentences
};

struct Message {
  ProcessId from{};
  ProcessId to{};
  std::optional<std::size_t> kind;  ///< of the protocol's messages; a page's reply and a few others have none
  Bytes payload;
  Time sent{};
  Time arrived{};
};

/// A slice, a message, or a change of a queue's length. Kept small, as a run has millions.
struct Event {
  enum class What : std::uint8_t { state, fault, service, message, queue };  ///< in the order of one moment's events
  Time begin{};
  Time end{};                ///< of a queue: none
  std::uint64_t number = 0;  ///< fault: the first page's index; message: payload, bytes
  std::uint32_t track = 0;   ///< the process; of a queue its number: one for each process's service, then the links
  std::uint32_t other = 0;   ///< fault: the pages' region; message: the receiver
  std::uint32_t pages = 0;   ///< fault
  std::uint8_t kind = 0;     ///< state and fault: the state; message: its kind, or no_kind
  What what{};
  std::int8_t change = 0;  ///< of a queue's length
};
inline constexpr std::uint8_t no_kind = 0xff;

/// Records a run. Needs memory for at most a quarter more than the selection's events, 40 bytes each: if there are
/// more, those that begin first are kept.
class Timeline {
 public:
  Timeline(Layout layout, const Tables& tables, Selection selection);

  /// The thread's first state begins here, if not at 0.
  void start(ProcessId thread, Time when);
  /// A thread was in a state: a place in state_names(). A thread's calls come in any order, but from 0 on they leave no
  /// gap in the end.
  void state(ProcessId thread, std::size_t state, Time from, Time to);
  /// From `when` on, the thread's time in state `kind` + 1 is for a fault of each of these pages, until its next fault.
  void faults(ProcessId thread, std::size_t kind, PageId first, std::uint64_t pages, Time when);
  /// The process answered, from `from` to `to`, a request that waited for that since `came`.
  void serve(ProcessId home, Time came, Time from, Time to);
  /// A message waited for a link until `left`.
  void wait_for_link(std::uint32_t link, Time came, Time left);
  void message(const Message& message);

  /// The run is over: nothing comes any more.
  void end();
  /// In the order of their beginnings. Call end() before.
  const std::vector<Event>& events() const { return events_; }

  /// What the selection's limit cut: how many events, all of which begin at this time or later. It is what
  /// write_chrome() and write_paje() say, and for stderr, too.
  std::uint64_t cut() const { return cut_; }
  Time cut_from() const { return horizon_; }
  const Selection& selection() const { return selection_; }
  const Layout& layout() const { return layout_; }

  /// By Spent, as results name where time goes. Behind the protocol's kinds of faults, those that it does not have have
  /// no name.
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
    std::vector<Slice> ahead;  ///< states behind a gap that is still to be filled
    Slice open;                ///< the latest state, which may go on
    std::deque<Mark> marks;    ///< faults that are in no slice yet
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

/// Chrome's trace event format (JSON), as Perfetto reads it.
void write_chrome(std::ostream& out, const Timeline& timeline, const Labels& labels);
/// Paje's format.
void write_paje(std::ostream& out, const Timeline& timeline, const Labels& labels);

/// One line for stderr if something was cut, else "".
std::string what_was_cut(const Timeline& timeline);

/// Nanoseconds, rounded from the time itself, so that no error adds up. Halves go up.
constexpr std::int64_t rounded_ns(Time time) {
  return (time.count() + 500) / 1000;
}

}  // namespace sdsm::timelines
