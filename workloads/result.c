#include "workloads/result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_hash(const void* data, size_t bytes) {
  // Offset basis and prime: G. Fowler, L.C. Noll, K.-P. Vo, "The FNV Non-Cryptographic Hash Algorithm".
  uint64_t hash = 14695981039346656037u;
  const unsigned char* byte = data;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ byte[i]) * 1099511628211u;
  printf("hash: %016" PRIx64 "\n", hash);
}

static void write_result(const char* program, const char* path, const void* data, size_t bytes) {
  FILE* file = fopen(path, "wb");
  if (!file) stop(status_failed, program, "cannot write '%s': %s", path, strerror(errno));
  errno = 0;
  const size_t written = fwrite(data, 1, bytes, file);
  const int closed = fclose(file);
  if (written != bytes || closed != 0) {
    stop(status_failed, program, "'%s' is incomplete (%zu bytes were to be written): %s", path, bytes, strerror(errno));
  }
}

int wants_result(const struct run_options* options) {
  return options->check || options->hash || options->output;
}

void hand_over(const char* program, const struct run_options* options, const void* data, size_t bytes) {
  if (options->hash) print_hash(data, bytes);
  if (options->output) write_result(program, options->output, data, bytes);
}

enum exit_status end_of_run(const char* program) {
  if (fflush(stdout) != 0) stop(status_failed, program, "cannot write to standard output");
  return status_done;
}
