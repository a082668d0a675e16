#include "workloads/trace/run_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace sdsm::trace {
namespace {

/// A run within this distance (in pages) of a stream's end continues the stream: a sweep with a stride, or one that
/// steps back to reread the previous row. A run further away begins another sweep.
constexpr std::int64_t near_pages = 64;

}  // namespace

unsigned RunEncoder::stream_for(const TouchRun& run) const {
  const unsigned first = run.access == Access::write ? 1 : 0;
  unsigned nearest = first;
  unsigned oldest = first;
  std::int64_t nearest_distance = std::numeric_limits<std::int64_t>::max();
  for (unsigned index = first; index < streams_.size(); index += 2) {
    const Stream& stream = streams_[index];
    if (used_[index] < used_[oldest]) oldest = index;
    if (used_[index] == 0 || stream.region != index_of(run.region)) continue;
    const auto distance = static_cast<std::int64_t>(run.first) - static_cast<std::int64_t>(stream.next);
    if (distance == 0) return index;
    if (std::abs(distance) < nearest_distance) {
      nearest = index;
      nearest_distance = std::abs(distance);
    }
  }
  return nearest_distance <= near_pages ? nearest : oldest;
}

std::uint8_t* RunEncoder::encode(const TouchRun& run, unsigned index, std::uint8_t last_position, std::uint8_t* out) {
  using namespace run_flags;
  Stream& stream = streams_[index];
  used_[index] = ++runs_;

  const std::uint32_t region = index_of(run.region);
  const unsigned steps = run.position - last_position;
  const bool has_place = stream.next != run.first || stream.region != region;
  const bool has_pages = stream.pages != run.pages;
  const bool has_change = stream.change != run.change;
  const unsigned flags = index | (has_place ? place : 0U) | (has_pages ? pages : 0U) |
                         std::min<unsigned>(steps, position_given) << position_shift | (has_change ? change : 0U);
  *out++ = static_cast<std::uint8_t>(flags);
  if (has_place) {
    const auto distance = static_cast<std::int64_t>(run.first) - static_cast<std::int64_t>(stream.next);
    out = write_varint(out, zigzag(distance) << 1 | (stream.region != region ? 1U : 0U));
    if (stream.region != region) out = write_varint(out, region);
  }
  if (has_pages) out = write_varint(out, run.pages);
  if (steps >= position_given) *out++ = static_cast<std::uint8_t>(steps);
  if (has_change) {
    out = write_varint(out, run.change.words);
    out = write_varint(out, run.change.runs);
  }
  stream = {.next = run.first + run.pages, .region = region, .pages = run.pages, .change = run.change};
  return out;
}

void RunDecoder::decode_place(const std::uint8_t*& cursor, Stream& stream) const {
  const std::uint64_t place = read_varint(cursor);
  // Unsigned, so that a damaged distance wraps instead of overflowing; the range check of the run follows.
  stream.next += static_cast<std::uint64_t>(unzigzag(place >> 1));
  if ((place & 1) == 0) return;
  const std::uint64_t region = read_varint(cursor);
  if (region >= region_pages_.size()) {
    throw ContentError(fmt::format("region {}, but the trace has {}", region, region_pages_.size()));
  }
  stream.region = static_cast<std::uint32_t>(region);
}

void RunDecoder::decode_pages(const std::uint8_t*& cursor, Stream& stream) {
  const std::uint64_t pages = read_varint(cursor);
  if (pages == 0 || pages > std::numeric_limits<std::uint32_t>::max()) {
    throw ContentError(fmt::format("a run of {} pages", pages));
  }
  stream.pages = static_cast<std::uint32_t>(pages);
}

void RunDecoder::decode_change(const std::uint8_t*& cursor, Stream& stream, bool is_write) {
  if (!is_write) throw ContentError("a read that changes words");
  const std::uint64_t words = read_varint(cursor);
  const std::uint64_t runs = read_varint(cursor);
  const bool in_range = words <= max_changed_words && runs <= max_changed_runs;
  stream.change = in_range ? Change{static_cast<std::uint16_t>(words), static_cast<std::uint16_t>(runs)} : Change{};
  if (!in_range || !possible(stream.change)) {
    throw ContentError(fmt::format("no page has {} changed words in {} runs", words, runs));
  }
}

void RunDecoder::reject_position(unsigned position) {
  throw ContentError(fmt::format("position {} is above {}", position, position_steps - 1));
}

void RunDecoder::reject_place(const Stream& stream) const {
  throw ContentError(fmt::format("a run of {} pages from page {} of region {}, which has {}", stream.pages, stream.next,
                                 stream.region, region_pages_[stream.region]));
}

}  // namespace sdsm::trace
