#include "native/guest/runtime/own_calls.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstring>
#include <string_view>

#include "native/guest/runtime/kernel_call.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"

/// Begin and end of the section sdsm_next_functions.
extern "C" [[gnu::visibility("hidden")]] sdsm::program::AnyNextFunction __start_sdsm_next_functions[];
extern "C" [[gnu::visibility("hidden")]] sdsm::program::AnyNextFunction __stop_sdsm_next_functions[];

namespace sdsm::program {
namespace {

/// A library whose calls are bound: this one, or Zydis, which decodes for it.
struct Caller {
  std::uintptr_t load_offset = 0;
  const ElfW(Dyn) * dynamic = nullptr;
  void* handle = nullptr;  ///< where its own functions are found, if it calls them by the linker's table

  /// Entry of its table for the dynamic linker, which has made addresses of its offsets.
  ElfW(Addr) entry_of(ElfW(Sxword) tag) const {
    const ElfW(Dyn)* entry = dynamic;
    while (entry->d_tag != tag && entry->d_tag != DT_NULL) ++entry;
    return entry->d_un.d_ptr;
  }
};

/// The one that this library was linked to; nothing if it has Zydis in itself.
Caller find_zydis(const Caller& own) {
  const auto* const names = reinterpret_cast<const char*>(own.entry_of(DT_STRTAB));
  constexpr std::string_view wanted = "libZydis.so";
  for (const ElfW(Dyn)* entry = own.dynamic; entry->d_tag != DT_NULL; ++entry) {
    const char* const name = names + entry->d_un.d_val;
    if (entry->d_tag != DT_NEEDED || std::strncmp(name, wanted.data(), wanted.size()) != 0) continue;
    void* const handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    const link_map* map = nullptr;
    if (handle != nullptr && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) return {map->l_addr, map->l_ld, handle};
  }
  return {};
}

struct Callers {
  Caller own{reinterpret_cast<std::uintptr_t>(&__ehdr_start), _DYNAMIC};
  Caller zydis = find_zydis(own);
  bool is_program = true;  ///< what comes next in the dynamic linker's list (dl_iterate_phdr(3))

  void* function(const char* name) const {
    void* const found = c_library_function(name);
    return found != nullptr || zydis.handle == nullptr ? found : dlsym(zydis.handle, name);
  }
};

void bind_beyond(const Callers& callers, const Caller& caller, const AddressRange& object, ElfW(Sxword) table,
                 ElfW(Sxword) table_bytes) {
  if (caller.dynamic == nullptr) return;
  const auto* const relocations = reinterpret_cast<const ElfW(Rela)*>(caller.entry_of(table));
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(caller.entry_of(DT_SYMTAB));
  const auto* const names = reinterpret_cast<const char*>(caller.entry_of(DT_STRTAB));
  for (std::size_t i = 0; i < caller.entry_of(table_bytes) / sizeof *relocations; ++i) {
    const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(relocations[i].r_info)];
    // Variables of the C library (stderr) may well be the program's copies.
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    if (symbol.st_shndx != SHN_UNDEF && caller.handle == nullptr) continue;
    const std::uintptr_t place = caller.load_offset + relocations[i].r_offset;
    auto* const slot = reinterpret_cast<void**>(place);
    if (!object.holds(reinterpret_cast<std::uintptr_t>(*slot))) continue;
    void* const function = callers.function(names + symbol.st_name);
    if (function == nullptr) continue;
    const long page = static_cast<long>(page_down(place));
    call_kernel(SYS_mprotect, {{page, page_bytes, PROT_READ | PROT_WRITE}});  // read-only after relocation
    *slot = function;
  }
}

int bind_object(dl_phdr_info* object, std::size_t /*size*/, void* to) {
  auto& callers = *static_cast<Callers*>(to);
  if (callers.is_program || is_library_of_program(object->dlpi_name)) {
    for (const Caller& caller : {callers.own, callers.zydis}) {
      bind_beyond(callers, caller, whole_of(*object), DT_JMPREL, DT_PLTRELSZ);
      bind_beyond(callers, caller, whole_of(*object), DT_RELA, DT_RELASZ);
    }
  }
  callers.is_program = false;
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
  Callers callers;
  dl_iterate_phdr(bind_object, &callers);
}

void look_up_functions() {
  for (auto* function = __start_sdsm_next_functions; function < __stop_sdsm_next_functions; ++function)
    function->look_up();
}

}  // namespace sdsm::program
