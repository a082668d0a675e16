#include "workloads/trace/larger_pages.hpp"

#include <bit>

namespace sdsm::trace {
namespace {

std::uint32_t parts_of(Bytes page) {
  return static_cast<std::uint32_t>(page.count / page_bytes);
}

}  // namespace

LargerPages::LargerPages(const std::vector<Region>& regions, Bytes page) : parts_(parts_of(page)) {
  for (const Region& region : regions) leads_.push_back(region.lead_pages % parts_);
}

std::vector<Region> LargerPages::regions(std::vector<Region> regions, Bytes page) {
  const std::uint32_t parts = parts_of(page);
  for (Region& region : regions) {
    region.pages = (region.lead_pages % parts + region.pages + parts - 1) / parts;
    region.lead_pages /= parts;
  }
  return regions;
}

const Interval& LargerPages::of(const Interval& from) {
  pages_.clear();
  touches_.clear();
  PageWalk<LinesRun> lines(from.lines);
  for (const TouchRun& run : from.touches) touch(run, lines);

  interval_.compute_ns = from.compute_ns;
  interval_.end = from.end;
  interval_.call_site = from.call_site;
  if (from.end.kind == EventKind::atomic) interval_.end.value += std::uint64_t{leads_[from.end.object]} * page_bytes;
  interval_.touches.clear();
  for (const Touch& touch : touches_) {
    const Change change = touch.access == Access::write ? change_of(pages_.at(touch.page)) : Change{};
    if (!interval_.touches.empty()) {
      TouchRun& last = interval_.touches.back();
      const bool goes_on = last.region == touch.page.region && last.first + last.pages == touch.page.index &&
                           last.access == touch.access && last.position == touch.position && last.change == change;
      if (goes_on) {
        ++last.pages;
        continue;
      }
    }
    interval_.touches.push_back({touch.page.region, 1, touch.page.index, touch.access, touch.position, change});
  }
  return interval_;
}

void LargerPages::touch(const TouchRun& run, PageWalk<LinesRun>& lines) {
  const bool writes = run.access == Access::write;
  Page* page = nullptr;
  for (std::uint64_t i = 0; i < run.pages; ++i) {
    const std::uint64_t part = leads_[index_of(run.region)] + run.first + i;
    if (page == nullptr || part % parts_ == 0) {
      const PageId id{run.region, part / parts_};
      page = &pages_[id];
      bool& is_known = writes ? page->is_written : page->is_read;
      if (!is_known && !(page->is_written && !writes)) touches_.push_back({id, run.access, run.position});
      is_known = true;
    }
    if (!writes || !run.change) continue;
    ChangedLines ends{0, true, true};
    if (is_partial(run.change)) {
      ends = lines.here().changed;
      lines.pass(1);
    }
    page->words += run.change.words;
    page->runs += run.change.runs;
    const auto bit = static_cast<std::uint16_t>(1U << part % parts_);
    if (ends.first_word) page->first_words |= bit;
    if (ends.last_word) page->last_words |= bit;
  }
}

Change LargerPages::change_of(const Page& page) {
  const auto meetings = std::popcount(static_cast<std::uint16_t>(page.last_words & page.first_words >> 1));
  return {static_cast<std::uint16_t>(page.words), static_cast<std::uint16_t>(page.runs - meetings)};
}

}  // namespace sdsm::trace
