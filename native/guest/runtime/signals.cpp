#include "native/guest/runtime/signals.hpp"

#include <dlfcn.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/nanoseconds.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/thread_safety.hpp"

namespace sdsm::program {
namespace {

/// The signals that the run-time needs itself: the program's settings of them are kept, and returned to it.
constexpr bool is_own(int signal) {
  return signal == SIGSEGV || signal == SIGTRAP;
}

constexpr std::uint64_t bit_of(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

/// Signals of an instruction, or of abort(): the kernel ends the program if they are blocked then.
constexpr std::uint64_t synchronous =
    bit_of(SIGFPE) | bit_of(SIGILL) | bit_of(SIGBUS) | bit_of(SIGABRT) | bit_of(SIGSYS);

/// Signals of which the program has a handler, without the run-time's own: bit n - 1 is signal n, as the kernel has it.
constinit std::atomic<std::uint64_t> handled = 0;

std::uint64_t handled_now() {
  return handled.load(std::memory_order_relaxed);
}

constinit thread_local SignalState state;
constinit thread_local std::uint32_t interruptions = 0;
constinit thread_local std::uint32_t handler_runs = 0;

/// The two kinds of handlers are one member of the structure.
bool is_handler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/// Handlers that libgfortran sets at its start only report and end: nothing after them needs protection.
bool is_of_libgfortran(const struct sigaction& action) {
  Dl_info place;
  return dladdr(reinterpret_cast<void*>(action.sa_handler), &place) != 0 && place.dli_fname != nullptr &&
         std::strstr(place.dli_fname, "libgfortran") != nullptr;
}

void note_handler(int signal, const struct sigaction& action) {
  if (signal < 1 || signal > 64) return;
  const std::uint64_t bit = bit_of(signal) & ~synchronous;
  if (is_handler(action) && !is_of_libgfortran(action)) {
    handled.fetch_or(bit, std::memory_order_relaxed);
  } else {
    handled.fetch_and(~bit, std::memory_order_relaxed);
  }
}

/// A handler of the program's, of any signal but the run-time's own. The kernel has run_handler() in its place.
struct Chosen {
  std::atomic<__sighandler_t> handler = SIG_DFL;
  std::atomic<bool> has_information = false;  ///< it asked for SA_SIGINFO
};
constinit std::array<Chosen, 65> handlers;

void run_handler(int signal, siginfo_t* info, void* context) {
  ++handler_runs;
  struct sigaction now {};
  now.sa_handler = handlers[static_cast<std::size_t>(signal)].handler;
  // Another thread may have changed it just now.
  if (is_handler(now)) now.sa_sigaction(signal, info, context);
}

/// As sigaction(), with run_handler() in between.
int set_action(int signal, const struct sigaction* action, struct sigaction* old) {
  if (signal < 1 || signal >= static_cast<int>(handlers.size())) return real_sigaction(signal, action, old);
  Chosen& place = handlers[static_cast<std::size_t>(signal)];
  const Chosen before{place.handler.load(), place.has_information.load()};
  struct sigaction given {};
  if (action != nullptr) {
    given = *action;
    if (is_handler(given)) {
      place.handler = given.sa_handler;
      place.has_information = (given.sa_flags & SA_SIGINFO) != 0;
      given.sa_sigaction = run_handler;
      given.sa_flags |= SA_SIGINFO;
    }
  }
  struct sigaction was {};
  const int result = real_sigaction(signal, action != nullptr ? &given : nullptr, &was);
  if (result != 0) {
    place.handler = before.handler.load();
    place.has_information = before.has_information.load();
    return result;
  }
  const bool is_reset = was.sa_handler == SIG_DFL && (was.sa_flags & SA_RESETHAND) != 0;
  const bool was_handled = was.sa_sigaction == run_handler;
  if ((was_handled || is_reset) && !before.has_information) was.sa_flags &= ~SA_SIGINFO;
  if (was_handled) was.sa_handler = before.handler;
  if (old != nullptr) *old = was;
  return 0;
}

std::uint64_t set_kernel_mask(int how, std::uint64_t set) {
  std::uint64_t before = 0;
  // The raw call: the function is interposed.
  syscall(SYS_rt_sigprocmask, how, &set, &before, sizeof set);
  return before;
}

/// What the program asked for and does not get. libgfortran, for one, installs a handler of SIGSEGV at start.
struct Asked {
  struct sigaction fault {};
  struct sigaction trap {};
  stack_t stack{nullptr, SS_DISABLE, 0};
};
constinit Mutex asking;
constinit Asked asked GUARDED_BY(asking);

/// Holds `asking`. No handler comes meanwhile, which might want it, too, and nobody may touch shared memory.
class SCOPED_CAPABILITY Asking {
 public:
  Asking() ACQUIRE(asking) : before_(set_kernel_mask(SIG_BLOCK, ~std::uint64_t{0})) { asking.lock(); }
  ~Asking() RELEASE() {
    asking.unlock();
    set_kernel_mask(SIG_SETMASK, before_);
  }
  Asking& operator=(Asking&&) = delete;

 private:
  std::uint64_t before_;
};

/// Whether the program has taken away its own right to shared memory.
constinit std::atomic<bool> has_shut_memory = false;

/// libgfortran's own handler only reports.
bool waits_for_faults(const struct sigaction& action) {
  return is_handler(action) && !is_of_libgfortran(action);
}

[[noreturn]] void end_at_shut_memory() {
  end_run(
      {"the program takes away its right to shared memory (mprotect) and has a handler of SIGSEGV, which would never "
       "be "
       "called: who may use its pages is the protocol's to say. Memory of a file (memfd_create and mmap) is the "
       "process's "
       "own"});
}

struct sigaction& asked_of(int signal) REQUIRES(asking) {
  return signal == SIGSEGV ? asked.fault : asked.trap;
}

}  // namespace

std::uint32_t times_interrupted() {
  return interruptions;
}
void note_interruption() {
  ++interruptions;
}
std::uint32_t times_handled() {
  return handler_runs;
}

void HeldSignals::hold() {
  // The mask first: a handler that comes before it is a handler that nothing holds.
  if (state.depth == 0 && handled_now() != 0) {
    state.outside = set_kernel_mask(SIG_BLOCK, handled_now());
    state.is_blocked = true;
  }
  ++state.depth;
}
void HeldSignals::release() {
  if (state.depth == 0 || --state.depth > 0 || !state.is_blocked) return;
  state.is_blocked = false;
  set_kernel_mask(SIG_SETMASK, state.outside);
}

bool HeldSignals::are_held() {
  return state.depth > 0;
}
void HeldSignals::hold_for_good() {
  ++state.depth;
  set_kernel_mask(SIG_BLOCK, handled_now());
}
void HeldSignals::let_go() {
  const SignalState before = state;
  state = {};
  if (before.is_blocked) set_kernel_mask(SIG_SETMASK, before.outside);
}

SignalState HeldSignals::held_now() {
  SignalState held = state;
  if (!held.is_blocked) held.outside = set_kernel_mask(SIG_BLOCK, 0);
  return held;
}
void HeldSignals::take_over(const SignalState& held) {
  state = held;
  set_kernel_mask(SIG_SETMASK, held.outside | (held.is_blocked ? handled_now() : 0));
}

ShutSignals::ShutSignals()
    : before_(set_kernel_mask(SIG_BLOCK, ~(synchronous | bit_of(SIGSEGV) | bit_of(SIGTRAP) |
                                           bit_of(preemption_signal()) | bit_of(stop_signal())))) {}
ShutSignals::~ShutSignals() {
  set_kernel_mask(SIG_SETMASK, before_);
}

AdmittedFaults::AdmittedFaults() : before_(set_kernel_mask(SIG_UNBLOCK, bit_of(SIGSEGV))) {}
AdmittedFaults::~AdmittedFaults() {
  set_kernel_mask(SIG_SETMASK, before_);
}

BlockedSignals::BlockedSignals() {
  ++state.depth;
}
BlockedSignals::~BlockedSignals() {
  --state.depth;
}

AdmittedSignals::AdmittedSignals() : before_(state) {
  state = {};
  if (before_.is_blocked) set_kernel_mask(SIG_SETMASK, before_.outside);
}
AdmittedSignals::~AdmittedSignals() {
  if (before_.is_blocked) set_kernel_mask(SIG_BLOCK, handled_now());
  state = before_;
}

bool wait_for_input(int descriptor, std::uint64_t patience_ns) {
  const bool is_patient = patience_ns == ~std::uint64_t{0};
  const SignalState before = state;
  state = {};
  pollfd wanted{descriptor, POLLIN, 0};
  // The raw call changes the mask and waits in one: no handler is missed in between.
  timespec limit = timespec_of(patience_ns);
  const long ready = syscall(SYS_ppoll, &wanted, 1, is_patient ? nullptr : &limit,
                             before.is_blocked ? &before.outside : nullptr, sizeof before.outside);
  state = before;
  return ready > 0;
}

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  SDSM_NEXT_FUNCTION NextFunction<int(int, const struct sigaction*, struct sigaction*)> real{"sigaction"};
  return real.for_run_time()(signal, action, old);
}

void take_signal(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | flags;
  action.sa_sigaction = handler;
  sigfillset(&action.sa_mask);
  sigdelset(&action.sa_mask, SIGSEGV);  // an operation that a trap's handler does may touch any memory
  sigdelset(&action.sa_mask, SIGTRAP);  // nor may a preloaded tool's locked instruction be held
  real_sigaction(signal, &action, nullptr);
}

bool is_handled_by_program(int signal) {
  if (!is_own(signal)) return false;
  const Asking lock;
  return is_handler(asked_of(signal));
}

void note_shut_by_program() {
  has_shut_memory = true;
  const bool has_handler = [] {
    const Asking lock;
    return waits_for_faults(asked_of(SIGSEGV));
  }();
  if (has_handler) end_at_shut_memory();
}

void pass_fault_to_program(int signal, siginfo_t* info, void* context) {
  const struct sigaction chosen = [signal] {
    const Asking lock;
    struct sigaction& wanted = asked_of(signal);
    const struct sigaction before = wanted;
    if ((before.sa_flags & SA_RESETHAND) != 0) wanted = {};
    return before;
  }();
  if (is_handler(chosen)) {
    if ((chosen.sa_flags & SA_SIGINFO) != 0) return chosen.sa_sigaction(signal, info, context);
    return chosen.sa_handler(signal);
  }
  // The instruction is executed again, and this time the fault ends the program.
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  real_sigaction(signal, &by_default, nullptr);
}

}  // namespace sdsm::program

using namespace sdsm::program;

namespace sdsm::program {

sigset_t without_own(const sigset_t& wanted) {
  sigset_t set = wanted;
  for (const int number : {SIGSEGV, SIGTRAP, preemption_signal(), stop_signal()}) sigdelset(&set, number);
  return set;
}

}  // namespace sdsm::program

SDSM_ENTRY int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  // Copies: both may be one object, and in shared memory.
  struct sigaction given {};
  if (action != nullptr) given = *action;
  if (!is_own(signal)) {
    given.sa_mask = without_own(given.sa_mask);
    const int result = set_action(signal, action != nullptr ? &given : nullptr, old);
    if (result == 0 && action != nullptr) note_handler(signal, given);
    return result;
  }
  if (signal == SIGSEGV && action != nullptr && has_shut_memory && waits_for_faults(given)) end_at_shut_memory();
  const struct sigaction before = [&] {
    const Asking lock;
    const struct sigaction asked_before = asked_of(signal);
    if (action != nullptr) asked_of(signal) = given;
    return asked_before;
  }();
  if (old != nullptr) *old = before;
  return 0;
}

namespace {

using MaskFunction = NextFunction<int(int, const sigset_t*, sigset_t*)>;

int set_mask(MaskFunction& real, int how, const sigset_t* set, sigset_t* old) {
  // Through copies, as the kernel cannot reach protected pages.
  sigset_t wanted;
  sigset_t before;
  if (set != nullptr) wanted = how == SIG_UNBLOCK ? *set : without_own(*set);
  const int result = real(how, set != nullptr ? &wanted : nullptr, &before);
  if (old != nullptr && result == 0) *old = before;
  return result;
}

}  // namespace

SDSM_ENTRY int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  SDSM_NEXT_FUNCTION MaskFunction real{"sigprocmask"};
  return set_mask(real, how, set, old);
}

SDSM_ENTRY int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  SDSM_NEXT_FUNCTION MaskFunction real{"pthread_sigmask"};
  return set_mask(real, how, set, old);
}

/// The handler's stack is the run-time's; the program's own handlers run on it too.
SDSM_ENTRY int sigaltstack(const stack_t* stack, stack_t* old) noexcept {
  stack_t given{};
  if (stack != nullptr) given = *stack;
  const stack_t before = [&] {
    const Asking lock;
    const stack_t asked_before = asked.stack;
    if (stack != nullptr) asked.stack = given;
    return asked_before;
  }();
  if (old != nullptr) *old = before;
  return 0;
}

namespace {

__sighandler_t set_handler(int number, __sighandler_t handler, int flags) {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

}  // namespace

/// The C library's other names for it: which of them a program calls depends on the standard that it is compiled for.
SDSM_ENTRY_AS(__sighandler_t, signal, (int number, __sighandler_t handler) noexcept,
              set_handler(number, handler, SA_RESTART))
SDSM_ENTRY __sighandler_t ssignal(int number, __sighandler_t handler) noexcept SDSM_ALIAS(signal);
SDSM_ENTRY __sighandler_t bsd_signal(int number, __sighandler_t handler) noexcept SDSM_ALIAS(signal);
SDSM_ENTRY_AS(__sighandler_t, sysv_signal, (int number, __sighandler_t handler) noexcept,
              set_handler(number, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER)))
SDSM_ENTRY __sighandler_t __sysv_signal(int number, __sighandler_t handler) noexcept SDSM_ALIAS(sysv_signal);

/// System V's function: SIG_HOLD blocks the signal, and anything else unblocks it.
SDSM_ENTRY __sighandler_t sigset(int number, __sighandler_t handler) noexcept {
  // SIG_HOLD, which the header hides in some standards.
  const auto hold = reinterpret_cast<__sighandler_t>(2);
  sigset_t own;
  sigset_t before;
  sigemptyset(&own);
  if (sigaddset(&own, number) != 0) return SIG_ERR;
  if (sigprocmask(handler == hold ? SIG_BLOCK : SIG_UNBLOCK, &own, &before) != 0) return SIG_ERR;
  struct sigaction old {};
  if (handler == hold) {
    if (sigaction(number, nullptr, &old) != 0) return SIG_ERR;
  } else {
    old.sa_handler = set_handler(number, handler, 0);
    if (old.sa_handler == SIG_ERR) return SIG_ERR;
  }
  return sigismember(&before, number) == 1 ? hold : old.sa_handler;
}
