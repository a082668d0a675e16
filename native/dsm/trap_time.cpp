#include "native/dsm/trap_time.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "native/dsm/clock.hpp"
#include "native/dsm/opened_pages.hpp"
#include "native/program/ending.hpp"
#include "native/program/raw_memory.hpp"
#include "native/program/signals.hpp"

namespace sdsm::dsm {
namespace {

using program::end_run;

constinit std::uint64_t median_ns GUARDED_BY(starting) = 0;
constexpr const std::uint64_t& median = median_ns;

constexpr std::size_t sample_pages = 128;
struct TrapSample {
  std::uintptr_t page = 0;
  std::uint64_t handler_ns = 0;
};
constinit volatile TrapSample trap_sample GUARDED_BY(starting);

void on_sample_trap(int /*unused*/, siginfo_t* /*unused*/, void* /*unused*/) {
  starting.check();
  const std::uint64_t begun = now_ns();
  const std::uintptr_t page = trap_sample.page;
  if (!program::set_protection(page, page + program::page_bytes, PROT_READ | PROT_WRITE)) end_without_mappings();
  trap_sample.handler_ns = now_ns() - begun;
}

/// Writes all of a page, as programs do. Returns what that took without the trap's handler, if there was a trap.
std::uint64_t write_page(std::uintptr_t page) REQUIRES(starting) {
  trap_sample.page = page;
  trap_sample.handler_ns = 0;
  auto* const words = reinterpret_cast<volatile double*>(page);
  const std::uint64_t begun = now_ns();
  for (std::size_t word = 0; word < program::page_bytes / sizeof(double); ++word) words[word] = 0.5 * words[word] + 1;
  const std::uint64_t took = now_ns() - begun;
  const std::uint64_t in_handler = trap_sample.handler_ns;
  return took - std::min(took, in_handler);
}

}  // namespace

/// On a row of pages, each written whole: one page again and again would be found in caches that a program's traps leave
/// cold. A second pass, without traps, takes off what the writing itself takes.
void measure_trap_time() {
  constexpr std::size_t bytes = sample_pages * program::page_bytes;
  void* const row = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (row == MAP_FAILED) end_run({"no pages can be mapped to measure traps on: ", std::strerror(errno)});
  struct sigaction action {
  }, before{};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = on_sample_trap;
  sigfillset(&action.sa_mask);
  program::real_sigaction(SIGSEGV, &action, &before);
  const auto begin = reinterpret_cast<std::uintptr_t>(row);
  std::uint64_t samples[sample_pages];
  for (std::size_t page = 0; page < sample_pages; ++page) write_page(begin + page * program::page_bytes);
  if (!program::set_protection(begin, begin + bytes, PROT_READ)) end_without_mappings();
  for (std::size_t page = 0; page < sample_pages; ++page) samples[page] = write_page(begin + page * program::page_bytes);
  for (std::size_t page = 0; page < sample_pages; ++page) {
    samples[page] -= std::min(samples[page], write_page(begin + page * program::page_bytes));
  }
  program::real_sigaction(SIGSEGV, &before, nullptr);
  munmap(row, bytes);
  std::nth_element(samples, samples + sample_pages / 2, samples + sample_pages);
  median_ns = samples[sample_pages / 2];
}

std::uint64_t trap_time_ns() {
  return median;
}

}  // namespace sdsm::dsm
