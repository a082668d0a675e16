#include "native/launch/program_file.hpp"

#include <sys/stat.h>

#include <cstring>

#include "commands/errors.hpp"
#include "native/launch/elf_file.hpp"
#include "tests/campaign.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace sdsm::commands;
using namespace sdsm::program_start;

namespace {

using sdsm::test::TemporaryFile;

std::string refusal_of(const std::filesystem::path& path) {
  try {
    check_program(path);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "accepted";
}

std::string own_program() {
  return sdsm::test::read_text("/proc/self/exe");
}

}  // namespace

TEST_CASE("scripts, texts and programs without OpenMP are refused by reason") {
  CHECK(refusal_of(TemporaryFile("#!/bin/sh\nexit 0\n").path()).find("a script") != std::string::npos);
  CHECK(refusal_of(TemporaryFile("hello").path()).find("not a program for Linux") != std::string::npos);
  CHECK(refusal_of(TemporaryFile("").path()).find("not a program for Linux") != std::string::npos);
  CHECK(refusal_of("/proc/self/exe").find("does not use OpenMP") != std::string::npos);
}

TEST_CASE("a program for another processor is refused") {
  std::string program = own_program();
  program[18] = 40;  // e_machine: ARM
  CHECK(refusal_of(TemporaryFile(program).path()).find("not an x86-64 program") != std::string::npos);
}

TEST_CASE("a truncated program file is refused without a crash") {
  const std::string program = own_program();
  for (std::size_t size = 1; size < program.size(); size = size * 3 / 2 + 1) {
    CAPTURE(size);
    CHECK(refusal_of(TemporaryFile(program.substr(0, size)).path()) != "accepted");
  }
}

TEST_CASE("a program file with damaged headers crashes nothing") {
  const std::string own = own_program();  // with its symbols; large, if the sanitizers are on
  const std::string small = sdsm::test::read_text("/bin/true");
  unsigned random = 12345;
  for (std::uint64_t round = 0; round < test::rounds(200); ++round) {
    std::string damaged = round % 10 == 0 ? own : small;
    for (int i = 0; i < 20; ++i) {
      random = random * 1103515245U + 12345U;
      damaged[(random >> 8) % 1024] = static_cast<char>(random);
    }
    const TemporaryFile file(damaged);
    CHECK(refusal_of(file.path()) != "accepted");
    CHECK_NOTHROW(ElfFile(file.path()).variable_at(0x4000));
  }
}

TEST_CASE("a set-user-id program is refused before it is looked into") {
  const TemporaryFile file(own_program());
  chmod(file.path().c_str(), 04755);
  CHECK(refusal_of(file.path()).find("rights of its own") != std::string::npos);
}

TEST_CASE("a missing, unexecutable or folder program is refused by name") {
  const auto says = [](const std::string& name, const std::string& what) {
    try {
      find_program(name);
    } catch (const BadInput& error) {
      return std::string(error.what()).find(what) != std::string::npos;
    }
    return false;
  };
  CHECK(says("/nowhere/at-all",
             "/nowhere/at-all: the program cannot be found (No such file or directory). Give its path after --"));
  CHECK(says("/", "a folder, not a program"));
  CHECK(says("no-program-has-this-name", "no such program in PATH"));
  CHECK(says("", "empty"));
  const TemporaryFile file("data");
  CHECK(says(file.path().string(), "not executable"));
}

TEST_CASE("a name without a slash is searched in PATH") {
  CHECK(find_program("sh").filename() == "sh");
}
