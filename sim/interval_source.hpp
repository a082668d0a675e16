/// Where a simulated thread's intervals come from: a trace file, or a microbenchmark made up in memory.
#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "workloads/trace/reader.hpp"

namespace sdsm::sim {

class IntervalSource {
 public:
  virtual ~IntervalSource() = default;
  /// The next interval, or nullptr after the last; valid until the next call.
  virtual const trace::Interval* next() = 0;
};

class TraceSource final : public IntervalSource {
 public:
  TraceSource(const trace::File& file, std::uint32_t thread) : cursor_(file.thread(thread)) {}
  const trace::Interval* next() override {
    const trace::Interval* const interval = cursor_.next();
    if (interval != nullptr && interval->end.team != 0) {
      throw std::invalid_argument(
          "the trace has events of a part of a team, which this program cannot play. Use the sdsm that wrote it");
    }
    return interval;
  }

 private:
  trace::ThreadCursor cursor_;
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
