#include "native/tracer/seen_looks.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

namespace sdsm::tracer {

std::optional<std::uint64_t> value_at(const program::Look& look) {
  // By the kernel, as a program's mistake must stay its own.
  std::uint64_t value = 0;
  const iovec to{&value, look.bytes};
  const iovec from{reinterpret_cast<void*>(look.address), look.bytes};
  const long got = syscall(SYS_process_vm_readv, getpid(), &to, 1UL, &from, 1UL, 0UL);
  return got == static_cast<long>(look.bytes) ? std::optional(value) : std::nullopt;
}

void SeenLooks::add(const VirtualThread& self, const ucontext_t& machine) {
  const greg_t* const registers = machine.uc_mcontext.gregs;
  const auto at = static_cast<std::uintptr_t>(registers[REG_RIP]);
  const std::optional<program::Look> look = program::look_of(reinterpret_cast<const std::uint8_t*>(at), registers);
  if (!look || self.stack.holds(look->address) || self.locals.holds(look->address)) return;
  Seen* const end = seen_ + count_;
  Seen* const known = std::find_if(
      seen_, end, [&](const Seen& one) { return one.instruction == at && one.look.address == look->address; });
  if (known == end && count_ == most) return;
  const std::optional<std::uint64_t> value = value_at(*look);
  if (!value) return;
  if (known == end) {
    seen_[count_++] = {at, *look, *value, 1};
  } else {
    known->times = known->value == *value ? known->times + 1 : 1;
    known->value = *value;
  }
}

bool SeenLooks::has_repeated() const {
  return std::any_of(seen_, seen_ + count_, [](const Seen& one) { return one.times > 1; });
}

std::uintptr_t SeenLooks::find_changed() const {
  const Seen* const changed = std::find_if(seen_, seen_ + count_, [](const Seen& one) {
    return one.times > 1 && value_at(one.look).value_or(one.value) != one.value;
  });
  return changed == seen_ + count_ ? 0 : changed->instruction;
}

}  // namespace sdsm::tracer
