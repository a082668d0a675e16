/// Marks a function that programs call by its plain name, as libgomp's.
#pragma once

#define SDSM_ENTRY extern "C" __attribute__((visibility("default")))

/// One that returns an expression, or the result of a call that may be void.
#define SDSM_ENTRY_AS(result, name, parameters, ...) \
  SDSM_ENTRY result name parameters {                \
    return __VA_ARGS__;                              \
  }
