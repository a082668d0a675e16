/* Prints or writes a program's result, so that two runs can be compared bit for bit. */
#ifndef SDSM_WORKLOADS_RESULT_H
#define SDSM_WORKLOADS_RESULT_H

#include <stddef.h>

#include "workloads/options.h"

/* Whether the run's options ask for the result, to check it or to write it. */
int wants_result(const struct run_options* options);

/* With --hash prints "hash: <16 hexadecimal digits>", the 64-bit FNV-1a hash of the bytes; with --output writes them as
 * they are in memory. Ends the program (exit status 1) if the file cannot be written whole. */
void hand_over(const char* program, const struct run_options* options, const void* data, size_t bytes);

/* Returns the exit status of a successful program. Ends it with status 1 if its output could not be written. */
enum exit_status end_of_run(const char* program);

#endif
