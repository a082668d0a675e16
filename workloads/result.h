/* How a program hands over the array that it computed, so that two runs can be compared bit for bit. */
#ifndef SDSM_WORKLOADS_RESULT_H
#define SDSM_WORKLOADS_RESULT_H

#include <stddef.h>

/* Prints "hash: <16 hexadecimal digits>", the 64-bit FNV-1a hash of the bytes. */
void print_hash(const void* data, size_t bytes);

/* Writes the bytes as they are in memory. Ends the program (exit status 1) if the file cannot be written whole. */
void write_result(const char* program, const char* path, const void* data, size_t bytes);

#endif
