/// Takes trace files apart and rebuilds them with other content under right checksums, as a faulty or hostile writer
/// would: tests of what the reader checks beyond checksums.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

using FileBytes = std::vector<std::uint8_t>;

FileBytes load(const std::filesystem::path& path);
void store(const FileBytes& bytes, const std::filesystem::path& path);

struct Parts {
  struct Block {
    FileBytes content;
    std::uint32_t thread = 0;
    std::uint32_t intervals = 0;
  };
  std::uint32_t format = format_version;
  std::vector<Block> blocks;
  nlohmann::json footer;  ///< its "blocks" are made anew by put_together
};

Parts take_apart(const FileBytes& file);
FileBytes put_together(const Parts& parts);
/// Rebuilds the file with any footer text.
FileBytes put_together(const Parts& parts, const std::string& footer_text);
/// The footer's text as put_together(parts) writes it.
std::string footer_text(const Parts& parts);

/// Zstd as the writer uses it: with content size and checksum.
FileBytes compress(const void* data, std::size_t size);

}  // namespace sdsm::trace
