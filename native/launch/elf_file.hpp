/// Reads what an ELF file says about a program without running it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sdsm::program_start {

/// Checks every access against the file's size, so a damaged file merely has no symbols.
class ElfFile {
 public:
  /// Throws std::system_error if the file cannot be read.
  explicit ElfFile(const std::filesystem::path& path);

  bool is_elf() const;
  bool is_x86_64_program() const;
  /// Path of its interpreter, the dynamic linker, which LD_PRELOAD needs. Empty: it has none.
  std::string interpreter() const;
  bool is_script() const;

  /// Names that the dynamic linker has to find in libraries.
  std::vector<std::string> undefined_symbols() const;

  /// Bytes of variables, if the file has no symbol table that separates them (strip); else 0.
  std::uint64_t unnamed_variable_bytes() const;

  /// Bytes that the processor may execute.
  struct Code {
    std::string section;
    std::uint64_t address = 0;
    std::span<const std::byte> bytes;
  };
  std::vector<Code> code() const;

  /// Name of the function that holds `address`, if a symbol says so.
  std::optional<std::string> function_at(std::uint64_t address) const;

  /// Name of the variable that holds `address` (in the file's own addresses), if a symbol says so.
  std::optional<std::string> variable_at(std::uint64_t address) const;

  struct Variable {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  /// Variables of that name, as the symbol has it or as C++ writes it; of static ones the number may be missing.
  std::vector<Variable> variables_named(const std::string& name) const;

 private:
  template <typename Structure>
  std::optional<Structure> read_at(std::uint64_t offset) const;
  std::string text_at(std::uint64_t offset) const;
  std::optional<std::string> symbol_at(std::uint64_t address, unsigned char type) const;
  template <typename Visit>
  void for_each_symbol(std::uint32_t section_type, Visit&& visit) const;

  std::vector<std::byte> bytes_;
};

}  // namespace sdsm::program_start
