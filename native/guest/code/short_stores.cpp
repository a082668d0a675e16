#include "native/guest/code/short_stores.hpp"

#include "native/guest/code/memory_access.hpp"

namespace sdsm::program {
namespace {

/// A move or an exchange. Other instructions that store, but for locked ones, are no atomic stores. An operation that
/// locks memory is done under a lock; but what has such operations may have plain stores of the same kind elsewhere.
bool moves(const Instruction& found) {
  return found.mnemonic == ZYDIS_MNEMONIC_MOV || found.mnemonic == ZYDIS_MNEMONIC_XCHG;
}

bool is_short_store(const MemoryAccess& access) {
  return access.writes && access.bytes <= 2 && access.operand.base != Register::rsp && !access.operand.is_thread_local;
}

}  // namespace

bool stores_short_variables(const std::uint8_t* code, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    const Instruction found = decode(code + at, bytes - at);
    if (!found.is_known()) return true;
    if (moves(found)) {
      const MemoryAccesses accesses = accesses_of(found);
      if (accesses.count > 0 && is_short_store(accesses.all[0])) return true;
    }
    at += found.length;
  }
  return false;
}

}  // namespace sdsm::program
