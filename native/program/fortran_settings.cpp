#include "native/program/fortran_settings.hpp"

#include <algorithm>

#include "native/gomp/entry.hpp"
#include "native/program/next_function.hpp"

using namespace sdsm::program;

namespace {

constinit FortranSettings settings;

SDSM_NEXT_FUNCTION NextFunction<void(int, char**)> set_args{"_gfortran_set_args"};
SDSM_NEXT_FUNCTION NextFunction<void(int, int*)> set_options{"_gfortran_set_options"};
SDSM_NEXT_FUNCTION NextFunction<void(int)> set_convert{"_gfortran_set_convert"};
SDSM_NEXT_FUNCTION NextFunction<void(int)> set_record_marker{"_gfortran_set_record_marker"};
SDSM_NEXT_FUNCTION NextFunction<void(int)> set_max_subrecord_length{"_gfortran_set_max_subrecord_length"};

}  // namespace

SDSM_ENTRY void _gfortran_set_args(int count, char** arguments) {
  settings.argument_count = count;
  settings.arguments = arguments;
  set_args(count, arguments);
}
SDSM_ENTRY void _gfortran_set_options(int count, int* options) {
  settings.option_count = std::min(count, FortranSettings::most_options);
  std::copy_n(options, settings.option_count, settings.options);
  set_options(count, options);
}
SDSM_ENTRY void _gfortran_set_convert(int conversion) {
  settings.has_conversion = true;
  settings.conversion = conversion;
  set_convert(conversion);
}
SDSM_ENTRY void _gfortran_set_record_marker(int bytes) {
  settings.has_record_marker = true;
  settings.record_marker = bytes;
  set_record_marker(bytes);
}
SDSM_ENTRY void _gfortran_set_max_subrecord_length(int bytes) {
  settings.has_subrecord_length = true;
  settings.subrecord_length = bytes;
  set_max_subrecord_length(bytes);
}

namespace sdsm::program {

const FortranSettings& FortranSettings::of_this_process() {
  return settings;
}

void FortranSettings::give_to_this_process() const {
  if (arguments != nullptr) set_args(argument_count, arguments);
  int own[most_options];
  std::copy_n(options, option_count, own);
  if (option_count > 0) set_options(option_count, own);
  if (has_conversion) set_convert(conversion);
  if (has_record_marker) set_record_marker(record_marker);
  if (has_subrecord_length) set_max_subrecord_length(subrecord_length);
}

}  // namespace sdsm::program
