/// Jumps. The C library saves the signal mask in their buffer, and reads it there, by system calls. These fail on a
/// protected page: a jump would keep the wrong mask.
#include <csetjmp>
#include <csignal>
#include <cstdint>

#include "native/guest/kernel/system_calls.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"

using namespace sdsm::program;

namespace {

void writes(__jmp_buf_tag* saved) {
  touch_for_kernel(saved, sizeof *saved, KernelUse::writes);
}

SDSM_NEXT_FUNCTION NextFunction<int(__jmp_buf_tag*, int)> real_sigsetjmp{"__sigsetjmp"};
SDSM_NEXT_FUNCTION NextFunction<int(__jmp_buf_tag*)> real_setjmp{"setjmp"};

}  // namespace

// These return again when their caller has long gone on: nothing of ours may be on the stack. So the way to them is a
// jump, after a call that opens the pages and returns their address.
extern "C" {
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
