/// An emulated network: a cable from every node to one switch that stores and forwards, full duplex, as
/// sim/queue_network.cpp has it. A message is sent at once with a ticket, and taken no earlier than the ticket says.
#pragma once

#include <atomic>
#include <cstdint>

#include "models/ids.hpp"
#include "models/wire.hpp"
#include "native/guest/runtime/thread_safety.hpp"

namespace sdsm::dsm {

inline constexpr std::uint32_t most_emulated_nodes = 256;
inline constexpr std::uint32_t most_messages_underway = 4096;  ///< to one node

/// Names a message on its way over a node's cable; 0: the message is there already.
using Ticket = std::uint64_t;

/// A message on its way to the node at the end of a cable. Times are of the monotonic clock, in nanoseconds.
struct MessageUnderway {
  Ticket ticket = 0;
  std::uint64_t at_switch = 0;  ///< its first frame
  std::uint64_t duration = 0;   ///< of the whole message on the cable
  std::uint64_t earliest = 0;   ///< when the switch could have sent its last frame
  std::uint64_t done = 0;       ///< when it arrives, as far as is known: others may still overtake it
};

/// The cable from the switch to a node.
struct EmulatedCable {
  std::uint64_t free = 0;  ///< when the last message that has arrived had left it
  Ticket last_ticket = 0;
  std::uint32_t count = 0;
  MessageUnderway underway[most_messages_underway];  ///< in the order in which they come to the switch
};

/// The network's state, which all processes share.
struct EmulatedWires {
  program::Mutex mutex;                     ///< shared between processes
  std::atomic<std::uint32_t> is_measuring;  ///< 0: the measured region is still to come, and nothing is delayed
  std::uint64_t up_free[most_emulated_nodes] GUARDED_BY(mutex);  ///< when the cable to the switch is free
  EmulatedCable down[most_emulated_nodes] GUARDED_BY(mutex);
};

struct EmulatedNetwork {
  LinkSpec link{};
  Framing framing{};
};

/// The emulated cluster, as the launcher describes it.
struct Emulation {
  std::uint32_t has_network = 0;
  EmulatedNetwork network{};
  std::int32_t wires = -1;     ///< file of EmulatedWires; shared by all processes
  std::int32_t schedule = -1;  ///< file of the processes' schedules; -1: computing takes as long as it takes
};

/// Initialises the state. Precondition: zeros. `at_once`: delays begin without waiting for the measured region.
inline void prepare_wires(EmulatedWires& wires, bool at_once) {
  wires.is_measuring = at_once ? 1 : 0;
  // Processes end while the others go on, and may do so anywhere.
  wires.mutex.share_between_processes(true);
}

/// Delays messages between nodes from here on.
void start_emulated_network(const EmulatedNetwork& network, EmulatedWires& wires) REQUIRES(program::starting);

/// Whether messages and computing are delayed, as they are from the beginning of the measured region on.
bool is_emulating();
/// Notes that the measured region begins.
void begin_emulating();

/// Puts a message of `payload` bytes on the cables. Returns 0 without an emulated network, within a node, and for
/// messages that the model does not know (0 bytes).
Ticket put_on_wire(ProcessId to, Bytes payload);

/// To be called before a message that has no answer. Waits while the messages on their way to its node would soon be
/// too many. A real sender waits for room in its socket, too. The caller holds nothing that handling of messages needs.
void await_room_on_wire(ProcessId to);

/// When the message arrives at this process, as far as is known now. The time may grow, but not shrink.
std::uint64_t arrival_of(Ticket ticket);
/// Takes a message that has arrived off the cable.
void take_from_wire(Ticket ticket);
/// Waits for the message, and takes it.
void wait_for_arrival(Ticket ticket);

}  // namespace sdsm::dsm
