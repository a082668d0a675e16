/// How this process's application thread asks others, and itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/dsm/wire/identity.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

/// Sets the sockets for questions, by process.
void ask_over(std::vector<int> sockets) REQUIRES(starting);

/// Whether the program's signal handlers may run while ask() waits. If they may, what they write counts as written
/// before the question. No handler's question may get an answer of that kind (answers_long_question()).
enum class Wait : std::uint8_t { alone, with_handlers };

inline constexpr std::uint64_t no_end = ~std::uint64_t{0};

/// Asks `to`, perhaps this process itself, and waits for the answer. `payload` has head.bytes bytes. The answer's
/// payload goes to `answer`, which has room for it. Wait::with_handlers: at `until_ns` of the clock (clock.hpp) it
/// sends `to` an object_leave (wire.hpp), upon which the answer comes.
Head ask(ProcessId to, Head head, const void* payload = nullptr, void* answer = nullptr, Wait wait = Wait::alone,
         std::uint64_t until_ns = no_end) REQUIRES(application) EXCLUDES(handling);
/// As ask(), without an answer.
void tell(ProcessId to, Head head, const void* payload = nullptr) REQUIRES(application) EXCLUDES(handling);
/// The answer to a question that tell() has put to another process, without payload. Answers come in the order of the
/// questions; in between this thread asks that process nothing else.
Head await_answer(ProcessId from) REQUIRES(application);
/// As ask(), for an answer of `bytes` that comes at once: polls before it sleeps. `to` is another process.
Head ask_soon(ProcessId to, Head head, const void* payload, void* answer, std::size_t bytes) REQUIRES(application);

/// How often this thread has called ask() or tell().
std::uint64_t questions_so_far() REQUIRES(application);

/// Segments that TCP has sent again on these connections.
std::uint64_t questions_retransmitted() REQUIRES(application);

/// As tell(), to another process, from the thread that handles a request. The service thread notices if it has ended.
void notify(ProcessId to, Head head, const void* payload = nullptr) REQUIRES(handling);
/// Sends what the process's connection had no room for.
void send_backlog(ProcessId to) REQUIRES(service);

/// Whether the thread runs a signal's handler that has interrupted its wait for a lock or at a barrier.
bool is_in_long_wait() REQUIRES(application);
/// For handlers that never return: whether the thread was interrupted at a barrier, and the barrier's answer.
bool is_at_barrier() REQUIRES(application);
Head answer_of_barrier() REQUIRES(application);

}  // namespace sdsm::dsm
