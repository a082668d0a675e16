#pragma once

namespace sdsm::program {

/// What the compiler's code tells libgfortran at the begin of main: arguments, options, and how unformatted records
/// look. Each process's library has its own. Trivially copyable.
struct FortranSettings {
  static constexpr int most_options = 16;

  int argument_count = 0;
  char** arguments = nullptr;  ///< null: not told
  int option_count = 0;
  int options[most_options] = {};
  int conversion = 0;
  int record_marker = 0;
  int subrecord_length = 0;
  bool has_conversion = false;
  bool has_record_marker = false;
  bool has_subrecord_length = false;

  static const FortranSettings& of_this_process();
  /// Tells this process's library the same.
  void give_to_this_process() const;
};

}  // namespace sdsm::program
