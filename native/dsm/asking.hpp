/// How this process's application thread asks others, and itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/dsm/identity.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

/// Questions go over these sockets, by process.
void ask_over(std::vector<int> sockets) REQUIRES(application);

/// Whether the program's handlers of signals are let in while an answer is waited for. Where they are, what they write
/// to shared memory has to be as if it had been written before; and the answer is one that others never are
/// (answers_long_question()).
enum class Wait : std::uint8_t { alone, with_handlers };

/// Asks `to` (this process included), and waits for the answer. `payload` has head.bytes bytes; the answer's payload
/// goes to `answer`, which has room for it.
Head ask(ProcessId to, Head head, const void* payload = nullptr, void* answer = nullptr, Wait wait = Wait::alone)
    REQUIRES(application) EXCLUDES(handling);
/// As ask(), without an answer.
void tell(ProcessId to, Head head, const void* payload = nullptr) REQUIRES(application) EXCLUDES(handling);
/// Asks the home of the page at `address` for it, and puts it to `page`.
void ask_for_page(ProcessId home, std::uint64_t address, std::byte* page) REQUIRES(application);

/// In a handler that never returns: whether it has interrupted its thread at a barrier, and what comes of that.
bool is_at_barrier() REQUIRES(application);
Head answer_of_barrier() REQUIRES(application);

}  // namespace sdsm::dsm
