#include "native/launch/run/atomics.hpp"

#include <capstone/capstone.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "models/protocol/tables.hpp"
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

class Disassembler {
 public:
  Disassembler() {
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) != CS_ERR_OK) {
      throw std::runtime_error("capstone cannot disassemble x86-64. Install libcapstone as Debian builds it");
    }
    cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    // Data between functions ends nothing.
    cs_option(handle_, CS_OPT_SKIPDATA, CS_OPT_ON);
    instruction_.reset(cs_malloc(handle_));
  }
  ~Disassembler() { cs_close(&handle_); }
  Disassembler& operator=(Disassembler&&) = delete;

  template <typename Visit>
  void for_each(const program_start::ElfFile::Code& code, Visit&& visit) {
    const auto* at = reinterpret_cast<const std::uint8_t*>(code.bytes.data());
    std::size_t left = code.bytes.size();
    std::uint64_t address = code.address;
    while (cs_disasm_iter(handle_, &at, &left, &address, instruction_.get())) {
      if (instruction_->id != 0) visit(*instruction_);
    }
  }

 private:
  struct Free {
    void operator()(cs_insn* instruction) const { cs_free(instruction, 1); }
  };
  csh handle_ = 0;
  std::unique_ptr<cs_insn, Free> instruction_;
};

std::span<const cs_x86_op> operands(const cs_insn& instruction) {
  return {instruction.detail->x86.operands, instruction.detail->x86.op_count};
}

bool has_memory(const cs_insn& instruction) {
  const auto all = operands(instruction);
  return std::any_of(all.begin(), all.end(), [](const cs_x86_op& operand) { return operand.type == X86_OP_MEM; });
}

bool is_locked(const cs_insn& instruction) {
  if (instruction.id == X86_INS_XCHG) return has_memory(instruction);
  return instruction.detail->x86.prefix[0] == X86_PREFIX_LOCK;
}

/// gcc's: lock or qword ptr [rsp], 0. The stack's top is the thread's own.
bool is_fence(const cs_insn& instruction) {
  if (instruction.id == X86_INS_MFENCE) return true;
  const auto all = operands(instruction);
  return instruction.id == X86_INS_OR && all.size() == 2 && all[0].type == X86_OP_MEM &&
         all[0].mem.base == X86_REG_RSP && all[1].type == X86_OP_IMM && all[1].imm == 0;
}

}  // namespace

std::vector<AtomicPlace> find_atomics(const std::filesystem::path& program) {
  const program_start::ElfFile file(program);
  Disassembler disassembler;
  std::vector<AtomicPlace> places;
  for (const auto& code : file.code()) {
    if (is_added(code)) continue;
    disassembler.for_each(code, [&](const cs_insn& instruction) {
      if (!is_locked(instruction) && instruction.id != X86_INS_MFENCE) return;
      const std::string function = file.function_at(instruction.address).value_or("");
      if (is_added(function)) return;
      const std::string_view operands_text = instruction.op_str;
      places.push_back({instruction.address,
                        fmt::format("{}{}{}", instruction.mnemonic, operands_text.empty() ? "" : " ", operands_text),
                        is_fence(instruction), function, ""});
    });
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
