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

/// Null until this process prints in Fortran.
struct Fortran {
  Statement begin_write = nullptr;
  Statement end_write = nullptr;
  void (*flush_unit)(int*) = nullptr;
};
constinit Fortran fortran GUARDED_BY(application);

/// Statements of Fortran that write, and have begun. What they write may be told by functions with regions of their
/// own, and libgfortran holds the unit meanwhile: it cannot be flushed. A handler may come in between.
constinit volatile int statements GUARDED_BY(application) = 0;

/// Room for a std::ios_base::Init, which is empty.
constinit std::max_align_t stream_maker GUARDED_BY(starting){};

void find_fortran() REQUIRES(application) {
  // Names of a library that came by dlopen, and of those that it needs, are not the program's.
  void* const library = dlopen("libgfortran.so.5", RTLD_LAZY | RTLD_NOLOAD);
  const auto find = [&](const char* name) { return dlsym(library == nullptr ? RTLD_NEXT : library, name); };
  fortran.begin_write = reinterpret_cast<Statement>(find("_gfortran_st_write"));
  fortran.end_write = reinterpret_cast<Statement>(find("_gfortran_st_write_done"));
  fortran.flush_unit = reinterpret_cast<void (*)(int*)>(find("_gfortran_flush_i4"));
}

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
  if (fortran.begin_write == nullptr) find_fortran();
  statements = statements + 1;
  fortran.begin_write(parameters);
}
SDSM_ENTRY void _gfortran_st_write_done(void* parameters) {
  application.check();
  fortran.end_write(parameters);
  statements = statements - 1;
}
