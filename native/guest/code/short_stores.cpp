#include "native/guest/code/short_stores.hpp"

#include "native/guest/code/machine_code.hpp"

namespace sdsm::program {
namespace {

constexpr std::uint8_t wide_operand = 8;  // of REX

/// Whether the operand is short: opcodes 88, c6 and 86 have one byte, 89, c7 and 87 two if a prefix says so.
bool is_short(const Instruction& found) {
  const bool is_of_byte = (found.opcode & 1) == 0;
  return is_of_byte || (found.has_short_operand && (found.rex & wide_operand) == 0);
}

/// A move or an exchange. Other instructions that store, but for locked ones, are no atomic stores. An operation that
/// locks memory is done under a lock; but what has such operations may have plain stores of the same kind elsewhere.
bool stores(const Instruction& found) {
  if (found.is_vector || found.map != 0) return false;
  const unsigned pair = found.opcode & 0xfe;
  return pair == 0x88 || pair == 0xc6 || pair == 0x86;
}

}  // namespace

bool stores_short_variables(const std::uint8_t* code, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    const Instruction found = decode(code + at, bytes - at);
    if (found.length == 0) return true;
    constexpr unsigned registers_alone = 3;
    const bool names_memory = found.modrm != 0 && code[at + found.modrm] >> 6 != registers_alone;
    if (stores(found) && names_memory && is_short(found)) {
      const MemoryOperand memory = memory_of(code + at, found);
      if (memory.base != Register::rsp && !memory.is_thread_local) return true;
    }
    at += found.length;
  }
  return false;
}

}  // namespace sdsm::program
