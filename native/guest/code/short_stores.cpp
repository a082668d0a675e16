#include "native/guest/code/short_stores.hpp"

#include "native/guest/code/machine_code.hpp"

namespace sdsm::program {

bool stores_short_variables(const std::uint8_t* code, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    const Instruction found = decode(code + at, bytes - at);
    if (!found.is_known()) return true;
    at += found.length;
    // Other instructions that store, but for locked ones, are no atomic stores. An operation that locks memory is done
    // under a lock; but what has such operations may have plain stores of the same kind elsewhere.
    if (!found.is({ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_XCHG})) continue;
    const auto [operand, size, reads, writes] = accesses_of(found).all[0];
    if (writes && size <= 2 && operand.base != Register::rsp && !operand.is_thread_local) return true;
  }
  return false;
}

}  // namespace sdsm::program
