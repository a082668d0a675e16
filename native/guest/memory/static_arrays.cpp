#include "native/guest/memory/static_arrays.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace sdsm::program {
namespace {

/// A file in memory. Empty if it cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
    if (file < 0) return;
    struct stat status {};
    if (fstat(file, &status) == 0 && status.st_size > 0) {
      bytes_ = static_cast<std::size_t>(status.st_size);
      void* const memory = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
      memory_ = memory == MAP_FAILED ? nullptr : static_cast<const std::byte*>(memory);
    }
    syscall(SYS_close, file);
  }
  ~MappedFile() {
    if (memory_ != nullptr) munmap(const_cast<std::byte*>(memory_), bytes_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  template <typename Structure>
  std::optional<Structure> read_at(std::uint64_t offset) const {
    if (memory_ == nullptr || offset > bytes_ || sizeof(Structure) > bytes_ - offset) return std::nullopt;
    Structure structure;
    std::memcpy(&structure, memory_ + offset, sizeof structure);
    return structure;
  }

 private:
  const std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Objects of at least a page, as the file's symbol tables name them: unsorted, and some more than once.
GrowingArray<AddressRange> large_objects(const ObjectImage& object) {
  GrowingArray<AddressRange> found;
  const MappedFile file(object.path);
  const auto header = file.read_at<ElfW(Ehdr)>(0);
  for (std::uint64_t i = 0; header && i < header->e_shnum; ++i) {
    const auto section = file.read_at<ElfW(Shdr)>(header->e_shoff + i * sizeof(ElfW(Shdr)));
    if (!section || (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM)) continue;
    for (std::uint64_t at = 0; at + sizeof(ElfW(Sym)) <= section->sh_size; at += sizeof(ElfW(Sym))) {
      const auto symbol = file.read_at<ElfW(Sym)>(section->sh_offset + at);
      if (!symbol) break;
      const std::uintptr_t begin = object.load_offset + symbol->st_value;
      const bool is_here = symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE;
      const bool is_variable = ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && is_here;
      if (!is_variable || symbol->st_size < page_bytes || !object.variables.holds(begin)) continue;
      if (symbol->st_size > object.variables.end - begin) continue;
      found.push_back({begin, begin + symbol->st_size});
    }
  }
  return found;
}

RegionInfo region_of(std::uintptr_t begin, std::uintptr_t end, RegionKind kind) {
  return {{.kind = kind, .placement = Placement::initial, .pages = (end - begin) / page_bytes}, begin};
}

}  // namespace

GrowingArray<RegionInfo> regions_of_variables(const ObjectImage& object) {
  GrowingArray<RegionInfo> regions;
  const AddressRange all = object.variables;
  if (all.begin >= all.end) return regions;
  regions.push_back(region_of(all.begin, all.end, RegionKind::globals));
  GrowingArray<AddressRange> objects = large_objects(object);
  // The larger of two names for the same memory counts.
  std::sort(objects.begin(), objects.end(), [](const AddressRange& a, const AddressRange& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::uintptr_t cut_end = 0;
  for (const AddressRange& range : objects) {
    const std::uintptr_t begin = std::max(page_up(range.begin), cut_end);
    const std::uintptr_t end = page_down(range.end);
    if (begin >= end) continue;
    regions.push_back(region_of(begin, end, RegionKind::mapped));
    cut_end = end;
  }
  return regions;
}

bool holds_values(const void* begin, std::uint64_t pages) {
  const auto* const bytes = static_cast<const unsigned char*>(begin);
  return pages > 0 && (bytes[0] != 0 || std::memcmp(bytes, bytes + 1, pages * page_bytes - 1) != 0);
}

}  // namespace sdsm::program
