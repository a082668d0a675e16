/// Encodes facts about single pages (changed lines, the instruction that touched) as bytes (docs/trace-format.md,
/// "Lines and sites"). A stream of runs (run_codec.hpp) mostly repeats itself. So a page's value is predicted from the
/// value of the stream's previous page, and from what followed that value the last time; alternating values are
/// predicted from their second round on. A section holds the wrongly predicted values and the number of pages between
/// them. Each block starts without predictions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "workloads/trace/run_codec.hpp"
#include "workloads/trace/trace.hpp"
#include "workloads/trace/varint.hpp"

namespace sdsm::trace {

/// Encode a page's changed lines in at most 10 bytes.
void write_value(std::vector<std::uint8_t>& out, const ChangedLines& changed);
void read_value(const std::uint8_t*& cursor, ChangedLines& changed);
/// Encode a site's number in at most 5 bytes.
void write_value(std::vector<std::uint8_t>& out, std::uint32_t site);
void read_value(const std::uint8_t*& cursor, std::uint32_t& site);

constexpr std::uint64_t hash_of(const ChangedLines& changed) {
  return changed.lines * 3 + (changed.first_word ? 1U : 0U) + (changed.last_word ? 2U : 0U);
}
constexpr std::uint64_t hash_of(std::uint32_t site) {
  return site;
}

/// Largest size of a wrong prediction: the number of pages before it, and the value.
inline constexpr unsigned max_miss_bytes = max_varint_bytes + 10;

template <typename Value>
class PagePredictor {
 public:
  Value& prediction(unsigned stream) {
    // Fibonacci hashing: the product's upper bits depend on all bits of the value.
    const std::uint64_t mixed = (hash_of(last_[stream]) * streams_ + stream) * 0x9E37'79B9'7F4A'7C15;
    return predictions_[mixed >> 56];
  }
  /// Records the page's value. Returns whether it is the previous page's: a right prediction then stays valid.
  bool pass(unsigned stream, const Value& value) { return std::exchange(last_[stream], value) == value; }

 private:
  static constexpr std::size_t streams_ = 2 * streams_per_access;
  std::array<Value, streams_> last_{};
  std::array<Value, 256> predictions_{};
};

/// Predicts the call sites of a thread's events: what followed the last one before.
class CallSitePredictor {
 public:
  /// Returns the predicted call site of the next event, to be replaced by the right one.
  std::uint32_t& prediction() { return call_sites_.prediction(0); }
  void pass(std::uint32_t call_site) { call_sites_.pass(0, call_site); }

 private:
  PagePredictor<std::uint32_t> call_sites_;
};

/// Encodes one piece's section.
template <typename Value>
class PageEncoder {
 public:
  /// Begins a block.
  void reset() { predictor_ = {}; }

  /// Adds `pages` adjacent pages of `stream` with the same value.
  void add(unsigned stream, const Value& value, std::uint64_t pages) {
    while (pages > 0) {
      Value& prediction = predictor_.prediction(stream);
      const bool is_right = prediction == value;
      if (is_right) {
        ++right_;
      } else {
        write_varint(bytes_, std::exchange(right_, 0));
        write_value(bytes_, value);
        prediction = value;
      }
      --pages;
      if (!predictor_.pass(stream, value) || !is_right) continue;
      right_ += pages;
      pages = 0;
    }
  }

  std::size_t size() const { return bytes_.size(); }

  /// Appends the section after its length, unless it is empty, and begins the next piece's.
  void finish(std::vector<std::uint8_t>& out) {
    if (!bytes_.empty()) write_varint(out, bytes_.size());
    out.insert(out.end(), bytes_.begin(), bytes_.end());
    bytes_.clear();
    right_ = 0;
  }

 private:
  PagePredictor<Value> predictor_;
  std::vector<std::uint8_t> bytes_;
  std::uint64_t right_ = 0;  ///< right predictions since the last wrong one
};

template <typename Value>
class PageDecoder {
 public:
  void reset() { predictor_ = {}; }

  /// Begins a piece. In an empty section every prediction is right.
  void begin(const std::uint8_t* section, const std::uint8_t* end) {
    cursor_ = section;
    end_ = end;
    read_right();
  }

  /// Reads the next page's value in `stream`. Returns how many of the next `pages` have it. Throws ContentError.
  std::uint64_t next(unsigned stream, std::uint64_t pages, Value& value) {
    Value& prediction = predictor_.prediction(stream);
    const bool is_right = right_ > 0;
    if (is_right) {
      --right_;
    } else {
      read_value(cursor_, prediction);
      if (cursor_ > end_) throw ContentError("a section of lines or sites that ends amid a page");
      read_right();
    }
    value = prediction;
    if (!predictor_.pass(stream, value) || !is_right) return 1;
    const std::uint64_t more = std::min(pages - 1, right_);
    right_ -= more;
    return 1 + more;
  }

  /// Ends the piece. Throws ContentError if the section holds more values than there are pages.
  void finish() const {
    if (cursor_ != end_) throw ContentError("a section of lines or sites for more pages than there are");
  }

 private:
  void read_right() {
    right_ = cursor_ < end_ ? read_varint(cursor_) : std::numeric_limits<std::uint64_t>::max();
    if (cursor_ > end_) throw ContentError("a section of lines or sites that ends amid a number");
  }

  PagePredictor<Value> predictor_;
  const std::uint8_t* cursor_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::uint64_t right_ = 0;
};

}  // namespace sdsm::trace
