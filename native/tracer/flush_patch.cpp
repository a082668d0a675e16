#include "native/tracer/flush_patch.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "native/program/program_image.hpp"
#include "native/program/signals.hpp"
#include "native/tracer/options.hpp"
#include "native/tracer/pages.hpp"
#include "native/tracer/team.hpp"
#include "native/tracer/threads.hpp"
#include "native/tracer/touch.hpp"

namespace sdsm::tracer {
using namespace program;
namespace {

constexpr unsigned char wide_flush[] = {0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00};  // lock orq $0, (%rsp)
constexpr unsigned char narrow_flush[] = {0xf0, 0x83, 0x0c, 0x24, 0x00};      // lock orl $0, (%rsp)
constexpr unsigned char trap = 0xcc;                                          // int3

/// What was patched at an address: the bytes that remain there tell.
std::size_t length_at(const unsigned char* at) {
  if (std::memcmp(at + 1, wide_flush + 1, sizeof wide_flush - 1) == 0) return sizeof wide_flush;
  if (std::memcmp(at + 1, narrow_flush + 1, sizeof narrow_flush - 1) == 0) return sizeof narrow_flush;
  return 0;
}

/// A second flush without anything else in between: the thread spins. Its clock goes past the next thread's, so that it
/// does not fill the trace with flushes until that one has had its turn.
void put_behind_others(VirtualThread& self) REQUIRES(turn) {
  std::uint64_t next = ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < thread_count(); ++i) {
    const VirtualThread& other = thread_of(i);
    if (&other == &self || other.status != ThreadStatus::runnable) continue;
    if (other.clock_ns < next) next = other.clock_ns;
  }
  if (next != ~std::uint64_t{0} && self.clock_ns <= next) self.clock_ns = next + 1;
}

/// What happens at a flush: the thread's pages are made known, and others may go first.
void flush() {
  VirtualThread& self = running_thread();
  if (watched.is_inside || current_team_size() == 1) return;
  end_interval(self, {trace::EventKind::flush, 0, 0, 0});
  close_pages(self, Closing::at_synchronisation);
  ++self.clock_ns;
  if (++self.flushes_in_a_row > 1) put_behind_others(self);
  schedule();
  begin_interval(self);
}

void on_trap(int signal, siginfo_t* info, void* context) {
  auto* machine = static_cast<ucontext_t*>(context);
  greg_t& next_instruction = machine->uc_mcontext.gregs[REG_RIP];
  const auto* patched = reinterpret_cast<const unsigned char*>(next_instruction - 1);
  const std::size_t length =
      program_image.code.holds(reinterpret_cast<std::uintptr_t>(patched)) ? length_at(patched) : 0;
  if (length == 0) return pass_fault_to_program(signal, info, context);
  const int saved_errno = errno;
  flush();
  errno = saved_errno;
  // A locked instruction's other effect, the memory fence, comes with the hand-over between threads.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  next_instruction += static_cast<greg_t>(length - 1);
}

}  // namespace

void patch_flushes() {
  const AddressRange code = program_image.code;
  if (code.begin >= code.end) return;
  const std::uintptr_t begin = code.begin & ~(page_bytes - 1);
  const std::uintptr_t end = (code.end + page_bytes - 1) & ~(page_bytes - 1);
  unsigned found = 0;
  for (std::uintptr_t at = code.begin; at + sizeof wide_flush <= code.end; ++at) {
    auto* bytes = reinterpret_cast<unsigned char*>(at);
    if (bytes[0] != wide_flush[0] || length_at(bytes) == 0) continue;
    if (found++ == 0 && !set_protection(begin, end, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
    bytes[0] = trap;
  }
  if (found == 0) return;
  set_protection(begin, end, PROT_READ | PROT_EXEC);
  struct sigaction action {};
  // On the signal stack: another thread may run in between, and this one's own stack is protected then.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = on_trap;
  sigfillset(&action.sa_mask);  // the program's own handlers wait
  real_sigaction(SIGTRAP, &action, nullptr);
}

}  // namespace sdsm::tracer
