#include "tests/workloads/trace/format_1.hpp"

#include <algorithm>

#include "workloads/trace/file_layout.hpp"
#include "workloads/trace/footer.hpp"
#include "workloads/trace/run_codec.hpp"
#include "workloads/trace/varint.hpp"

namespace sdsm::trace {
namespace {

constexpr std::size_t most_head_bytes = 2 + 4 * max_varint_bytes;

/// One thread's blocks.
class Blocks {
 public:
  Blocks(std::uint32_t thread, std::vector<Parts::Block>& out) : thread_(thread), out_(out) {}

  /// The runs are those that are left when a writer has merged them.
  void append(const Interval& interval) {
    std::uint8_t position = 0;
    for (const TouchRun& run : interval.touches) {
      if (!has_room(max_run_bytes)) {
        if (runs_ > 0) {
          block_.content.push_back(format_1_flags::unfinished);
          end_piece();
          position = 0;
        }
        flush();
      }
      const std::size_t before = piece_.size();
      piece_.resize(before + max_run_bytes);
      const std::uint8_t* const end = encoder_.encode(run, encoder_.stream_for(run), position, &piece_[before]);
      piece_.resize(static_cast<std::size_t>(end - piece_.data()));
      position = run.position;
      ++runs_;
    }
    if (!has_room(0)) flush();
    append_event(interval.end);
    write_varint(block_.content, interval.compute_ns);
    end_piece();
    ++block_.intervals;
  }

  void flush() {
    block_.thread = thread_;
    if (!block_.content.empty()) out_.push_back(block_);
    block_ = {};
    encoder_.reset();
  }

 private:
  bool has_room(std::size_t more) const {
    return block_.content.size() + most_head_bytes + piece_.size() + more <= max_block_bytes;
  }

  void append_event(const Event& event) {
    using namespace format_1_flags;
    block_.content.push_back(
        static_cast<std::uint8_t>(static_cast<unsigned>(event.kind) | (event.detail != 0 ? detail : 0U) |
                                  (event.object != 0 ? object : 0U) | (event.value != 0 ? value : 0U)));
    if (event.detail != 0) block_.content.push_back(event.detail);
    if (event.object != 0) write_varint(block_.content, event.object);
    if (event.value != 0) write_varint(block_.content, event.value);
  }

  void end_piece() {
    write_varint(block_.content, runs_);
    block_.content.insert(block_.content.end(), piece_.begin(), piece_.end());
    piece_.clear();
    runs_ = 0;
  }

  std::uint32_t thread_;
  std::vector<Parts::Block>& out_;
  Parts::Block block_;
  RunEncoder encoder_;
  FileBytes piece_;
  std::uint64_t runs_ = 0;
};

}  // namespace

Trace as_format_1(Trace trace) {
  trace.header.sites.clear();
  trace.header.call_sites.clear();
  trace.header.unseen.clear();
  trace.header.speed = {};
  for (Region& region : trace.regions) region.lead_pages = 0, region.is_filled = false, region.calls.clear();
  for (auto& intervals : trace.threads) {
    for (Interval& interval : intervals) {
      interval.lines.clear();
      interval.sites.clear();
      interval.call_site = 0;
      interval.end.team = 0;
      if (interval.end.kind == EventKind::clock) interval.end.detail = 0;
    }
  }
  return trace;
}

FileBytes write_format_1(const Trace& trace) {
  const Trace said = as_format_1(trace);
  Footer footer{.header = said.header, .regions = said.regions, .totals = {}, .events = {}, .blocks = {}};
  Parts parts{.format = first_format, .blocks = {}, .footer = {}};
  for (std::uint32_t thread = 0; thread < said.threads.size(); ++thread) {
    Blocks blocks(thread, parts.blocks);
    Totals totals;
    EventCounts events{};
    for (const Interval& interval : said.threads[thread]) {
      blocks.append(interval);
      ++totals.intervals;
      totals.touch_runs += interval.touches.size();
      for (const TouchRun& run : interval.touches) totals.page_touches += run.pages;
      totals.compute_ns += interval.compute_ns;
      ++events[static_cast<std::size_t>(interval.end.kind)];
    }
    blocks.flush();
    footer.totals.push_back(totals);
    footer.events.push_back(events);
  }
  parts.footer = nlohmann::json::parse(to_json_text(footer));
  parts.footer["format"] = first_format;
  return put_together(parts);
}

}  // namespace sdsm::trace
