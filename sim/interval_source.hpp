/// Provides a simulated thread's intervals, from a trace file or from a microbenchmark in memory.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "models/page_size.hpp"
#include "workloads/trace/larger_pages.hpp"
#include "workloads/trace/reader.hpp"

namespace sdsm::sim {

class IntervalSource {
 public:
  virtual ~IntervalSource() = default;
  /// Returns the next interval, or nullptr after the last; valid until the next call.
  virtual const trace::Interval* next() = 0;
};

class TraceSource final : public IntervalSource {
 public:
  /// `page`: see trace::LargerPages.
  TraceSource(const trace::File& file, std::uint32_t thread, Bytes page = least_page)
      : cursor_(file.thread(thread, page > least_page ? trace::Detail::pages : trace::Detail::touches)) {
    if (page > least_page) larger_.emplace(file.regions(), page);
  }
  const trace::Interval* next() override {
    const trace::Interval* const interval = cursor_.next();
    if (interval != nullptr && interval->end.team != 0 && interval->end.kind != EventKind::barrier) {
      throw std::invalid_argument(
          "the trace has events of a part of a team other than barriers, which this program cannot play. Use the sdsm "
          "that wrote it");
    }
    return interval != nullptr && larger_ ? &larger_->of(*interval) : interval;
  }

 private:
  trace::ThreadCursor cursor_;
  std::optional<trace::LargerPages> larger_;
};

class MemorySource final : public IntervalSource {
 public:
  explicit MemorySource(std::vector<trace::Interval> intervals) : intervals_(std::move(intervals)) {}
  const trace::Interval* next() override { return next_ < intervals_.size() ? &intervals_[next_++] : nullptr; }

 private:
  std::vector<trace::Interval> intervals_;
  std::size_t next_ = 0;
};

}  // namespace sdsm::sim
