#include "native/dsm/timing/trap_time.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/raw_memory.hpp"
#include "native/guest/runtime/signals.hpp"

namespace sdsm::dsm {
namespace {

using program::end_run;

constinit std::uint64_t median_ns GUARDED_BY(starting) = 0;
constexpr const std::uint64_t& median = median_ns;

constexpr std::size_t sample_pages = 384;
constexpr std::size_t page_words = page_bytes / sizeof(double);
struct TrapSample {
  std::uintptr_t page = 0;
  std::uint64_t handler_ns = 0;
};
constinit volatile TrapSample trap_sample GUARDED_BY(starting);

void on_sample_trap(int /*unused*/, siginfo_t* /*unused*/, void* /*unused*/) {
  starting.check();
  const std::uint64_t begun = now_ns();
  const std::uintptr_t page = trap_sample.page;
  if (!program::set_protection(page, page + page_bytes, PROT_READ | PROT_WRITE)) end_without_mappings();
  trap_sample.handler_ns = now_ns() - begun;
}

/// One step of a five-point stencil over a page, as programs write theirs. Returns what that took without the trap's
/// handler, if there was a trap.
std::uint64_t write_page(const double* from, double* to) REQUIRES(starting) {
  trap_sample.page = reinterpret_cast<std::uintptr_t>(to);
  trap_sample.handler_ns = 0;
  const std::uint64_t begun = now_ns();
  for (std::size_t i = 0; i < page_words; ++i)
    to[i] = 0.25 * (*(from + i - page_words) + from[i + page_words] + *(from + i - 1) + from[i + 1]);
  const std::uint64_t took = now_ns() - begun;
  const std::uint64_t in_handler = trap_sample.handler_ns;
  return took - std::min(took, in_handler);
}

}  // namespace

/// Measures on a row of pages, each written whole from a page of another row. A single page would be found in caches
/// that a program's traps leave cold. What the writing itself takes is known from passes before, without traps.
void measure_trap_time() {
  constexpr std::size_t row = sample_pages * page_bytes;
  constexpr std::size_t bytes = 2 * row + 2 * page_bytes;  // a page around what is read
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) end_run({"no pages can be mapped to measure traps on: ", std::strerror(errno)});
  struct sigaction action {
  }, before{};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = on_sample_trap;
  sigfillset(&action.sa_mask);
  program::real_sigaction(SIGSEGV, &action, &before);
  double* const to = static_cast<double*>(memory);
  const double* const from = to + (sample_pages + 1) * page_words;
  const auto write = [&](std::size_t page)
                         REQUIRES(starting) { return write_page(from + page * page_words, to + page * page_words); };
  std::uint64_t samples[sample_pages];
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t page = 0; page < sample_pages; ++page) samples[page] = write(page);
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(to);
  if (!program::set_protection(begin, begin + row, PROT_READ)) end_without_mappings();
  for (std::size_t page = 0; page < sample_pages; ++page) {
    const std::uint64_t trapped_ns = write(page);
    samples[page] = trapped_ns - std::min(trapped_ns, samples[page]);
  }
  program::real_sigaction(SIGSEGV, &before, nullptr);
  munmap(memory, bytes);
  std::nth_element(samples, samples + sample_pages / 2, samples + sample_pages);
  median_ns = samples[sample_pages / 2];
}

std::uint64_t trap_time_ns() {
  return median;
}

}  // namespace sdsm::dsm
