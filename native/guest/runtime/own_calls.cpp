#include "native/guest/runtime/own_calls.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "native/guest/runtime/kernel_call.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"

/// This library's first byte, and what is behind it; the linker defines them.
extern "C" [[gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;
extern "C" [[gnu::visibility("hidden")]] const char _end;
/// Begin and end of the section sdsm_next_functions.
extern "C" [[gnu::visibility("hidden")]] sdsm::program::AnyNextFunction __start_sdsm_next_functions[];
extern "C" [[gnu::visibility("hidden")]] sdsm::program::AnyNextFunction __stop_sdsm_next_functions[];

namespace sdsm::program {
namespace {

/// Entry of this library's table for the dynamic linker, which has made addresses of its offsets.
ElfW(Addr) entry_of(ElfW(Sxword) tag) {
  const ElfW(Dyn)* entry = _DYNAMIC;
  while (entry->d_tag != tag && entry->d_tag != DT_NULL) ++entry;
  return entry->d_un.d_ptr;
}

void bind_beyond(const AddressRange& object, ElfW(Sxword) table, ElfW(Sxword) table_bytes) {
  const auto* const relocations = reinterpret_cast<const ElfW(Rela)*>(entry_of(table));
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(entry_of(DT_SYMTAB));
  const auto* const names = reinterpret_cast<const char*>(entry_of(DT_STRTAB));
  for (std::size_t i = 0; i < entry_of(table_bytes) / sizeof *relocations; ++i) {
    const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(relocations[i].r_info)];
    // Variables of the C library (stderr) may well be the program's copies.
    if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(&__ehdr_start) + relocations[i].r_offset;
    auto* const slot = reinterpret_cast<void**>(place);
    if (!object.holds(reinterpret_cast<std::uintptr_t>(*slot))) continue;
    void* const function = c_library_function(names + symbol.st_name);
    if (function == nullptr) continue;
    const long page = static_cast<long>(page_down(place));
    call_kernel(SYS_mprotect, {{page, page_bytes, PROT_READ | PROT_WRITE}});  // read-only after relocation
    *slot = function;
  }
}

int bind_object(dl_phdr_info* object, std::size_t /*size*/, void* is_first) {
  auto& is_program = *static_cast<bool*>(is_first);  // it comes first (dl_iterate_phdr(3))
  if (is_program || is_library_of_program(object->dlpi_name)) {
    bind_beyond(whole_of(*object), DT_JMPREL, DT_PLTRELSZ);
    bind_beyond(whole_of(*object), DT_RELA, DT_RELASZ);
  }
  is_program = false;
  return 0;
}

}  // namespace

bool is_run_time(std::uintptr_t address) {
  const AddressRange own{reinterpret_cast<std::uintptr_t>(&__ehdr_start), reinterpret_cast<std::uintptr_t>(&_end)};
  return own.holds(address);
}

void* c_library_function(const char* name) {
  void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

void bind_own_calls() {
  bool is_first = true;
  dl_iterate_phdr(bind_object, &is_first);
}

void look_up_functions() {
  for (auto* function = __start_sdsm_next_functions; function < __stop_sdsm_next_functions; ++function)
    function->look_up();
}

}  // namespace sdsm::program
