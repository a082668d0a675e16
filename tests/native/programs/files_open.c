/* A file that one thread opens is open in all: descriptors, and streams with their buffers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <wchar.h>

#include "expect.h"

enum { lines = 400, most_threads = 64 };

static int temporary(void) {
  char name[] = "/tmp/sdsm-files-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  return file;
}

/* One offset for all, which a write moves, and lseek. */
static void one_offset(void) {
  const int file = temporary();
  const int again = dup(file);
  int wrong = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < lines; ++i) wrong += write(i % 2 ? file : again, "line\n", 5) != 5;
  EXPECT(wrong == 0);
  EXPECT(lseek(file, 0, SEEK_CUR) == 5 * lines);
  EXPECT(lseek(file, 0, SEEK_END) == 5 * lines);
#pragma omp parallel
#pragma omp critical
  {
    lseek(again, 0, SEEK_SET);
    if (omp_get_thread_num() > 0) lseek(file, 7, SEEK_CUR);
  }
  EXPECT(lseek(file, 0, SEEK_CUR) == (omp_get_max_threads() > 1 ? 7 : 0) || omp_get_max_threads() > 1);
  close(file);
  close(again);
}

/* Opened by one thread in a region, closed by another, and opened anew under the same number. */
static void opened_inside(void) {
  static int file, old;
  static int wrong;
#pragma omp parallel
  {
#pragma omp single
    old = file = temporary();
#pragma omp critical
    wrong += write(file, "x", 1) != 1;
#pragma omp barrier
#pragma omp single
    wrong += lseek(file, 0, SEEK_CUR) != omp_get_num_threads();
#pragma omp master
    close(file);
#pragma omp barrier
#pragma omp critical
    wrong += write(file, "x", 1) != -1 || errno != EBADF;
#pragma omp barrier
#pragma omp single
    {
      file = temporary();
      wrong += write(file, "new", 3) != 3;
    }
    char text[3] = "";
#pragma omp critical
    wrong += pread(file, text, 3, 0) != 3 || memcmp(text, "new", 3) != 0;
  }
  EXPECT(file == old);
  EXPECT(wrong == 0);
  close(file);
}

/* All open one at once, and use their neighbours'. */
static void all_at_once(void) {
  static int files[most_threads];
  static FILE* streams[most_threads];
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    const int self = omp_get_thread_num(), next = (self + 1) % omp_get_num_threads();
    files[self] = temporary();
    streams[self] = tmpfile();
    wrong += write(files[self], &self, sizeof self) != sizeof self;
    wrong += fprintf(streams[self], "%d\n", self) < 0;
#pragma omp barrier
    int found = -1;
    wrong += pread(files[next], &found, sizeof found, 0) != sizeof found || found != next;
    rewind(streams[next]);
    wrong += fscanf(streams[next], "%d", &found) != 1 || found != next;
#pragma omp barrier
    wrong += fclose(streams[next]) != 0 || close(files[next]) != 0;
  }
  EXPECT(wrong == 0);
}

/* A stream that all write, then read: each line once, and all see its end. */
static void stream(void) {
  FILE* file = tmpfile();
  int wrong = 0, read = 0, ends = 0;
  static int seen[lines];
  memset(seen, 0, sizeof seen);
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < lines; ++i) {
#pragma omp critical
    {
      wrong += fprintf(file, "line ") != 5;
      wrong += fwrite("number ", 1, 7, file) != 7;
      wrong += fputs("of all ", file) < 0 || fprintf(file, "%d", i) < 0 || putc('\n', file) == EOF;
    }
  }
  EXPECT(fflush(file) == 0 && ftell(file) == lines * 20 + 10 + 90 * 2 + (lines - 100) * 3);
  rewind(file);
#pragma omp parallel reduction(+ : wrong, read, ends)
  {
    char line[80];
    for (;;) {
      char* got = NULL;
#pragma omp critical
      {
        got = fgets(line, sizeof line, file);
        if (got == NULL) ends += feof(file) != 0;
      }
      if (got == NULL) break;
      int number = -1;
      wrong += sscanf(line, "line number of all %d", &number) != 1 || number < 0 || number >= lines;
      if (number >= 0 && number < lines) {
#pragma omp atomic
        ++seen[number];
      }
      ++read;
    }
  }
  EXPECT(wrong == 0);
  EXPECT(read == lines);
  EXPECT(ends == omp_get_max_threads());
  EXPECT(feof(file) != 0);
  for (int i = 0; i < lines; ++i) wrong += seen[i] != 1;
  EXPECT(wrong == 0);
  /* Each goes to its own place, and changes it there. */
  rewind(file);
#pragma omp parallel for ordered schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < lines / 10; ++i) {
#pragma omp ordered
    {
      wrong += ftell(file) != (i == 0 ? 0 : (i - 1) * 20 + 4) || feof(file) != 0;
      fseek(file, i * 20, SEEK_SET);
      wrong += getc(file) == EOF;
      fseek(file, 0, SEEK_CUR);
      wrong += fputs("...", file) < 0;
    }
  }
  EXPECT(wrong == 0);
  /* Closed by the thread that comes last. */
  static int left;
  left = 0;
#pragma omp parallel reduction(+ : wrong)
#pragma omp critical
  if (++left == omp_get_num_threads()) wrong += fclose(file) != 0;
  EXPECT(wrong == 0);
}

/* Handed on by a lock of the program's own, and from iteration to iteration; wide characters. */
static void by_other_means(void) {
  FILE* file = tmpfile();
  static int is_taken;
  int wrong = 0, read = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < lines; ++i) {
#pragma omp critical
    wrong += fwprintf(file, L"line %d\n", i) < 0;
  }
  fflush(file);
  FILE* in = fdopen(dup(fileno(file)), "r");
  rewind(in);
#pragma omp parallel reduction(+ : wrong, read)
  for (char* got = ""; got != NULL;) {
    char line[80];
    while (__atomic_exchange_n(&is_taken, 1, __ATOMIC_ACQUIRE) != 0) continue;
    got = fgets(line, sizeof line, in);
    __atomic_store_n(&is_taken, 0, __ATOMIC_SEQ_CST);
    int number = -1;
    if (got != NULL) wrong += sscanf(line, "line %d", &number) != 1;
    read += got != NULL;
  }
  EXPECT(wrong == 0);
  EXPECT(read == lines);
  rewind(in);
  read = 0;
#pragma omp parallel for ordered(1) schedule(static, 1) reduction(+ : read)
  for (int i = 0; i < lines; ++i) {
    int number = -1;
#pragma omp ordered depend(sink : i - 1)
    if (fscanf(in, "line %d\n", &number) == 1) ++read;
#pragma omp ordered depend(source)
  }
  EXPECT(read == lines);
  fclose(in);
  fclose(file);
}

/* Standard output in a file: by freopen, and by dup2. */
static void standard_output(int by_name) {
  fflush(stdout);
  const int before = dup(1);
  char name[] = "/tmp/sdsm-files-XXXXXX";
  const int file = mkstemp(name);
  if (by_name) {
    EXPECT(freopen(name, "w", stdout) == stdout);
  } else {
    EXPECT(dup2(file, 1) == 1);
  }
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < lines; ++i) printf("line %d of standard output\n", i);
  fflush(stdout);
  dup2(before, 1);
  close(before);
  FILE* in = fopen(name, "r");
  int count = 0, number = 0, sum = 0;
  while (in && fscanf(in, "line %d of standard output\n", &number) == 1) {
    sum += number;
    ++count;
  }
  EXPECT(count == lines && sum == lines / 2 * (lines - 1));
  if (in) fclose(in);
  close(file);
  unlink(name);
}

/* One thread writes to a pipe, and closes it; another reads up to the end. */
static void through_pipe(void) {
  if (omp_get_max_threads() < 2) return;
  static int ends[2];
  EXPECT(pipe(ends) == 0);
  int bytes = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      for (int i = 0; i < 10; ++i) bytes -= write(ends[1], "0123456789", 10) != 10;
      close(ends[1]);
    } else {
      char text[64];
      /* The tracer lets one thread run at a time: here it takes the writer, which is behind by then. */
      for (volatile int i = 0; i < 1000000; ++i) continue;
#pragma omp flush
      for (ssize_t some = 1; some > 0; bytes += (int)some) some = read(ends[0], text, sizeof text);
    }
  }
  EXPECT(bytes == 100);
  close(ends[0]);
}

/* A descriptor that is open for another access is no other thread's. Those of epoll are everyone's. */
static void refused_and_waiting(void) {
  char name[] = "/tmp/sdsm-files-XXXXXX";
  close(mkstemp(name));
  const int file = open(name, O_RDONLY);
  unlink(name);
  const int waiting = epoll_create1(0);
  int ends[2];
  EXPECT(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
  struct epoll_event event = {.events = EPOLLIN};
  EXPECT(epoll_ctl(waiting, EPOLL_CTL_ADD, ends[0], &event) == 0);
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    struct epoll_event found;
    wrong += write(file, "x", 1) != -1 || errno != EBADF;
    wrong += epoll_wait(waiting, &found, 1, 0) != 1;
  }
  EXPECT(wrong == 0);
  close(file);
  close(waiting);
  close(ends[0]);
  close(ends[1]);
}

int main(void) {
  for (int round = 0; round < 2; ++round) {
    one_offset();
    opened_inside();
    all_at_once();
    stream();
    by_other_means();
    standard_output(round);
    through_pipe();
    refused_and_waiting();
  }
  return expect_status();
}
