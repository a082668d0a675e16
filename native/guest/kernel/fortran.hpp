/// What libgfortran keeps for itself, in each process: units, what statements that read and write use, and settings.
#pragma once

#include <optional>

namespace sdsm::program {

/// Settings that the compiler's code gives libgfortran at the begin of main: arguments, options, and the form of
/// unformatted records. Each process's library has its own. Trivially copyable.
struct FortranSettings {
  static constexpr int most_options = 16;

  int argument_count = 0;
  char** arguments = nullptr;  ///< null: not given
  int option_count = 0;
  int options[most_options] = {};
  std::optional<int> conversion;
  std::optional<int> record_marker;
  std::optional<int> subrecord_length;

  static const FortranSettings& of_this_process();
  /// Gives this process's library the settings.
  void give_to_this_process() const;
};

/// Whether the calling thread is at the beginning of a statement that reads or writes. What libgfortran allocates then
/// is its own. It calls none of the program's functions there.
bool begins_fortran_statement();

/// Writes out what the process has printed in Fortran, if it has. Not amid a statement, which holds the unit.
void flush_fortran_output();

/// Closes all units, as libgfortran does at a program's end: its destructors do nothing else. Not amid a statement.
void close_fortran_units();

}  // namespace sdsm::program
