#include "native/launch/run/atomics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "models/protocol/tables.hpp"
#include "native/guest/code/machine_code.hpp"
#include "native/launch/elf_file.hpp"
#include "native/launch/program_start.hpp"

namespace sdsm::run_command {
namespace {

constexpr std::size_t most_listed = 10;

/// What the compiler and the linker add to each program.
bool is_added(const program_start::ElfFile::Code& code) {
  return code.section == ".init" || code.section == ".fini" || code.section.starts_with(".plt");
}
bool is_added(std::string_view function) {
  constexpr std::array<std::string_view, 7> names{
      "_start",      "_dl_relocate_static_pie", "deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux",
      "frame_dummy", "__libc_csu_init"};
  return std::find(names.begin(), names.end(), function) != names.end();
}

std::string text_of(const program::Instruction& instruction) {
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
  const program::Operands operands(instruction);
  const auto named = operands.named();
  std::array<char, 128> text{};
  ZydisFormatterFormatInstruction(&formatter, &instruction, named.data(), static_cast<ZyanU8>(named.size()),
                                  text.data(), text.size(), ZYDIS_RUNTIME_ADDRESS_NONE, nullptr);
  return text.data();
}

}  // namespace

std::vector<AtomicPlace> find_atomics(const std::filesystem::path& program) {
  const program_start::ElfFile file(program);
  std::vector<AtomicPlace> places;
  for (const auto& code : file.code()) {
    if (is_added(code)) continue;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(code.bytes.data());
    for (std::size_t at = 0; at < code.bytes.size();) {
      const program::Instruction instruction = program::decode(bytes + at, code.bytes.size() - at);
      const std::uint64_t address = code.address + at;
      // Data between functions ends nothing.
      at += std::max<std::size_t>(instruction.length, 1);
      const auto locked = program::locked_of(instruction);
      if (!locked) continue;
      const std::string function = file.function_at(address).value_or("");
      if (!is_added(function)) places.push_back({address, text_of(instruction), locked->is_fence, function, ""});
    }
  }
  return places;
}

bool find_sources(const std::filesystem::path& program, std::vector<AtomicPlace>& places) {
  std::vector<std::string> words{"-e", program.string(), "-f", "-C"};
  for (const AtomicPlace& place : places) words.push_back(fmt::format("{:#x}", place.address));
  // Two lines for each address: the function, and FILE:LINE with ?? and 0 for what is not known.
  std::istringstream lines(program_start::addr2line(words));
  bool is_listed = false;
  for (AtomicPlace& place : places) {
    std::string function;
    std::string source;
    if (!std::getline(lines, function) || !std::getline(lines, source)) break;
    is_listed = true;
    if (!function.starts_with("?")) place.function = function;
    source = source.substr(0, source.find(" (discriminator"));
    if (!source.starts_with("?") && !source.ends_with(":?") && !source.ends_with(":0")) place.source = source;
  }
  return is_listed;
}

std::string atomics_text(const std::filesystem::path& program, std::vector<AtomicPlace> places, ProtocolKind protocol) {
  const std::size_t count = places.size();
  const bool has_fence =
      std::any_of(places.begin(), places.end(), [](const AtomicPlace& place) { return place.is_fence; });
  const bool has_update =
      std::any_of(places.begin(), places.end(), [](const AtomicPlace& place) { return !place.is_fence; });
  places.resize(std::min(count, most_listed));
  const bool has_addr2line = find_sources(program, places);
  std::string text = fmt::format("{}: has {} inline atomic {}, which --atomics refuse does not allow:\n",
                                 program.string(), count, count == 1 ? "operation" : "operations");
  bool is_complete = true;
  for (const AtomicPlace& place : places) {
    text += fmt::format("  {:#x} in {}", place.address,
                        place.function.empty() ? "a function without a name" : place.function);
    if (!place.source.empty()) text += fmt::format(" ({})", place.source);
    text += fmt::format(": {}\n", place.instruction);
    if (place.source.empty()) is_complete = false;
  }
  if (count > places.size()) text += fmt::format("  and {} more\n", count - places.size());
  if (!is_complete) {
    text += has_addr2line ? "Build it with -g to see the source lines.\n"
                          : "Build it with -g, and install binutils (addr2line), to see the source lines.\n";
  }
  if (has_update) {
    text +=
        "gcc makes these of omp atomic, of a reduction over a single variable, and of std::atomic and shared_ptr.\n";
  }
  if (has_fence) text += "gcc makes fences of omp flush.\n";
  text += tables_of(protocol).traits.operates_in_lock
              ? "With --atomics lock, which is the default under jiajia, they are done under one lock.\n"
              : "With --atomics home, which is the default, they are done where their memory is at home.\n";
  return text;
}

}  // namespace sdsm::run_command
