/// The variables that a single-stepped thread loads again and again. Perhaps it waits for one of them, in a way that
/// neither its code nor its registers show. It does if others change that one.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "native/program/polls.hpp"
#include "native/tracer/threads.hpp"

namespace sdsm::tracer {

/// The value in memory; nothing if there is no such memory, or it is shut.
std::optional<std::uint64_t> value_at(const program::Poll& poll);

class SeenPolls {
 public:
  void clear() { count_ = 0; }
  /// Adds the variable that the next instruction of `self` loads, if it is not on its own stack or thread-local.
  void add(const VirtualThread& self, const ucontext_t& machine) REQUIRES(turn);
  /// Whether a variable was loaded more than once, with the same value.
  bool has_repeated() const;
  /// The instruction of such a load, if its variable has another value now; else 0.
  std::uintptr_t find_changed() const;

 private:
  struct Seen {
    std::uintptr_t instruction = 0;
    program::Poll poll;
    std::uint64_t value = 0;
    unsigned times = 0;  ///< with this value
  };
  static constexpr std::size_t most = 64;
  Seen seen_[most];
  std::size_t count_ = 0;
};

}  // namespace sdsm::tracer
