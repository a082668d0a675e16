/* Reads command-line values, for all programs. A bad value ends the program with exit status 2 and one line on stderr:
 * the value, and what is expected. */
#ifndef SDSM_WORKLOADS_OPTIONS_H
#define SDSM_WORKLOADS_OPTIONS_H

#include <getopt.h>

/* Exit statuses, the same as those of sdsm's commands. */
enum exit_status { status_done = 0, status_failed = 1, status_bad_input = 2 };

/* Prints "program: text" and ends the program with `status`. */
_Noreturn void stop(enum exit_status status, const char* program, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the integer in `text` (decimal, or a power such as 2^19), which must lie in [least, most]. */
long integer_option(const char* program, const char* option, const char* text, long least, long most);

/* Returns the number of bytes in `text`, with an optional unit: "524288", "512KiB", "1MiB". At least 1. */
long bytes_option(const char* program, const char* option, const char* text);

/* The options that every program has beside its own. */
struct run_options {
  int implementation;
  int check;
  int hash;
  const char* output; /* NULL: not wanted */
};

/* Numbers of these options, apart from a program's own, and their rows for getopt_long. */
enum { opt_impl = 256, opt_no_check, opt_hash, opt_output, opt_help };
#define RUN_OPTION_ROWS                                                                       \
  {"impl", required_argument, NULL, opt_impl}, {"no-check", no_argument, NULL, opt_no_check}, \
      {"hash", no_argument, NULL, opt_hash}, {"output", required_argument, NULL, opt_output}, \
      {"help", no_argument, NULL, opt_help}, {                                                \
    NULL, 0, NULL, 0                                                                          \
  }

/* Reads the option that getopt_long has just returned and that is none of the program's own; --help and an unknown one
 * end the program. */
void read_run_option(const char* program, int option, int implementations, void (*print_help)(void),
                     struct run_options* options);

/* Ends the program (exit status 2) if arguments are left that are no options. */
void refuse_arguments(const char* program, int argc, char** argv);

#endif
