/// What a traced page touch costs, against a bare SIGSEGV with its mprotect, in one run. A benchmark, not a test:
/// prints ratios and absolute figures. Run it under the tracer:
///
///   sdsm trace --quiet -n 1 --passes 1 -o touch.trace -- build/touch_bench [PAGES [ROUNDS]]
///
/// It traces itself: in the tracked pass the touches of its parallel regions are traced ones. The bare loop runs on
/// memory of its own that no tracer takes (MAP_32BIT: native/guest/kernel/mapped_memory.cpp), with the kernel's own
/// sigaction.
#include <omp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr std::size_t page_bytes = 4096;

double cpu_seconds() {
  timespec now{};
  // The instruction: under the tracer the C library's clocks show how long the program takes without it.
  long result = SYS_clock_gettime;
  asm volatile("syscall" : "+a"(result) : "D"(CLOCK_THREAD_CPUTIME_ID), "S"(&now) : "rcx", "r11", "memory");
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The kernel's own structure, as the C library's sigaction may be somebody else's by now.
struct KernelSigaction {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

extern "C" void touch_bench_restore();
asm(".text\n.type touch_bench_restore, @function\ntouch_bench_restore:\n mov $15, %eax\n syscall\n");

void set_fault_handler(const KernelSigaction* action, KernelSigaction* old) {
  syscall(SYS_rt_sigaction, SIGSEGV, action, old, 8);
}

void open_page(int, siginfo_t* info, void*) {
  const auto page = reinterpret_cast<std::uintptr_t>(info->si_addr) & ~(page_bytes - 1);
  syscall(SYS_mprotect, page, page_bytes, PROT_READ | PROT_WRITE);
}

/// Seconds per page of a bare fault and mprotect. The pages are protected again after each round, which is timed too:
/// in one call, as the tracer does it.
double bare_touch(std::size_t pages, int rounds) {
  constexpr int untaken = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT;
  auto* memory = static_cast<volatile char*>(mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, untaken, -1, 0));
  for (std::size_t page = 0; page < pages; ++page) memory[page * page_bytes] = 1;
  constexpr unsigned long has_restorer = 0x04000000;
  const KernelSigaction action{open_page, SA_SIGINFO | SA_ONSTACK | has_restorer, touch_bench_restore, 0};
  KernelSigaction old{};
  set_fault_handler(&action, &old);
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const double start = cpu_seconds();
    syscall(SYS_mprotect, memory, pages * page_bytes, PROT_NONE);
    for (std::size_t page = 0; page < pages; ++page) memory[page * page_bytes] = static_cast<char>(round);
    best = std::min(best, cpu_seconds() - start);
  }
  set_fault_handler(&old, nullptr);
  munmap(const_cast<char*>(memory), pages * page_bytes);
  return best / static_cast<double>(pages);
}

enum class Use { reads, writes, reads_then_writes };

/// Seconds per touch of `pages` pages in a parallel region, and of protecting them again at its end.
double region_touch(volatile char* memory, std::size_t pages, int rounds, Use use) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const double start = cpu_seconds();
#pragma omp parallel num_threads(1)
    {
      char sum = 0;
      for (std::size_t page = 0; page < pages; ++page) {
        volatile char* at = memory + page * page_bytes;
        if (use != Use::writes) sum = static_cast<char>(sum + *at);
        if (use != Use::reads) *at = static_cast<char>(round);
      }
      static_cast<void>(sum);
    }
    best = std::min(best, cpu_seconds() - start);
  }
  const double touches = static_cast<double>(pages) * (use == Use::reads_then_writes ? 2 : 1);
  return best / touches;
}

}  // namespace

int main(int argc, char** argv) {
  const auto pages = static_cast<std::size_t>(argc > 1 ? std::atol(argv[1]) : 2048);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 20;
  auto* memory = static_cast<volatile char*>(std::malloc(pages * page_bytes));
  if (pages == 0 || rounds <= 0 || memory == nullptr) {
    std::fprintf(stderr, "touch_bench: usage: touch_bench [PAGES [ROUNDS]], both positive\n");
    return 2;
  }
  std::memset(const_cast<char*>(memory), 1, pages * page_bytes);
  struct Row {
    const char* name;
    Use use;
  };
  const double bare = bare_touch(pages, rounds);
  std::printf("%-34s %8.3f us\n", "bare SIGSEGV and mprotect", bare * 1e6);
  for (const Row& row :
       {Row{"read", Use::reads}, Row{"write", Use::writes}, Row{"read, then write", Use::reads_then_writes}}) {
    const double traced = region_touch(memory, pages, rounds, row.use);
    std::printf("touch by %-25s %8.3f us  %5.2f times the bare one  %9.0f touches/s\n", row.name, traced * 1e6,
                traced / bare, 1 / traced);
  }
  std::free(const_cast<char*>(memory));
  return 0;
}
