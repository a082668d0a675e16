#include "native/program/signals.hpp"

#include <dlfcn.h>

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

}  // namespace

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  static const auto function = reinterpret_cast<SigactionFunction>(dlsym(RTLD_NEXT, "sigaction"));
  return function(signal, action, old);
}

void pass_fault_to_program(int signal, siginfo_t* info, void* context) {
  const struct sigaction* wanted = wanted_for(signal);
  if (wanted != nullptr && (wanted->sa_flags & SA_SIGINFO) != 0 && wanted->sa_sigaction != nullptr) {
    return wanted->sa_sigaction(signal, info, context);
  }
  if (wanted != nullptr && wanted->sa_handler != SIG_DFL && wanted->sa_handler != SIG_IGN) {
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
  if (wanted == nullptr) return real_sigaction(signal, action, old);
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
