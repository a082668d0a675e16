/// Contexts and jumps. The C library saves the signal mask in them, and reads it there, by system calls. These fail on
/// a protected page: swapcontext() then switches nothing, and a jump keeps the wrong mask.
#include <ucontext.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "native/gomp/entry.hpp"
#include "native/program/next_function.hpp"
#include "native/program/shared_memory.hpp"
#include "native/program/signals.hpp"
#include "native/program/system_calls.hpp"

using namespace sdsm::program;

namespace {

bool is_bad_address(int answer) {
  return answer == -1 && errno == EFAULT;
}

template <typename Saved>
void reads(const Saved* saved) {
  touch_for_kernel(saved, sizeof *saved, KernelUse::reads);
}
template <typename Saved>
void writes(Saved* saved) {
  touch_for_kernel(saved, sizeof *saved, KernelUse::writes);
}

/// A context's mask may be one that the program made.
void keep_own_signals(const ucontext_t* resumed) {
  const sigset_t kept = without_own(resumed->uc_sigmask);
  if (std::memcmp(&kept, &resumed->uc_sigmask, sizeof kept) != 0) const_cast<ucontext_t*>(resumed)->uc_sigmask = kept;
}

std::uintptr_t& top_of_stack(const ucontext_t& context) {
  return *reinterpret_cast<std::uintptr_t*>(context.uc_mcontext.gregs[REG_RSP]);
}

/// The address that makecontext() leaves on top of a new stack: the library's code behind the context's function.
std::uintptr_t library_end_of_context() {
  static std::uintptr_t found = 0;
  if (found == 0) {
    char room[256];
    ucontext_t probe{};
    probe.uc_stack.ss_sp = room;
    probe.uc_stack.ss_size = sizeof room;
    makecontext(
        &probe, [] {}, 0);
    found = top_of_stack(probe);
  }
  return found;
}

extern "C" [[noreturn]] void sdsm_end_of_context();

/// A context that ends is followed by its uc_link, which the library itself would resume. A context that has not begun
/// is made to end in our setcontext() instead. Others' uc_link may be anything: swapcontext() does not set it.
void prepare(const ucontext_t* resumed) {
  keep_own_signals(resumed);
  if (resumed->uc_link == nullptr || top_of_stack(*resumed) != library_end_of_context()) return;
  top_of_stack(*resumed) = reinterpret_cast<std::uintptr_t>(&sdsm_end_of_context);
}

SDSM_NEXT_FUNCTION NextFunction<int(ucontext_t*)> real_getcontext{"getcontext"};
SDSM_NEXT_FUNCTION NextFunction<int(__jmp_buf_tag*, int)> real_sigsetjmp{"__sigsetjmp"};
SDSM_NEXT_FUNCTION NextFunction<int(__jmp_buf_tag*)> real_setjmp{"setjmp"};

}  // namespace

/// A resumed context goes on after the call, maybe in another thread than the one that made it.
SDSM_ENTRY int swapcontext(ucontext_t* left, const ucontext_t* resumed) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(ucontext_t*, const ucontext_t*)> real{"swapcontext"};
  prepare(resumed);
  return with_open_pages([&] { writes(left), reads(resumed); }, [&] { return real(left, resumed); }, is_bad_address);
}
SDSM_ENTRY int setcontext(const ucontext_t* resumed) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(const ucontext_t*)> real{"setcontext"};
  prepare(resumed);
  return with_open_pages([&] { reads(resumed); }, [&] { return real(resumed); }, is_bad_address);
}

// makecontext() has put uc_link where rbx points.
extern "C" [[noreturn]] __attribute__((visibility("hidden"), used)) void sdsm_resume_next(const ucontext_t* next) {
  exit(next == nullptr ? 0 : setcontext(next));  // null if the program set uc_link after makecontext()
}
// Who unwinds a context's stack looks for the byte before the address that its function returns to, and ends there.
asm(".pushsection .text\n.type sdsm_end_of_context, @function\n"
    "  .cfi_startproc\n  .cfi_undefined rip\n  nop\nsdsm_end_of_context:\n"
    "  mov (%rbx), %rdi\n  lea 8(%rbx), %rsp\n  and $-16, %rsp\n  call sdsm_resume_next\n  .cfi_endproc\n"
    ".size sdsm_end_of_context, .-sdsm_end_of_context\n.popsection\n");

// These return again when their caller has long gone on: nothing of ours may be on the stack. So the way to them is a
// jump, after a call that opens the pages and returns their address.
extern "C" {
__attribute__((visibility("hidden"), used)) auto* sdsm_before_getcontext(ucontext_t* saved) {
  writes(saved);
  return real_getcontext.for_run_time();
}
__attribute__((visibility("hidden"), used)) auto* sdsm_before_sigsetjmp(__jmp_buf_tag* saved, int saves_mask) {
  if (saves_mask != 0) writes(saved);
  return real_sigsetjmp.for_run_time();
}
__attribute__((visibility("hidden"), used)) auto* sdsm_before_setjmp(__jmp_buf_tag* saved) {
  writes(saved);
  return real_setjmp.for_run_time();
}
}

#define SDSM_OPENING(name, before)                                             \
  asm(".pushsection .text\n.globl " name "\n.type " name ", @function\n" name  \
      ":\n"                                                                    \
      "  .cfi_startproc\n  push %rdi\n  .cfi_adjust_cfa_offset 8\n"            \
      "  push %rsi\n  .cfi_adjust_cfa_offset 8\n"                              \
      "  sub $8, %rsp\n  .cfi_adjust_cfa_offset 8\n  call " before             \
      "\n  add $8, %rsp\n  .cfi_adjust_cfa_offset -8\n"                        \
      "  pop %rsi\n  .cfi_adjust_cfa_offset -8\n"                              \
      "  pop %rdi\n  .cfi_adjust_cfa_offset -8\n  jmp *%rax\n  .cfi_endproc\n" \
      ".size " name ", .-" name "\n.popsection\n")
SDSM_OPENING("getcontext", "sdsm_before_getcontext");
SDSM_OPENING("__sigsetjmp", "sdsm_before_sigsetjmp");
SDSM_OPENING("setjmp", "sdsm_before_setjmp");

/// The jump goes by a copy, which the kernel never sees.
#define SDSM_JUMP(name)                                                                        \
  SDSM_ENTRY __attribute__((noreturn)) void own_##name(__jmp_buf_tag*, int) asm(#name);        \
  void own_##name(__jmp_buf_tag* saved, int answer) {                                          \
    SDSM_NEXT_FUNCTION NextFunction<void(__jmp_buf_tag*, int)> real{#name};                    \
    __jmp_buf_tag jump = *saved;                                                               \
    if (jump.__mask_was_saved != 0) pthread_sigmask(SIG_SETMASK, &jump.__saved_mask, nullptr); \
    jump.__mask_was_saved = 0;                                                                 \
    real(&jump, answer);                                                                       \
    __builtin_unreachable();                                                                   \
  }
SDSM_JUMP(longjmp)
SDSM_JUMP(_longjmp)
SDSM_JUMP(siglongjmp)
SDSM_JUMP(__longjmp_chk)
