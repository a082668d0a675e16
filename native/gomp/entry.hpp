/// Marks a function that programs call by its plain name, as libgomp's.
#pragma once

#define SDSM_ENTRY extern "C" __attribute__((visibility("default")))

/// Defines an entry point that returns an expression, or the result of a call that may be void.
#define SDSM_ENTRY_AS(result, name, parameters, ...) \
  SDSM_ENTRY result name parameters {                \
    return __VA_ARGS__;                              \
  }

/// Follows a function's declaration: the function is another name of one that the same file defines.
#define SDSM_ALIAS(name) __attribute__((alias(#name)))
