#include "native/launch/elf_file.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>

namespace sdsm::program_start {

ElfFile::ElfFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::system_error(errno, std::generic_category(), path.string());
  bytes_.resize(std::filesystem::file_size(path));
  file.read(reinterpret_cast<char*>(bytes_.data()), static_cast<std::streamsize>(bytes_.size()));
  bytes_.resize(static_cast<std::size_t>(file.gcount()));
}

template <typename Structure>
std::optional<Structure> ElfFile::read_at(std::uint64_t offset) const {
  if (offset > bytes_.size() || sizeof(Structure) > bytes_.size() - offset) return std::nullopt;
  Structure structure;
  std::memcpy(&structure, bytes_.data() + offset, sizeof structure);
  return structure;
}

std::string ElfFile::text_at(std::uint64_t offset) const {
  std::string text;
  for (; offset < bytes_.size() && bytes_[offset] != std::byte{0}; ++offset) {
    text.push_back(static_cast<char>(bytes_[offset]));
  }
  return text;
}

bool ElfFile::is_elf() const {
  return bytes_.size() >= SELFMAG && std::memcmp(bytes_.data(), ELFMAG, SELFMAG) == 0;
}

bool ElfFile::is_script() const {
  return bytes_.size() >= 2 && std::memcmp(bytes_.data(), "#!", 2) == 0;
}

bool ElfFile::is_x86_64_program() const {
  const auto header = read_at<Elf64_Ehdr>(0);
  return is_elf() && header && header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64 &&
         (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

std::string ElfFile::interpreter() const {
  const auto header = read_at<Elf64_Ehdr>(0);
  if (!header) return {};
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment && segment->p_type == PT_INTERP) return text_at(segment->p_offset);
  }
  return {};
}

template <typename Visit>
void ElfFile::for_each_symbol(std::uint32_t section_type, Visit&& visit) const {
  const auto header = read_at<Elf64_Ehdr>(0);
  if (!header) return;
  const auto section_at = [&](std::uint64_t number) {
    return read_at<Elf64_Shdr>(header->e_shoff + number * sizeof(Elf64_Shdr));
  };
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = section_at(i);
    if (!section || section->sh_type != section_type) continue;
    const auto names = section_at(section->sh_link);
    if (!names) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(section->sh_offset + at);
      if (!symbol) return;
      visit(*symbol, names->sh_offset + symbol->st_name);
    }
  }
}

std::uint64_t ElfFile::unnamed_variable_bytes() const {
  bool is_named = false;
  for_each_symbol(SHT_SYMTAB, [&](const Elf64_Sym&, std::uint64_t) { is_named = true; });
  const auto header = read_at<Elf64_Ehdr>(0);
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; header && !is_named && i < header->e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment && segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0) bytes += segment->p_memsz;
  }
  return bytes;
}

std::vector<std::string> ElfFile::undefined_symbols() const {
  std::vector<std::string> names;
  for_each_symbol(SHT_DYNSYM, [&](const Elf64_Sym& symbol, std::uint64_t name) {
    if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0) names.push_back(text_at(name));
  });
  return names;
}

std::optional<std::string> ElfFile::symbol_at(std::uint64_t address, unsigned char type) const {
  std::optional<std::string> found;
  for_each_symbol(SHT_SYMTAB, [&](const Elf64_Sym& symbol, std::uint64_t name) {
    if (ELF64_ST_TYPE(symbol.st_info) != type || symbol.st_shndx == SHN_UNDEF) return;
    if (address >= symbol.st_value && address - symbol.st_value < symbol.st_size) found = text_at(name);
  });
  return found;
}

std::vector<ElfFile::Variable> ElfFile::variables_named(const std::string& name) const {
  std::vector<Variable> found;
  for_each_symbol(SHT_SYMTAB, [&](const Elf64_Sym& symbol, std::uint64_t text) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) return;
    const std::string own = text_at(text);
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain(
        own.starts_with("_Z") ? abi::__cxa_demangle(own.c_str(), nullptr, nullptr, &status) : nullptr, &std::free);
    if (own == name || own.starts_with(name + ".") || (plain != nullptr && name == plain.get()))
      found.push_back({symbol.st_value, symbol.st_size});
  });
  return found;
}

std::optional<std::string> ElfFile::variable_at(std::uint64_t address) const {
  return symbol_at(address, STT_OBJECT);
}

std::optional<std::string> ElfFile::function_at(std::uint64_t address) const {
  return symbol_at(address, STT_FUNC);
}

std::vector<ElfFile::Code> ElfFile::code() const {
  std::vector<Code> found;
  const auto add = [&](std::string name, std::uint64_t address, std::uint64_t offset, std::uint64_t size) {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return;
    found.push_back({std::move(name), address, std::span(bytes_).subspan(offset, size)});
  };
  const auto header = read_at<Elf64_Ehdr>(0);
  if (!header) return found;
  const auto names = read_at<Elf64_Shdr>(header->e_shoff + std::uint64_t{header->e_shstrndx} * sizeof(Elf64_Shdr));
  for (std::uint64_t i = 0; names && i < header->e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section || section->sh_type != SHT_PROGBITS || (section->sh_flags & SHF_EXECINSTR) == 0) continue;
    add(text_at(names->sh_offset + section->sh_name), section->sh_addr, section->sh_offset, section->sh_size);
  }
  // Sections may be stripped; what is loaded cannot.
  for (std::uint64_t i = 0; found.empty() && i < header->e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0) continue;
    add("", segment->p_vaddr, segment->p_offset, segment->p_filesz);
  }
  return found;
}

}  // namespace sdsm::program_start
