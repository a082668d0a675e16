/// Encodes touch runs as bytes (docs/trace-format.md, "Runs").
/// Programs sweep over arrays: a run mostly begins where an earlier run of the same access ended, with the same length
/// and changes. So each access kind has four streams, which remember their last runs; a run names its stream and says
/// only what differs. A loop that reads two places of an array and an index array leaves one stream to spare. Streams
/// start anew with each block, so that a block can be read alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/trace/limits.hpp"
#include "workloads/trace/trace.hpp"
#include "workloads/trace/varint.hpp"

namespace sdsm::trace {

struct Stream {
  std::uint64_t next = 0;  ///< page after the last run's end
  std::uint32_t region = 0;
  std::uint32_t pages = 1;
  Change change{};
};

namespace run_flags {
inline constexpr std::uint8_t writes = 1;
inline constexpr unsigned stream_shift = 1;  ///< two bits
inline constexpr std::uint8_t place = 1 << 3;
inline constexpr std::uint8_t pages = 1 << 4;
inline constexpr unsigned position_shift = 5;  ///< two bits: 0, 1 or 2 steps on, or position_given
inline constexpr std::uint8_t position_given = 3;
inline constexpr std::uint8_t change = 1 << 7;
/// Access and stream number together, the index in the array of eight streams.
inline constexpr std::uint8_t stream_mask = 7;
}  // namespace run_flags

inline constexpr unsigned streams_per_access = 4;
using Streams = std::array<Stream, 2 * streams_per_access>;

/// Flags, position, and place, region, pages, words, runs as varints.
inline constexpr unsigned max_run_bytes = 2 + 5 * max_varint_bytes;

class RunEncoder {
 public:
  /// Begins a block.
  void reset() { *this = RunEncoder{}; }

  /// Returns the stream on which to encode `run`.
  unsigned stream_for(const TouchRun& run) const;

  /// Writes `run` at `out`, max_run_bytes at most, and returns the end. Precondition: the run is valid; run.position >=
  /// last_position; `index` is its stream's, or that of a run that it begins.
  std::uint8_t* encode(const TouchRun& run, unsigned index, std::uint8_t last_position, std::uint8_t* out);

 private:
  Streams streams_{};
  std::array<std::uint64_t, 2 * streams_per_access> used_{};  ///< number of runs at each stream's last use
  std::uint64_t runs_ = 0;
};

class RunDecoder {
 public:
  /// `region_pages` holds each region's number of pages. It is not empty, and must outlive the decoder.
  explicit RunDecoder(std::span<const std::uint64_t> region_pages) : region_pages_(region_pages) {}

  /// Begins a block.
  void reset() { streams_ = {}; }

  /// Reads a run into `run` and moves `cursor` behind it. May read any max_run_bytes bytes from `cursor` on. `position`
  /// is that of the previous run, then of this one. Returns the stream's number. Throws ContentError.
  unsigned decode(const std::uint8_t*& cursor, unsigned& position, TouchRun& run) {
    using namespace run_flags;
    const unsigned flags = *cursor++;
    Stream& stream = streams_[flags & stream_mask];
    if ((flags & place) != 0) decode_place(cursor, stream);
    if ((flags & pages) != 0) decode_pages(cursor, stream);
    unsigned steps = (flags >> position_shift) & 3;
    if (steps == position_given) steps = *cursor++;
    position += steps;
    if (position >= position_steps) [[unlikely]]
      reject_position(position);
    if ((flags & change) != 0) decode_change(cursor, stream, (flags & writes) != 0);
    const std::uint64_t limit = region_pages_[stream.region];
    if (stream.next > limit || stream.pages > limit - stream.next) [[unlikely]]
      reject_place(stream);
    run.region = RegionId{stream.region};
    run.pages = stream.pages;
    run.first = stream.next;
    run.access = static_cast<Access>(flags & writes);
    run.position = static_cast<std::uint8_t>(position);
    run.change = stream.change;
    stream.next += stream.pages;
    return flags & stream_mask;
  }

 private:
  void decode_place(const std::uint8_t*& cursor, Stream& stream) const;
  static void decode_pages(const std::uint8_t*& cursor, Stream& stream);
  static void decode_change(const std::uint8_t*& cursor, Stream& stream, bool is_write);
  [[noreturn]] static void reject_position(unsigned position);
  [[noreturn]] void reject_place(const Stream& stream) const;

  std::span<const std::uint64_t> region_pages_;
  Streams streams_{};
};

}  // namespace sdsm::trace
