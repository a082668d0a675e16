/// Messages between the launcher (`sdsm run`) and each process that it starts, over a stream socket that the process
/// inherits. A frame is a FrameHead and `bytes` of payload. Numbers have the machine's byte order: all processes run
/// one program on one kind of machine.
///
///   launcher                         process
///     welcome (Welcome)         ->              who you are
///                               <-  listening   (address as text) where others reach me
///     peers (addresses, one a line) ->          all processes' addresses, in order
///                               <-  connected   connections to all others stand
///     go                        ->              everybody is ready: process 0 begins the program, the others wait
///     ping                      ->              are you alive?
///                               <-  pong
///                               <-  failed      (text) why this process ends the run; it exits with status 1
///                               <-  lost_peer   (LostPeer) as failed, because another process's connection is
///                                               closed. The launcher looks for the reason there first
///                               <-  page_events (PageEvents) what was logged since the last one, if the launcher wants
///                               a log
///                               <-  regions     (RegionOrigins) process 0: origins of the program's regions, in their
///                               order
///                               <-  timed_events (TimedEvents) what was logged since the last, if the launcher wants a
///                               timeline
///                               <-  leaving     process 0: the program is through, whatever the others still do or
///                                               wait for; they may be killed when process 0 has ended
///                               <-  result      (Result) at the end of the program
/// A process ends as soon as its launcher's end of the socket is closed.
///
/// On other hosts an agent (native/launch/run/agent.hpp) starts the processes, whose control sockets are connections to
/// the launcher then. The agent has a connection of its own:
///
///   launcher                         agent
///                               <-  failed      (text) why the host's processes cannot be started
///                               <-  started     all of them are
///     ping                      ->
///                               <-  pong
///                               <-  ended       (ProcessEnded) a process has
///     finish                    ->              all is well: what the program has left running may go on
/// The agent kills everything that it has started as soon as its connection is closed.
#pragma once

#include <cstdint>

#include "models/atomics.hpp"
#include "models/jiajia/rules.hpp"
#include "models/program/regions.hpp"
#include "models/protocol/tables.hpp"
#include "models/scash/page_state.hpp"
#include "native/dsm/wire/emulated_network.hpp"
#include "native/dsm/wire/tally.hpp"

namespace sdsm::dsm {

/// The one environment variable that the run-time reads: the number of the inherited control socket. It is the same in
/// all processes, as their initial stacks must look alike.
inline constexpr const char* control_variable = "SDSM_RUN_CONTROL";

inline constexpr std::uint32_t control_version = 15;
inline constexpr std::uint32_t most_processes = 256;
inline constexpr std::uint32_t secret_bytes = 32;

enum class FrameKind : std::uint32_t {
  welcome,
  listening,
  peers,
  connected,
  go,
  ping,
  pong,
  failed,
  result,
  lost_peer,
  started,
  ended,
  finish,
  leaving,
  page_events,
  regions,
  timed_events,
};
inline constexpr FrameKind last_frame_kind = FrameKind::timed_events;

struct FrameHead {
  FrameKind kind{};
  std::uint32_t bytes = 0;  ///< of the payload that follows; at most most_frame_bytes
};
inline constexpr std::uint32_t most_frame_bytes = 1 << 20;

enum class Transport : std::uint32_t {
  unix_sockets,  ///< abstract names: nothing is left behind in any folder
  tcp,
};

struct Welcome {
  std::uint32_t version = control_version;
  std::uint32_t process = 0;
  std::uint32_t nodes = 1;
  std::uint32_t threads_per_node = 1;
  Transport transport{};
  HeapPlacement placement{};
  Atomics atomics{};
  ProtocolKind protocol{};
  jiajia::Rules jiajia;
  Invalidation invalidation{};
  std::uint32_t prefetch = 0;
  std::uint32_t page_bytes = 0;   ///< of a page
  std::uint32_t patience_ms = 0;  ///< --timeout: a connection whose peer is silent for so long is lost
  /// The launcher's RLIMIT_STACK, which holds on all hosts: the other stacks lie behind the initial one.
  std::uint64_t stack_limit = 0;
  /// Inherited file descriptor of the memory that the processes of this node share (an empty memfd of the launcher's).
  std::int32_t node_memory = -1;
  std::int32_t files = -1;  ///< likewise, of what the processes of this host share (open_files.hpp)
  Emulation emulation;
  std::uint32_t processes_on_host = 1;  ///< of the run
  std::uint32_t wants_page_log = 0;
  std::uint32_t wants_timeline = 0;
  std::int32_t processor = -1;             ///< to run on, numbered among the host's processors; -1: the system chooses
  std::uint8_t secret[secret_bytes] = {};  ///< random, new in each run; a connection begins with it
  char listen_host[64] = {};  ///< tcp: IPv4 address to listen on, "127.0.0.1" unless the user said otherwise
};

/// Which processes share memory.
inline Layout layout_of_memory(ProtocolKind protocol, const Layout& layout) {
  return tables_of(protocol).traits.shares_copies ? layout : Layout{layout.processes(), 1};
}

/// An action of a process on what its node's processes share.
struct PageEvent {
  enum class Kind : std::uint8_t {
    fault,    ///< object: region; value: page; fault: its kind
    diff,     ///< sent to another node. object: region; value: page; bytes: its payload
    clock,    ///< the process learns that the initial thread read a clock that bounds the region. value: readings so
              ///< far, with_rank(); object: AsOf, at which of the process's events the reading counts
    barrier,  ///< comes to a barrier, or waits for work. bytes: of_team at the team's barrier, else 0
    ask,      ///< flushes before it asks for a lock
    take,     ///< flushes once it has the lock. object: lock; value: the lock's grants before this one
    drop,     ///< flushes what is left, and drops the node's copies
    give,     ///< flushes before it gives a lock back
    leave,    ///< goes on behind a barrier of the team
  };
  /// The process's own event at which a reading of the clock counts.
  enum class AsOf : std::uint32_t {
    now,      ///< where it learns of it
    arrival,  ///< at its last `barrier` of the team
    leaving,  ///< at its last `leave` before that `barrier`
  };
  static constexpr std::uint16_t of_team = 1;
  /// Place in the order of the node's events; 0 for `diff`, `clock` and `leave`, which have none.
  std::uint64_t turn = 0;
  std::uint64_t value = 0;
  std::uint32_t object = 0;
  std::uint16_t bytes = 0;
  Kind kind{};
  FaultKind fault{};  ///< under JIAJIA: a jiajia::FaultKind's number
};

/// An action of a process with its begin and end, in nanoseconds of the machine's monotonic clock.
struct TimedEvent {
  enum class Kind : std::uint8_t {
    state,        ///< the application thread's; one may lie within another, and counts instead of it
    fault,        ///< a state, too. object: region; value: page
    asks,         ///< sends a message at `begin`. object: to whom; value: payload, bytes
    is_asked,     ///< has got it at `begin`. object: from whom
    answers,      ///< as `asks`, of an answer
    is_answered,  ///< as `is_asked`
    serves,       ///< handles a message that was here at `value`
    clock,        ///< the initial thread called omp_get_wtime at `begin`. value: calls so far
    life,         ///< of the process: it took part from `begin` to `end`
  };
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t value = 0;
  std::uint32_t object = 0;
  std::uint16_t what = 0;  ///< state or fault: as timelines number states; messages: as the protocol numbers them
                           ///< (modelled_messages.hpp)
  Kind kind{};
  std::uint8_t unused = 0;
};

/// How often clocks of a rank (rank_of) were read.
constexpr std::uint64_t with_rank(std::uint64_t calls, unsigned rank) {
  return std::uint64_t{rank} << 56 | calls;
}
constexpr unsigned rank_of(std::uint64_t calls_with_rank) {
  return static_cast<unsigned>(calls_with_rank >> 56);
}
constexpr std::uint64_t calls_of(std::uint64_t calls_with_rank) {
  return calls_with_rank & ((std::uint64_t{1} << 56) - 1);
}

/// The origin of a region that the program made, by which others recognise it.
struct RegionOrigin {
  std::uint64_t bytes = 0;    ///< asked for
  std::uint64_t address = 0;  ///< of arrays that the program placed: in the program file's own addresses
  std::uint64_t caller = 0;   ///< of heap blocks: the instruction after the call, in the program file's addresses; or 0
  std::uint32_t number = 0;   ///< of heap blocks: in order of allocation, from 1
  RegionKind kind{};
  char library[35] = {};  ///< of globals that are not the program's own: the file, cut
};

struct LostPeer {
  std::uint32_t process = 0;
};

struct ProcessEnded {
  std::uint32_t process = 0;
  std::int32_t wait_status = 0;  ///< as waitpid returns it
};

/// The run of one process. Each tally is the difference of its end and its begin, so its `now_ns` is a duration. The
/// program's exit status is the process's own. After its result a process goes on answering pings until it closes its
/// end or exits. `region` lies between the initial thread's first and last reading of the clocks that bound it
/// (rank_of); the same as `whole` if there are less than two.
struct Result {
  Tally region{};
  Tally whole{};
  std::uint64_t trap_ns = 0;          ///< what a trap takes before and after its handler: a part of each fault
  std::uint64_t clock_calls = 0;      ///< of the initial thread; the region is the clock's if 2 or more
  std::uint64_t tasks = 0;            ///< in teams of several threads
  std::uint64_t task_regions = 0;     ///< bit n: in a region whose number is n modulo 64
  std::uint64_t retransmissions = 0;  ///< segments that TCP sent other processes again
  std::uint64_t processors = 0;       ///< that the process might run on before it was bound to one
};

}  // namespace sdsm::dsm
