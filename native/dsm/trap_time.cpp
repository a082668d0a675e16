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

constexpr int trap_samples = 63;
struct TrapSample {
  std::byte* page = nullptr;
  std::uint64_t handler_ns = 0;
};
constinit volatile TrapSample trap_sample GUARDED_BY(starting);

void on_sample_trap(int /*unused*/, siginfo_t* /*unused*/, void* /*unused*/) {
  starting.check();
  const std::uint64_t begun = now_ns();
  const auto page = reinterpret_cast<std::uintptr_t>(trap_sample.page);
  if (!program::set_protection(page, page + program::page_bytes, PROT_READ | PROT_WRITE)) end_without_mappings();
  trap_sample.handler_ns = now_ns() - begun;
}

}  // namespace

void measure_trap_time() {
  void* const page =
      mmap(nullptr, program::page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (page == MAP_FAILED) end_run({"no page can be mapped to measure traps on: ", std::strerror(errno)});
  trap_sample.page = static_cast<std::byte*>(page);
  struct sigaction action {
  }, before{};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = on_sample_trap;
  sigfillset(&action.sa_mask);
  program::real_sigaction(SIGSEGV, &action, &before);
  std::uint64_t samples[trap_samples];
  for (std::uint64_t& sample : samples) {
    const auto begin = reinterpret_cast<std::uintptr_t>(page);
    if (!program::set_protection(begin, begin + program::page_bytes, PROT_READ)) end_without_mappings();
    const std::uint64_t begun = now_ns();
    *static_cast<volatile std::byte*>(page) = std::byte{1};
    sample = now_ns() - begun - trap_sample.handler_ns;
  }
  program::real_sigaction(SIGSEGV, &before, nullptr);
  munmap(page, program::page_bytes);
  std::nth_element(samples, samples + trap_samples / 2, samples + trap_samples);
  median_ns = samples[trap_samples / 2];
}

std::uint64_t trap_time_ns() {
  return median;
}

}  // namespace sdsm::dsm
