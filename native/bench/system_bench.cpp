/// What this system does without any DSM: page traps, messages between processes, a barrier made of messages, copies
/// and comparisons of pages. It bounds what `microbench` measures under `sdsm run`. Prints one JSON object: for each
/// quantity the samples in nanoseconds.
///
///   system_bench [SAMPLES [TRAPS]]     default: 200 samples of each quantity, 600000 traps in a row
///
///   trap.loop           a page is made read-only, a store traps, the handler makes it writable again; mean of 1000
///   trap.burst          16 pages are read-only, a store comes to each; mean
///   message.SIZE        32 bytes are asked, SIZE answered, over Unix sockets; mean of 16
///   message.tcp.SIZE    the same over TCP on loopback
///   barrier.4           three synchronisations of four processes; mean of 20
///   twin                a page is copied
///   diff.WORDS          a page is compared with its twin, WORDS adjacent words have changed: encode_diff
///   diff.alternating    the same with every other word changed
///   memcpy_compare      a page is copied and compared with its copy by memcpy and memcmp
///
/// The same conditions as in the DSM: as many processes, each with a thread that runs and one that serves; before each
/// sample a barrier in whose wake-ups it begins, so no processor is in deeper sleep here than there, and a changed
/// protection interrupts as many threads; bursts of as many pages, in turn out of as many.

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "native/dsm/wire/diff.hpp"
#include "native/dsm/wire/sockets.hpp"

namespace sdsm::dsm {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t burst = 16;            ///< as microbench's
constexpr std::size_t pages = 1024;          ///< in turn, as microbench's
constexpr std::size_t cached_pages = 64;     ///< of the memory that is copied and compared, its twins beside it
constexpr int barriers_in_a_row = 20;        ///< as microbench's
constexpr int synchronisations = 3;          ///< of one barrier of the protocol
constexpr std::uint32_t request_bytes = 32;  ///< control_payload

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "sdsm: system_bench: %s: %s\n", what, std::strerror(errno));
  std::_Exit(1);
}

double now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Memory of a file, as the DSM's is: other page tables, other costs of a changed protection than private memory has.
std::byte* shared_memory(std::size_t bytes) {
  const int file = memfd_create("system_bench", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) fail("no memory");
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail("no memory");
  close(file);
  std::memset(memory, 1, bytes);
  return static_cast<std::byte*>(memory);
}

void print_samples(const std::string& name, const double* samples, int count) {
  static bool is_first = true;
  std::printf("%s\n  \"%s\": [", is_first ? "{" : ",", name.c_str());
  is_first = false;
  for (int i = 0; i < count; ++i) std::printf("%s%.1f", i ? "," : "", samples[i]);
  std::printf("]");
}

/// Processes that talk as the DSM's do: each ordered pair has a connection, the first one's application thread asks,
/// the second one's service thread answers.
class Team {
 public:
  static constexpr std::uint32_t most = 4;

  explicit Team(std::uint32_t processes, Transport transport) : processes_(processes) {
    for (std::uint32_t to = 0; to < processes; ++to) {
      std::string address;
      const int listener = listen_on(transport, "127.0.0.1", address);
      if (listener < 0) fail("no socket to listen on");
      for (std::uint32_t from = 0; from < processes; ++from) {
        if (from == to) continue;
        asking_[from][to] = connect_to(address);
        answering_[to][from] = accept_from(listener);
        if (asking_[from][to] < 0 || answering_[to][from] < 0) fail("no connection between two processes");
      }
      close(listener);
    }
  }

  std::uint32_t self() const { return self_; }

  /// Every process runs `body`, whose process 0 is this one. Returns when all are through.
  template <typename Body>
  void run(Body body) {
    std::fflush(nullptr);
    std::vector<pid_t> children;
    const pid_t parent = getpid();
    for (std::uint32_t i = 1; i < processes_; ++i) {
      const pid_t child = fork();
      if (child < 0) fail("no process");
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) std::_Exit(1);
        self_ = i;
        children.clear();
        break;
      }
      children.push_back(child);
    }
    close_others();
    std::thread service([this] { serve(); });
    body(*this);
    synchronise();
    if (self_ != 0) std::_Exit(0);
    for (const pid_t child : children) {
      int status = 0;
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      if (status != 0) fail("a process failed");
    }
    service.join();  // all others have closed their connections
    for (const int socket : asking_[0]) {
      if (socket >= 0) close(socket);
    }
  }

  /// What the service thread answers with, and where answers come to.
  void use(std::byte* memory) { memory_ = memory; }

  void fetch(std::uint32_t from, std::uint32_t bytes, std::size_t place) {
    const Message request{Kind::fetch, bytes, place * page_bytes};
    const int socket = asking_[self_][from];
    if (send(socket, &request, sizeof request, MSG_NOSIGNAL) != sizeof request) fail("a process is gone");
    if (recv(socket, memory_ + request.offset, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes)) {
      fail("a process is gone");
    }
  }

  void synchronise() {
    Message message{Kind::arrive, 0, 0};
    if (self_ == 0) {
      is_released_.store(0, std::memory_order_relaxed);
      {
        const std::lock_guard guard(handling_);
        arrive(0);
      }
      is_released_.wait(0, std::memory_order_acquire);
      return;
    }
    const int socket = asking_[self_][0];
    if (send(socket, &message, sizeof message, MSG_NOSIGNAL) != sizeof message) fail("a process is gone");
    if (recv(socket, &message, sizeof message, MSG_WAITALL) != sizeof message) fail("a process is gone");
  }

  void pass_barrier() {
    for (int i = 0; i < synchronisations; ++i) synchronise();
  }

 private:
  enum class Kind : std::uint32_t { fetch, arrive, release };
  struct Message {
    Kind kind{};
    std::uint32_t bytes = 0;
    std::uint64_t offset = 0;
    std::uint64_t reserved[2] = {};
  };
  static_assert(sizeof(Message) == request_bytes);

  using Sockets = std::array<std::array<int, most>, most>;
  static Sockets no_sockets() {
    Sockets sockets;
    for (auto& row : sockets) row.fill(-1);
    return sockets;
  }

  /// A process that waits for one that has died then learns of it.
  void close_others() {
    for (std::uint32_t i = 0; i < processes_; ++i) {
      if (i == self_) continue;
      for (const int socket : asking_[i]) {
        if (socket >= 0) close(socket);
      }
      for (const int socket : answering_[i]) {
        if (socket >= 0) close(socket);
      }
    }
  }

  void arrive(std::uint32_t from) {
    has_arrived_[from] = true;
    for (std::uint32_t i = 0; i < processes_; ++i) {
      if (!has_arrived_[i]) return;
    }
    has_arrived_ = {};
    const Message release{Kind::release, 0, 0};
    for (std::uint32_t i = processes_ - 1; i > 0; --i) {
      send(answering_[0][i], &release, sizeof release, MSG_NOSIGNAL);
    }
    is_released_.store(1, std::memory_order_release);
    is_released_.notify_one();
  }

  void serve() {
    const int events = epoll_create1(EPOLL_CLOEXEC);
    std::uint32_t connected = 0;
    for (std::uint32_t other = 0; other < processes_; ++other) {
      if (answering_[self_][other] < 0) continue;
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u32 = other;
      if (epoll_ctl(events, EPOLL_CTL_ADD, answering_[self_][other], &event) != 0) fail("no events");
      ++connected;
    }
    while (connected > 0) {
      epoll_event ready[16];
      const int count = epoll_wait(events, ready, 16, -1);
      for (int i = 0; i < count; ++i) {
        const std::uint32_t from = ready[i].data.u32;
        const int socket = answering_[self_][from];
        Message message;
        if (recv(socket, &message, sizeof message, MSG_WAITALL) != sizeof message) {
          close(socket);
          --connected;
        } else if (message.kind == Kind::fetch) {
          send(socket, memory_ + message.offset, message.bytes, MSG_NOSIGNAL);
        } else {
          const std::lock_guard guard(handling_);
          arrive(from);
        }
      }
    }
    close(events);
  }

  std::uint32_t processes_;
  std::uint32_t self_ = 0;
  Sockets asking_ = no_sockets();     ///< [who asks][who answers]
  Sockets answering_ = no_sockets();  ///< [who answers][who asks]
  std::byte* memory_ = nullptr;
  std::mutex handling_;
  std::array<bool, most> has_arrived_{};
  std::atomic<std::uint32_t> is_released_ = 0;
};

// Traps.

void on_trap(int /*unused*/, siginfo_t* info, void* /*unused*/) {
  auto* page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(info->si_addr) & ~(page_bytes - 1));
  if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) fail("a page cannot be opened");
}

void handle_traps() {
  constexpr std::size_t stack_bytes = 128 * 1024;
  stack_t stack{};
  stack.ss_sp = std::malloc(stack_bytes);
  stack.ss_size = stack_bytes;
  if (stack.ss_sp == nullptr || sigaltstack(&stack, nullptr) != 0) fail("no signal stack");
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = on_trap;
  sigfillset(&action.sa_mask);
  if (sigaction(SIGSEGV, &action, nullptr) != 0) fail("no signal handler");
}

void store(std::byte* page) {
  *reinterpret_cast<volatile double*>(page + 8) = 1;
}

void sample_trap_loop(std::byte* memory, int traps) {
  constexpr int row = 1000;
  std::vector<double> samples;
  for (int i = 0; i < traps / row; ++i) {
    const double begin = now_ns();
    for (int k = 0; k < row; ++k) {
      if (mprotect(memory, page_bytes, PROT_READ) != 0) fail("a page cannot be shut");
      store(memory);
    }
    samples.push_back((now_ns() - begin) / row);
  }
  print_samples("trap.loop", samples.data(), static_cast<int>(samples.size()));
}

std::byte* burst_of(std::byte* memory, int sample) {
  return memory + static_cast<std::size_t>(sample) % (pages / burst) * burst * page_bytes;
}

void sample_trap_bursts(std::byte* memory, int wanted) {
  std::vector<double> samples;
  Team team(2, Transport::unix_sockets);
  team.run([&](Team& own) {
    if (mprotect(memory, pages * page_bytes, PROT_READ) != 0) fail("a page cannot be shut");
    for (int i = 0; i < wanted; ++i) {
      std::byte* first = burst_of(memory, i);
      own.pass_barrier();
      if (own.self() != 0) continue;
      const double begin = now_ns();
      for (std::size_t page = 0; page < burst; ++page) store(first + page * page_bytes);
      samples.push_back((now_ns() - begin) / burst);
      if (mprotect(first, burst * page_bytes, PROT_READ) != 0) fail("a page cannot be shut");
    }
  });
  if (mprotect(memory, pages * page_bytes, PROT_READ | PROT_WRITE) != 0) fail("a page cannot be opened");
  print_samples("trap.burst", samples.data(), wanted);
}

// Messages.

/// Process 0 serves, as the home of microbench's pages does.
void sample_messages(const char* name, Transport transport, std::uint32_t bytes, int wanted) {
  auto* samples = reinterpret_cast<double*>(shared_memory(static_cast<std::size_t>(wanted) * sizeof(double)));
  Team team(2, transport);
  const std::size_t places = pages - (bytes - 1) / page_bytes;
  team.run([&](Team& own) {
    own.use(shared_memory(pages * page_bytes));  // each process its own
    std::size_t place = 0;
    for (int i = 0; i < wanted; ++i) {
      own.pass_barrier();
      if (own.self() != 1) continue;
      const double begin = now_ns();
      for (std::size_t k = 0; k < burst; ++k) own.fetch(0, bytes, place++ % places);
      samples[i] = (now_ns() - begin) / burst;
    }
  });
  print_samples(std::string(name) + std::to_string(bytes), samples, wanted);
}

void sample_barrier(int wanted) {
  std::vector<double> samples;
  Team team(Team::most, Transport::unix_sockets);
  team.run([&](Team& own) {
    for (int i = 0; i < wanted; ++i) {
      own.pass_barrier();
      const double begin = now_ns();
      for (int k = 0; k < barriers_in_a_row; ++k) own.pass_barrier();
      samples.push_back((now_ns() - begin) / barriers_in_a_row);
    }
  });
  print_samples("barrier.4", samples.data(), wanted);
}

// Pages.

struct Pages {
  std::byte* page = shared_memory(cached_pages * page_bytes);
  std::byte* twin = shared_memory(cached_pages * page_bytes);
};

/// Writes every word, those that shall differ from the twin with another value: all quantities find the same caches.
void change(const Pages& memory, std::size_t words, std::size_t step) {
  auto* page = reinterpret_cast<volatile std::uint32_t*>(memory.page);
  const auto* twin = reinterpret_cast<const volatile std::uint32_t*>(memory.twin);
  for (std::size_t i = 0; i < cached_pages * words_per_page; ++i) {
    const std::size_t word = i % words_per_page;
    page[i] = twin[i] + (word < words * step && word % step == 0 ? 1 : 0);
  }
}

/// `act` gets the address of a page and of its twin.
template <typename Act>
void sample_pages(const std::string& name, const Pages& memory, int wanted, std::size_t words, std::size_t step,
                  Act act) {
  std::vector<double> samples;
  for (int i = 0; i < wanted; ++i) {
    change(memory, words, step);
    const double begin = now_ns();
    for (std::size_t at = 0; at < cached_pages * page_bytes; at += page_bytes) act(memory.page + at, memory.twin + at);
    samples.push_back((now_ns() - begin) / cached_pages);
  }
  print_samples(name, samples.data(), wanted);
}

void sample_copies(int wanted) {
  const Pages memory;
  static DiffBuffer encoded;
  volatile int result = 0;
  sample_pages("twin", memory, wanted, 0, 1,
               [](const std::byte* page, std::byte* twin) { std::memcpy(twin, page, page_bytes); });
  const auto encode = [](const std::byte* page, std::byte* twin) {
    const EncodedDiff diff = encode_diff(reinterpret_cast<std::uint64_t>(page), page, twin, encoded);
    if (diff.bytes > most_diff_bytes(least_page.count)) fail("a diff is too long");
  };
  for (const std::size_t words : {0, 1, 4, 16, 64, 256, 1024}) {
    sample_pages("diff." + std::to_string(words), memory, wanted, words, 1, encode);
  }
  sample_pages("diff.alternating", memory, wanted, words_per_page / 2, 2, encode);
  sample_pages("memcpy_compare", memory, wanted, 0, 1, [&](const std::byte* page, std::byte* twin) {
    std::memcpy(twin, page, page_bytes);
    asm volatile("" ::: "memory");  // what was copied is compared in earnest
    result = std::memcmp(twin, page, page_bytes);
  });
}

int run(int samples, int traps) {
  std::byte* memory = shared_memory(pages * page_bytes);
  handle_traps();
  sample_trap_loop(memory, traps);
  sample_trap_bursts(memory, samples);
  constexpr std::uint32_t page_reply = request_bytes + page_bytes;
  for (const auto& [name, transport] :
       {std::pair{"message.", Transport::unix_sockets}, std::pair{"message.tcp.", Transport::tcp}}) {
    for (const std::uint32_t bytes : {32U, 64U, 128U, 256U, 512U, 1024U, 2048U, page_reply, 8192U, 16384U}) {
      sample_messages(name, transport, bytes, samples);
    }
  }
  sample_barrier(samples);
  sample_copies(samples);
  std::printf("\n}\n");
  return 0;
}

}  // namespace
}  // namespace sdsm::dsm

int main(int argc, char** argv) {
  const int samples = argc > 1 ? std::atoi(argv[1]) : 200;
  const int traps = argc > 2 ? std::atoi(argv[2]) : 600'000;
  if (argc > 3 || samples < 1 || samples > 100'000 || traps < 1000 || traps > 100'000'000) {
    std::fprintf(stderr,
                 "usage: system_bench [SAMPLES [TRAPS]]\n  SAMPLES: of each quantity, 1 to 100000 (default 200)\n"
                 "  TRAPS: in a row, 1000 to 100000000 (default 600000)\n");
    return 2;
  }
  return sdsm::dsm::run(samples, traps);
}
