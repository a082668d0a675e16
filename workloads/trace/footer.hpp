#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

/// What the footer says of a block. It has no offset, as blocks follow each other from the file's head on.
struct BlockEntry {
  std::uint32_t thread = 0;
  std::uint32_t stored_bytes = 0;  ///< of its zstd frame
  std::uint32_t raw_bytes = 0;     ///< of its content
  std::uint32_t intervals = 0;     ///< that end in it
  /// The frame's last four bytes, which are its content's checksum: reveals a sound block in a wrong place.
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

/// Reads the footer, and checks everything that needs no other part of the file. `format`: the head's. Throws
/// ContentError.
Footer footer_from_json_text(std::string_view text, std::uint32_t format);

}  // namespace sdsm::trace
