/// How this process's part of the program ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "native/dsm/wire/control.hpp"
#include "native/dsm/wire/threads.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

/// The program runs in this process, or its part of it.
inline constinit std::atomic<bool> is_running = false;
/// Whether process 0's application thread is ending the program.
inline constinit std::atomic<bool> is_ending = false;

/// Whether this process runs its exit functions, and is not the initial one.
inline constinit bool is_exiting GUARDED_BY(application) = false;

/// Whether processes other than the initial one end at once, or each runs its exit functions in its turn, and stays
/// until all have.
enum class Dismissal : bool { at_once, after_exit_functions };

/// Sends the launcher this process's result, with its log. To be called once, at the end.
void send_result(const Result& result) REQUIRES(application);

/// Ends a process other than the initial one when it has no more work, and sends its result, up to `ended_ns`.
[[noreturn]] void end_worker(std::uint64_t ended_ns, Dismissal dismissal) REQUIRES(application) EXCLUDES(handling);

/// Ends the process after its exit functions, for end_worker(). `status`: the program's, if one of them ended it.
[[noreturn]] void end_exit_functions(std::optional<int> status) REQUIRES(application) EXCLUDES(handling);

/// Process 0's application thread ends the program, on behalf of another thread.
[[noreturn]] void end_initial(ExitKind kind, int status) REQUIRES(application);

/// Process 0, any thread: ends the program without its exit functions if the application thread does not come to
/// end_initial() soon. It may wait for something that the thread which ended the program holds.
void end_without_initial_thread(int status);

}  // namespace sdsm::dsm
