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

using Statement = void (*)(void*);

/// Null where the program is not linked with libgfortran.
struct Fortran {
  Statement begin_write = nullptr;
  Statement end_write = nullptr;
  void (*flush_unit)(int*) = nullptr;
};
constinit Fortran fortran_at_start GUARDED_BY(starting);
constexpr const Fortran& fortran = fortran_at_start;

/// Statements of Fortran that write, and have begun. What they write may be told by functions with regions of their
/// own, and libgfortran holds the unit meanwhile: it cannot be flushed. A handler may come in between.
constinit volatile int statements GUARDED_BY(application) = 0;

/// Room for a std::ios_base::Init, which is empty.
constinit std::max_align_t stream_maker GUARDED_BY(starting){};

}  // namespace

void find_fortran() {
  fortran_at_start.begin_write = reinterpret_cast<Statement>(dlsym(RTLD_NEXT, "_gfortran_st_write"));
  fortran_at_start.end_write = reinterpret_cast<Statement>(dlsym(RTLD_NEXT, "_gfortran_st_write_done"));
  fortran_at_start.flush_unit = reinterpret_cast<void (*)(int*)>(dlsym(RTLD_DEFAULT, "_gfortran_flush_i4"));
}

/// What the streams print through is the library's, and so each process's own; the streams are variables of the
/// program, and point there. Constructors of the program make both, but in the initial process only. What this makes of
/// the streams themselves is gone when they are shared.
void make_standard_streams() {
  const auto construct = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "_ZNSt8ios_base4InitC1Ev"));
  if (construct != nullptr) construct(&stream_maker);
}

void flush_output() {
  FILE* output = &_IO_2_1_stdout_;
  if (__fpending(output) > 0) std::fflush(output);
  // Fortran's print has a buffer of its own.
  int standard_output = 6;
  if (fortran.flush_unit != nullptr && statements == 0) fortran.flush_unit(&standard_output);
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
  application.check();
  statements = statements + 1;
  fortran.begin_write(parameters);
}
SDSM_ENTRY void _gfortran_st_write_done(void* parameters) {
  application.check();
  fortran.end_write(parameters);
  statements = statements - 1;
}
