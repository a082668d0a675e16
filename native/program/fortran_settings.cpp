#include "native/program/fortran_settings.hpp"

#include <algorithm>

#include "native/gomp/entry.hpp"
#include "native/program/next_function.hpp"

using namespace sdsm::program;

namespace {

constinit FortranSettings told;

SDSM_NEXT_FUNCTION NextFunction<void(int, char**)> set_args{"_gfortran_set_args"};
SDSM_NEXT_FUNCTION NextFunction<void(int, int*)> set_options{"_gfortran_set_options"};
SDSM_NEXT_FUNCTION NextFunction<void(int)> set_convert{"_gfortran_set_convert"};
SDSM_NEXT_FUNCTION NextFunction<void(int)> set_record_marker{"_gfortran_set_record_marker"};
SDSM_NEXT_FUNCTION NextFunction<void(int)> set_max_subrecord_length{"_gfortran_set_max_subrecord_length"};

}  // namespace

SDSM_ENTRY void _gfortran_set_args(int count, char** arguments) {
  told.argument_count = count;
  told.arguments = arguments;
  set_args(count, arguments);
}
SDSM_ENTRY void _gfortran_set_options(int count, int* options) {
  told.option_count = std::min(count, FortranSettings::most_options);
  std::copy_n(options, told.option_count, told.options);
  set_options(count, options);
}
SDSM_ENTRY void _gfortran_set_convert(int conversion) {
  told.has_conversion = true;
  told.conversion = conversion;
  set_convert(conversion);
}
SDSM_ENTRY void _gfortran_set_record_marker(int bytes) {
  told.has_record_marker = true;
  told.record_marker = bytes;
  set_record_marker(bytes);
}
SDSM_ENTRY void _gfortran_set_max_subrecord_length(int bytes) {
  told.has_subrecord_length = true;
  told.subrecord_length = bytes;
  set_max_subrecord_length(bytes);
}

namespace sdsm::program {

const FortranSettings& FortranSettings::of_this_process() {
  return told;
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
