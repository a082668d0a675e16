#include "tests/workloads/trace/forge.hpp"

#include <zstd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "workloads/trace/file_layout.hpp"

namespace sdsm::trace {
namespace {

FileBytes decompress(const std::uint8_t* data, std::size_t size) {
  FileBytes raw(ZSTD_getFrameContentSize(data, size));
  if (ZSTD_decompress(raw.data(), raw.size(), data, size) != raw.size()) throw std::runtime_error("not our frame");
  return raw;
}

}  // namespace

FileBytes load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void store(const FileBytes& bytes, const std::filesystem::path& path) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot store " + path.string());
}

FileBytes compress(const void* data, std::size_t size) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 6);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  FileBytes stored(ZSTD_compressBound(size) + 4);
  stored.resize(ZSTD_compress2(context, stored.data(), stored.size(), data, size));
  ZSTD_freeCCtx(context);
  return stored;
}

Parts take_apart(const FileBytes& file) {
  const std::uint8_t* trailer = &file[file.size() - trailer_bytes];
  const auto footer_offset = load_little_endian<std::uint64_t>(trailer);
  const FileBytes footer = decompress(&file[footer_offset], load_little_endian<std::uint64_t>(trailer + 8));
  Parts parts{
      .format = load_little_endian<std::uint32_t>(&file[8]), .blocks = {}, .footer = nlohmann::json::parse(footer)};
  const nlohmann::json& index = parts.footer.at("blocks");
  std::size_t offset = head_bytes;
  for (std::size_t i = 0; i < index.at("thread").size(); ++i) {
    const std::size_t stored = index.at("stored_bytes").at(i);
    parts.blocks.push_back({.content = decompress(&file[offset], stored),
                            .thread = index.at("thread").at(i),
                            .intervals = index.at("intervals").at(i)});
    offset += stored;
  }
  return parts;
}

std::string footer_text(const Parts& parts) {
  nlohmann::json index = {{"thread", nlohmann::json::array()},
                          {"stored_bytes", nlohmann::json::array()},
                          {"raw_bytes", nlohmann::json::array()},
                          {"intervals", nlohmann::json::array()},
                          {"checksum", nlohmann::json::array()}};
  for (const Parts::Block& block : parts.blocks) {
    const FileBytes stored = compress(block.content.data(), block.content.size());
    index["thread"].push_back(block.thread);
    index["stored_bytes"].push_back(stored.size());
    index["raw_bytes"].push_back(block.content.size());
    index["intervals"].push_back(block.intervals);
    index["checksum"].push_back(load_little_endian<std::uint32_t>(&stored[stored.size() - 4]));
  }
  nlohmann::json footer = parts.footer;
  footer["blocks"] = std::move(index);
  return footer.dump();
}

FileBytes put_together(const Parts& parts, const std::string& text) {
  const HeadBytes head = encode_head(parts.format);
  FileBytes file(head.begin(), head.end());
  for (const Parts::Block& block : parts.blocks) {
    const FileBytes stored = compress(block.content.data(), block.content.size());
    file.insert(file.end(), stored.begin(), stored.end());
  }
  const FileBytes footer = compress(text.data(), text.size());
  const TrailerBytes trailer = encode_trailer({.footer_offset = file.size(),
                                               .footer_stored_bytes = footer.size(),
                                               .footer_raw_bytes = static_cast<std::uint32_t>(text.size())},
                                              footer);
  file.insert(file.end(), footer.begin(), footer.end());
  file.insert(file.end(), trailer.begin(), trailer.end());
  return file;
}

FileBytes put_together(const Parts& parts) {
  return put_together(parts, footer_text(parts));
}

}  // namespace sdsm::trace
