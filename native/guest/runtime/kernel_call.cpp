#include "native/guest/runtime/kernel_call.hpp"

#include <cerrno>

namespace sdsm::program {

long call_kernel(long number, const KernelArguments& call) {
  const long* const w = call.arguments;
  register long r10 asm("r10") = w[3];
  register long r8 asm("r8") = w[4];
  register long r9 asm("r9") = w[5];
  long answer = number;
  asm volatile("syscall"
               : "+a"(answer)
               : "D"(w[0]), "S"(w[1]), "d"(w[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return answer;
}

long as_library(long answer) {
  constexpr long largest_error = 4095;
  if (answer >= 0 || answer < -largest_error) return answer;
  errno = static_cast<int>(-answer);
  return -1;
}

}  // namespace sdsm::program
