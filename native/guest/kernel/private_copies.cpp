#include "native/guest/kernel/private_copies.hpp"

#include <limits.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "native/guest/kernel/system_calls.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::program {
namespace {

bool is_shared_memory(const void* memory) {
  return memory != nullptr && is_shared(reinterpret_cast<std::uintptr_t>(memory));
}

std::size_t size_at(const void* written) {
  socklen_t bytes = 0;
  std::memcpy(&bytes, written, sizeof bytes);
  return bytes;
}

}  // namespace

/// Zeros. A buffer may be said to be larger than it is, and the kernel's memory is only there once it is used.
std::byte* PrivateCopies::room(std::size_t bytes) {
  if (bytes <= sizeof near_ - used_) {
    std::byte* const found = near_ + used_;
    used_ += (bytes + 15) & ~std::size_t{15};
    return static_cast<std::byte*>(std::memset(found, 0, bytes));
  }
  constexpr long flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  const long memory = call_kernel(SYS_mmap, {{0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, flags, -1, 0}});
  if (memory < 0) end_run({"there is no memory for what the kernel tells the program"});
  mappings_[mapping_count_++] = {reinterpret_cast<void*>(memory), bytes};
  return reinterpret_cast<std::byte*>(memory);
}

void PrivateCopies::add(void* original, const void* copy, std::size_t bytes, Extent extent, const void* written) {
  copies_[copy_count_++] = {static_cast<std::byte*>(original), static_cast<const std::byte*>(copy), bytes, written,
                            extent};
}

void* PrivateCopies::structure(void* original, std::size_t bytes) {
  if (!is_shared_memory(original)) return original;
  std::byte* const own = room(bytes);
  std::memcpy(own, original, bytes);
  add(original, own, bytes, Extent::whole);
  return own;
}

void* PrivateCopies::data(void* original, std::size_t bytes) {
  if (!is_shared_memory(original)) return original;
  std::byte* const own = room(bytes);
  add(original, own, bytes, Extent::as_answered);
  return own;
}

void* PrivateCopies::sized(void* original, const void* written) {
  if (!is_shared_memory(original)) return original;
  const std::size_t bytes = size_at(written);
  std::byte* const own = room(bytes);
  add(original, own, bytes, Extent::whole, written);
  return own;
}

iovec* PrivateCopies::parts(const iovec* original, std::size_t count) {
  const auto as_given = const_cast<iovec*>(original);
  if (original == nullptr || count == 0 || count > IOV_MAX) return as_given;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    // The kernel refuses more at once.
    if (is_shared_memory(original[i].iov_base) && __builtin_add_overflow(bytes, original[i].iov_len, &bytes))
      return as_given;
  }
  if (bytes > std::size_t{SSIZE_MAX}) return as_given;
  auto* const own = reinterpret_cast<iovec*>(room(count * sizeof(iovec)));
  std::byte* at = bytes == 0 ? nullptr : room(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    own[i] = original[i];
    if (!is_shared_memory(original[i].iov_base)) continue;
    own[i].iov_base = at;
    at += own[i].iov_len;
  }
  original_parts_ = original;
  own_parts_ = own;
  part_count_ = count;
  return own;
}

msghdr* PrivateCopies::message(msghdr* original) {
  auto* const own = reinterpret_cast<msghdr*>(room(sizeof(msghdr)));
  *own = *original;
  own->msg_name = sized(own->msg_name, &own->msg_namelen);
  own->msg_iov = parts(own->msg_iov, own->msg_iovlen);
  own->msg_control = sized(own->msg_control, &own->msg_controllen);  // its lower half
  original_message_ = original;
  own_message_ = own;
  return own;
}

void PrivateCopies::give_back(long answer) {
  // The answer of a function may be an int. A sleep that a signal ends returns what is left.
  if (static_cast<int>(answer) < 0 && answer != -EINTR) return;
  const auto answered = static_cast<std::size_t>(std::max(static_cast<int>(answer), 0));
  for (std::size_t i = 0; i < copy_count_; ++i) {
    const Copy& one = copies_[i];
    std::size_t bytes = one.extent == Extent::as_answered ? std::min(answered, one.bytes) : one.bytes;
    if (one.written != nullptr) bytes = std::min(bytes, size_at(one.written));
    std::memcpy(one.original, one.copy, bytes);
  }
  std::size_t left = answered;
  for (std::size_t i = 0; i < part_count_ && left > 0; ++i) {
    const std::size_t bytes = std::min(left, own_parts_[i].iov_len);
    void* const original = original_parts_[i].iov_base;
    if (original != own_parts_[i].iov_base) std::memcpy(original, own_parts_[i].iov_base, bytes);
    left -= bytes;
  }
  if (own_message_ == nullptr) return;
  original_message_->msg_namelen = own_message_->msg_namelen;
  original_message_->msg_controllen = own_message_->msg_controllen;
  original_message_->msg_flags = own_message_->msg_flags;
}

void PrivateCopies::clear() {
  while (mapping_count_ > 0) {
    const Mapping& one = mappings_[--mapping_count_];
    call_kernel(SYS_munmap, {{reinterpret_cast<long>(one.memory), static_cast<long>(one.bytes)}});
  }
  copy_count_ = 0;
  used_ = 0;
  part_count_ = 0;
  own_message_ = nullptr;
}

}  // namespace sdsm::program
