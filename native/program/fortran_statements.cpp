#include "native/program/fortran_statements.hpp"

#include <dlfcn.h>

#include <atomic>

#include "native/gomp/entry.hpp"

namespace sdsm::program {
namespace {

/// A function of libgfortran, looked up at the first call.
template <typename Function>
class FortranFunction {
 public:
  explicit constexpr FortranFunction(const char* name) : name_(name) {}

  void operator()(auto... arguments) {
    Function* function = found_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      // Names of a library that came by dlopen, and of those that it needs, are not the program's.
      void* const library = dlopen("libgfortran.so.5", RTLD_LAZY | RTLD_NOLOAD);
      function = reinterpret_cast<Function*>(dlsym(library == nullptr ? RTLD_NEXT : library, name_));
      found_.store(function, std::memory_order_relaxed);
    }
    function(arguments...);
  }

 private:
  const char* name_;
  std::atomic<Function*> found_ = nullptr;
};

using Statement = void(void*);
constinit FortranFunction<Statement> begin_write{"_gfortran_st_write"};
constinit FortranFunction<Statement> end_write{"_gfortran_st_write_done"};
constinit FortranFunction<Statement> begin_read{"_gfortran_st_read"};
constinit FortranFunction<void(int*)> flush_unit{"_gfortran_flush_i4"};

constinit std::atomic<bool> has_written = false;

/// Statements that write, and have begun. What they write may be told by functions with regions of their own. A handler
/// may come in between.
constinit thread_local volatile int written = 0;
constinit thread_local volatile bool begins = false;

void begin(FortranFunction<Statement>& statement, void* parameters) {
  const bool before = begins;
  begins = true;
  statement(parameters);
  begins = before;
}

}  // namespace

bool begins_fortran_statement() {
  return begins;
}

void flush_fortran_output() {
  int standard_output = 6;
  if (has_written.load(std::memory_order_relaxed) && written == 0) flush_unit(&standard_output);
}

}  // namespace sdsm::program

using namespace sdsm::program;

SDSM_ENTRY void _gfortran_st_write(void* parameters) {
  has_written.store(true, std::memory_order_relaxed);
  written = written + 1;
  begin(begin_write, parameters);
}
SDSM_ENTRY void _gfortran_st_write_done(void* parameters) {
  end_write(parameters);
  written = written - 1;
}
SDSM_ENTRY void _gfortran_st_read(void* parameters) {
  begin(begin_read, parameters);
}
