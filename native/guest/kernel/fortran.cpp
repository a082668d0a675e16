#include "native/guest/kernel/fortran.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>

#include "native/guest/kernel/open_files.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/program_image.hpp"

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
constinit FortranFunction<void(int*)> flush_output_unit{"_gfortran_flush_i4"};

constinit FortranFunction<Statement> open_unit{"_gfortran_st_open"};
constinit FortranFunction<Statement> close_unit{"_gfortran_st_close"};
constinit FortranFunction<Statement> rewind_unit{"_gfortran_st_rewind"};
constinit FortranFunction<Statement> backspace_unit{"_gfortran_st_backspace"};
constinit FortranFunction<Statement> endfile_unit{"_gfortran_st_endfile"};
constinit FortranFunction<Statement> flush_unit{"_gfortran_st_flush"};

/// The begin of each statement's parameters (libgfortran/io/io.h).
struct Common {
  std::int32_t flags;
  std::int32_t unit;
};
void note_use(const void* parameters) {
  constexpr std::int32_t is_internal = 1 << 14;  // IOPARM_DT_HAS_INTERNAL_UNIT: a variable
  const auto& common = *static_cast<const Common*>(parameters);
  if ((common.flags & is_internal) == 0) open_files::uses_unit(common.unit);
}

constinit std::atomic<bool> has_written = false;

/// Statements that write, and have begun. Functions may compute what they write. A handler may come in between.
constinit thread_local volatile int written = 0;
constinit thread_local volatile bool begins = false;

/// As the dynamic linker does when a program exits, the last one first.
void run_destructors(const dl_phdr_info& object) {
  using Destructor = void (*)();
  const ElfW(Dyn)* entry = nullptr;
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
  }
  const Destructor* first = nullptr;
  std::size_t count = 0;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_FINI_ARRAY)
      first = reinterpret_cast<const Destructor*>(object.dlpi_addr + entry->d_un.d_ptr);
    if (entry->d_tag == DT_FINI_ARRAYSZ) count = entry->d_un.d_val / sizeof(Destructor);
  }
  while (first != nullptr && count > 0) first[--count]();
}

void begin(FortranFunction<Statement>& statement, void* parameters) {
  const bool before = begins;
  begins = true;
  statement(parameters);
  begins = before;
}

constinit FortranSettings settings;

SDSM_NEXT_FUNCTION NextFunction<void(int, char**)> set_args{"_gfortran_set_args"};
SDSM_NEXT_FUNCTION NextFunction<void(int, int*)> set_options{"_gfortran_set_options"};
SDSM_NEXT_FUNCTION NextFunction<void(int)> set_convert{"_gfortran_set_convert"};
SDSM_NEXT_FUNCTION NextFunction<void(int)> set_record_marker{"_gfortran_set_record_marker"};
SDSM_NEXT_FUNCTION NextFunction<void(int)> set_max_subrecord_length{"_gfortran_set_max_subrecord_length"};

}  // namespace

const FortranSettings& FortranSettings::of_this_process() {
  return settings;
}

void FortranSettings::give_to_this_process() const {
  if (arguments != nullptr) set_args(argument_count, arguments);
  int own[most_options];
  std::copy_n(options, option_count, own);
  if (option_count > 0) set_options(option_count, own);
  if (conversion) set_convert(*conversion);
  if (record_marker) set_record_marker(*record_marker);
  if (subrecord_length) set_max_subrecord_length(*subrecord_length);
}

bool begins_fortran_statement() {
  return begins;
}

void flush_fortran_output() {
  int standard_output = 6;
  if (has_written.load(std::memory_order_relaxed) && written == 0) flush_output_unit(&standard_output);
}

void close_fortran_units() {
  if (written > 0 || program_image.whole_fortran_library.end == 0) return;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
        if (whole_of(*object).begin != program_image.whole_fortran_library.begin) return 0;
        run_destructors(*object);
        return 1;
      },
      nullptr);
}

}  // namespace sdsm::program

using namespace sdsm::program;

SDSM_ENTRY void _gfortran_st_open(void* parameters) {
  open_unit(parameters);
  constexpr std::int32_t failed = 3;  // IOPARM_LIBRETURN_MASK
  const auto& common = *static_cast<const Common*>(parameters);
  if ((common.flags & failed) == 0) open_files::opened_unit(common.unit);
}
SDSM_ENTRY void _gfortran_st_close(void* parameters) {
  const int unit = static_cast<const Common*>(parameters)->unit;
  open_files::uses_unit(unit);
  open_files::closed_unit(unit);
  close_unit(parameters);
}
// Statements that move a unit's position, or write what it holds.
#define SDSM_USING_UNIT(name)                                            \
  SDSM_ENTRY void _gfortran_st_##name(void* parameters) {                \
    open_files::uses_unit(static_cast<const Common*>(parameters)->unit); \
    name##_unit(parameters);                                             \
  }
SDSM_USING_UNIT(rewind)
SDSM_USING_UNIT(backspace)
SDSM_USING_UNIT(endfile)
SDSM_USING_UNIT(flush)
#undef SDSM_USING_UNIT
SDSM_ENTRY void _gfortran_st_write(void* parameters) {
  note_use(parameters);
  has_written.store(true, std::memory_order_relaxed);
  written = written + 1;
  begin(begin_write, parameters);
}
SDSM_ENTRY void _gfortran_st_write_done(void* parameters) {
  end_write(parameters);
  written = written - 1;
}
SDSM_ENTRY void _gfortran_st_read(void* parameters) {
  note_use(parameters);
  begin(begin_read, parameters);
}

SDSM_ENTRY void _gfortran_set_args(int count, char** arguments) {
  settings.argument_count = count;
  settings.arguments = arguments;
  set_args(count, arguments);
}
SDSM_ENTRY void _gfortran_set_options(int count, int* options) {
  settings.option_count = std::min(count, FortranSettings::most_options);
  std::copy_n(options, settings.option_count, settings.options);
  set_options(count, options);
}
SDSM_ENTRY void _gfortran_set_convert(int conversion) {
  settings.conversion = conversion;
  set_convert(conversion);
}
SDSM_ENTRY void _gfortran_set_record_marker(int bytes) {
  settings.record_marker = bytes;
  set_record_marker(bytes);
}
SDSM_ENTRY void _gfortran_set_max_subrecord_length(int bytes) {
  settings.subrecord_length = bytes;
  set_max_subrecord_length(bytes);
}
