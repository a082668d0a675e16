/// The program's standard input, which each pass is to read from the start.
#pragma once

#include <memory>

#include "commands/descriptor.hpp"

namespace sdsm::program_start {

class ProgramInput {
 public:
  /// Looks at the command's own standard input.
  ProgramInput();
  ~ProgramInput();
  ProgramInput(const ProgramInput&) = delete;
  ProgramInput& operator=(const ProgramInput&) = delete;

  /// Input for the next pass; valid until the one after. A regular file is read anew from where it stands. A pipe's
  /// bytes reach the first pass as they come, are kept, and are given to the others. A terminal counts as empty.
  int next_pass();
  /// The pass has ended, and reads no more.
  void end_pass();

 private:
  struct Copier;
  bool is_first_ = true;
  commands::Descriptor current_;
  commands::Descriptor kept_;
  std::unique_ptr<Copier> copier_;
};

}  // namespace sdsm::program_start
