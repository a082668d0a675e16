/// A sparse table over pages: an untouched page costs nothing, wherever it lies in its region.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "models/ids.hpp"

namespace sdsm {

/// Pages of a chunk.
inline constexpr std::uint64_t chunk_pages = 256;

/// Chunks of adjacent pages, each made at the first write to one of them. A region has one directory for each 4 GiB, so
/// that a touch at the end of a terabyte makes no table for everything before it.
template <typename Chunk>
class PageTable {
 public:
  explicit PageTable(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) : regions_(memory) {}
  ~PageTable() {
    for (auto& directories : regions_) {
      for (Directory& directory : directories) {
        for (Chunk* chunk : directory) {
          if (chunk) allocator().delete_object(chunk);
        }
      }
    }
  }
  PageTable(const PageTable&) = delete;
  PageTable& operator=(const PageTable&) = delete;

  /// The page's place in its chunk.
  static constexpr std::uint64_t slot(PageId page) { return page.index % chunk_pages; }

  /// The chunk of a page, or nullptr if there is none yet.
  Chunk* find(PageId page) const {
    const std::size_t region = index_of(page.region);
    if (region >= regions_.size() || directory_of(page) >= regions_[region].size()) return nullptr;
    const Directory& directory = regions_[region][directory_of(page)];
    return place_in_directory(page) < directory.size() ? directory[place_in_directory(page)] : nullptr;
  }

  /// The chunk of a page; `make` makes it if there is none yet.
  template <typename Make>
  Chunk& get(PageId page, Make make) {
    if (Chunk* const known = find(page)) return *known;
    const std::size_t region = index_of(page.region);
    if (region >= regions_.size()) regions_.resize(region + 1);
    if (directory_of(page) >= regions_[region].size()) regions_[region].resize(directory_of(page) + 1);
    Directory& directory = regions_[region][directory_of(page)];
    if (place_in_directory(page) >= directory.size()) directory.resize(place_in_directory(page) + 1);
    directory[place_in_directory(page)] = allocator().template new_object<Chunk>(make());
    return *directory[place_in_directory(page)];
  }

 private:
  using Directory = std::pmr::vector<Chunk*>;
  static constexpr std::uint64_t directory_chunks = 4096;

  static constexpr std::size_t directory_of(PageId page) { return page.index / chunk_pages / directory_chunks; }
  static constexpr std::size_t place_in_directory(PageId page) { return page.index / chunk_pages % directory_chunks; }

  std::pmr::polymorphic_allocator<> allocator() const { return regions_.get_allocator().resource(); }

  std::pmr::vector<std::pmr::vector<Directory>> regions_;
};

}  // namespace sdsm
