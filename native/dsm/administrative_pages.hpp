/// The run-time's own pages in shared memory (models/openmp.hpp), at the same address in all processes.
#pragma once

#include <cstdint>

#include "models/openmp.hpp"
#include "native/program/raw_memory.hpp"

namespace sdsm::dsm {

/// Far from addresses that the kernel chooses.
inline constexpr std::uintptr_t administrative_address = 0x1f0000000000;

constexpr std::uintptr_t address_of(AdministrativePage page) {
  return administrative_address + static_cast<std::uintptr_t>(page) * program::page_bytes;
}

}  // namespace sdsm::dsm
