#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

/// What the footer says of a block. Blocks follow each other in the file from its head on, so no offset is kept.
struct BlockEntry {
  std::uint32_t thread = 0;
  std::uint32_t stored_bytes = 0;  ///< of its zstd frame
  std::uint32_t raw_bytes = 0;     ///< of its content
  std::uint32_t intervals = 0;     ///< that end in it
  /// The frame's last four bytes, which are its content's checksum. Kept here too, so that a whole block in a wrong
  /// place is found out.
  std::uint32_t checksum = 0;
};

struct Footer {
  Header header;
  std::vector<Region> regions;
  std::vector<Totals> totals;       ///< by thread
  std::vector<EventCounts> events;  ///< by thread
  std::vector<BlockEntry> blocks;   ///< in the order of the file
};

/// The footer's JSON text, of format_version. Bytes of names that are not UTF-8 become U+FFFD.
std::string to_json_text(const Footer& footer);

/// Reads and checks everything that can be checked without the rest of the file, of which the head says `format`.
/// Throws ContentError.
Footer footer_from_json_text(std::string_view text, std::uint32_t format);

}  // namespace sdsm::trace
