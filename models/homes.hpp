/// Homes that move: the pages whose home is no longer where they were placed.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <optional>

#include "models/ids.hpp"
#include "models/page_table.hpp"

namespace sdsm {

class Homes {
 public:
  explicit Homes(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) : moved_(memory) {}

  /// The page's home now. `placed`: its first one.
  ProcessId home(PageId page, ProcessId placed) const {
    const Moved* const moved = moved_.find(page);
    return moved ? (*moved)[moved_.slot(page)].value_or(placed) : placed;
  }

  void move(PageId page, ProcessId to) {
    moved_.get(page, [] { return Moved{}; })[moved_.slot(page)] = to;
    ++epoch_;
  }

  /// Changes with every move. A home that was looked up in another epoch must be looked up again.
  std::uint64_t epoch() const { return epoch_; }

 private:
  using Moved = std::array<std::optional<ProcessId>, chunk_pages>;
  PageTable<Moved> moved_;
  std::uint64_t epoch_ = 0;
};

}  // namespace sdsm
