/// How an answer reaches who asked: over its connection, or into this process's own waiting ask().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/ids.hpp"
#include "native/dsm/threads.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

/// Answers go over these sockets, by process.
void answer_over(std::vector<int> sockets) REQUIRES(starting);
/// The process has ended, and its socket is closed.
void end_answering(ProcessId to) REQUIRES(handling);

/// One that cannot be answered is gone, which the service thread will notice. `payload` has head.bytes bytes.
void answer(ProcessId to, const Head& head, const void* payload = nullptr) REQUIRES(handling);
/// When the last answer to another process went off: on an emulated network when it is on the wire, which the work of
/// sending it follows.
std::uint64_t last_answer_ns() REQUIRES(handling);

/// Done, with a number.
void answer_value(ProcessId to, std::uint64_t value) REQUIRES(handling);

/// The newest generation that this process, or anybody who passed a lock or a barrier here, knows of; and what somebody
/// does.
std::uint32_t newest_generation() REQUIRES(handling);
void heed_passing(std::uint32_t generation) REQUIRES(handling);

/// The answer to what this process asks itself.
struct Mailbox {
  std::atomic<std::uint32_t> is_full = 0;
  Head head;
  std::byte payload[most_payload];
};
/// This process's next answer to itself goes there. Returns where it would have gone: a handler of the program's may
/// ask while its thread waits for an answer.
Mailbox* exchange_mailbox(Mailbox* wanted) REQUIRES(handling);

}  // namespace sdsm::dsm
