#pragma once

namespace sdsm::program {

/// Settings that the compiler's code gives libgfortran at the begin of main: arguments, options, and the form of
/// unformatted records. Each process's library has its own. Trivially copyable.
struct FortranSettings {
  static constexpr int most_options = 16;

  int argument_count = 0;
  char** arguments = nullptr;  ///< null: not given
  int option_count = 0;
  int options[most_options] = {};
  int conversion = 0;
  int record_marker = 0;
  int subrecord_length = 0;
  bool has_conversion = false;
  bool has_record_marker = false;
  bool has_subrecord_length = false;

  static const FortranSettings& of_this_process();
  /// Gives this process's library the settings.
  void give_to_this_process() const;
};

}  // namespace sdsm::program
