#include "native/guest/code/locked_instructions.hpp"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "native/guest/code/machine_code.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/functions.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"
#include "native/guest/runtime/signals.hpp"
#include "native/guest/runtime/unseen.hpp"

namespace sdsm::program {
namespace {

struct Replaced {
  std::uintptr_t address = 0;
  LockedInstruction instruction;
};

/// Only the thread that starts the process writes here, and later whichever loads a library: one at a time.
struct Replacements {
  GrowingArray<Replaced> all;          ///< by address
  GrowingArray<AddressRange> objects;  ///< those that have been scanned
  GrowingArray<AddressRange> loaded;   ///< those that are there now
  /// By byte of the function being read: whether an instruction that is reached begins there.
  GrowingArray<bool> is_reached;
  GrowingArray<std::uint32_t> to_read;
  unsigned cycle_readings = 0;  ///< instructions of the object being read
  /// The dynamic linker calls this function of its own for debuggers when it has loaded or unloaded something.
  std::uintptr_t linker_news = 0;
};
constinit Replacements replacements;

const Replaced* find_replaced(std::uintptr_t address) {
  const GrowingArray<Replaced>& all = replacements.all;
  const Replaced* const end = all.end();
  const Replaced* const found = std::lower_bound(
      all.begin(), end, address, [](const Replaced& one, std::uintptr_t wanted) { return one.address < wanted; });
  return found != end && found->address == address ? found : nullptr;
}

/// Reads a function from its start along all ways that control may go, and replaces what it finds.
class FunctionReader {
 public:
  explicit FunctionReader(const FunctionExtent& extent)
      : begin_(reinterpret_cast<std::uint8_t*>(extent.code.begin)),
        bytes_(static_cast<std::uint32_t>(extent.code.end - extent.code.begin)),
        is_linear_(extent.has_landing_pads) {}

  /// Reading takes its time, and few functions have such instructions.
  bool is_promising() const {
    for (std::uint32_t i = 0; i + 1 < bytes_; ++i) {
      const std::uint8_t byte = begin_[i], next = begin_[i + 1];
      const bool may_exchange = (byte | 1) == 0x87 && next < 0xc0;  // with memory
      const bool may_read_cycles = byte == 0x0f && (next == 0x31 || next == 0x01);
      const bool may_fence = byte == 0xae && next == 0xf0;
      // What comes before the prefix may be other prefixes, and shorten what comes behind it.
      const bool may_lock = byte == 0xf0 && (bytes_ - i < longest_instruction || instruction_at(i).has_lock());
      if ((may_exchange || may_read_cycles || may_fence || may_lock) && is_of_note(i)) return true;
    }
    return false;
  }

  void read() {
    replacements.is_reached.clear();
    for (std::uint32_t i = 0; i < bytes_; ++i) replacements.is_reached.push_back(false);
    replacements.to_read.clear();
    reach(0);
    while (!replacements.to_read.is_empty()) {
      const std::uint32_t at = replacements.to_read.back();
      replacements.to_read.pop_back();
      read_from(at);
    }
  }

 private:
  Instruction instruction_at(std::uint32_t at) const { return decode(begin_ + at, bytes_ - at); }

  /// Whether the byte may be part of an instruction that is looked for. An instruction begins in any 15 bytes; and
  /// wherever in them one begins to read, the instructions found are soon the same.
  bool is_of_note(std::uint32_t byte) const {
    constexpr std::uint32_t soon = 80;
    constexpr std::uint64_t any = (1U << longest_instruction) - 1;
    const std::uint32_t first = byte > soon ? byte - soon : 0;
    std::uint64_t begins = first == 0 ? 1 : any;  // bit n: an instruction may begin n bytes from here
    for (std::uint32_t at = first; at <= byte; ++at, begins >>= 1) {
      if ((begins & 1) == 0) continue;
      const Instruction found = instruction_at(at);
      if (found.is_known()) begins |= std::uint64_t{1} << found.length;
      if (!found.is_known() && may_be_new(at)) begins |= any << 1;
      if (at + found.length > byte && (locked_of(found) || found.reads_cycles())) return true;
    }
    return false;
  }
  /// Whether Zydis may not know the instruction yet: behind prefixes comes what leads to more opcodes.
  bool may_be_new(std::uint32_t at) const {
    constexpr std::uint8_t prefixes[] = {0x66, 0x67, 0xf2, 0xf3}, leads[] = {0x0f, 0x62, 0xc4, 0xc5, 0xd5};
    while (at < bytes_ && ((begin_[at] & 0xf0) == 0x40 || std::ranges::count(prefixes, begin_[at]) > 0)) ++at;
    return at < bytes_ && std::ranges::count(leads, begin_[at]) > 0;
  }

  void reach(std::int64_t at) {
    if (at < 0 || at >= bytes_ || replacements.is_reached[static_cast<std::size_t>(at)]) return;
    replacements.to_read.push_back(static_cast<std::uint32_t>(at));
  }

  void read_from(std::uint32_t at) {
    while (at < bytes_ && !replacements.is_reached[at]) {
      replacements.is_reached[at] = true;
      const Instruction found = instruction_at(at);
      if (!found.is_known()) return;
      if (const auto locked = locked_of(found)) {
        replacements.all.push_back({reinterpret_cast<std::uintptr_t>(begin_ + at), *locked});
      }
      if (found.reads_cycles()) ++replacements.cycle_readings;
      at += found.length;
      const Flow flow = found.flow();
      if (flow == Flow::branch || flow == Flow::jump) reach(at + found.target());
      // A table of addresses has those of instructions behind the jump, mostly.
      if (flow == Flow::indirect) is_linear_ = true;
      if ((flow == Flow::jump || flow == Flow::end) && !is_linear_) return;
    }
  }

  std::uint8_t* begin_;
  std::uint32_t bytes_;
  bool is_linear_;  ///< what follows an instruction is code, whether or not control goes there
};

void set_traps(const dl_phdr_info& object, std::size_t first) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    const std::uintptr_t end = begin + header.p_memsz;
    const std::uintptr_t first_page = begin & ~(page_bytes - 1);
    const std::uintptr_t last_page = (end + page_bytes - 1) & ~(page_bytes - 1);
    const int before = PROT_READ | PROT_EXEC | ((header.p_flags & PF_W) != 0 ? PROT_WRITE : 0);
    set_protection(first_page, last_page, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (std::size_t k = first; k < replacements.all.size(); ++k) {
      const std::uintptr_t address = replacements.all[k].address;
      if (address >= begin && address < end) *reinterpret_cast<std::uint8_t*>(address) = trap_code;
    }
    set_protection(first_page, last_page, before);
  }
}

bool is_same(const AddressRange& one, const AddressRange& other) {
  return one.begin == other.begin && one.end == other.end;
}
bool is_among(const GrowingArray<AddressRange>& objects, const AddressRange& wanted) {
  return std::any_of(objects.begin(), objects.end(), [&](const AddressRange& one) { return is_same(one, wanted); });
}

std::size_t bytes_of_variables(const dl_phdr_info& object) {
  std::size_t bytes = 0;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0) bytes += header.p_memsz;
    if (header.p_type == PT_GNU_RELRO) bytes -= header.p_memsz;  // constants
  }
  return bytes;
}

int scan_object(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
  const AddressRange whole = whole_of(*object);
  replacements.loaded.push_back(whole);
  if (is_among(replacements.objects, whole)) return 0;
  const bool has_begun = replacements.linker_news != 0;
  if (has_begun && is_library_of_program(object->dlpi_name)) {
    note_library(object->dlpi_name, bytes_of_variables(*object));
  }
  if (system_library(object->dlpi_name) == SystemLibrary::own_locking) return 0;
  const std::size_t first = replacements.all.size();
  replacements.cycle_readings = 0;
  for_each_function(
      *object,
      [](const FunctionExtent& extent, void*) {
        FunctionReader reader(extent);
        if (reader.is_promising()) reader.read();
      },
      nullptr);
  if (replacements.all.size() > first) set_traps(*object, first);
  if (is_of_program(*object)) {
    for (unsigned i = 0; i < replacements.cycle_readings; ++i) add_unseen(UnseenCall::rdtsc, 0);
  }
  return 0;
}

void scan_objects() {
  replacements.loaded.clear();
  dl_iterate_phdr(scan_object, nullptr);
  // Other code may come where a library was.
  const Replaced* const kept =
      std::remove_if(replacements.all.begin(), replacements.all.end(), [](const Replaced& one) {
        return std::none_of(replacements.loaded.begin(), replacements.loaded.end(),
                            [&](const AddressRange& object) { return object.holds(one.address); });
      });
  while (replacements.all.end() != kept) replacements.all.pop_back();
  std::sort(replacements.all.begin(), replacements.all.end(),
            [](const Replaced& one, const Replaced& other) { return one.address < other.address; });
  replacements.objects.clear();
  for (const AddressRange& object : replacements.loaded) replacements.objects.push_back(object);
}

/// The function does nothing but return.
void watch_linker() {
  constexpr std::uint8_t nothing_and_return[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xc3};  // endbr64, which may be missing; ret
  const auto address = static_cast<std::uintptr_t>(_r_debug.r_brk);
  if (address == 0) return;
  auto* code = reinterpret_cast<std::uint8_t*>(address);
  const bool has_mark = std::memcmp(code, nothing_and_return, sizeof nothing_and_return) == 0;
  if (!has_mark && *code != nothing_and_return[4]) return;
  const std::uintptr_t page = address & ~(page_bytes - 1);
  const std::uintptr_t end = (address + sizeof nothing_and_return + page_bytes - 1) & ~(page_bytes - 1);
  set_protection(page, end, PROT_READ | PROT_WRITE | PROT_EXEC);
  *code = trap_code;
  set_protection(page, end, PROT_READ | PROT_EXEC);
  replacements.linker_news = address;
}

void note_linker(greg_t* registers) {
  if (_r_debug.r_state == r_debug::RT_CONSISTENT) scan_objects();
  std::memcpy(&registers[REG_RIP], reinterpret_cast<const void*>(registers[REG_RSP]), sizeof registers[REG_RIP]);
  registers[REG_RSP] += static_cast<greg_t>(sizeof registers[REG_RIP]);
}

void on_trap(int signal, siginfo_t* info, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto address = static_cast<std::uintptr_t>(registers[REG_RIP]) - 1;
  const int saved_errno = errno;
  if (take_trap(*info, *static_cast<ucontext_t*>(context))) {
    errno = saved_errno;
    return;
  }
  if (address == replacements.linker_news) {
    note_linker(registers);
    errno = saved_errno;
    return;
  }
  const Replaced* const replaced = find_replaced(address);
  if (replaced == nullptr) return pass_fault_to_program(signal, info, context);
  const LockedInstruction& instruction = replaced->instruction;
  const std::uintptr_t next = address + instruction.length;
  if (instruction.is_fence) {
    fence_shared(address);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  }
  // Fences, but for mfence, leave their mark in the flags.
  if (instruction.bytes != 0) {
    const LockedAccess access = access_of(instruction, registers, next);
    AtomicOutcome outcome;
    if (instruction.is_fence || !operate_on_shared(address, access.address, access.operation, outcome))
      outcome = operate(access.operation, reinterpret_cast<void*>(access.address));
    finish(instruction, outcome, registers);
    shut_after_use();
  }
  registers[REG_RIP] = static_cast<greg_t>(next);
  errno = saved_errno;
}

}  // namespace

void take_over_locked_instructions() {
  // One may come amid another's work: a preloaded tool sees the run-time's system calls.
  take_signal(SIGTRAP, on_trap, SA_NODEFER);
  scan_objects();
  watch_linker();
}

}  // namespace sdsm::program
