/// The program's standard input, which each pass reads from its start.
#pragma once

#include <memory>

#include "commands/descriptor.hpp"

namespace sdsm::program_start {

class ProgramInput {
 public:
  /// Looks at the command's own standard input.
  ProgramInput();
  ~ProgramInput();
  ProgramInput& operator=(ProgramInput&&) = delete;

  /// Descriptor of the next pass's input; valid until the pass after it. A regular file is read again from its current
  /// position. A pipe's bytes reach the first pass as they come, and are kept for the others. A terminal is empty.
  int next_pass();
  /// The pass has ended.
  void end_pass();
  /// Whether the last pass read anything (known of any pass but the first).
  bool was_read() const { return was_read_; }

 private:
  struct Copier;
  bool is_first_ = true;
  bool was_read_ = false;
  long begin_ = 0;  ///< where in a file the pass began to read
  commands::Descriptor current_;
  commands::Descriptor kept_;
  std::unique_ptr<Copier> copier_;
};

}  // namespace sdsm::program_start
