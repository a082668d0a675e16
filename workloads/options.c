#include "workloads/options.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stop(enum exit_status status, const char* program, const char* format, ...) {
  va_list arguments;
  fflush(stdout);
  fprintf(stderr, "%s: ", program);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(status);
}

/* Reads the digits at *text and moves *text behind them. Returns false if there are none or they do not fit. */
static int read_digits(const char** text, long* value) {
  if (**text < '0' || **text > '9') return 0;  // strtol would take blanks and signs
  char* end;
  errno = 0;
  *value = strtol(*text, &end, 10);
  *text = end;
  return errno == 0;
}

long integer_option(const char* program, const char* option, const char* text, long least, long most) {
  const char* rest = text;
  long value = 0;
  int ok = read_digits(&rest, &value);
  if (ok && *rest == '^') {
    const long base = value;
    long exponent = 0;
    ++rest;
    ok = read_digits(&rest, &exponent);
    value = 1;
    for (; ok && exponent > 0; --exponent) {
      ok = base <= 1 || value <= LONG_MAX / base;
      if (!ok) break;
      value *= base;
      if (value <= 1) break;  // 0^k and 1^k
    }
  }
  if (!ok || *rest != '\0' || value < least || value > most) {
    stop(status_bad_input, program, "%s '%s' is not a whole number from %ld to %ld", option, text, least, most);
  }
  return value;
}

long bytes_option(const char* program, const char* option, const char* text) {
  static const struct {
    const char* name;
    long bytes;
  } units[] = {{"", 1}, {"B", 1}, {"KiB", 1L << 10}, {"MiB", 1L << 20}, {"GiB", 1L << 30}};
  const char* rest = text;
  long value = 0;
  if (read_digits(&rest, &value) && value > 0) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
      if (strcmp(rest, units[i].name) == 0 && value <= LONG_MAX / units[i].bytes) return value * units[i].bytes;
    }
  }
  stop(status_bad_input, program, "%s '%s' is not a size: write bytes, or KiB, MiB or GiB, such as 512KiB", option,
       text);
}

void read_run_option(const char* program, int option, int implementations, void (*print_help)(void),
                     struct run_options* options) {
  switch (option) {
    case opt_impl:
      options->implementation = (int)integer_option(program, "--impl", optarg, 0, implementations - 1);
      break;
    case opt_no_check: options->check = 0; break;
    case opt_hash: options->hash = 1; break;
    case opt_output: options->output = optarg; break;
    case opt_help: print_help(); exit(status_done);
    default: exit(status_bad_input); /* getopt has printed the reason */
  }
}

void refuse_arguments(const char* program, int argc, char** argv) {
  if (optind < argc) {
    stop(status_bad_input, program, "unexpected argument '%s' (--help lists the options)", argv[optind]);
  }
}
