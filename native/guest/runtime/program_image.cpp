#include "native/guest/runtime/program_image.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/personality.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "native/guest/runtime/ending.hpp"

namespace sdsm::program {

AddressRange whole_of(const dl_phdr_info& object) {
  AddressRange range{~std::uintptr_t{0}, 0};
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    if (begin < range.begin) range.begin = begin;
    if (begin + header.p_memsz > range.end) range.end = begin + header.p_memsz;
  }
  return range;
}

namespace {

constinit ProgramImage found GUARDED_BY(starting);

const char* name_in(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

/// Variables aligned to more than a page have a segment of their own, with nothing in between: both become one range.
void fill_gap(std::uintptr_t begin, std::uintptr_t end) {
  if (begin >= end) return;
  void* wanted = reinterpret_cast<void*>(begin);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (mmap(wanted, end - begin, PROT_READ | PROT_WRITE, flags, -1, 0) == wanted) return;
  end_run(
      {"something lies between the program's segments of variables, which are to be shared memory. Start the program "
       "by itself, not by ld.so; if you did, align its variables to no more than 4096 bytes"});
}

ObjectImage image_of(const dl_phdr_info& object) {
  ObjectImage image;
  image.load_offset = object.dlpi_addr;
  image.whole = whole_of(object);
  image.path = object.dlpi_name;
  image.name = name_in(object.dlpi_name);
  std::uintptr_t relocated_end = 0;
  bool has_constants_behind = false;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) image.dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (header.p_type == PT_GNU_RELRO) relocated_end = page_up(begin + header.p_memsz);
    if (header.p_type != PT_LOAD) continue;
    if ((header.p_flags & PF_X) != 0) image.code = {begin, begin + header.p_memsz};
    if ((header.p_flags & PF_W) == 0) {
      has_constants_behind = image.variables.end != 0;
      continue;
    }
    // Segments come in the order of their addresses (ELF).
    if (image.variables.end == 0) {
      image.variables.begin = page_down(begin);
    } else {
      if (has_constants_behind) {
        end_run(
            {"a segment that is not writable lies between those of its variables, which are to be shared memory. Link "
             "the program without a linker script or --section-start that puts it there"});
      }
      fill_gap(image.variables.end, page_down(begin));
    }
    image.variables.end = page_up(begin + header.p_memsz);
    if (header.p_filesz != 0) image.file_end = page_up(begin + header.p_filesz);
  }
  AddressRange& variables = image.variables;
  if (relocated_end > variables.begin && relocated_end <= variables.end) variables.begin = relocated_end;
  return image;
}

/// Whether the user preloads the library, as tools are: its variables are no part of the program.
bool is_preloaded(const char* path) {
  constexpr const char* separators = ": ";
  const char* list = std::getenv("LD_PRELOAD");
  while (list != nullptr && *list != 0) {
    const std::size_t length = std::strcspn(list, separators);
    const bool is_path = std::memchr(list, '/', length) != nullptr;
    const char* const whole = is_path ? path : name_in(path);
    if (length > 0 && std::strlen(whole) == length && std::memcmp(list, whole, length) == 0) return true;
    list += length + std::strspn(list + length, separators);
  }
  return false;
}

int note_object(dl_phdr_info* object, std::size_t /*size*/, void* is_first) REQUIRES(starting) {
  if (*static_cast<bool*>(is_first)) {
    *static_cast<bool*>(is_first) = false;
    found.program = image_of(*object);
    found.program.path = "/proc/self/exe";
  } else if (std::strstr(object->dlpi_name, "libstdc++.so") != nullptr) {
    found.whole_cxx_library = whole_of(*object);
  } else if (std::strstr(object->dlpi_name, "libgfortran.so") != nullptr) {
    found.whole_fortran_library = whole_of(*object);
  } else if (std::strncmp(name_in(object->dlpi_name), "libc.so", 7) == 0) {
    found.whole_c_library = whole_of(*object);
  } else if (is_library_of_program(object->dlpi_name)) {
    found.libraries.push_back(image_of(*object));
  }
  return 0;
}

/// Which objects say that stacks are to be executable.
struct StackCode {
  bool is_first = true;  ///< the program itself comes first (dl_iterate_phdr(3))
  bool of_program = false;
  bool of_library = false;
};

/// Pointers to nested functions of C, and to internal procedures of Fortran, point to code that gcc puts on the stack.
int find_code_on_stacks(dl_phdr_info* object, std::size_t /*size*/, void* to) {
  StackCode& code = *static_cast<StackCode*>(to);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type != PT_GNU_STACK || (header.p_flags & PF_X) == 0) continue;
    (code.is_first ? code.of_program : code.of_library) = true;
  }
  code.is_first = false;
  return 0;
}

/// From here on the kernel makes executable what this process maps or opens for reading, if stacks are to be.
void keep_code_on_stacks() {
  StackCode code;
  dl_iterate_phdr(find_code_on_stacks, &code);
  if (!code.of_program && !code.of_library) return;
  constexpr unsigned long ask_only = 0xffffffff;
  const int now = personality(ask_only);
  if (now != -1 && personality(static_cast<unsigned long>(now) | READ_IMPLIES_EXEC) != -1) return;
  // A library says so for one assembly file that says nothing, and mostly has no such code.
  if (!code.of_program) return;
  end_run(
      {"the system does not let the program have code on its stacks, where it has pointers to nested functions or "
       "internal procedures. Allow the system call personality: in a container by --security-opt seccomp=unconfined"});
}

void do_nothing() {}

/// The relocated tables of the dynamic section are read-only.
void write_entry(const ElfW(Dyn) & entry, ElfW(Xword) value) {
  const auto begin = reinterpret_cast<std::uintptr_t>(&entry);
  set_protection(page_down(begin), page_up(begin + sizeof entry), PROT_READ | PROT_WRITE);
  const_cast<ElfW(Dyn)&>(entry).d_un.d_val = value;
}

}  // namespace

SystemLibrary system_library(const char* path) {
  struct Known {
    const char* name;
    SystemLibrary kind;
  };
  using enum SystemLibrary;
  constexpr Known table[] = {
      // The C library and the dynamic linker: their variables are the process's (its heap, streams, threads).
      {"ld-linux", own_locking},
      {"libc.so", own_locking},
      {"libm.so", own_locking},
      {"libmvec.so", own_locking},
      {"libpthread.so", own_locking},
      {"libdl.so", own_locking},
      {"librt.so", own_locking},
      {"libresolv.so", own_locking},
      {"libutil.so", own_locking},
      {"libanl.so", own_locking},
      {"libnss_", own_locking},
      {"linux-vdso", own_locking},
      // The OpenMP run-times: the stand-ins are in the process in their place.
      {"libgomp.so", own_locking},
      {"libsdsm-", own_locking},
      // Which decode machine code for the run-time.
      {"libZydis.so", own_locking},
      {"libZycore.so", own_locking},
      // The compiler's: streams, units, unwinding and locales are the process's.
      {"libstdc++.so", locks_for_program},
      {"libgcc_s.so", locks_for_program},
      {"libgfortran.so", locks_for_program},
      {"libquadmath.so", locks_for_program},
      {"libatomic.so", locks_for_program},
  };
  const char* const name = name_in(path);
  if (std::strstr(path, "/gconv/") != nullptr) return own_locking;  // by which iconv converts
  for (const Known& known : table) {
    if (std::strncmp(name, known.name, std::strlen(known.name)) == 0) return known.kind;
  }
  return none;
}

bool is_library_of_program(const char* path) {
  return path[0] != 0 && system_library(path) == SystemLibrary::none && !is_preloaded(path);
}

bool is_of_program(const dl_phdr_info& object) {
  const std::uintptr_t begin = whole_of(object).begin;
  return program_image.is_program(begin) && !program_image.whole_cxx_library.holds(begin);
}

void pass_library_constructors() {
  found.cxx_library = found.whole_cxx_library;
}

void drop_library_constructors() {
  const auto drop = [](const ObjectImage& object, ElfW(Sxword) tag, ElfW(Xword) value) {
    for (const ElfW(Dyn)* entry = object.dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == tag) write_entry(*entry, value);
    }
  };
  drop(program_image.program, DT_PREINIT_ARRAYSZ, 0);
  for (const ObjectImage& library : program_image.libraries) {
    drop(library, DT_INIT_ARRAYSZ, 0);
    // One function, by -init of the linker: the dynamic linker adds where the library lies, and calls it in any case.
    drop(library, DT_INIT, reinterpret_cast<std::uintptr_t>(&do_nothing) - library.load_offset);
  }
}

constinit const ProgramImage& program_image = found;

void find_program_image() {
  bool is_first = true;  // the program itself comes first (dl_iterate_phdr(3))
  dl_iterate_phdr(note_object, &is_first);
  keep_code_on_stacks();
  // operator new and its twin for alignments, which lie side by side.
  for (const char* name : {"_Znwm", "_ZnwmSt11align_val_t"}) {
    constexpr std::uintptr_t most_bytes = 256;
    const auto begin = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, name));
    if (!found.whole_cxx_library.holds(begin)) continue;
    AddressRange& range = found.cxx_library;
    range.begin = range.end == 0 ? begin : std::min(range.begin, begin);
    range.end = std::max(range.end, begin + most_bytes);
  }
}

}  // namespace sdsm::program
