#include "native/dsm/standard_output.hpp"

#include <dlfcn.h>
#include <stdio_ext.h>

#include <cstddef>
#include <cstdio>

#include "native/gomp/entry.hpp"

// `stdout` itself is a variable of the program's, in shared memory.
extern "C" FILE _IO_2_1_stdout_;

namespace sdsm::dsm {
namespace {

/// Statements of Fortran that write, and have begun. What they write may be told by functions with regions of their
/// own, and libgfortran holds the unit meanwhile: it cannot be flushed.
volatile int statements = 0;

using Statement = void (*)(void*);

Statement real(const char* name) {
  return reinterpret_cast<Statement>(dlsym(RTLD_NEXT, name));
}

}  // namespace

/// What the streams print through is the library's, and so each process's own; the streams are variables of the
/// program, and point there. Constructors of the program make both, but in the initial process only. What this makes of
/// the streams themselves is gone when they are shared.
void make_standard_streams() {
  const auto construct = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "_ZNSt8ios_base4InitC1Ev"));
  static std::max_align_t object;
  if (construct != nullptr) construct(&object);
}

void flush_output() {
  FILE* output = &_IO_2_1_stdout_;
  if (__fpending(output) > 0) std::fflush(output);
  // Fortran's print has a buffer of its own.
  static const auto flush_unit = reinterpret_cast<void (*)(int*)>(dlsym(RTLD_DEFAULT, "_gfortran_flush_i4"));
  int standard_output = 6;
  if (flush_unit != nullptr && statements == 0) flush_unit(&standard_output);
}

}  // namespace sdsm::dsm

using namespace sdsm::dsm;

/// std::ios_base::sync_with_stdio(): the streams stay with C's, as they would else point to what only the process that
/// asks for it has.
SDSM_ENTRY bool sdsm_sync_with_stdio(bool wanted) __asm__("_ZNSt8ios_base15sync_with_stdioEb");
bool sdsm_sync_with_stdio(bool /*wanted*/) {
  return true;
}

SDSM_ENTRY void _gfortran_st_write(void* parameters) {
  static const Statement begin = real("_gfortran_st_write");
  statements = statements + 1;
  begin(parameters);
}
SDSM_ENTRY void _gfortran_st_write_done(void* parameters) {
  static const Statement end = real("_gfortran_st_write_done");
  end(parameters);
  statements = statements - 1;
}
