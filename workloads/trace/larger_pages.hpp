/// Converts a trace to larger pages: 4096 bytes times a power of two, each on a multiple of its size.
///
/// A page is one region's part of such a piece of memory, as regions share no pages. Its first touch is the first touch
/// of any part; a write is that of its first written part. Its change sums those of its parts, with runs joined that
/// meet at a boundary of parts.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/page_size.hpp"
#include "workloads/trace/reader.hpp"

namespace sdsm::trace {

class LargerPages {
 public:
  /// Precondition: page_size_problem(page) is empty.
  LargerPages(const std::vector<Region>& regions, Bytes page);

  /// Returns the regions with their numbers of larger pages.
  static std::vector<Region> regions(std::vector<Region> regions, Bytes page);

  /// Returns the interval without lines and sites, valid until the next call. `from` has its lines (Detail::pages). An
  /// atomic operation's byte counts from the begin of the region's first page.
  const Interval& of(const Interval& from);

 private:
  struct Page {
    bool is_read = false, is_written = false;
    std::uint32_t words = 0, runs = 0;
    std::uint16_t first_words = 0, last_words = 0;  ///< a bit for each part whose first or last word changed
  };
  struct Touch {
    PageId page;
    Access access;
    std::uint8_t position;
  };

  void touch(const TouchRun& run, PageWalk<LinesRun>& lines);
  static Change change_of(const Page& page);

  std::vector<std::uint32_t> leads_;  ///< by region: parts of its first page that lie before the region
  std::uint32_t parts_;               ///< parts of a page
  std::map<PageId, Page> pages_;      ///< pages that the interval touches
  std::vector<Touch> touches_;
  Interval interval_;
};

}  // namespace sdsm::trace
