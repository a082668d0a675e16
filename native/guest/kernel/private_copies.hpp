/// Memory that the kernel writes to in place of shared pages, for results that it gives only once: a message, a
/// connection, how a child ended. If another thread shut the page meanwhile, a repeated call would wait for the next.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>

namespace sdsm::program {

/// The copies of one call, which live as long as the object.
class PrivateCopies {
 public:
  PrivateCopies() = default;
  ~PrivateCopies() { clear(); }
  PrivateCopies& operator=(PrivateCopies&&) = delete;

  // Each returns where the kernel may write instead: at the original, if that is private.

  /// A structure, which the kernel may read, too.
  void* structure(void* original, std::size_t bytes);
  /// As many bytes as the call's answer says.
  void* data(void* original, std::size_t bytes);
  /// As many bytes as the socklen_t at `written` says after the call, and at most as many as it says now.
  void* sized(void* original, const void* written);
  /// The parts, in turn, of as many bytes as the call's answer says.
  iovec* parts(const iovec* original, std::size_t count);
  msghdr* message(msghdr* original);

  /// Copies, after the call, what the kernel wrote to the original. An answer below 0, except -EINTR, says that it
  /// wrote nothing.
  void give_back(long answer);
  void clear();

 private:
  enum class Extent : bool { whole, as_answered };
  struct Copy {
    std::byte* original;
    const std::byte* copy;
    std::size_t bytes;
    const void* written;  ///< null: another measure
    Extent extent;
  };
  struct Mapping {
    void* memory;
    std::size_t bytes;
  };

  std::byte* room(std::size_t bytes);
  void add(void* original, const void* copy, std::size_t bytes, Extent extent, const void* written = nullptr);

  static constexpr std::size_t most = 8;  // of either, in a call of six arguments
  Copy copies_[most];
  Mapping mappings_[most];
  std::size_t copy_count_ = 0;
  std::size_t mapping_count_ = 0;
  const iovec* original_parts_ = nullptr;
  const iovec* own_parts_ = nullptr;
  std::size_t part_count_ = 0;
  msghdr* original_message_ = nullptr;
  const msghdr* own_message_ = nullptr;
  std::size_t used_ = 0;
  alignas(16) std::byte near_[512];  ///< in the caller's stack, which nobody shuts
};

}  // namespace sdsm::program
