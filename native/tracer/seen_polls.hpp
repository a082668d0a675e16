/// What a thread that is followed looks at, again and again: perhaps it waits there, in a way that neither its code nor
/// its registers tell. It does if others change that.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "native/program/polls.hpp"
#include "native/tracer/threads.hpp"

namespace sdsm::tracer {

/// Nothing if there is no such memory, or it is shut.
std::optional<std::uint64_t> value_at(const program::Poll& poll);

class SeenPolls {
 public:
  void clear() { count_ = 0; }
  /// What the instruction that `self` has come to will look at, if that is not its own stack or thread-local variables.
  void add(const VirtualThread& self, const ucontext_t& machine) REQUIRES(turn);
  /// Whether something was looked at more than once, and was the same.
  bool has_repeated() const;
  /// The instruction of such a look, if its variable has another value now; else 0.
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
