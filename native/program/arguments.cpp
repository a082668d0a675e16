#include "native/program/arguments.hpp"

#include <cstring>

#include "native/program/raw_memory.hpp"

namespace sdsm::program {

CopiedArguments copy_arguments(int count, char** arguments, const AddressRange& stack) {
  const auto number = static_cast<std::size_t>(count);
  std::size_t bytes = (number + 1) * sizeof(char*);
  for (std::size_t i = 0; i < number; ++i) bytes += std::strlen(arguments[i]) + 1;
  if (bytes > (stack.end - stack.begin) / 2) return {arguments, stack.end};
  const std::uintptr_t top = page_down(stack.end - bytes);
  auto** const copies = reinterpret_cast<char**>(top);
  auto* text = reinterpret_cast<char*>(copies + number + 1);
  for (std::size_t i = 0; i < number; ++i) {
    copies[i] = text;
    text = stpcpy(text, arguments[i]) + 1;
  }
  copies[number] = nullptr;
  return {copies, top};
}

}  // namespace sdsm::program
