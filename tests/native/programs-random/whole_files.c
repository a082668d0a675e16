/* Threads write and read large parts of a regular file, while local peers take locks and shut pages: each
 * call moves all that it was asked for, as no program expects less of a regular file. Says "whole". */
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { bytes_each = 50000, rounds = 20 };

static char value(long at) {
  return (char)('a' + at % 26);
}

/* How many of the bytes are not those of the file's place `from`. */
static int wrong_bytes(const char* bytes, long from) {
  int wrong = 0;
  for (long i = 0; i < bytes_each; ++i) wrong += bytes[i] != value(from + i);
  return wrong;
}

int main(void) {
  char name[] = "/tmp/sdsm-whole-files-XXXXXX";
  const int file = mkstemp(name);
  if (file < 0) return perror(name), 2;
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    const long from = (long)omp_get_thread_num() * bytes_each;
    for (int round = 0; round < rounds; ++round) {
      char* buffer = malloc(bytes_each);
      const int own = open(name, O_RDWR);
      for (long i = 0; i < bytes_each; ++i) buffer[i] = value(from + i);
      if (round % 2) {
        wrong += pwrite(own, buffer, bytes_each, from) != bytes_each;
      } else {
        lseek(own, from, SEEK_SET);
        wrong += write(own, buffer, bytes_each) != bytes_each;
      }
      free(buffer);
      buffer = malloc(bytes_each);
      wrong += pread(own, buffer, bytes_each, from) != bytes_each;
      wrong += wrong_bytes(buffer, from);
      free(buffer);
      buffer = malloc(bytes_each);
      lseek(own, from, SEEK_SET);
      wrong += read(own, buffer, bytes_each) != bytes_each;
      wrong += wrong_bytes(buffer, from);
      free(buffer);
      close(own);
#pragma omp critical
      wrong += 0;
    }
  }
  unlink(name);
  puts(wrong ? "in parts, or wrong" : "whole");
  return wrong != 0;
}
