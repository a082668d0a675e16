#include "native/program/signals.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>

#include "native/gomp/entry.hpp"

namespace sdsm::program {
namespace {

using SigactionFunction = int (*)(int, const struct sigaction*, struct sigaction*);

/// What the program has asked for; libgfortran, for one, installs a handler of SIGSEGV at start.
struct sigaction wanted_for_fault {};
struct sigaction wanted_for_trap {};

/// Null for a signal that is left to the program.
struct sigaction* wanted_for(int signal) {
  if (signal == SIGSEGV) return &wanted_for_fault;
  if (signal == SIGTRAP) return &wanted_for_trap;
  return nullptr;
}

/// Signals of which the program has a handler, and which the run-time does not need itself: bit n - 1 is signal n, as
/// the kernel counts them.
std::uint64_t handled = 0;

void note_handler(int signal, const struct sigaction& action) {
  if (signal < 1 || signal > 64 || wanted_for(signal) != nullptr) return;
  const std::uint64_t bit = std::uint64_t{1} << (signal - 1);
  const bool has_handler =
      (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
  handled = has_handler ? handled | bit : handled & ~bit;
}

std::uint64_t set_kernel_mask(int how, std::uint64_t set) {
  std::uint64_t before = 0;
  // The raw call: the function is interposed.
  syscall(SYS_rt_sigprocmask, how, &set, &before, sizeof set);
  return before;
}

}  // namespace

HeldSignals::HeldSignals() : is_holding_(handled != 0) {
  if (is_holding_) before_ = set_kernel_mask(SIG_BLOCK, handled);
}
HeldSignals::~HeldSignals() {
  if (is_holding_) set_kernel_mask(SIG_SETMASK, before_);
}

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  static const auto function = reinterpret_cast<SigactionFunction>(dlsym(RTLD_NEXT, "sigaction"));
  return function(signal, action, old);
}

bool is_handled_by_program(int signal) {
  const struct sigaction* wanted = wanted_for(signal);
  if (wanted == nullptr) return false;
  if ((wanted->sa_flags & SA_SIGINFO) != 0) return wanted->sa_sigaction != nullptr;
  return wanted->sa_handler != SIG_DFL && wanted->sa_handler != SIG_IGN;
}

void pass_fault_to_program(int signal, siginfo_t* info, void* context) {
  if (is_handled_by_program(signal)) {
    const struct sigaction* wanted = wanted_for(signal);
    if ((wanted->sa_flags & SA_SIGINFO) != 0) return wanted->sa_sigaction(signal, info, context);
    return wanted->sa_handler(signal);
  }
  // The instruction is executed again, and this time the fault ends the program.
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  real_sigaction(signal, &by_default, nullptr);
}

}  // namespace sdsm::program

using namespace sdsm::program;

SDSM_ENTRY int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  struct sigaction* wanted = wanted_for(signal);
  if (wanted == nullptr) {
    const int result = real_sigaction(signal, action, old);
    if (result == 0 && action != nullptr) note_handler(signal, *action);
    return result;
  }
  const struct sigaction before = *wanted;
  if (action != nullptr) *wanted = *action;
  if (old != nullptr) *old = before;
  return 0;
}

namespace {

/// A touch while SIGSEGV is blocked would kill the program.
sigset_t without_own(const sigset_t& wanted) {
  sigset_t set = wanted;
  for (const int number : {SIGSEGV, SIGTRAP, preemption_signal}) sigdelset(&set, number);
  return set;
}

using MaskFunction = int (*)(int, const sigset_t*, sigset_t*);

int set_mask(MaskFunction real, int how, const sigset_t* set, sigset_t* old) {
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
  static const auto real = reinterpret_cast<MaskFunction>(dlsym(RTLD_NEXT, "sigprocmask"));
  return set_mask(real, how, set, old);
}

SDSM_ENTRY int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  static const auto real = reinterpret_cast<MaskFunction>(dlsym(RTLD_NEXT, "pthread_sigmask"));
  return set_mask(real, how, set, old);
}

/// The handler's stack is the run-time's; the program's own handlers run on it too.
SDSM_ENTRY int sigaltstack(const stack_t* stack, stack_t* old) noexcept {
  static stack_t wanted{nullptr, SS_DISABLE, 0};
  const stack_t before = wanted;
  if (stack != nullptr) wanted = *stack;
  if (old != nullptr) *old = before;
  return 0;
}

SDSM_ENTRY __sighandler_t signal(int number, __sighandler_t handler) noexcept {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}
