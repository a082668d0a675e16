/* What release consistency promises, one small program for each promise, run some hundred times: the outcomes are
 * counted, and those that no order of the critical sections explains are forbidden. All of the programs are free of
 * data races, so that OpenMP forbids these outcomes too, and any OpenMP run-time must pass.
 *
 * Variables lie on a page of their own or together on one, by turns, and by turns on pages of each home. Threads that a
 * program has no part for go from barrier to barrier. Argument: rounds of each program (200). Status 0, or 1 if a
 * forbidden outcome was seen (a line on stderr for each program of which this is so). */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  page_bytes = 4096,
  arena_pages = 24,
  most_threads = 64,
  most_outcomes = 16,
};

static unsigned char* arena;
static omp_lock_t locks[most_threads];
static omp_nest_lock_t nest_lock;
static int seen[most_threads]; /* what each thread saw in this round */
static int failures;

/* Variable `number` of this round. */
static volatile int* variable(int round, int number) {
  const int page = round % 2 == 0 ? (round / 2 + number) % arena_pages : round / 2 % arena_pages;
  return (volatile int*)(arena + (size_t)page * page_bytes + (size_t)number * 8 + (size_t)(round % 7) * 64);
}

/* Lets threads meet in other orders, by the round. */
static void dawdle(int round, int thread) {
  uint32_t random = (uint32_t)round * 2654435761u + (uint32_t)thread * 40503u;
  random ^= random >> 15;
  volatile int rest = random % 4 == 0 ? 0 : (int)(random >> 8) % 20000;
  while (rest > 0) --rest;
}

static int read_under(omp_lock_t* lock, volatile int* place) {
  omp_set_lock(lock);
  const int value = *place;
  omp_unset_lock(lock);
  return value;
}
static void write_under(omp_lock_t* lock, volatile int* place, int value) {
  omp_set_lock(lock);
  *place = value;
  omp_unset_lock(lock);
}

/* One thread's part of a round. What it returns goes to seen[thread]. */
typedef int part(int round, int thread, int team);
/* From seen[]: number of the outcome. */
typedef int outcome(int team);

struct litmus {
  const char* name;
  int threads; /* at least */
  part* run;
  outcome* judge;
  int outcomes;
  unsigned forbidden; /* bits, by outcome */
  const char* names[most_outcomes];
};

static int right_or_wrong(int team) {
  for (int t = 0; t < team; ++t) {
    if (seen[t] != 0) return 1;
  }
  return 0;
}
static int pair_of_first_two(int team) {
  (void)team;
  return seen[0] * 2 + seen[1];
}

/* Thread 0 writes data, then a flag under the lock; who sees the flag sees the data. 0: no flag yet, 1: right, 2: not.
 */
static int message_passing(int round, int thread, int team) {
  volatile int* data = variable(round, 0);
  volatile int* flag = variable(round, 1);
  (void)team;
  dawdle(round, thread);
  if (thread == 0) {
    *data = round + 1;
    write_under(&locks[0], flag, round + 1);
    return 0;
  }
  for (int poll = 0; thread == 1 && poll < 4; ++poll) {
    if (read_under(&locks[0], flag) == round + 1) return *data == round + 1 ? 1 : 2;
  }
  return 0;
}
static int second(int team) {
  (void)team;
  return seen[1];
}

static int message_passing_by_test_lock(int round, int thread, int team) {
  volatile int* data = variable(round, 0);
  volatile int* flag = variable(round, 1);
  (void)team;
  dawdle(round, thread);
  if (thread > 1) return 0;
  if (thread == 0) *data = round + 1;
  while (!omp_test_lock(&locks[0])) {
  }
  const int flag_seen = *flag;
  if (thread == 0) *flag = round + 1;
  omp_unset_lock(&locks[0]);
  if (thread == 0 || flag_seen != round + 1) return 0;
  return *data == round + 1 ? 1 : 2;
}

static int message_passing_by_nested_lock(int round, int thread, int team) {
  volatile int* data = variable(round, 0);
  volatile int* flag = variable(round, 1);
  (void)team;
  dawdle(round, thread);
  if (thread > 1) return 0;
  if (thread == 0) *data = round + 1;
  omp_set_nest_lock(&nest_lock);
  omp_set_nest_lock(&nest_lock);
  const int flag_seen = *flag;
  if (thread == 0) *flag = round + 1;
  omp_unset_nest_lock(&nest_lock);
  omp_unset_nest_lock(&nest_lock);
  if (thread == 0 || flag_seen != round + 1) return 0;
  return *data == round + 1 ? 1 : 2;
}

/* Two threads each write one variable, then read the other's: one of them at least comes after the other. */
static int store_buffering_with(int round, int thread, int one_lock) {
  if (thread > 1) return 0;
  volatile int* own = variable(round, thread);
  volatile int* other = variable(round, 1 - thread);
  dawdle(round, thread);
  write_under(&locks[one_lock ? 0 : thread], own, round + 1);
  return read_under(&locks[one_lock ? 0 : 1 - thread], other) == round + 1;
}
static int store_buffering(int round, int thread, int team) {
  (void)team;
  return store_buffering_with(round, thread, 1);
}
static int store_buffering_of_two_locks(int round, int thread, int team) {
  (void)team;
  return store_buffering_with(round, thread, 0);
}

/* Two threads each read one variable, then write the other's: not both can see the other's write. */
static int load_buffering(int round, int thread, int team) {
  (void)team;
  if (thread > 1) return 0;
  dawdle(round, thread);
  const int found = read_under(&locks[thread], variable(round, thread)) == round + 1;
  write_under(&locks[1 - thread], variable(round, 1 - thread), round + 1);
  return found;
}

/* Threads 0 and 1 write a variable each; 2 and 3 read both, in opposite orders: they agree which came first. */
static int independent_reads(int round, int thread, int team) {
  (void)team;
  if (thread > 3) return 0;
  dawdle(round, thread);
  if (thread < 2) {
    write_under(&locks[thread], variable(round, thread), round + 1);
    return 0;
  }
  const int first = thread - 2;
  const int one = read_under(&locks[first], variable(round, first)) == round + 1;
  const int two = read_under(&locks[1 - first], variable(round, 1 - first)) == round + 1;
  return one * 2 + two;
}
static int independent_outcome(int team) {
  (void)team;
  return seen[2] * 4 + seen[3];
}

/* A variable that only grows is never seen to shrink. */
static int coherence(int round, int thread, int team) {
  volatile int* place = variable(round, 0);
  (void)team;
  int last = 0;
  int shrinks = 0;
  for (int step = 1; step <= 6; ++step) {
    dawdle(round + step, thread);
    omp_set_lock(&locks[0]);
    const int now = *place - round * 100;
    shrinks += now > 0 && now < last;
    last = now;
    if (thread == 0) *place = round * 100 + step;
    omp_unset_lock(&locks[0]);
  }
  return shrinks;
}

/* A block is made by one thread, filled, handed over under a lock, read and freed by another. */
static unsigned char* volatile handed_over;
static int publication(int round, int thread, int team) {
  (void)team;
  const size_t bytes = (size_t)(round % 5 == 0 ? 3 * page_bytes + round : 1 + round);
  dawdle(round, thread);
  if (thread == 0) {
    unsigned char* block = malloc(bytes);
    if (block == NULL) return 2;
    for (size_t i = 0; i < bytes; ++i) block[i] = (unsigned char)(i + (size_t)round);
    omp_set_lock(&locks[0]);
    handed_over = block;
    omp_unset_lock(&locks[0]);
    return 0;
  }
  if (thread > 1) return 0;
  unsigned char* block = NULL;
  while (block == NULL) {
    omp_set_lock(&locks[0]);
    block = handed_over;
    handed_over = NULL;
    omp_unset_lock(&locks[0]);
  }
  int wrong = 0;
  for (size_t i = 0; i < bytes; ++i) wrong += block[i] != (unsigned char)(i + (size_t)round);
  free(block);
  return wrong > 0;
}

/* Two threads write the halves of a page. */
static int halves_of_a_page(int round, int thread, int team) {
  volatile unsigned char* page = arena + (size_t)(round % arena_pages) * page_bytes;
  (void)team;
  if (thread < 2) {
    for (int i = 0; i < page_bytes / 2; ++i) page[thread * (page_bytes / 2) + i] = (unsigned char)(round + i + thread);
  }
#pragma omp barrier
  int wrong = 0;
  for (int i = 0; i < page_bytes; ++i) {
    wrong += page[i] != (unsigned char)(round + i % (page_bytes / 2) + i / (page_bytes / 2));
  }
  return wrong > 0;
}

/* Each thread writes each team-th byte. */
static int bytes_of_a_page(int round, int thread, int team) {
  volatile unsigned char* page = arena + (size_t)(round % arena_pages) * page_bytes;
  for (int i = thread; i < page_bytes; i += team) page[i] = (unsigned char)(round * 3 + i);
#pragma omp barrier
  int wrong = 0;
  for (int i = 0; i < page_bytes; ++i) wrong += page[i] != (unsigned char)(round * 3 + i);
  return wrong > 0;
}

/* Bytes of one word, each under a lock of its own, and each changed by all threads. */
static int bytes_under_locks(int round, int thread, int team) {
  volatile unsigned char* word = arena + (size_t)(round % arena_pages) * page_bytes + (size_t)(round % 100) * 4;
  unsigned char before[4];
  for (int i = 0; i < 4; ++i) before[i] = word[i];
#pragma omp barrier
  for (int step = 0; step < 4; ++step) {
    const int byte = (thread + step) % 4;
    omp_set_lock(&locks[byte]);
    word[byte] = (unsigned char)(word[byte] + thread + 1);
    omp_unset_lock(&locks[byte]);
  }
#pragma omp barrier
  int wrong = 0;
  for (int i = 0; i < 4; ++i) wrong += word[i] != (unsigned char)(before[i] + team * (team + 1) / 2);
  return wrong > 0;
}

/* 0 writes data and a flag for 1 under one lock; 1 sets 2's under another; 2 sees the data. 3: 2 saw the flag alone. */
static int chain(int round, int thread, int team) {
  volatile int* data = variable(round, 0);
  (void)team;
  dawdle(round, thread);
  if (thread > 2) return 0;
  if (thread == 0) {
    *data = round + 1;
    write_under(&locks[0], variable(round, 1), round + 1);
    return 0;
  }
  const int is_last = thread == 2;
  for (int poll = 0; poll < 4; ++poll) {
    if (read_under(&locks[thread - 1], variable(round, thread)) != round + 1) continue;
    if (is_last) return *data == round + 1 ? 2 : 3;
    write_under(&locks[1], variable(round, 2), round + 1);
    return 1;
  }
  return 0;
}
static int third(int team) {
  (void)team;
  return seen[2];
}

/* What one thread does in a critical section is everybody's after a barrier. */
static int critical_then_barrier(int round, int thread, int team) {
  volatile int* place = variable(round, 0);
  if (thread == round % team) {
#pragma omp critical
    *place = round + 1;
  }
#pragma omp barrier
  return *place != round + 1;
}

/* Counters of the threads' own lie beside one that all increase under a lock: taking the lock loses none of them. */
static int own_beside_guarded(int round, int thread, int team) {
  volatile int* counters = (volatile int*)(arena + (size_t)(round % arena_pages) * page_bytes);
  volatile int* guarded = counters + most_threads;
  volatile int* own = counters + thread;
  const int own_before = *own;
  const int guarded_before = *guarded;
#pragma omp barrier
  for (int step = 0; step < 3; ++step) {
    ++*own;
#pragma omp critical
    {
      ++*own;
      ++*guarded;
    }
    ++*own;
  }
#pragma omp barrier
  return *own != own_before + 9 || *guarded != guarded_before + 3 * team;
}

/* Who is in a single writes; the others go on only when that is done. */
static int single_then_all(int round, int thread, int team) {
  volatile int* place = variable(round, 0);
  int copied = 0;
  (void)thread;
  (void)team;
#pragma omp single copyprivate(copied)
  {
    *place = round + 1;
    copied = round + 2;
  }
  return *place != round + 1 || copied != round + 2;
}

/* Each iteration sees what all before it did in their ordered regions. */
static int ordered_sequence(int round, int thread, int team) {
  volatile int* place = variable(round, 0);
  int wrong = 0;
#pragma omp barrier
  if (thread == 0) *place = 0;
#pragma omp barrier
#pragma omp for ordered schedule(dynamic)
  for (int i = 0; i < 2 * team; ++i) {
#pragma omp ordered
    {
      wrong += *place != i;
      *place = i + 1;
    }
  }
  return wrong > 0;
}

static const struct litmus programs[] = {
    {"message passing", 2, message_passing, second, 3, 4, {"not yet", "seen", "stale"}},
    {"message passing, omp_test_lock", 2, message_passing_by_test_lock, second, 3, 4, {"not yet", "seen", "stale"}},
    {"message passing, nested lock", 2, message_passing_by_nested_lock, second, 3, 4, {"not yet", "seen", "stale"}},
    {"store buffering, one lock", 2, store_buffering, pair_of_first_two, 4, 1, {"0 0", "0 1", "1 0", "1 1"}},
    {"store buffering, two locks",
     2,
     store_buffering_of_two_locks,
     pair_of_first_two,
     4,
     1,
     {"0 0", "0 1", "1 0", "1 1"}},
    {"load buffering", 2, load_buffering, pair_of_first_two, 4, 8, {"0 0", "0 1", "1 0", "1 1"}},
    {"independent reads of independent writes",
     4,
     independent_reads,
     independent_outcome,
     16,
     1u << 10,
     {"00 00", "00 01", "00 10", "00 11", "01 00", "01 01", "01 10", "01 11", "10 00", "10 01", "10 10", "10 11",
      "11 00", "11 01", "11 10", "11 11"}},
    {"coherence of one location", 2, coherence, right_or_wrong, 2, 2, {"grows", "shrinks"}},
    {"publication of a block", 2, publication, right_or_wrong, 2, 2, {"right", "wrong"}},
    {"halves of a page", 2, halves_of_a_page, right_or_wrong, 2, 2, {"right", "wrong"}},
    {"bytes of a page", 1, bytes_of_a_page, right_or_wrong, 2, 2, {"right", "wrong"}},
    {"bytes of a word, each under a lock", 1, bytes_under_locks, right_or_wrong, 2, 2, {"right", "wrong"}},
    {"a chain of two locks", 3, chain, third, 4, 8, {"not yet", "", "seen", "stale"}},
    {"critical, then barrier", 1, critical_then_barrier, right_or_wrong, 2, 2, {"right", "wrong"}},
    {"own data beside guarded data", 1, own_beside_guarded, right_or_wrong, 2, 2, {"right", "wrong"}},
    {"single with copyprivate", 1, single_then_all, right_or_wrong, 2, 2, {"right", "wrong"}},
    {"ordered iterations", 1, ordered_sequence, right_or_wrong, 2, 2, {"right", "wrong"}},
};

static void run(const struct litmus* litmus, int rounds) {
  static int count[most_outcomes];
  memset(count, 0, sizeof count);
  handed_over = NULL;
  memset(arena, 0, (size_t)arena_pages * page_bytes);
#pragma omp parallel
  {
    const int thread = omp_get_thread_num();
    const int team = omp_get_num_threads();
    for (int round = 0; round < rounds; ++round) {
      const int result = litmus->run(round, thread, team);
      seen[thread] = result;
#pragma omp barrier
#pragma omp master
      ++count[litmus->judge(team)];
#pragma omp barrier
    }
  }
  printf("%-40s", litmus->name);
  for (int i = 0; i < litmus->outcomes; ++i) {
    if (count[i] > 0) printf("  %s: %d", litmus->names[i], count[i]);
    if (count[i] == 0 || (litmus->forbidden >> i & 1) == 0) continue;
    fprintf(stderr, "litmus: %s: the forbidden outcome '%s' was seen %d times in %d rounds\n", litmus->name,
            litmus->names[i], count[i], rounds);
    ++failures;
  }
  putchar('\n');
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  arena = aligned_alloc(page_bytes, (size_t)arena_pages * page_bytes);
  if (arena == NULL) return 2;
  for (int i = 0; i < most_threads; ++i) omp_init_lock(&locks[i]);
  omp_init_nest_lock(&nest_lock);
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; ++i) {
    if (programs[i].threads <= omp_get_max_threads()) run(&programs[i], rounds);
  }
  free(arena);
  return failures == 0 ? 0 : 1;
}
