#include "native/program/main_call.hpp"

#include <cstring>

#include "native/program/raw_memory.hpp"
#include "native/program/stacks.hpp"

namespace sdsm::program {
namespace {

/// Returns where the stack begins below the copy.
std::uintptr_t copy_arguments(MainCall& call, const AddressRange& stack) {
  const auto number = static_cast<std::size_t>(call.argc);
  std::size_t bytes = (number + 1) * sizeof(char*);
  for (std::size_t i = 0; i < number; ++i) bytes += std::strlen(call.argv[i]) + 1;
  if (bytes > (stack.end - stack.begin) / 2) return stack.end;
  const std::uintptr_t top = page_down(stack.end - bytes);
  auto** const copies = reinterpret_cast<char**>(top);
  auto* text = reinterpret_cast<char*>(copies + number + 1);
  for (std::size_t i = 0; i < number; ++i) {
    copies[i] = text;
    text = stpcpy(text, call.argv[i]) + 1;
  }
  copies[number] = nullptr;
  call.argv = copies;
  return top;
}

void run(void* argument) {
  const MainCall& call = *static_cast<const MainCall*>(argument);
  call.end(call.main(call.argc, call.argv, call.environment));
}

}  // namespace

void call_main_on(const AddressRange& stack, const MainCall& call) {
  MainCall copied = call;
  const std::uintptr_t top = copy_arguments(copied, stack);
  sdsm_call_on_stack(top, run, &copied);
  __builtin_unreachable();
}

}  // namespace sdsm::program
