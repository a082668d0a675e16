/// A trace as it would be if memory had larger pages: 4096 times a power of two bytes, each on a multiple of its size.
///
/// A page is what one region has of such a piece of memory: regions share none. The first touch of any of its parts is
/// the page's, a write is one of its first written part, and its change is that of all parts together, in which runs
/// that meet where parts do are one.
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

  /// The regions, with their numbers of such pages.
  static std::vector<Region> regions(std::vector<Region> regions, Bytes page);

  /// The interval, without lines and sites. Valid until the next call. `from` has its lines (Detail::pages). An atomic
  /// operation's byte counts from the begin of the region's first page.
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

  std::vector<std::uint32_t> leads_;  ///< by region: parts of its first page that lie before it
  std::uint32_t parts_;               ///< of a page
  std::map<PageId, Page> pages_;      ///< that the interval touches
  std::vector<Touch> touches_;
  Interval interval_;
};

}  // namespace sdsm::trace
