/// Every entry point that libgomp exports and this front end does not implement, so that none of them can reach libgomp
/// behind the engine's back: the run ends with its name.
#include "native/gomp/engine.hpp"
#include "native/gomp/entry.hpp"

#define SDSM_MISSING(name, why)       \
  SDSM_ENTRY void name() {            \
    sdsm::engine::refuse(#name, why); \
  }

#define SDSM_MISSING_TARGET(name) \
  SDSM_MISSING(name, "it is for devices, and there is none but the host. Build without it.")
#define SDSM_MISSING_OLD(name) SDSM_MISSING(name, "only gcc 4.8 and older generate it. Build with gcc 10 or newer.")
#define SDSM_MISSING_ACC(name) SDSM_MISSING(name, "OpenACC is not OpenMP. Build without -fopenacc.")
/// The Fortran names of a routine, by how the length comes.
#define SDSM_MISSING_ACC_IN_FORTRAN(name) \
  SDSM_MISSING_ACC(name##_32_h_)          \
  SDSM_MISSING_ACC(name##_64_h_)          \
  SDSM_MISSING_ACC(name##_array_h_)

#include "native/gomp/missing.inc"
