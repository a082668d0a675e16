/// How many bytes a page touch takes on the disk. The promise is two at most, for Laplace.
#include <cmath>
#include <cstring>
#include <random>

#include "tests/catch.hpp"
#include "tests/workloads/trace/format_1.hpp"
#include "workloads/trace/reader.hpp"

using namespace sdsm;
using namespace sdsm::trace;

namespace {

constexpr std::uint32_t size = 1024;
constexpr std::uint32_t row_pages = size * sizeof(double) / page_bytes;  // 2
constexpr std::uint32_t page_columns = page_bytes / sizeof(double);      // 512

/// The order in which the first touches of a row's pages come.
enum class Order {
  by_page,  ///< read a page, write a page, read the next: what the loop does
  by_row,   ///< read both pages of a row, then write both: fewer, longer runs
};

/// `lines` of the changed words are set.
Change change_between(const double* old_page, const double* new_page, ChangedLines& lines) {
  std::uint32_t old_words[page_bytes / word_bytes];
  std::uint32_t new_words[page_bytes / word_bytes];
  std::memcpy(old_words, old_page, page_bytes);
  std::memcpy(new_words, new_page, page_bytes);
  Change change;
  bool in_run = false;
  for (std::size_t i = 0; i < page_bytes / word_bytes; ++i) {
    const bool changed = old_words[i] != new_words[i];
    change.words = static_cast<std::uint16_t>(change.words + changed);
    change.runs = static_cast<std::uint16_t>(change.runs + (changed && !in_run));
    in_run = changed;
    if (!changed) continue;
    lines.lines |= std::uint64_t{1} << (i / words_per_line);
    lines.first_word |= i == 0;
    lines.last_word |= i == page_bytes / word_bytes - 1;
  }
  return change;
}

/// Laplace itself (a Jacobi iteration on a 1024 x 1024 grid whose top row is hot), so that the changes are real ones.
/// The places of touches are noisy as an operating system makes them: each half row takes 0.7..1.3 of its share, and
/// one in a hundred ten times that.
class Laplace {
 public:
  Laplace(std::uint32_t threads, Order order) : threads_(threads), order_(order), random_(threads) {
    for (auto& grid : grids_) {
      grid.assign(size * size, 0.0);
      std::fill_n(grid.begin(), size, 100.0);
    }
  }

  Trace run(unsigned iterations) {
    Trace trace{.header = header_for(threads_), .regions = heap_blocks(2, size * row_pages), .threads = {}};
    trace.threads.resize(threads_);
    for (unsigned iteration = 0; iteration < iterations; ++iteration) {
      for (std::uint32_t thread = 0; thread < threads_; ++thread) {
        trace.threads[thread].push_back(interval(thread, iteration));
      }
    }
    return trace;
  }

 private:
  Interval interval(std::uint32_t thread, unsigned iteration) {
    const std::uint32_t first = std::max(1U, size * thread / threads_);
    const std::uint32_t last = std::min(size - 1, size * (thread + 1) / threads_);
    from_ = iteration % 2;
    read_.assign(size * row_pages, false);
    compute_positions((last - first) * row_pages);
    Interval interval{.end = {.kind = EventKind::barrier, .value = threads_}};
    interval.compute_ns = static_cast<std::uint64_t>(7.5e9 / 100 / threads_ * jitter(0.99, 1.01));
    for (std::uint32_t row = first; row < last; ++row) {
      compute_row(row);
      for (std::uint32_t half = 0; half < row_pages; ++half) {
        const std::uint8_t position = positions_[(row - first) * row_pages + half];
        if (order_ == Order::by_page) {
          read_around(interval, row, half, position);
          write(interval, row, half, position);
        } else if (half == 0) {
          for (std::uint32_t i = 0; i < row_pages; ++i) read_around(interval, row, i, position);
          for (std::uint32_t i = 0; i < row_pages; ++i) write(interval, row, i, position);
        }
      }
    }
    return interval;
  }

  void read_around(Interval& interval, std::uint32_t row, std::uint32_t half, std::uint8_t position) {
    for (std::uint32_t near = row - 1; near <= row + 1; ++near) {
      const std::uint32_t page = near * row_pages + half;
      if (read_[page]) continue;
      read_[page] = true;
      interval.touches.push_back({.region = RegionId{from_}, .first = page, .position = position});
    }
  }

  void write(Interval& interval, std::uint32_t row, std::uint32_t half, std::uint8_t position) {
    double* page = &grids_[1 - from_][row * size + half * page_columns];
    ChangedLines lines;
    const Change change = change_between(page, &new_row_[half * page_columns], lines);
    if (is_partial(change)) interval.lines.push_back({lines, 1});
    std::copy_n(&new_row_[half * page_columns], page_columns, page);
    interval.touches.push_back({.region = RegionId{1 - from_},
                                .first = row * row_pages + half,
                                .access = Access::write,
                                .position = position,
                                .change = change});
  }

  void compute_row(std::uint32_t row) {
    const double* row_here = &grids_[from_][row * size];
    const double* row_above = row_here - size;
    const double* row_below = row_here + size;
    new_row_.assign(size, 0.0);
    for (std::uint32_t j = 1; j < size - 1; ++j) {
      new_row_[j] = 0.25 * (row_above[j] + row_below[j] + row_here[j - 1] + row_here[j + 1]);
    }
  }

  void compute_positions(std::uint32_t steps) {
    std::vector<double> ends{0.0};
    for (std::uint32_t i = 0; i < steps; ++i)
      ends.push_back(ends.back() + jitter(0.7, 1.3) * (random_() % 100 ? 1 : 10));
    positions_.clear();
    for (std::uint32_t i = 0; i < steps; ++i) {
      positions_.push_back(static_cast<std::uint8_t>(position_steps * ends[i] / ends.back()));
    }
  }

  double jitter(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }

  std::uint32_t threads_;
  Order order_;
  std::mt19937_64 random_;
  std::vector<double> grids_[2];
  std::vector<double> new_row_;
  std::vector<std::uint8_t> positions_;
  std::vector<bool> read_;
  std::uint32_t from_ = 0;
};

/// Bytes per page touch of a file of `trace`, after a look that it is what it should be.
double bytes_per_touch(const Trace& trace, double most_of_format_1 = 1.15) {
  const Scratch scratch;
  write(trace, scratch / "a.trace");
  std::uint64_t touches = 0;
  const File file(scratch / "a.trace");
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) touches += file.totals(thread).page_touches;
  const double bytes = static_cast<double>(file.file_bytes()) / static_cast<double>(touches);
  const double ratio =
      static_cast<double>(file.file_bytes()) / static_cast<double>(write_format_1(read(file.path())).size());
  WARN(trace.header.threads << " threads, " << touches << " page touches: " << bytes << " bytes each, " << ratio
                            << " times format 1");
  CHECK(ratio <= most_of_format_1);
  return bytes;
}

}  // namespace

TEST_CASE("a Laplace trace takes at most two bytes per page touch") {
  const auto threads = GENERATE(1U, 4U);
  const auto order = GENERATE(Order::by_page, Order::by_row);
  const Trace trace = Laplace(threads, order).run(100);
  // Each iteration reads 1024 rows of two pages, and two more at each border between threads, and writes 1022 rows.
  std::uint64_t touches = 0;
  for (const auto& intervals : trace.threads) {
    for (const Interval& interval : intervals) touches += interval.touches.size();
  }
  CHECK(touches == 100 * 2 * (1024 + 2 * (threads - 1) + 1022));
  CHECK(bytes_per_touch(trace) <= 2.0);
}

TEST_CASE("a million touches in no order at all take less than eight bytes each") {
  // What cannot be foreseen has to be stored: a page (11 bits), a position, two counts of up to ten bits, an access.
  std::mt19937_64 random(1);
  Trace trace{.header = header_for(1), .regions = heap_blocks(1, 2048), .threads = {{}}};
  for (int i = 0; i < 1000; ++i) {
    Interval interval{.compute_ns = random() % 1'000'000, .touches = {}, .end = {.kind = EventKind::flush}};
    for (unsigned k = 0; k < 1000; ++k) {
      TouchRun run{.first = random() % 2048, .position = static_cast<std::uint8_t>(k / 4)};
      run.access = static_cast<Access>(random() % 2);
      if (run.access == Access::write) {
        run.change.words = static_cast<std::uint16_t>(1 + random() % 512);
        run.change.runs = static_cast<std::uint16_t>(1 + random() % run.change.words);
      }
      interval.touches.push_back(run);
    }
    fill_lines(interval);
    trace.threads[0].push_back(std::move(interval));
  }
  // Nor can the lines be foreseen that change: format 1 does not have them.
  CHECK(bytes_per_touch(trace, 1.2) < 8.0);
}

TEST_CASE("a sweep of a gigabyte in one go takes a few bytes in all") {
  const Scratch scratch;
  constexpr std::uint32_t pages = 1U << 18;
  Interval interval{.compute_ns = 1, .touches = {}, .end = {.kind = EventKind::end}};
  for (std::uint32_t page = 0; page < pages; ++page) interval.touches.push_back({.first = page});
  write({.header = header_for(1), .regions = heap_blocks(1, pages), .threads = {{interval}}}, scratch / "a.trace");
  CHECK(File(scratch / "a.trace").file_bytes() < 1000);
  CHECK(read(scratch / "a.trace").threads[0][0].touches == std::vector<TouchRun>{{.pages = pages}});
}
