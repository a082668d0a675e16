#include "native/program/program_image.hpp"

#include <link.h>
#include <sys/mman.h>

#include <cstring>

#include "native/program/ending.hpp"
#include "native/program/raw_memory.hpp"

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

std::uintptr_t page_down(std::uintptr_t address) {
  return address & ~(page_bytes - 1);
}
std::uintptr_t page_up(std::uintptr_t address) {
  return page_down(address + page_bytes - 1);
}

/// Variables aligned to more than a page have a segment of their own, and nothing lies between it and the others: the
/// pages of both become one range.
void fill_gap(std::uintptr_t begin, std::uintptr_t end) {
  if (begin >= end) return;
  void* wanted = reinterpret_cast<void*>(begin);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (mmap(wanted, end - begin, PROT_READ | PROT_WRITE, flags, -1, 0) == wanted) return;
  end_run(
      {"something lies between the program's segments of variables, which are to be shared memory. Start the program "
       "by itself, not by ld.so; if you did, align its variables to no more than 4096 bytes"});
}

void look_at_program(const dl_phdr_info& object) REQUIRES(starting) {
  found.load_offset = object.dlpi_addr;
  found.whole = whole_of(object);
  std::uintptr_t relocated_end = 0;
  bool has_constants_behind = false;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_RELRO) relocated_end = page_up(begin + header.p_memsz);
    if (header.p_type != PT_LOAD) continue;
    if ((header.p_flags & PF_X) != 0) found.code = {begin, begin + header.p_memsz};
    if ((header.p_flags & PF_W) == 0) {
      has_constants_behind = found.variables.end != 0;
      continue;
    }
    // Segments come in the order of their addresses (ELF).
    if (found.variables.end == 0) {
      found.variables.begin = page_down(begin);
    } else {
      if (has_constants_behind) {
        end_run(
            {"a segment that is not writable lies between those of its variables, which are to be shared memory. Link "
             "the program without a linker script or --section-start that puts it there"});
      }
      fill_gap(found.variables.end, page_down(begin));
    }
    found.variables.end = page_up(begin + header.p_memsz);
  }
  AddressRange& variables = found.variables;
  if (relocated_end > variables.begin && relocated_end <= variables.end) variables.begin = relocated_end;
}

int look_at(dl_phdr_info* object, std::size_t /*size*/, void* is_first) REQUIRES(starting) {
  if (*static_cast<bool*>(is_first)) {
    *static_cast<bool*>(is_first) = false;
    look_at_program(*object);
  } else if (std::strstr(object->dlpi_name, "libstdc++.so") != nullptr) {
    found.cxx_library = whole_of(*object);
  }
  return 0;
}

}  // namespace

constinit const ProgramImage& program_image = found;

void find_program_image() {
  bool is_first = true;  // the program itself comes first (dl_iterate_phdr(3))
  dl_iterate_phdr(look_at, &is_first);
}

}  // namespace sdsm::program
