/* Reading of command-line values, the same for all programs: a value that is not understood ends the program with one
 * line on stderr that says what was read and what is expected, and exit status 2. */
#ifndef SDSM_WORKLOADS_OPTIONS_H
#define SDSM_WORKLOADS_OPTIONS_H

/* What a program says of itself and returns (the same as the commands of sdsm). */
enum exit_status { status_done = 0, status_failed = 1, status_bad_input = 2 };

/* Prints "program: text" and ends the program with `status`. */
_Noreturn void stop(enum exit_status status, const char* program, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* The integer in `text` (decimal, or a power such as 2^19), which must lie in [least, most]. */
long integer_option(const char* program, const char* option, const char* text, long least, long most);

/* The number of bytes in `text`, with an optional unit: "524288", "512KiB", "1MiB". At least 1. */
long bytes_option(const char* program, const char* option, const char* text);

#endif
