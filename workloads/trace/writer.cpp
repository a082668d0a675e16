#include "workloads/trace/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "commands/descriptor.hpp"
#include "commands/output.hpp"
#include "workloads/trace/content_error.hpp"
#include "workloads/trace/file_layout.hpp"
#include "workloads/trace/footer.hpp"
#include "workloads/trace/limits.hpp"
#include "workloads/trace/page_codec.hpp"
#include "workloads/trace/varint.hpp"
#include "workloads/trace/words.hpp"

namespace sdsm::trace {
namespace {

/// Compared with level 3, level 6 writes a fifth less for a Laplace trace, and 7 % less where each page changes
/// differently. It takes some 20 ns of CPU time per touch, a hundredth of tracing one. Level 9 gains little more.
constexpr int compression_level = 6;

bool continues(const TouchRun& run, const TouchRun& next) {
  return next.region == run.region && next.access == run.access && next.position == run.position &&
         next.change == run.change && next.first == run.first + run.pages &&
         next.pages <= std::numeric_limits<std::uint32_t>::max() - run.pages;
}

/// Writes the call site if it is not the predicted one, and only the fields that the kind uses (EventRule).
void write_event(std::vector<std::uint8_t>& out, const Event& event, std::uint32_t call_site,
                 CallSitePredictor& call_sites) {
  const EventRule& rule = *rule_of(event.kind);
  const bool is_predicted = call_sites.prediction() == call_site;
  out.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(event.kind) | (is_predicted ? 0U : has_call_site)));
  if (!is_predicted) write_varint(out, call_sites.prediction() = call_site);
  call_sites.pass(call_site);
  if (rule.max_detail > 0) out.push_back(event.detail);
  const std::uint64_t value_of_acquire = event.kind == EventKind::acquire ? event.value : 0;
  if (rule.object) write_varint(out, value_of_acquire << value_of_acquire_bit | event.object);
  if (rule.value == EventRule::Value::any) write_varint(out, event.value);
  if (rule.value == EventRule::Value::team_size) {
    write_varint(out, event.value << 1 | (event.team != 0 ? 1U : 0U));
    if (event.team != 0) write_varint(out, event.team);
  }
}

/// Calls visit(run) for each run that is left when adjacent touches are merged.
template <typename Visit>
void for_each_merged(const std::vector<TouchRun>& touches, Visit&& visit) {
  if (touches.empty()) return;
  TouchRun run = touches.front();
  for (std::size_t i = 1; i < touches.size(); ++i) {
    if (continues(run, touches[i])) {
      run.pages += touches[i].pages;
    } else {
      visit(run);
      run = touches[i];
    }
  }
  visit(run);
}

/// The .part file: created, appended to, then renamed or removed.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path)
      : path_(commands::output_target(path)), part_path_(commands::part_of(path_)) {
    if (std::filesystem::is_directory(path_)) fail_with(EISDIR, path_, "cannot write the trace");
    // The trace replaces the file of that name, which must not be a device.
    if (!commands::is_replaced(path_))
      fail_with(ENOTSUP, path_, "this is no regular file, and a trace needs one of its own");
    descriptor_.reset(open(part_path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (descriptor_.get() < 0) fail_with(errno, part_path_, "cannot create the trace");
    claim();
  }
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile() {
    if (!keep_part_) unlink(part_path_.c_str());
  }

  void write(std::span<const std::uint8_t> bytes) {
    written_ += bytes.size();
    if (!commands::write_all(descriptor_.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()})) {
      fail_with(errno, part_path_, "cannot write the trace");
    }
  }

  std::uint64_t written() const { return written_; }

  void publish() {
    // Some file systems report a full disk only here.
    if (close(descriptor_.release()) != 0) fail_with(errno, part_path_, "cannot write the trace");
    keep_part_ = true;
    if (rename(part_path_.c_str(), path_.c_str()) != 0) {
      fail_with(errno, path_, fmt::format("the trace is complete in '{}' but cannot be renamed", part_path_.string()));
    }
  }

 private:
  [[noreturn]] static void fail_with(int error, const std::filesystem::path& path, const std::string& what) {
    throw std::system_error(error, std::generic_category(), fmt::format("{}: {}", path.string(), what));
  }

  /// Refuses the second of two runs that write one file, as their blocks would mix. The file is emptied only once it is
  /// locked, and only if it is still the one under this name.
  void claim() {
    if (flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      fail_with(EBUSY, part_path_, "another run is writing this trace");
    }
    struct stat opened {};
    struct stat named {};
    if (fstat(descriptor_.get(), &opened) != 0) fail_with(errno, part_path_, "cannot create the trace");
    if (stat(part_path_.c_str(), &named) != 0 || opened.st_ino != named.st_ino || opened.st_dev != named.st_dev) {
      fail_with(EBUSY, part_path_, "another run was writing this trace");
    }
    if (!S_ISREG(opened.st_mode)) fail_with(EINVAL, part_path_, "the trace needs a regular file");
    if (ftruncate(descriptor_.get(), 0) != 0) fail_with(errno, part_path_, "cannot create the trace");
  }

  std::filesystem::path path_;
  std::filesystem::path part_path_;
  commands::Descriptor descriptor_;
  bool keep_part_ = false;
  std::uint64_t written_ = 0;
};

/// Counts the pages of all runs. Returns 0 if some run has none, which is no list of lines or sites.
template <typename Run>
std::uint64_t pages_of(const std::vector<Run>& runs) {
  std::uint64_t pages = 0;
  for (const Run& run : runs) {
    if (run.pages == 0) return 0;
    pages += run.pages;
  }
  return pages;
}

TouchRun first_pages(TouchRun run, std::uint32_t pages) {
  run.pages = pages;
  return run;
}
TouchRun without_first_pages(TouchRun run, std::uint32_t pages) {
  run.first += pages;
  run.pages -= pages;
  return run;
}

/// A run with larger lines and sites is split.
constexpr std::size_t enough_of_a_run = 2048;
/// Largest number of bytes that a run adds to a block: the split comes behind the page that exceeds the limit.
constexpr std::size_t most_of_a_run = max_run_bytes + enough_of_a_run + 2 * max_miss_bytes;

/// The block that a thread is filling, and its sums.
struct ThreadState {
  std::vector<std::uint8_t> block;
  std::uint32_t block_intervals = 0;
  RunEncoder encoder;
  PageEncoder<ChangedLines> lines;
  PageEncoder<std::uint32_t> sites;
  CallSitePredictor call_sites;
  Totals totals;
  EventCounts events{};
};

}  // namespace

struct Writer::Impl {
  Impl(const std::filesystem::path& path, std::uint32_t thread_count)
      : file(path), compressor(ZSTD_createCCtx(), &ZSTD_freeCCtx), threads(thread_count) {
    if (!compressor) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_compressionLevel, compression_level);
    ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_checksumFlag, 1);
    file.write(encode_head(format_version));
  }

  std::span<const std::uint8_t> compress(std::span<const std::uint8_t> raw) {
    stored.resize(ZSTD_compressBound(raw.size()) + sizeof(std::uint32_t));
    const std::size_t size = ZSTD_compress2(compressor.get(), stored.data(), stored.size(), raw.data(), raw.size());
    if (ZSTD_isError(size) != 0) throw std::runtime_error(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
    return {stored.data(), size};
  }

  void check(std::uint32_t thread, const Interval& interval) const;
  void append(std::uint32_t thread, const Interval& interval);
  std::uint32_t encode_pages(ThreadState& state, unsigned stream, const TouchRun& run, PageWalk<LinesRun>* lines,
                             PageWalk<SiteRun>* sites);
  void end_piece(ThreadState& state);
  void count(ThreadState& state, const TouchRun& run);
  void count_pages(std::uint64_t region, std::uint64_t end);
  void flush_block(std::uint32_t thread);
  void write_footer(const Header& header, const std::vector<Region>& regions);

  OutputFile file;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> compressor;
  std::vector<ThreadState> threads;
  std::vector<BlockEntry> blocks;
  std::vector<std::uint64_t> region_pages;  ///< for each region the end of its highest run or atomic operation so far
  /// Runs of the current interval.
  std::vector<std::uint8_t> piece = std::vector<std::uint8_t>(max_block_bytes);
  std::size_t piece_bytes = 0;
  std::uint64_t piece_runs = 0;
  std::uint32_t sites_used = 0;       ///< the highest number plus one
  std::uint32_t call_sites_used = 0;  ///< the highest number
  bool lacks_sites = false;           ///< an interval touched pages without sites
  std::vector<std::uint8_t> stored;
  bool closed = false;  ///< finished, or failed for good
};

void Writer::Impl::check(std::uint32_t thread, const Interval& interval) const {
  const auto reject = [thread](const std::string& problem) {
    throw std::invalid_argument(fmt::format("trace: thread {}: {}", thread, problem));
  };
  if (thread >= threads.size()) reject(fmt::format("the trace has {} threads", threads.size()));
  if (const auto problem = problem_with(interval.end, static_cast<std::uint32_t>(threads.size()))) reject(*problem);
  if (interval.compute_ns > max_compute_ns - threads[thread].totals.compute_ns) {
    reject(fmt::format("{} ns more of compute time are over the thread's {} ns", interval.compute_ns, max_compute_ns));
  }
  std::uint8_t position = 0;
  std::uint64_t pages = 0;
  std::uint64_t partial_pages = 0;
  for (const TouchRun& run : interval.touches) {
    if (!is_valid(run)) reject(*problem_with(run));
    if (run.position < position) reject(fmt::format("position {} after position {}", run.position, position));
    position = run.position;
    pages += run.pages;
    if (is_partial(run.change)) partial_pages += run.pages;
  }
  if (interval.touches.size() > max_runs_per_interval) {
    reject(fmt::format("{} touch runs in an interval are over {}", interval.touches.size(), max_runs_per_interval));
  }
  const std::uint64_t most = std::max(interval.lines.size(), interval.sites.size());
  if (most > max_page_runs_per_interval) {
    reject(fmt::format("{} lines or sites in an interval are over {}", most, max_page_runs_per_interval));
  }
  if (pages_of(interval.lines) != partial_pages) {
    reject(fmt::format("lines of {} pages, but {} changed in part", pages_of(interval.lines), partial_pages));
  }
  if (!interval.sites.empty() && pages_of(interval.sites) != pages) {
    reject(fmt::format("sites of {} pages, but {} were touched", pages_of(interval.sites), pages));
  }
  if (const auto problem = problem_with_pages(interval)) reject(*problem);
}

/// Encodes the lines and sites of a run's pages, until they reach enough_of_a_run. Returns the number of pages.
std::uint32_t Writer::Impl::encode_pages(ThreadState& state, unsigned stream, const TouchRun& run,
                                         PageWalk<LinesRun>* lines, PageWalk<SiteRun>* sites) {
  const auto taken = [&] { return state.lines.size() + state.sites.size(); };
  const std::size_t before = taken();
  std::uint32_t pages = 0;
  while (pages < run.pages && taken() - before < enough_of_a_run) {
    std::uint64_t alike = run.pages - pages;
    if (lines != nullptr) alike = std::min(alike, lines->pages_here());
    if (sites != nullptr) alike = std::min(alike, sites->pages_here());
    if (lines != nullptr) {
      state.lines.add(stream, lines->here().changed, alike);
      lines->pass(alike);
    }
    if (sites != nullptr) {
      state.sites.add(stream, sites->here().site, alike);
      sites->pass(alike);
    }
    pages += static_cast<std::uint32_t>(alike);
  }
  return pages;
}

void Writer::Impl::end_piece(ThreadState& state) {
  const unsigned sections =
      (state.lines.size() > 0 ? section_flags::lines : 0) | (state.sites.size() > 0 ? section_flags::sites : 0);
  write_varint(state.block, piece_runs << section_flags::shift | sections);
  state.block.insert(state.block.end(), piece.data(), piece.data() + piece_bytes);
  state.lines.finish(state.block);
  state.sites.finish(state.block);
  piece_bytes = 0;
  piece_runs = 0;
}

void Writer::Impl::count(ThreadState& state, const TouchRun& run) {
  ++state.totals.touch_runs;
  state.totals.page_touches += run.pages;
  count_pages(index_of(run.region), run.first + run.pages);
}

void Writer::Impl::count_pages(std::uint64_t region, std::uint64_t end) {
  if (region >= region_pages.size()) region_pages.resize(region + std::size_t{1});
  region_pages[region] = std::max(region_pages[region], end);
}

void Writer::Impl::append(std::uint32_t thread, const Interval& interval) {
  ThreadState& state = threads[thread];
  std::uint8_t position = 0;  // of the piece's last run
  const auto has_room = [&](std::size_t more) {
    constexpr std::size_t head = max_piece_head_bytes + 2 * max_varint_bytes;  // the lengths of the sections
    return state.block.size() + head + piece_bytes + state.lines.size() + state.sites.size() + more <= max_block_bytes;
  };
  PageWalk lines(interval.lines);
  PageWalk sites(interval.sites);
  lacks_sites |= interval.sites.empty() && !interval.touches.empty();
  for (const SiteRun& run : interval.sites) sites_used = std::max(sites_used, run.site + 1);

  // Encodes the run, and returns how many of its pages fit. Only a split copies a run: a copy would wait for the
  // merging's stores.
  const auto encode = [&](const TouchRun& run) {
    if (!has_room(most_of_a_run)) {
      if (piece_runs > 0) {
        state.block.push_back(part_of_interval);
        end_piece(state);
        position = 0;
      }
      flush_block(thread);
    }
    const unsigned stream = state.encoder.stream_for(run);
    const std::uint32_t pages = encode_pages(state, stream, run, is_partial(run.change) ? &lines : nullptr,
                                             interval.sites.empty() ? nullptr : &sites);
    const auto put = [&](const TouchRun& whole) {
      const std::uint8_t* const end_of_run = state.encoder.encode(whole, stream, position, &piece[piece_bytes]);
      piece_bytes = static_cast<std::size_t>(end_of_run - piece.data());
      position = whole.position;
      ++piece_runs;
      count(state, whole);
    };
    pages == run.pages ? put(run) : put(first_pages(run, pages));
    return pages;
  };
  for_each_merged(interval.touches, [&](const TouchRun& run) {
    for (std::uint32_t done = encode(run); done < run.pages;) done += encode(without_first_pages(run, done));
  });

  if (!has_room(0)) flush_block(thread);  // only without runs, which leave room for a head themselves
  const Event& event = interval.end;
  if (event.kind == EventKind::atomic) count_pages(event.object, event.value / page_bytes + 1);
  write_event(state.block, event, interval.call_site, state.call_sites);
  call_sites_used = std::max(call_sites_used, interval.call_site);
  write_varint(state.block, interval.compute_ns);
  end_piece(state);
  ++state.block_intervals;
  ++state.totals.intervals;
  state.totals.compute_ns += interval.compute_ns;
  ++state.events[static_cast<std::size_t>(event.kind)];
}

void Writer::Impl::flush_block(std::uint32_t thread) {
  ThreadState& state = threads[thread];
  if (state.block.empty()) return;
  const auto frame = compress(state.block);
  file.write(frame);
  blocks.push_back({.thread = thread,
                    .stored_bytes = static_cast<std::uint32_t>(frame.size()),
                    .raw_bytes = static_cast<std::uint32_t>(state.block.size()),
                    .intervals = state.block_intervals,
                    .checksum = load_little_endian<std::uint32_t>(&frame[frame.size() - sizeof(std::uint32_t)])});
  state.block.clear();
  state.block_intervals = 0;
  state.encoder.reset();
  state.lines.reset();
  state.sites.reset();
  state.call_sites = {};
}

void Writer::Impl::write_footer(const Header& header, const std::vector<Region>& regions) {
  Footer footer{.header = header, .regions = regions, .totals = {}, .events = {}, .blocks = std::move(blocks)};
  for (const ThreadState& state : threads) {
    footer.totals.push_back(state.totals);
    footer.events.push_back(state.events);
  }
  const std::string text = to_json_text(footer);
  if (text.size() > max_footer_bytes) {
    throw std::system_error(
        EFBIG, std::generic_category(),
        fmt::format("the trace's footer (regions, index) has {} bytes, over {}", text.size(), max_footer_bytes));
  }
  const auto frame = compress({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  const Trailer trailer{.footer_offset = file.written(),
                        .footer_stored_bytes = frame.size(),
                        .footer_raw_bytes = static_cast<std::uint32_t>(text.size())};
  file.write(frame);
  file.write(encode_trailer(trailer, frame));
}

Writer::Writer(const std::filesystem::path& path, std::uint32_t threads) {
  if (threads == 0 || threads > max_threads) {
    throw std::invalid_argument(fmt::format("trace: {} threads are outside 1..{}", threads, max_threads));
  }
  impl_ = std::make_unique<Impl>(path, threads);
}

Writer::~Writer() = default;

void Writer::append(std::uint32_t thread, const Interval& interval) {
  if (impl_->closed) throw std::logic_error("trace: append to a trace that is finished or has failed");
  impl_->check(thread, interval);
  impl_->closed = true;  // stays true if this throws: half an interval may have been written
  impl_->append(thread, interval);
  impl_->closed = false;
}

void Writer::finish(const Header& header, const std::vector<Region>& regions) {
  if (impl_->closed) throw std::logic_error("trace: finish of a trace that is finished or has failed");
  const auto reject = [](const std::string& problem) { throw std::invalid_argument("trace: " + problem); };
  if (header.threads != impl_->threads.size()) {
    reject(fmt::format("header for {} threads, but {} were written", header.threads, impl_->threads.size()));
  }
  if (regions.size() > max_regions) reject(fmt::format("{} regions are over {}", regions.size(), max_regions));
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (const auto problem = problem_with(regions[i], i, header)) reject(*problem);
  }
  for (std::size_t i = 0; i < impl_->region_pages.size(); ++i) {
    const std::uint64_t pages = i < regions.size() ? regions[i].pages : 0;
    if (impl_->region_pages[i] > pages) {
      reject(fmt::format("page {} of region {} was touched, which has {}", impl_->region_pages[i] - 1, i, pages));
    }
  }
  if (impl_->sites_used > header.sites.size()) {
    reject(fmt::format("site {} touched pages, but the header has {}", impl_->sites_used - 1, header.sites.size()));
  }
  if (impl_->call_sites_used > header.call_sites.size()) {
    reject(fmt::format("call site {} of an event, but the header has {}", impl_->call_sites_used,
                       header.call_sites.size()));
  }
  if (impl_->lacks_sites && !header.sites.empty()) reject("pages were touched by instructions that were not said");
  if (const auto problem = problem_with(header)) reject(*problem);
  try {
    check_words(header.words, header, regions);
  } catch (const ContentError& error) {
    reject(error.what());
  }
  impl_->closed = true;
  for (std::uint32_t thread = 0; thread < header.threads; ++thread) impl_->flush_block(thread);
  impl_->write_footer(header, regions);
  impl_->file.publish();
}

}  // namespace sdsm::trace
