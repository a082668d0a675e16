#include "native/dsm/files/standard_output.hpp"

#include <dlfcn.h>
#include <stdio_ext.h>

#include <cstddef>
#include <cstdio>

#include "native/dsm/files/open_files.hpp"
#include "native/guest/kernel/fortran.hpp"
#include "native/guest/runtime/entry.hpp"

// `stdout` itself is a variable of the program's, in shared memory.
extern "C" FILE _IO_2_1_stdout_;

namespace sdsm::dsm {
namespace {

/// Room for a std::ios_base::Init, which is empty.
constinit std::max_align_t stream_maker GUARDED_BY(starting){};

}  // namespace

/// What the streams print through is the library's, and so each process's own; the streams are variables of the
/// program, and point there. Constructors of the program make both, but in the initial process only. What this makes of
/// the streams themselves is gone when they are shared.
void make_standard_streams() {
  const auto construct = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "_ZNSt8ios_base4InitC1Ev"));
  if (construct != nullptr) construct(&stream_maker);
}

void flush_output() {
  FILE* output = &_IO_2_1_stdout_;
  if (__fpending(output) > 0) {
    need_output_here();
    std::fflush(output);
  }
  program::flush_fortran_output();
  hand_on_streams();
}

}  // namespace sdsm::dsm

/// std::ios_base::sync_with_stdio(): the streams stay with C's, as they would else point to what one process has.
SDSM_ENTRY bool sdsm_sync_with_stdio(bool wanted) __asm__("_ZNSt8ios_base15sync_with_stdioEb");
bool sdsm_sync_with_stdio(bool /*wanted*/) {
  return true;
}
