/* Litmus programs of flags: threads hand data over by atomic loads and stores, by fences, by volatile variables. Before
 * each round every thread reads all pages, so that each reader holds an old copy of what it is to see. The writer, the
 * reader, the pages of flag and data, and so their homes, change from round to round. Forbidden outcomes end the
 * program with status 1 and a line each; how often the others were seen goes to stdout. With an argument: rounds. */
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { pages = 12, page_bytes = 4096, ints = page_bytes / 4, most_threads = 64, most_outcomes = 16 };

static unsigned char* arena;
static int seen[most_threads];
static int failures;
static _Atomic int added;

static _Atomic int* variable(int round, int number) {
  const int apart = round % 3 != 0; /* else on one page */
  const int page = (round * 5 + number * (apart ? 1 + round / 3 % 4 : 0)) % pages;
  return (_Atomic int*)(arena + (size_t)page * page_bytes) + 16 * number + round % 7;
}
/* Fills, or checks, data that lies on pages of its own and beside the variables. */
static int* words(int round, int number) {
  return (int*)(arena + (size_t)((round * 5 + 7 + number) % pages) * page_bytes) + 512;
}
static void fill(int round, int number, int value) {
  for (int i = 0; i < 256; i += 5) words(round, number)[i] = value;
}
static int differs(int round, int number, int value) {
  int wrong = 0;
  for (int i = 0; i < 256; i += 5) wrong |= words(round, number)[i] != value;
  return wrong;
}
static void touch_all(void) {
  volatile int sum = 0;
  for (int i = 0; i < pages * ints; i += 128) sum += ((volatile int*)arena)[i];
}
static void dawdle(int round, int part) {
  uint32_t random = (uint32_t)round * 2654435761u + (uint32_t)part * 40503u;
  random ^= random >> 13;
  volatile int rest = random % 3 == 0 ? 0 : (int)(random >> 8) % 30000;
  while (rest > 0) --rest;
}
static int load(int round, int number, memory_order order) {
  return atomic_load_explicit(variable(round, number), order) == round + 1;
}
static void store(int round, int number, memory_order order) {
  atomic_store_explicit(variable(round, number), round + 1, order);
}

/* What part `part` of a round sees; parts are threads, turned by the round. */
typedef int act(int round, int part);

static int message(int round, int part, int waits, int by_fence) {
  if (part > 1) return 0;
  if (part == 0) {
    fill(round, 0, round + 1);
    fill(round, 1, -round);
    if (by_fence) atomic_thread_fence(memory_order_release);
    store(round, 0, by_fence ? memory_order_relaxed : memory_order_release);
    return 0;
  }
  int flag;
  do {
    flag = load(round, 0, by_fence ? memory_order_relaxed : memory_order_acquire);
  } while (!flag && waits);
  if (by_fence) atomic_thread_fence(memory_order_acquire);
  if (!flag) return 0;
  return differs(round, 0, round + 1) | differs(round, 1, -round) ? 2 : 1;
}
static int message_waited_for(int round, int part) {
  return message(round, part, 1, 0);
}
static int message_looked_at(int round, int part) {
  return message(round, part, 0, 0);
}
static int message_by_fences(int round, int part) {
  return message(round, part, round % 2, 1);
}
static int message_by_volatile(int round, int part) {
  volatile int* flag = (volatile int*)variable(round, 0);
  if (part == 0) {
    for (int i = 0; i < 256; i += 5) ((volatile int*)words(round, 0))[i] = round + 1;
    *flag = round + 1;
  }
  if (part != 1) return 0;
  while (*flag != round + 1) continue;
  return differs(round, 0, round + 1) ? 2 : 1;
}
/* Part 1 passes on what part 0 stored: part 2 sees both. */
static int chain(int round, int part) {
  if (part == 0) {
    fill(round, 0, round + 1);
    store(round, 0, memory_order_release);
  } else if (part == 1) {
    while (!load(round, 0, memory_order_acquire)) continue;
    fill(round, 1, round + 2);
    store(round, 1, memory_order_release);
  } else if (part == 2) {
    while (!load(round, 1, memory_order_acquire)) continue;
    return differs(round, 0, round + 1) | differs(round, 1, round + 2) ? 2 : 1;
  }
  return 0;
}
/* The same without any wait: the flags are stored by locked instructions, and looked at once. */
static int message_locked(int round, int part) {
  if (part > 1) return 0;
  if (part == 1) return message(round, part, 0, 0);
  fill(round, 0, round + 1);
  fill(round, 1, -round);
  store(round, 0, memory_order_seq_cst);
  return 0;
}
static int chain_locked(int round, int part) {
  if (part == 0) {
    fill(round, 0, round + 1);
    store(round, 0, memory_order_seq_cst);
  } else if (part == 1) {
    if (!load(round, 0, memory_order_acquire)) return 0;
    fill(round, 1, round + 2);
    store(round, 1, round % 2 ? memory_order_seq_cst : memory_order_release);
  } else if (part == 2) {
    if (!load(round, 1, memory_order_acquire)) return 0;
    return differs(round, 0, round + 1) | differs(round, 1, round + 2) ? 2 : 1;
  }
  return 0;
}
static int store_buffering(int round, int part) {
  if (part > 1) return 0;
  store(round, part, memory_order_seq_cst);
  return load(round, 1 - part, memory_order_seq_cst);
}
static int load_buffering(int round, int part) {
  if (part > 1) return 0;
  const int found = load(round, part, memory_order_acquire);
  store(round, 1 - part, memory_order_release);
  return found;
}
static int reads(int round, int part, memory_order order) {
  if (part < 2) store(round, part, order);
  if (part < 2 || part > 3) return 0;
  const int one = load(round, part - 2, memory_order_seq_cst);
  return one * 2 + load(round, 3 - part, memory_order_seq_cst);
}
static int independent_reads(int round, int part) {
  return reads(round, part, memory_order_release);
}
static int locked_reads(int round, int part) {
  return reads(round, part, memory_order_seq_cst);
}
/* Each of two threads stores 1 to its own variable and 2 to the other's: not both end as 1. */
static int stores_crossed(int round, int part) {
  if (part > 1) return 0;
  *variable(round, part) = 3 * round + 1;
  *variable(round, 1 - part) = 3 * round + 2;
  return 0;
}
static int stores_crossed_released(int round, int part) {
  if (part > 1) return 0;
  atomic_store_explicit(variable(round, part), 3 * round + 1, memory_order_release);
  atomic_store_explicit(variable(round, 1 - part), 3 * round + 2, memory_order_release);
  return 0;
}
/* A variable that grows is not seen to shrink, whoever stores; nor is one that two threads add to. */
static int coherence(int round, int part) {
  _Atomic int* place = variable(round, 0);
  int last = 0;
  for (int step = 1; step <= 40; ++step) {
    if (part == 0) atomic_store_explicit(place, round * 100 + step, memory_order_relaxed);
    if (part == 0) continue;
    const int now = atomic_load_explicit(place, memory_order_relaxed) - round * 100;
    if (now > 0 && now < last) return 2;
    if (now > 0) last = now;
  }
  return last > 0;
}
/* A pointer is looked at, and made under a lock by the first who finds none. */
static omp_lock_t making;
static int* _Atomic made[2];
static int checked_twice(int round, int part) {
  (void)part;
  int* one = atomic_load_explicit(&made[round % 2], memory_order_acquire);
  if (one == NULL) {
    omp_set_lock(&making);
    one = atomic_load_explicit(&made[round % 2], memory_order_relaxed);
    if (one == NULL) {
      one = words(round, 0);
      fill(round, 0, round + 9);
      atomic_store_explicit(&made[round % 2], one, memory_order_release);
    }
    omp_unset_lock(&making);
  }
  atomic_store_explicit(&made[1 - round % 2], NULL, memory_order_relaxed);
  return differs(round, 0, round + 9) ? 2 : 1;
}
/* Threads add to neighbouring bytes and to a sum, and pass a turn on: nothing is lost. */
static int turns(int round, int part) {
  const int team = omp_get_num_threads();
  unsigned char* bytes = (unsigned char*)words(round, 0);
  for (int step = 0; step < 3; ++step) {
    while (atomic_load_explicit(variable(round, 0), memory_order_acquire) != round * 1000 + step * team + part)
      continue;
    ++bytes[part];
    ++*(int*)(bytes + 256);
    atomic_store_explicit(variable(round, 0), round * 1000 + step * team + part + 1, memory_order_release);
  }
  return 1;
}

static int worst(int team) {
  int most = 0;
  for (int t = 0; t < team; ++t) most = seen[t] > most ? seen[t] : most;
  return most;
}
static int first_two(int team) {
  (void)team;
  return seen[0] * 2 + seen[1];
}
static int readers(int team) {
  (void)team;
  return seen[2] * 4 + seen[3];
}
static int last_round;
static int end_of_crossed(int team) {
  (void)team;
  const int one = *variable(last_round, 0) - 3 * last_round, two = *variable(last_round, 1) - 3 * last_round;
  return (one - 1) * 2 + two - 1;
}
static int end_of_turns(int team) {
  const unsigned char* bytes = (const unsigned char*)words(last_round, 0);
  int wrong = *(const int*)(bytes + 256) != 3 * team;
  for (int t = 0; t < team; ++t) wrong |= bytes[t] != 3;
  return wrong ? 2 : 1;
}

static const struct litmus {
  const char* name;
  int threads;
  act* part;
  int (*judge)(int team);
  unsigned forbidden;                              /* bits */
  enum { alone, adds_first, starts_at_zero } with; /* adds_first: an atomic operation of each thread before */
} programs[] = {
    {"message by a locked store", 2, message_locked, worst, 4, alone},
    {"message by a locked store in a chain", 3, chain_locked, worst, 4, alone},
    {"store buffering", 2, store_buffering, first_two, 1, alone},
    {"independent reads of locked writes", 4, locked_reads, readers, 1u << 10, alone},
    {"2+2W", 2, stores_crossed, end_of_crossed, 1, alone},
    {"message, looked at once", 2, message_looked_at, worst, 4, adds_first},
    {"load buffering", 2, load_buffering, first_two, 8, adds_first},
    {"independent reads of independent writes", 4, independent_reads, readers, 1u << 10, adds_first},
    {"2+2W by releases", 2, stores_crossed_released, end_of_crossed, 1, adds_first},
    {"double-checked locking", 2, checked_twice, worst, 4, adds_first},
    {"coherence", 2, coherence, worst, 4, alone},
    {"message by fences", 2, message_by_fences, worst, 4, alone},
    {"message, waited for", 2, message_waited_for, worst, 4, alone},
    {"message by a volatile flag", 2, message_by_volatile, worst, 4, alone},
    {"chain of two messages", 3, chain, worst, 4, alone},
    {"turns", 2, turns, end_of_turns, 4, starts_at_zero},
    {"message, looked at once after waits", 2, message_looked_at, worst, 4, alone},
    {"independent reads after waits", 4, independent_reads, readers, 1u << 10, alone},
};

static void run(const struct litmus* litmus, int rounds) {
  int count[most_outcomes] = {0};
  memset(arena, 0, (size_t)pages * page_bytes);
#pragma omp parallel
  {
    const int thread = omp_get_thread_num();
    const int team = omp_get_num_threads();
    for (int round = 1; round <= rounds; ++round) {
#pragma omp single
      {
        last_round = round;
        if (litmus->with == starts_at_zero) {
          memset(words(round, 0), 0, 512);
          *variable(round, 0) = round * 1000;
        }
      }
      touch_all();
#pragma omp barrier
      if (litmus->with == adds_first) atomic_fetch_add(&added, 1);
      touch_all();
      const int part = (thread + round) % team;
      dawdle(round, part);
      seen[part] = litmus->part(round, part);
#pragma omp barrier
#pragma omp master
      ++count[litmus->judge(team)];
#pragma omp barrier
    }
  }
  printf("%-40s", litmus->name);
  for (int i = 0; i < most_outcomes; ++i) {
    if (count[i] > 0) printf("  %d: %d", i, count[i]);
    if (count[i] == 0 || (litmus->forbidden >> i & 1) == 0) continue;
    fprintf(stderr, "flag_litmus: %s: the forbidden outcome %d was seen %d times in %d rounds\n", litmus->name, i,
            count[i], rounds);
    ++failures;
  }
  putchar('\n');
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 60;
  arena = aligned_alloc(page_bytes, (size_t)pages * page_bytes);
  if (arena == NULL) return 2;
  omp_init_lock(&making);
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; ++i) {
    if (programs[i].threads <= omp_get_max_threads()) run(&programs[i], rounds);
  }
  return failures != 0;
}
