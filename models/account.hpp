/// The terms of a thread's account: where its time goes. Simulations and runs charge the same things to the same term,
/// so that their accounts can be held against each other. Every moment of a thread goes to exactly one term.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/protocol/kinds.hpp"

namespace sdsm {

/// Numbers of the terms in simulated accounts, in those of runs, and of threads' states in timelines.
enum class Spent : std::uint8_t {
  /// The program's own instructions: what no other term claims, with what traps leave cold (Costs::fault_cold)
  /// and the memory that pages get at their homes' first writes (Costs::first_write).
  compute = 0,
  /// + kind, of the protocol's. From the instruction that traps until it goes on: the trap's entry and exit, the
  /// protocol's work, and waiting for other processes.
  fault = 1,
  /// At a synchronisation: finding what was written, sending it, and waiting until it is at its home.
  diff = fault + most_fault_kinds,
  /// Changing pages' protection at synchronisations; in a run also traps that the protocol does not count as faults.
  protect,
  barrier,  ///< from a thread's arrival at a barrier until it goes on, but for diff and protect
  /// Waiting for locks, flags and atomic operations. A run cannot tell a waiting loop of the program's own from
  /// computing, and charges it there.
  lock,
  /// Its processor served other processes while the thread computed. A run cannot tell: another thread serves there,
  /// and slows this one's work on the same processor.
  stolen,
  /// Between parallel regions, and after the thread's end. In a run also from process 0's start until the thread's own
  /// process waits for its first region.
  idle,
};
inline constexpr std::size_t spent_terms = static_cast<std::size_t>(Spent::idle) + 1;

/// `kind`: of the protocol's faults.
template <typename Kind>
constexpr Spent spent_on(Kind kind) {
  return static_cast<Spent>(static_cast<std::uint8_t>(Spent::fault) + static_cast<std::uint8_t>(kind));
}
constexpr bool is_fault(Spent term) {
  return term >= Spent::fault && term < Spent::diff;
}
/// The kind's number. Precondition: is_fault(term).
constexpr std::size_t fault_number(Spent term) {
  return static_cast<std::size_t>(term) - static_cast<std::size_t>(Spent::fault);
}

}  // namespace sdsm
