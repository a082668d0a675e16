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

#include "commands/descriptor.hpp"
#include "workloads/trace/content_error.hpp"
#include "workloads/trace/file_layout.hpp"
#include "workloads/trace/footer.hpp"
#include "workloads/trace/limits.hpp"
#include "workloads/trace/page_codec.hpp"
#include "workloads/trace/varint.hpp"

namespace sdsm::trace {
namespace {

/// Zero bytes behind a block's content let a run or a piece's head be read without a check of each byte: its end is
/// compared with the content's afterwards.
constexpr std::size_t padding_bytes = 64;
static_assert(padding_bytes >= max_run_bytes && padding_bytes >= max_piece_head_bytes);

/// Appends to an interval's lines or sites; an equal value lengthens the last run. Throws ContentError beyond a limit.
template <typename Run>
void append_pages(std::vector<Run>& runs, const Run& run) {
  Run alike = run;
  if (!runs.empty()) alike.pages = runs.back().pages;
  if (!runs.empty() && runs.back() == alike) {
    runs.back().pages += run.pages;
    return;
  }
  if (runs.size() == max_page_runs_per_interval) throw ContentError("an interval of too many lines or sites");
  runs.push_back(run);
}

/// Decompresses one frame that fills `raw` exactly. Throws ContentError.
void decompress(std::span<const std::uint8_t> stored, std::span<std::uint8_t> raw) {
  // Each reading thread has one, not each cursor: a context is larger than a block.
  static thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                                         &ZSTD_freeDCtx);
  if (!context) throw std::bad_alloc();
  const std::size_t size = ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0) throw ContentError(fmt::format("damaged: {}", ZSTD_getErrorName(size)));
  if (size != raw.size()) throw ContentError(fmt::format("holds {} bytes instead of {}", size, raw.size()));
}

/// An open file that any thread may read at any place.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path)
      : path_(std::move(path)),
        // Without blocking: a named pipe would wait for a writer for ever.
        descriptor_(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (descriptor_.get() < 0 || fstat(descriptor_.get(), &status) != 0) fail(errno);
    if (!S_ISREG(status.st_mode)) {
      throw FormatError(fmt::format("{}: not a regular file, so not a trace", path_.string()));
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  std::uint64_t size() const { return size_; }
  const std::filesystem::path& path() const { return path_; }

  void read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = pread(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
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
    throw std::system_error(error, std::generic_category(),
                            fmt::format("{}: cannot read the trace, which `sdsm trace -o` writes", path_.string()));
  }

  std::filesystem::path path_;
  commands::Descriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// Returns the file's format.
std::uint32_t read_head(const InputFile& file) {
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
  const auto format = load_little_endian<std::uint32_t>(&head[8]);
  if (format < first_format || format > format_version) {
    throw file.damaged(8, fmt::format("trace format {}, but this program reads formats {} to {}. Trace again, or use "
                                      "the sdsm that wrote it",
                                      format, first_format, format_version));
  }
  if (load_little_endian<std::uint32_t>(&head[12]) != 0) throw file.damaged(12, "damaged: not zero in the file's head");
  return format;
}

Footer read_footer(const InputFile& file, std::uint32_t format, std::uint64_t& footer_offset) {
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
    return footer_from_json_text(text, format);
  } catch (const ContentError& error) {
    throw file.damaged(trailer.footer_offset, fmt::format("in the footer: {}", error.what()));
  }
}

}  // namespace

struct File::Impl {
  explicit Impl(std::filesystem::path path) : file(std::move(path)) {
    format = read_head(file);
    footer = read_footer(file, format, footer_offset);
    index_blocks();
    region_pages.reserve(footer.regions.size() + 1);
    for (const Region& region : footer.regions) region_pages.push_back(region.pages);
    // In a trace without regions, the decoder's streams begin in region 0, which then has no page.
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
  std::uint32_t format = 0;
  std::uint64_t footer_offset = 0;
  Footer footer;
  std::vector<std::uint64_t> block_offsets;  ///< by block number
  std::vector<std::uint32_t> block_numbers;  ///< sorted by thread
  std::vector<std::size_t> thread_blocks;    ///< place of each thread's first block in block_numbers, and the end
  std::vector<std::uint64_t> region_pages;
};

/// Limits how often rightly predicted lines or sites, which take no bytes, may differ from page to page. Each takes
/// 10 ns to read and 2 us to trace: a kilobyte is read in less than a minute, and a trace of hours still fits.
constexpr std::uint64_t least_page_steps = std::uint64_t{1} << 32;  ///< of a file
constexpr std::uint64_t page_steps_per_byte = 1 << 20;

struct ThreadCursor::Impl {
  Impl(std::shared_ptr<const File::Impl> opened, std::uint32_t thread_number, Detail wanted)
      : file(std::move(opened)),
        thread(thread_number),
        has_pages(wanted == Detail::pages && file->format >= first_format_with_lines),
        next_block(file->thread_blocks[thread]),
        end_block(file->thread_blocks[thread + std::size_t{1}]),
        decoder(file->region_pages),
        page_steps_left(least_page_steps / file->footer.header.threads) {
    for (std::size_t i = next_block; i < end_block; ++i) {
      page_steps_left += page_steps_per_byte * file->footer.blocks[file->block_numbers[i]].stored_bytes;
    }
  }

  const BlockEntry& block() const { return file->footer.blocks[block_number]; }

  const Interval* next();
  bool load_block();
  /// A range of the block's content.
  struct Section {
    const std::uint8_t* begin;
    const std::uint8_t* end;
  };

  /// Both return false if no event follows, as only a part of an interval begins.
  bool decode_event();
  bool decode_event_of_format_1();
  bool decode_piece();
  void check_page(const Event& event) const;
  std::uint32_t checked_call_site(std::uint64_t number) const;
  template <bool keeps_streams>
  void decode_runs(std::uint64_t runs);
  Section take_section(bool is_there);
  void decode_pages(const Section& lines, const Section& sites);
  template <typename Value, typename IsMeant, typename Add>
  void decode_pages(PageDecoder<Value>& pages, const Section& section, IsMeant&& is_meant, Add&& add);
  void check_block_end() const;
  void check_totals() const;
  FormatError located(std::string_view problem) const;

  std::shared_ptr<const File::Impl> file;
  std::uint32_t thread;
  bool has_pages;          ///< lines and sites are present and wanted
  std::size_t next_block;  ///< in block_numbers
  std::size_t end_block;
  RunDecoder decoder;
  PageDecoder<ChangedLines> lines_decoder;
  PageDecoder<std::uint32_t> sites_decoder;
  CallSitePredictor call_sites;
  std::uint64_t page_steps_left = 0;  ///< see least_page_steps
  std::vector<std::uint8_t> streams;  ///< streams of the piece's runs, if has_pages
  std::vector<std::uint8_t> content;  ///< of the current block, with padding_bytes
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

/// Returns false after the last block.
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
  lines_decoder.reset();
  sites_decoder.reset();
  call_sites = {};
  return true;
}

/// Format 1 marks for each event which of its fields are not 0.
bool ThreadCursor::Impl::decode_event_of_format_1() {
  const std::uint8_t head = *cursor++;
  if ((head & format_1_flags::unfinished) != 0) {
    if (head != format_1_flags::unfinished) throw ContentError(fmt::format("{:#x} begins no interval", head));
    return false;
  }
  Event& event = interval.end;
  event.kind = static_cast<EventKind>(head & format_1_flags::kind_mask);
  event.detail = (head & format_1_flags::detail) != 0 ? *cursor++ : std::uint8_t{0};
  event.object = (head & format_1_flags::object) != 0 ? read_varint(cursor) : 0;
  event.value = (head & format_1_flags::value) != 0 ? read_varint(cursor) : 0;
  return true;
}

bool ThreadCursor::Impl::decode_event() {
  std::uint8_t kind = *cursor++;
  if (kind == part_of_interval) return false;
  std::uint32_t& call_site = call_sites.prediction();
  if (file->format == format_version && (kind & has_call_site) != 0) {
    kind &= static_cast<std::uint8_t>(~has_call_site);
    call_site = checked_call_site(read_varint(cursor));
  }
  interval.call_site = call_site;
  call_sites.pass(call_site);
  Event& event = interval.end;
  event = {.kind = static_cast<EventKind>(kind)};
  const EventRule* const rule = rule_of(event.kind);
  if (rule == nullptr) throw ContentError(fmt::format("event kind {} is unknown", kind));
  if (rule->max_detail > 0) event.detail = *cursor++;
  if (rule->object) event.object = read_varint(cursor);
  if (event.kind == EventKind::acquire) {
    event.value = event.object >> value_of_acquire_bit;
    event.object &= (std::uint64_t{1} << value_of_acquire_bit) - 1;
  }
  if (rule->value != EventRule::Value::none) event.value = read_varint(cursor);
  if (rule->value != EventRule::Value::team_size) return true;
  const bool is_part_of_team = (event.value & 1) != 0;
  event.value >>= 1;
  if (!is_part_of_team) return true;
  const std::uint64_t team = read_varint(cursor);
  if (team == 0 || team > std::numeric_limits<std::uint32_t>::max()) throw ContentError(fmt::format("team {}", team));
  event.team = static_cast<std::uint32_t>(team);
  return true;
}

/// Checks that an atomic operation's page is in its region.
void ThreadCursor::Impl::check_page(const Event& event) const {
  if (event.kind != EventKind::atomic) return;
  const auto& pages = file->region_pages;
  if (event.object < pages.size() && event.value / page_bytes < pages[event.object]) return;
  throw ContentError(
      fmt::format("an atomic operation on byte {} of region {}, which ends before it", event.value, event.object));
}

std::uint32_t ThreadCursor::Impl::checked_call_site(std::uint64_t number) const {
  const std::size_t count = file->footer.header.call_sites.size();
  if (number > count) throw ContentError(fmt::format("call site {}, but the trace has {}", number, count));
  return static_cast<std::uint32_t>(number);
}

/// Adds a piece to the interval; returns whether it ends the interval.
bool ThreadCursor::Impl::decode_piece() {
  const bool is_format_1 = file->format == first_format;
  const bool is_last = is_format_1 ? decode_event_of_format_1() : decode_event();
  if (is_last) {
    if (const auto problem = problem_with(interval.end, file->footer.header.threads)) throw ContentError(*problem);
    check_page(interval.end);
    interval.compute_ns = read_varint(cursor);
    if (interval.compute_ns > max_compute_ns - totals.compute_ns) throw ContentError("more compute time than fits");
  }
  const std::uint64_t number = read_varint(cursor);
  const std::uint64_t runs = is_format_1 ? number : number >> section_flags::shift;
  const unsigned sections =
      is_format_1 ? 0 : static_cast<unsigned>(number) & (section_flags::lines | section_flags::sites);
  if (cursor > end) throw ContentError("an interval that goes on behind the block");
  if (!is_last && runs == 0) throw ContentError("a part of an interval without runs");
  has_pages ? decode_runs<true>(runs) : decode_runs<false>(runs);
  const Section lines = take_section((sections & section_flags::lines) != 0);
  const Section sites = take_section((sections & section_flags::sites) != 0);
  if (has_pages) decode_pages(lines, sites);
  if (!is_last) {
    if (cursor != end) throw ContentError("a part of an interval before the block's end");
    return false;
  }
  ++block_intervals;
  ++totals.intervals;
  totals.compute_ns += interval.compute_ns;
  ++events[static_cast<std::size_t>(interval.end.kind)];
  return true;
}

/// Two instantiations, because a store of a byte may alias anything: the one that a simulation uses has no such store.
template <bool keeps_streams>
void ThreadCursor::Impl::decode_runs(std::uint64_t runs) {
  // A run takes at least a byte, so a wrong number asks for no more memory than the block's size warrants.
  if (runs > static_cast<std::uint64_t>(end - cursor)) throw ContentError(fmt::format("{} runs in the rest", runs));
  const std::size_t before = interval.touches.size();
  if (runs > max_runs_per_interval - before) throw ContentError("an interval of too many runs");
  // Each piece gives its first run's position from 0; it must not precede the last piece's.
  const unsigned least_position = before > 0 ? interval.touches.back().position : 0;
  unsigned position = 0;
  interval.touches.resize(before + runs);
  if constexpr (keeps_streams) streams.resize(runs);
  const std::uint8_t* at = cursor;
  std::uint64_t pages = 0;
  for (std::size_t i = before; i < interval.touches.size(); ++i) {
    cursor = at;  // for the error's text
    TouchRun& run = interval.touches[i];
    [[maybe_unused]] const unsigned stream = decoder.decode(at, position, run);
    if (at > end) throw ContentError("a run that goes on behind the block");
    if constexpr (keeps_streams) streams[i - before] = static_cast<std::uint8_t>(stream);
    pages += run.pages;
  }
  cursor = at;
  if (runs > 0 && interval.touches[before].position < least_position) throw ContentError("a position that goes back");
  totals.touch_runs += runs;
  totals.page_touches += pages;
  // Checked here, not at the thread's end, because problem_with(Totals) has checked only the footer's number.
  if (totals.page_touches > file->footer.totals[thread].page_touches) check_totals();
}

/// Skips a section if the piece has it.
ThreadCursor::Impl::Section ThreadCursor::Impl::take_section(bool is_there) {
  if (!is_there) return {cursor, cursor};
  const std::uint64_t bytes = read_varint(cursor);
  if (cursor > end || bytes == 0 || bytes > static_cast<std::uint64_t>(end - cursor)) {
    throw ContentError(fmt::format("a section of {} bytes of lines or sites in the rest", bytes));
  }
  const Section section{cursor, cursor + bytes};
  cursor = section.end;
  return section;
}

/// Calls add(value, pages) for the pages of those runs of the piece for which `is_meant` is true.
template <typename Value, typename IsMeant, typename Add>
void ThreadCursor::Impl::decode_pages(PageDecoder<Value>& pages, const Section& section, IsMeant&& is_meant,
                                      Add&& add) {
  pages.begin(section.begin, section.end);
  const std::size_t before = interval.touches.size() - streams.size();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const TouchRun& run = interval.touches[before + i];
    if (!is_meant(run)) continue;
    for (std::uint64_t rest = run.pages; rest > 0;) {
      Value value{};
      if (page_steps_left-- == 0) {
        throw ContentError("lines or sites of more pages than a file of this size tells of");
      }
      const std::uint64_t alike = pages.next(streams[i], rest, value);
      add(run, value, alike);
      rest -= alike;
    }
  }
  pages.finish();
}

void ThreadCursor::Impl::decode_pages(const Section& lines, const Section& sites) {
  decode_pages(
      lines_decoder, lines, [](const TouchRun& run) { return is_partial(run.change); },
      [this](const TouchRun& run, const ChangedLines& changed, std::uint64_t pages) {
        if (const auto problem = problem_with(run.change, changed)) throw ContentError(*problem);
        append_pages(interval.lines, {changed, pages});
      });
  const std::size_t site_count = file->footer.header.sites.size();
  if (site_count == 0) {
    if (sites.begin != sites.end) throw ContentError("sites, but the trace has none");
    return;
  }
  decode_pages(
      sites_decoder, sites, [](const TouchRun&) { return true; },
      [this, site_count](const TouchRun&, std::uint32_t site, std::uint64_t pages) {
        if (site >= site_count) throw ContentError(fmt::format("site {}, but the trace has {}", site, site_count));
        append_pages(interval.sites, {site, pages});
      });
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
  interval.lines.clear();
  interval.sites.clear();
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

ThreadCursor::ThreadCursor(const File& file, std::uint32_t thread, Detail detail) {
  file.impl_->check_thread(thread);
  impl_ = std::make_unique<Impl>(file.impl_, thread, detail);
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

std::uint32_t File::format() const {
  return impl_->format;
}

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

void check_touches(const File& file) {
  std::vector<Totals> totals;
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) totals.push_back(file.totals(thread));
  if (const auto problem = problem_with(totals)) {
    throw FormatError(
        fmt::format("{}: {}. The file is damaged or made up: trace again", file.path().string(), *problem));
  }
}

std::uint64_t count_of(const File& file, EventKind kind) {
  std::uint64_t count = 0;
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    count += file.events(thread)[static_cast<std::size_t>(kind)];
  }
  return count;
}

}  // namespace sdsm::trace
