/// The pages that a process has opened since the last barrier, where it protects them again. The cost goes by runs of
/// adjacent pages, as one system call serves a run.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "models/ids.hpp"

namespace sdsm {

class OpenedPages {
 public:
  /// `is_copy`: its home is on another node.
  void add(PageId page, bool is_copy, bool is_written) { pages_.push_back({page, is_copy, is_written}); }

  /// All copies are shut between barriers, at a lock.
  void forget_copies() {
    std::erase_if(pages_, [](const Opened& page) { return page.is_copy; });
  }

  /// At a barrier: the number of runs of adjacent pages of one region that get the same protection. Home and local
  /// pages become read-only; of copies, those that the process does not keep are shut, and the written ones of the rest
  /// become read-only. Those that it keeps stay, the others are forgotten.
  template <typename Keeps>
  std::uint64_t take_runs(Keeps keeps) {
    std::ranges::sort(pages_, {}, [](const Opened& page) {
      return std::tuple(page.is_copy, index_of(page.page.region), page.page.index, !page.is_written);
    });
    const auto is_same = [](const Opened& a, const Opened& b) { return a.page == b.page; };
    pages_.erase(std::unique(pages_.begin(), pages_.end(), is_same), pages_.end());
    std::array<std::optional<PageId>, 3> last{};  // of own pages, of copies that go, and of those that are kept
    std::uint64_t runs = 0;
    std::vector<Opened> kept;
    for (const Opened& opened : pages_) {
      const bool is_kept = opened.is_copy && keeps(opened.page);
      if (is_kept) kept.push_back({opened.page, true, false});
      if (is_kept && !opened.is_written) continue;
      std::optional<PageId>& before = last[is_kept ? 2 : opened.is_copy ? 1 : 0];
      if (!before || *before != PageId{opened.page.region, opened.page.index - 1}) ++runs;
      before = opened.page;
    }
    pages_ = std::move(kept);
    return runs;
  }

 private:
  struct Opened {
    PageId page;
    bool is_copy;
    bool is_written;
  };
  std::vector<Opened> pages_;
};

}  // namespace sdsm
