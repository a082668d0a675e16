#include "workloads/trace/reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "workloads/trace/content_error.hpp"
#include "workloads/trace/file_layout.hpp"
#include "workloads/trace/footer.hpp"
#include "workloads/trace/limits.hpp"
#include "workloads/trace/run_codec.hpp"
#include "workloads/trace/varint.hpp"

namespace sdsm::trace {
namespace {

/// Zero bytes behind a block's content, so that a run or a piece's head can be read without a look at each byte: its
/// end is compared with the content's afterwards.
constexpr std::size_t padding_bytes = 64;
static_assert(padding_bytes >= max_run_bytes && padding_bytes >= max_piece_head_bytes);

struct DecompressorDeleter {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

/// Decompresses one frame that fills `raw` exactly. Throws ContentError.
void decompress(std::span<const std::uint8_t> stored, std::span<std::uint8_t> raw) {
  // One for each thread that reads, not for each cursor: it is larger than a block.
  static thread_local const std::unique_ptr<ZSTD_DCtx, DecompressorDeleter> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  const std::size_t size = ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0) throw ContentError(fmt::format("damaged: {}", ZSTD_getErrorName(size)));
  if (size != raw.size()) throw ContentError(fmt::format("holds {} bytes instead of {}", size, raw.size()));
}

/// An open file that is read at any place, by any thread.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path) : path_(std::move(path)) {
    // Not blocking: a named pipe would wait for a writer for ever.
    descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) fail(errno);
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) {
      const int error = errno;
      close(descriptor_);
      fail(error);
    }
    if (!S_ISREG(status.st_mode)) {
      close(descriptor_);
      throw FormatError(fmt::format("{}: not a regular file, so not a trace", path_.string()));
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { close(descriptor_); }

  std::uint64_t size() const { return size_; }
  const std::filesystem::path& path() const { return path_; }

  void read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(errno);
      if (count == 0) throw damaged(offset, "the file was cut short while it was read");
      offset += static_cast<std::uint64_t>(count);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

  FormatError damaged(std::uint64_t offset, std::string_view problem) const {
    return FormatError(fmt::format("{}: byte {}: {}", path_.string(), offset, problem));
  }

 private:
  [[noreturn]] void fail(int error) const {
    throw std::system_error(error, std::generic_category(), fmt::format("{}: cannot read the trace", path_.string()));
  }

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

void check_head(const InputFile& file) {
  HeadBytes head{};
  const auto size = std::min<std::uint64_t>(file.size(), head.size());
  file.read(0, std::span(head).first(size));
  if (file.size() < magic.size() || !std::equal(magic.begin(), magic.end(), head.begin())) {
    throw file.damaged(0, file.size() == 0
                              ? "the file is empty. Trace again with `sdsm trace`"
                              : "not an sdsm trace, as it does not begin like one. `sdsm trace` writes them");
  }
  if (file.size() < head_bytes + trailer_bytes) {
    throw file.damaged(file.size(), "cut short: the file ends here. Copy it again, or trace again");
  }
  const auto version = load_little_endian<std::uint32_t>(&head[8]);
  if (version != format_version) {
    throw file.damaged(8, fmt::format("trace format {}, but this program reads format {}. Trace again, or use the sdsm "
                                      "that wrote it",
                                      version, format_version));
  }
  if (load_little_endian<std::uint32_t>(&head[12]) != 0) throw file.damaged(12, "damaged: not zero in the file's head");
}

Footer read_footer(const InputFile& file, std::uint64_t& footer_offset) {
  const std::uint64_t trailer_offset = file.size() - trailer_bytes;
  TrailerBytes bytes{};
  file.read(trailer_offset, bytes);
  if (!std::equal(end_magic.begin(), end_magic.end(), bytes.begin() + 24)) {
    throw file.damaged(
        file.size() - end_magic.size(),
        "cut short or overwritten: the mark that ends a trace is missing. Copy it again, or trace again");
  }
  Trailer trailer{.footer_offset = load_little_endian<std::uint64_t>(&bytes[0]),
                  .footer_stored_bytes = load_little_endian<std::uint64_t>(&bytes[8]),
                  .footer_raw_bytes = load_little_endian<std::uint32_t>(&bytes[16])};
  if (trailer.footer_offset < head_bytes || trailer.footer_offset > trailer_offset ||
      trailer.footer_stored_bytes != trailer_offset - trailer.footer_offset) {
    throw file.damaged(trailer_offset, fmt::format("damaged: a footer of {} bytes at {} does not fit in the file",
                                                   trailer.footer_stored_bytes, trailer.footer_offset));
  }
  if (trailer.footer_raw_bytes > max_footer_bytes || trailer.footer_stored_bytes > max_footer_bytes) {
    throw file.damaged(trailer_offset, fmt::format("damaged: a footer of more than {} bytes", max_footer_bytes));
  }
  std::vector<std::uint8_t> stored(trailer.footer_stored_bytes);
  file.read(trailer.footer_offset, stored);
  if (encode_trailer(trailer, stored) != bytes) {
    throw file.damaged(trailer.footer_offset, "damaged: the footer does not agree with its checksum");
  }
  footer_offset = trailer.footer_offset;
  try {
    std::string text(trailer.footer_raw_bytes, '\0');
    decompress(stored, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
    return footer_from_json_text(text);
  } catch (const ContentError& error) {
    throw file.damaged(trailer.footer_offset, fmt::format("in the footer: {}", error.what()));
  }
}

}  // namespace

struct File::Impl {
  explicit Impl(std::filesystem::path path) : file(std::move(path)) {
    check_head(file);
    footer = read_footer(file, footer_offset);
    index_blocks();
    region_pages.reserve(footer.regions.size() + 1);
    for (const Region& region : footer.regions) region_pages.push_back(region.pages);
    // A trace without regions: the decoder's streams begin in region 0, which has no page then.
    if (region_pages.empty()) region_pages.push_back(0);
  }

  void index_blocks() {
    thread_blocks.resize(footer.header.threads + std::size_t{1});
    for (const BlockEntry& block : footer.blocks) ++thread_blocks[block.thread + std::size_t{1}];
    for (std::size_t i = 1; i < thread_blocks.size(); ++i) thread_blocks[i] += thread_blocks[i - 1];
    block_numbers.resize(footer.blocks.size());
    block_offsets.resize(footer.blocks.size());
    std::vector<std::size_t> next(thread_blocks.begin(), thread_blocks.end() - 1);
    std::uint64_t offset = head_bytes;
    for (std::size_t i = 0; i < footer.blocks.size(); ++i) {
      block_numbers[next[footer.blocks[i].thread]++] = static_cast<std::uint32_t>(i);
      block_offsets[i] = offset;
      offset += footer.blocks[i].stored_bytes;
    }
    if (offset != footer_offset) {
      throw file.damaged(footer_offset,
                         fmt::format("in the footer: the blocks end at byte {} instead of here", offset));
    }
  }

  void check_thread(std::uint32_t thread) const {
    if (thread >= footer.header.threads) {
      throw std::out_of_range(fmt::format("{}: thread {} of {}", file.path().string(), thread, footer.header.threads));
    }
  }

  InputFile file;
  std::uint64_t footer_offset = 0;
  Footer footer;
  std::vector<std::uint64_t> block_offsets;  ///< in the file, by block number
  std::vector<std::uint32_t> block_numbers;  ///< sorted by thread
  std::vector<std::size_t> thread_blocks;    ///< where each thread begins in block_numbers, and the end
  std::vector<std::uint64_t> region_pages;
};

struct ThreadCursor::Impl {
  Impl(std::shared_ptr<const File::Impl> opened, std::uint32_t thread_number)
      : file(std::move(opened)),
        thread(thread_number),
        next_block(file->thread_blocks[thread]),
        end_block(file->thread_blocks[thread + std::size_t{1}]),
        decoder(file->region_pages) {}

  const BlockEntry& block() const { return file->footer.blocks[block_number]; }

  const Interval* next();
  bool load_block();
  bool decode_piece();
  void check_block_end() const;
  void check_totals() const;
  FormatError located(std::string_view problem) const;

  std::shared_ptr<const File::Impl> file;
  std::uint32_t thread;
  std::size_t next_block;  ///< in block_numbers
  std::size_t end_block;
  RunDecoder decoder;
  std::vector<std::uint8_t> content;  ///< of the block at hand, and padding_bytes
  const std::uint8_t* cursor = nullptr;
  const std::uint8_t* end = nullptr;
  std::size_t block_number = 0;
  std::uint32_t block_intervals = 0;
  Interval interval;
  Totals totals;
  EventCounts events{};
  std::string failure;
};

FormatError ThreadCursor::Impl::located(std::string_view problem) const {
  const std::uint64_t offset = file->block_offsets[block_number];
  if (cursor == nullptr) {
    return file->file.damaged(offset, fmt::format("block {} (thread {}): {}", block_number, thread, problem));
  }
  return file->file.damaged(offset, fmt::format("block {} (thread {}), byte {} of its content: {}", block_number,
                                                thread, cursor - content.data(), problem));
}

/// False after the last block.
bool ThreadCursor::Impl::load_block() {
  cursor = end = nullptr;
  if (next_block == end_block) return false;
  block_number = file->block_numbers[next_block++];
  static thread_local std::vector<std::uint8_t> stored;
  stored.resize(block().stored_bytes);
  file->file.read(file->block_offsets[block_number], stored);
  if (load_little_endian<std::uint32_t>(&stored[stored.size() - sizeof(std::uint32_t)]) != block().checksum) {
    throw ContentError("damaged: its checksum is not the footer's");
  }
  content.assign(block().raw_bytes + padding_bytes, 0);
  decompress(stored, std::span(content).first(block().raw_bytes));
  cursor = content.data();
  end = cursor + block().raw_bytes;
  block_intervals = 0;
  decoder.reset();
  return true;
}

/// Adds a piece to the interval; true if it ends the interval.
bool ThreadCursor::Impl::decode_piece() {
  const std::uint8_t head = *cursor++;
  const bool unfinished = (head & piece_flags::unfinished) != 0;
  if (unfinished) {
    if (head != piece_flags::unfinished) throw ContentError(fmt::format("{:#x} begins no interval", head));
  } else {
    Event& event = interval.end;
    event.kind = static_cast<EventKind>(head & piece_flags::kind_mask);
    event.detail = (head & piece_flags::detail) != 0 ? *cursor++ : std::uint8_t{0};
    event.object = (head & piece_flags::object) != 0 ? read_varint(cursor) : 0;
    event.value = (head & piece_flags::value) != 0 ? read_varint(cursor) : 0;
    if (const auto problem = problem_with(event, file->footer.header.threads)) throw ContentError(*problem);
    interval.compute_ns = read_varint(cursor);
    if (interval.compute_ns > max_compute_ns - totals.compute_ns) throw ContentError("more compute time than fits");
  }

  const std::uint64_t runs = read_varint(cursor);
  if (cursor > end) throw ContentError("an interval that goes on behind the block");
  // A run takes a byte at least, so a wrong number asks for no more memory than the block's size warrants.
  if (runs > static_cast<std::uint64_t>(end - cursor)) throw ContentError(fmt::format("{} runs in the rest", runs));
  const std::size_t before = interval.touches.size();
  if (runs > max_runs_per_interval - before) throw ContentError("an interval of too many runs");
  if (unfinished && runs == 0) throw ContentError("a part of an interval without runs");
  // Each piece gives its first run's position from 0; it must not be before the last piece's.
  const unsigned least_position = before > 0 ? interval.touches.back().position : 0;
  unsigned position = 0;
  interval.touches.resize(before + runs);
  const std::uint8_t* at = cursor;
  std::uint64_t pages = 0;
  for (std::size_t i = before; i < interval.touches.size(); ++i) {
    cursor = at;  // for the error's text
    TouchRun& run = interval.touches[i];
    decoder.decode(at, position, run);
    if (at > end) throw ContentError("a run that goes on behind the block");
    pages += run.pages;
  }
  cursor = at;
  if (runs > 0 && interval.touches[before].position < least_position) throw ContentError("a position that goes back");
  totals.touch_runs += runs;
  totals.page_touches += pages;
  if (unfinished) {
    if (cursor != end) throw ContentError("a part of an interval before the block's end");
    return false;
  }
  ++block_intervals;
  ++totals.intervals;
  totals.compute_ns += interval.compute_ns;
  ++events[static_cast<std::size_t>(interval.end.kind)];
  return true;
}

void ThreadCursor::Impl::check_block_end() const {
  if (block_intervals != block().intervals) {
    throw ContentError(fmt::format("{} intervals instead of {}", block_intervals, block().intervals));
  }
}

void ThreadCursor::Impl::check_totals() const {
  if (totals == file->footer.totals[thread] && events == file->footer.events[thread]) return;
  const Totals& expected = file->footer.totals[thread];
  throw file->file.damaged(
      file->footer_offset,
      fmt::format(
          "thread {} has {} intervals, {} runs, {} page touches and {} ns, but the footer says {}, {}, {} and {}, "
          "or counts other events",
          thread, totals.intervals, totals.touch_runs, totals.page_touches, totals.compute_ns, expected.intervals,
          expected.touch_runs, expected.page_touches, expected.compute_ns));
}

const Interval* ThreadCursor::Impl::next() {
  if (!failure.empty()) throw FormatError(failure);
  interval.touches.clear();
  try {
    for (;;) {
      if (cursor == end) {
        if (cursor != nullptr) check_block_end();
        if (!load_block()) {
          if (!interval.touches.empty()) throw ContentError("the thread's last interval has no end");
          check_totals();
          return nullptr;
        }
      }
      if (decode_piece()) return &interval;
    }
  } catch (const ContentError& error) {
    failure = located(error.what()).what();
    throw FormatError(failure);
  } catch (const std::exception& error) {
    failure = error.what();  // also after a failed read: going on would leave out a block
    throw;
  }
}

ThreadCursor::ThreadCursor(const File& file, std::uint32_t thread) {
  file.impl_->check_thread(thread);
  impl_ = std::make_unique<Impl>(file.impl_, thread);
}

ThreadCursor::~ThreadCursor() = default;
ThreadCursor::ThreadCursor(ThreadCursor&&) noexcept = default;
ThreadCursor& ThreadCursor::operator=(ThreadCursor&&) noexcept = default;

const Interval* ThreadCursor::next() {
  return impl_->next();
}

File::File(std::filesystem::path path) : impl_(std::make_shared<Impl>(std::move(path))) {}
File::~File() = default;
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;

const Header& File::header() const {
  return impl_->footer.header;
}

const std::vector<Region>& File::regions() const {
  return impl_->footer.regions;
}

Totals File::totals(std::uint32_t thread) const {
  impl_->check_thread(thread);
  return impl_->footer.totals[thread];
}

EventCounts File::events(std::uint32_t thread) const {
  impl_->check_thread(thread);
  return impl_->footer.events[thread];
}

std::uint64_t File::file_bytes() const {
  return impl_->file.size();
}

const std::filesystem::path& File::path() const {
  return impl_->file.path();
}

}  // namespace sdsm::trace
