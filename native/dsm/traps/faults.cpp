/// The program's faults: which are the protocol's, which are the program's own, and which end the run.
#include "native/dsm/traps/faults.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <cerrno>
#include <csignal>

#include "native/dsm/files/open_files.hpp"
#include "native/dsm/memory/library_heap.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/memory/single_writer_mode.hpp"
#include "native/dsm/memory/stacks.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/timing/emulation.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/traps/waits.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/signals.hpp"

namespace sdsm::dsm {
namespace {

At at_fault(const ucontext_t& machine) {
  At at{static_cast<std::uintptr_t>(machine.uc_mcontext.gregs[REG_RIP]), 0};
  for (int i = REG_R8; i <= REG_RSP; ++i)
    at.registers = hash_with(at.registers, static_cast<std::uint64_t>(machine.uc_mcontext.gregs[i]));
  return at;
}

/// The address is outside of shared memory: what it names elsewhere may not exist in this process.
[[noreturn]] void end_at_foreign_address(const siginfo_t& info) {
  constexpr std::uintptr_t null_page = 4096;
  constexpr const char* elsewhere = ". If it does so without sdsm run too, look for the reason in the program";
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const program::Hexadecimal digits(address);
  if (address < null_page) end_run({"the program used a null pointer (address 0x", digits, ")", elsewhere});
  if (is_below_stack(address)) {
    end_run({"the thread's stack is full (address 0x", digits,
             "). Give the initial thread more by ulimit -s, the others by OMP_STACKSIZE (64M, say)", elsewhere});
  }
  const int opener = process_of_stream(address);
  if (opener >= 0) {
    end_run(
        {"the program uses a stream (FILE*, or of C++) that process ",
         program::Decimal(static_cast<std::uint64_t>(opener)),
         " opened, and that this process does not have. Only processes of one host share streams, on descriptors 0 to "
         "199, and only if pidfd_getfd is allowed. Use the stream in the thread that opened it, or give the run one "
         "host (docs/contract.md, \"What is not shared\")"});
  }
  const int owner = process_of_library_heap(address);
  if (owner >= 0 && owner != static_cast<int>(index_of(self.process))) {
    constexpr const char* remedy =
        ". What popen, opendir, newlocale, iconv_open, sbrk and the like return is for the thread that called them: "
        "let each thread call them for itself (docs/contract.md, \"What is not shared\")";
    end_run({"the program touched address 0x", digits,
             ", in memory that the C library, or the program by sbrk, got in process ",
             program::Decimal(static_cast<std::uint64_t>(owner)), remedy});
  }
  end_run({"the program touched address 0x", digits,
           ", where this process has no memory that may be used so. What another thread mapped by mmap or "
           "loaded by dlopen is not shared (docs/contract.md, \"What is not shared\")",
           elsewhere});
}

/// find_place() in the handler, which signals from outside may call in any thread.
bool find_faulting_place(std::uintptr_t address, Place& place) {
  if (!are_pages_protected() || find_range(address) == nullptr) return false;
  application.check();
  return find_place(address, place);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const std::uint64_t trapped = now_ns();
  Place place;
  if (!find_faulting_place(reinterpret_cast<std::uintptr_t>(info->si_addr), place)) {
    if (finds_stream(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
      errno = saved_errno;
      return;
    }
    if (!is_handled_by_program(signal) && info->si_code > 0 && info->si_code != SI_KERNEL)
      end_at_foreign_address(*info);
    return pass_fault_to_program(signal, info, context);
  }
  application.check();
  const program::BlockedSignals blocked;
  ++asked.traps;
  const auto* machine = static_cast<const ucontext_t*>(context);
  constexpr greg_t write_bit = 2;  // of the page fault's error code
  const bool is_write = (machine->uc_mcontext.gregs[REG_ERR] & write_bit) != 0;
  const Access access = is_write ? Access::write : Access::read;
  // Nobody else sees when this process comes to a page of its own node, and so many sleeps would distort the emulation.
  const std::uint64_t looked_up = now_ns();
  if (place.owner == Owner::remote) reach_touch(index_of(place.id.region), place.id.index, access);
  // Asking others where the page is at home is part of the fault; computing until the touch is not.
  const std::uint64_t entered = trapped + (now_ns() - looked_up);
  const Begun begun = begun_with_trap(entered);
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const At at = at_fault(*machine);
  const auto kind = the_protocol().take_fault(place, access, at);
  if (access == Access::read && is_in_single_writer_mode()) come_to_load(at.instruction, address);
  send_long_page_log();
  send_long_timeline_log();
  resume_work(entered);
  if (kind) {
    spend_on_fault(*kind, place.id, begun);
  } else {
    spend(Spent::protect, begun);
  }
  stop_if_asked();
  errno = saved_errno;
}

}  // namespace

void start_faults(const AddressRange& stack, const AddressRange& variables) {
  // Locks hand notices on where one process is alone, too.
  the_protocol().start();
  if (!takes_faults(self.layout)) return;
  take_signal(SIGSEGV, on_fault);
  protect_pages(stack, variables);
}

}  // namespace sdsm::dsm
