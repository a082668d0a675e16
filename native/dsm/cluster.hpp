/// Who this process is, and how it asks others.
#pragma once

#include <cstdint>

#include "models/ids.hpp"
#include "native/dsm/clock.hpp"
#include "native/dsm/control.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

struct Self {
  Layout layout;
  ProcessId process{};
  HeapPlacement placement{};
  int control = -1;      ///< socket to the launcher; -1: none, the program runs alone
  int node_memory = -1;  ///< file of the node's memory
};
inline Self self;

inline std::uint32_t processes() {
  return self.layout.processes();
}
inline bool is_initial() {
  return self.process == ProcessId{0};
}
inline NodeId own_node() {
  return self.layout.node_of(self.process);
}

/// Counts of this process. Written by its application thread, but for `served`, `served_bytes` and what grants and
/// releases count, which its service thread writes too (through count_served).
inline Tally tally;

/// When this process began.
inline std::uint64_t begun_ns = 0;

/// Connects to the launcher that the environment names, and learns who this process is. Without one the program runs
/// alone, as one process.
void meet_launcher();
/// Connects to all other processes, and waits until everybody is ready. `fingerprint` tells whether all processes have
/// the program and its libraries at the same addresses.
void meet_others(std::uint64_t fingerprint);
/// The service thread: answers others, until the process ends.
[[noreturn]] void serve();

/// Whether the program's handlers of signals are let in while an answer is waited for. Where they are, what they write
/// to shared memory has to be as if it had been written before; and the answer is one that others never are
/// (answers_long_question()).
enum class Wait : std::uint8_t { alone, with_handlers };

/// Asks `to` (this process included), and waits for the answer. `payload` has head.bytes bytes; the answer's payload
/// goes to `answer`, which has room for it.
Head ask(ProcessId to, Head head, const void* payload = nullptr, void* answer = nullptr, Wait wait = Wait::alone);
/// In a handler that never returns: whether it has interrupted its thread at a barrier, and what comes of that.
bool is_at_barrier();
Head answer_of_barrier();
/// Asks the home of the page at `address` for it, and puts it to `page`.
void ask_for_page(ProcessId home, std::uint64_t address, std::byte* page);
/// As ask(), without an answer.
void tell(ProcessId to, Head head, const void* payload = nullptr);

/// Calls `function` while no request is being handled: managers.hpp's functions are to be called so.
void while_nothing_is_handled(void (*function)(std::uint32_t), std::uint32_t argument);

/// Counts a message that was sent to another node; those within a node are none.
void count_message(ProcessId to, MessageKind kind, std::uint64_t bytes);
/// Counts an answer to another node. Any thread.
void count_served(ProcessId to, std::uint64_t bytes);
void count_served(ProcessId to, MessageKind kind, std::uint64_t bytes);

/// Process 0 tells the launcher, before its result, that the program is through though others still do something.
void leave_others();
void send_to_launcher(FrameKind kind, const void* payload, std::size_t bytes);
/// Sends the launcher this process's result. Once, at the end.
void send_result(const Result& result);

}  // namespace sdsm::dsm
