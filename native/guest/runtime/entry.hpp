/// Marks a function that programs call by its plain name, as libgomp's.
#pragma once

#define SDSM_ENTRY extern "C" __attribute__((visibility("default")))

/// Defines an entry point that returns an expression, or the result of a call that may be void.
#define SDSM_ENTRY_AS(result, name, parameters, ...) \
  SDSM_ENTRY result name parameters {                \
    return __VA_ARGS__;                              \
  }

/// Defines a variadic entry point that returns an expression of its arguments behind `last`, a std::va_list `list`.
#define SDSM_VARIADIC_ENTRY(name, parameters, last, ...) \
  SDSM_ENTRY int name parameters {                       \
    std::va_list list;                                   \
    va_start(list, last);                                \
    const int answer = __VA_ARGS__;                      \
    va_end(list);                                        \
    return answer;                                       \
  }

/// Follows a function's declaration: the function is another name of one that the same file defines.
#define SDSM_ALIAS(name) __attribute__((alias(#name)))
