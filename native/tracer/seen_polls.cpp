#include "native/tracer/seen_polls.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

namespace sdsm::tracer {

std::optional<std::uint64_t> value_at(const program::Poll& poll) {
  // The kernel reads it, as a program's mistake must stay its own.
  std::uint64_t value = 0;
  const iovec to{&value, poll.bytes};
  const iovec from{reinterpret_cast<void*>(poll.address), poll.bytes};
  const long got = syscall(SYS_process_vm_readv, getpid(), &to, 1UL, &from, 1UL, 0UL);
  return got == static_cast<long>(poll.bytes) ? std::optional(value) : std::nullopt;
}

void SeenPolls::add(const VirtualThread& self, const ucontext_t& machine) {
  const greg_t* const registers = machine.uc_mcontext.gregs;
  const auto at = static_cast<std::uintptr_t>(registers[REG_RIP]);
  const std::optional<program::Poll> poll = program::poll_of(reinterpret_cast<const std::uint8_t*>(at), registers);
  if (!poll || self.stack.holds(poll->address) || self.locals.holds(poll->address)) return;
  Seen* const end = seen_ + count_;
  Seen* const known = std::find_if(
      seen_, end, [&](const Seen& one) { return one.instruction == at && one.poll.address == poll->address; });
  if (known == end && count_ == most) return;
  const std::optional<std::uint64_t> value = value_at(*poll);
  if (!value) return;
  if (known == end) {
    seen_[count_++] = {at, *poll, *value, 1};
  } else {
    known->times = known->value == *value ? known->times + 1 : 1;
    known->value = *value;
  }
}

bool SeenPolls::has_repeated() const {
  return std::any_of(seen_, seen_ + count_, [](const Seen& one) { return one.times > 1; });
}

std::uintptr_t SeenPolls::find_changed() const {
  const Seen* const changed = std::find_if(seen_, seen_ + count_, [](const Seen& one) {
    return one.times > 1 && value_at(one.poll).value_or(one.value) != one.value;
  });
  return changed == seen_ + count_ ? 0 : changed->instruction;
}

}  // namespace sdsm::tracer
