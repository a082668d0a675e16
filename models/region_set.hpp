/// A set of regions. Their numbers are small, so it is a bit for each.
#pragma once

#include <memory_resource>
#include <vector>

#include "models/ids.hpp"

namespace sdsm {

class RegionSet {
 public:
  explicit RegionSet(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) : bits_(memory) {}

  void add(RegionId region) {
    if (index_of(region) >= bits_.size()) bits_.resize(index_of(region) + 1);
    bits_[index_of(region)] = true;
  }
  bool holds(RegionId region) const { return index_of(region) < bits_.size() && bits_[index_of(region)]; }

 private:
  std::pmr::vector<bool> bits_;
};

}  // namespace sdsm
