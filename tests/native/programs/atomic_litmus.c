/* Litmus tests of sequential consistency: pages at changing homes, of which all threads hold copies before. The stores
 * are exchanges, as compilers make of sequentially consistent stores; the loads are plain. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { pages = 24, ints = 1024, rounds = 60 };

static int (*page)[ints];
static unsigned state = 1;
static int x, y, data, failures, messages, waited;
static int seen[64][2];

static unsigned draw(unsigned limit) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % limit;
}
static int load(int number) {
  return __atomic_load_n(&page[number][7], __ATOMIC_SEQ_CST);
}
static void store(int number, int value) {
  __atomic_store_n(&page[number][7], value, __ATOMIC_SEQ_CST);
}

static void fail(const char* what, int round) {
  if (failures++ < 5) printf("FAILED: %s in round %d\n", what, round);
}

static void begin_round(void) {
#pragma omp barrier
#pragma omp single
  {
    x = (int)draw(pages);
    y = (x + 1 + (int)draw(pages - 2)) % pages;
    do data = (int)draw(pages);
    while (data == x || data == y);
  }
#pragma omp barrier
  /* The barrier has dropped all copies. */
  volatile int sum = 0;
  for (int i = 0; i < pages; ++i) sum += page[i][7] + page[i][100];
  for (volatile int i = omp_get_thread_num() * 500; i > 0; --i) continue;
}

int main(void) {
  page = aligned_alloc(4096, sizeof(int[pages][ints]));
  memset(page, 0, sizeof(int[pages][ints]));
  const int threads = omp_get_max_threads();
  if (threads < 2) return 0;
#pragma omp parallel num_threads(threads)
  {
    const int self = omp_get_thread_num();
    for (int round = 1; round <= rounds; ++round) {
      begin_round(); /* a message, for which one thread waits and others poll once */
      const int sender = round % threads;
      if (self == sender) {
        for (int i = 0; i < ints; i += 100) page[data][i] = round;
        store(x, round);
      } else {
        const int is_waiting = self == (sender + 1) % threads && round % 8 == 0;
        int flag;
        while ((flag = load(x)) != round && is_waiting) continue;
        if (flag == round) {
          for (int i = 0; i < ints; i += 100)
            if (page[data][i] != round) fail("data behind a flag is old", round);
#pragma omp atomic
          ++messages;
#pragma omp atomic
          waited += is_waiting;
        }
      }
      begin_round(); /* two that store and read each other's */
      if (self < 2) {
        store(self == 0 ? x : y, -round);
        seen[self][0] = load(self == 0 ? y : x);
      }
#pragma omp barrier
#pragma omp master
      if (seen[0][0] != -round && seen[1][0] != -round) fail("both loads went before the other's store", round);
      begin_round(); /* two that store, and two that see it in different order */
      if (threads >= 4) {
        if (self == 0) store(x, 1000 + round);
        if (self == 1) store(y, 1000 + round);
        if (self == 2 || self == 3) {
          seen[self][0] = load(self == 2 ? x : y);
          seen[self][1] = load(self == 2 ? y : x);
        }
#pragma omp barrier
#pragma omp master
        if (seen[2][0] == 1000 + round && seen[2][1] != 1000 + round && seen[3][0] == 1000 + round &&
            seen[3][1] != 1000 + round)
          fail("two stores were seen in different order", round);
      }
    }
  }
  if (messages == 0 || waited == 0) fail("no message was seen at all", 0);
  return failures != 0;
}
