/// Performs a directive's steps (models/scash/directives.hpp) on the run-time's own pages and locks.
#pragma once

#include "models/scash/directives.hpp"
#include "native/dsm/memory/larger_pages.hpp"
#include "native/dsm/openmp/synchronisation.hpp"

namespace sdsm::dsm {

/// The run-time's own pages in shared memory, at the same address in all processes: far from what the kernel chooses.
/// None shares a slot with another.
inline constexpr std::uintptr_t administrative_address = 0x1f0000000000;

inline std::uintptr_t address_of(AdministrativePage page) {
  return administrative_address + static_cast<std::uintptr_t>(page) * shared_page_bytes();
}

inline constexpr auto nothing = [] {};

/// Does the steps of `directive` in their order. `read` and `write` access the directive's administrative page, which
/// are protocol events; `barrier` waits for the team. A step that the directive lacks is `nothing`. `executes`:
/// whether the caller is the executing thread; an earlier step may set it.
template <typename Read, typename Write, typename Barrier>
void perform(Directive directive, Read read, Write write, Barrier barrier, const bool& executes = true)
    REQUIRES(application) {
  for (const ProtocolStep& step : steps_of(directive)) {
    if (step.by == By::executing && !executes) continue;
    switch (step.what) {
      case Primitive::read: read(); break;
      case Primitive::write: write(); break;
      case Primitive::acquire: acquire_lock(lock_of(step.page)); break;
      case Primitive::release: release_lock(lock_of(step.page)); break;
      case Primitive::barrier: barrier(); break;
      case Primitive::flush: synchronise_memory(); break;
    }
  }
}

}  // namespace sdsm::dsm
