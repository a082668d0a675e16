#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

/// The footer's entry for a block. It has no offset, as blocks follow each other from the file's head on.
struct BlockEntry {
  std::uint32_t thread = 0;
  std::uint32_t stored_bytes = 0;  ///< size of its zstd frame
  std::uint32_t raw_bytes = 0;     ///< size of its content
  std::uint32_t intervals = 0;     ///< intervals that end in it
  /// The content's checksum, the frame's last four bytes: reveals an intact block in a wrong place.
  std::uint32_t checksum = 0;
};

struct Footer {
  Header header;
  std::vector<Region> regions;
  std::vector<Totals> totals;       ///< by thread
  std::vector<EventCounts> events;  ///< by thread
  std::vector<BlockEntry> blocks;   ///< in the order of the file
};

/// Of the header's speed; its spread is in thousandths.
inline constexpr std::array<std::pair<const char*, std::uint64_t Speed::*>, 4> speed_members{
    {{"speed_flops", &Speed::flops},
     {"cache_latency_ps", &Speed::cache_latency_ps},
     {"memory_bandwidth", &Speed::memory_bandwidth},
     {"speed_spread", &Speed::spread}}};

/// The same parts of a footer and of what `sdsm trace info` prints.
nlohmann::json unseen_json(const std::vector<UnseenCall>& unseen);
nlohmann::json totals_json(const Totals& totals, const EventCounts& events);

/// Writes the footer's JSON text, in format_version. Bytes of names that are not UTF-8 become U+FFFD.
std::string to_json_text(const Footer& footer);

/// Reads the footer and checks what needs no other part of the file. `format`: the head's. Throws ContentError.
Footer footer_from_json_text(std::string_view text, std::uint32_t format);

}  // namespace sdsm::trace
