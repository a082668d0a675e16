/// How answers reach the process that asked: over its connection, or in this process's own ask().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/ids.hpp"
#include "native/dsm/wire/threads.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

/// Sets the sockets for answers, by process.
void answer_over(std::vector<int> sockets) REQUIRES(starting);
/// The process has ended: its socket will be closed.
void end_answering(ProcessId to) REQUIRES(handling);

/// Sends an answer with head.bytes bytes of `payload`. Ignores a process that is gone: the service thread will notice.
void answer(ProcessId to, const Head& head, const void* payload = nullptr) REQUIRES(handling);
/// When the last answer to another process was sent; on an emulated network, when it was put on the wire.
std::uint64_t last_answer_ns() REQUIRES(handling);

/// Segments that TCP has sent again on these connections.
std::uint64_t answers_retransmitted() REQUIRES(handling);

/// Answers `done` with a number.
void answer_value(ProcessId to, std::uint64_t value) REQUIRES(handling);

/// The newest generation of regions that is known here: to this process, or to one that came for a lock or a barrier.
std::uint32_t newest_generation() REQUIRES(handling);
/// A process that comes for a lock or a barrier knows this generation.
void note_passing(std::uint32_t generation) REQUIRES(handling);

/// Holds the answer to a question that this process asks itself.
struct Mailbox {
  enum State : std::uint32_t { empty, awaited, full };
  std::atomic<std::uint32_t> state = empty;  ///< a futex
  bool is_of_long_question = false;
  Mailbox* outer = nullptr;  ///< of the question during which a handler asks
  Head head;
  std::byte payload[most_payload];
};
/// Sets where this process's next answer to itself goes, and returns the place before: a handler of the program's may
/// ask while its thread waits for an answer.
Mailbox* exchange_mailbox(Mailbox* wanted) REQUIRES(handling);

}  // namespace sdsm::dsm
