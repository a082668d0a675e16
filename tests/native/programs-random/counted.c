/* Small programs, one for each construct, whose faults and messages the protocol decides, whatever the timing:
 *   counted NAME
 * What happens between the two readings of the clock is compared by tests/validation/test_native_counts.py. */
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { page_ints = 1024, pages = 16, rounds = 5, most_threads = 64 };

static int* array; /* pages x page_ints, placed round-robin */
static omp_lock_t locks[most_threads];
static omp_nest_lock_t nest_lock;

static int* page(int number) {
  return array + number % pages * page_ints;
}

/* Each thread changes a word of each page, beside the others' words. */
static void false_sharing(void) {
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
    for (int p = 0; p < pages; ++p) page(p)[omp_get_thread_num() * 3] += round;
#pragma omp barrier
  }
}

/* Locks made by all threads at once; who uses one first is fixed. */
static void locks_of_a_region(void) {
  enum { made = 1000 };
  omp_lock_t* many = malloc(made * sizeof *many);
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < made; ++i) omp_init_lock(&many[i]);
    for (int turn = 0; turn < omp_get_num_threads(); ++turn) {
      if (turn == omp_get_thread_num()) {
        for (int i = 0; i < 3; ++i) {
          omp_set_lock(&many[(turn * 383 + i * 211) % made]);
          ++page(i)[0];
          omp_unset_lock(&many[(turn * 383 + i * 211) % made]);
        }
      }
#pragma omp barrier
    }
#pragma omp for
    for (int i = 0; i < made; ++i) omp_destroy_lock(&many[i]);
  }
  free(many);
}

/* Each reads what its neighbour wrote. */
static void neighbours(void) {
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
    const int me = omp_get_thread_num();
    const int team = omp_get_num_threads();
    for (int i = 0; i < page_ints; i += 5) page(me)[i] = page((me + 1) % team)[i + 1] + round;
#pragma omp barrier
    for (int i = 1; i < page_ints; i += 5) page(me)[i] = round * i;
#pragma omp barrier
  }
}

/* The nameless critical section, once a round. */
static void critical(void) {
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
#pragma omp critical
    {
      ++page(3)[0];
      ++page(6)[9];
    }
#pragma omp barrier
  }
}

static void named_critical(void) {
#pragma omp parallel
  {
#pragma omp critical(one)
    ++page(3)[0];
#pragma omp critical(other)
    ++page(2)[1];
  }
}

/* A lock for each thread, with pages of its own. */
static void own_locks(void) {
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
    const int me = omp_get_thread_num();
    omp_set_lock(&locks[me]);
    page(me + 1)[0] += round;
    omp_unset_lock(&locks[me]);
    page(me + 1)[7] += round;
  }
}

/* The initial thread takes locks again and again while it runs alone, beside changed pages. The others, who had some of
 * them before, and have them afterwards, find what it stored. */
static void locks_alone(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (int round = 1; round <= 2; ++round) {
#pragma omp parallel
    for (int turn = 0; turn < omp_get_num_threads(); ++turn) {
      if (turn == omp_get_thread_num()) {
        omp_set_lock(&locks[1]);
        ++page(1)[3];
        omp_unset_lock(&locks[1]);
      }
#pragma omp barrier
    }
    for (int i = 0; i < 100; ++i) {
      ++page(i)[100 * round - 100 + i];
      omp_set_lock(&locks[i % 3]);
      ++page(i + 2)[100 * round + 100 + i];
      if (!omp_test_lock(&locks[i % 3 + 3])) exit(1);
      pthread_mutex_lock(&mutex);
      ++page(i + 1)[100 * round + 300 + i];
      pthread_mutex_unlock(&mutex);
#pragma omp critical
      ++page(i)[100 * round + 500 + i];
      omp_unset_lock(&locks[i % 3 + 3]);
      omp_unset_lock(&locks[i % 3]);
    }
  }
  omp_set_lock(&locks[1]); /* which the region finds taken */
  ++page(1)[3];
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) omp_unset_lock(&locks[1]);
#pragma omp barrier
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      omp_set_lock(&locks[1]);
      ++page(1)[3];
      omp_unset_lock(&locks[1]);
    }
  }
  int sum = 0;
  for (int i = 0; i < pages * page_ints; ++i) sum += array[i];
  if (sum != 2 * (omp_get_max_threads() + 400) + 2) {
    printf("%d is wrong\n", sum);
    exit(1);
  }
}

/* Dirty pages at hand when a lock is taken: they go home, and the copies with them. */
static void lock_over_dirty_pages(void) {
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
    const int me = omp_get_thread_num();
    for (int p = 0; p < pages; ++p) page(p)[500 + me] += round;
    omp_set_lock(&locks[0]);
    page(5)[0] += round;
    omp_unset_lock(&locks[0]);
    for (int p = 0; p < pages; ++p) page(p)[600 + me] += round;
  }
}

static void two_locks_at_once(void) {
#pragma omp parallel
  {
    omp_set_lock(&locks[1]);
    ++page(1)[3];
    omp_set_lock(&locks[2]);
    ++page(2)[3];
    omp_unset_lock(&locks[2]);
    ++page(1)[4];
    omp_unset_lock(&locks[1]);
  }
}

static void nested_lock(void) {
#pragma omp parallel
  {
    omp_set_nest_lock(&nest_lock);
    ++page(1)[3];
    omp_set_nest_lock(&nest_lock);
    ++page(1)[4];
    omp_unset_nest_lock(&nest_lock);
    omp_unset_nest_lock(&nest_lock);
  }
}

/* Each lock is tested by one thread, and is free. */
static void test_lock(void) {
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    if (omp_test_lock(&locks[me])) {
      ++page(7)[me];
      omp_unset_lock(&locks[me]);
    }
  }
}

static void ordered(void) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 3 * omp_get_num_threads(); ++i) {
#pragma omp ordered
    page(4)[0] = page(4)[0] * 3 + i;
  }
}

/* The initial thread gives locks of other managers back and comes to the barrier, which tells all that it wrote. */
static void locks_between_barriers(void) {
#pragma omp parallel
  for (int taker = -1; taker <= 1; ++taker) {
    const int team = omp_get_num_threads();
    for (int i = 0; omp_get_thread_num() == (taker + team) % team && i < 4; ++i) {
      omp_set_lock(&locks[i]);
      ++page(8)[i];
      omp_unset_lock(&locks[i]);
    }
#pragma omp barrier
  }
}

/* Each thread's block of iterations goes behind the one before, so who asks first does not go first. */
static void ordered_blocks(void) {
#pragma omp parallel for ordered schedule(static, 3)
  for (int i = 0; i < 6 * omp_get_num_threads(); ++i) {
    page(5)[i] = i;
#pragma omp ordered
    page(4)[i % 4] = page(4)[0] * 3 + i;
  }
}

/* Rows of a page each, each behind the one above. */
static void doacross(void) {
#pragma omp parallel for ordered(2) schedule(static, 1)
  for (int i = 1; i < pages; ++i) {
    for (int j = 1; j < 20; ++j) {
#pragma omp ordered depend(sink : i - 1, j)
      page(i)[j * 50] = page(i - 1)[j * 50] + page(i)[j * 50 - 50] + 1;
#pragma omp ordered depend(source)
    }
  }
}

/* Two sums at once are added up under the atomics' lock. */
static void two_sums(void) {
  int one = 0;
  int two = 0;
#pragma omp parallel for schedule(static) reduction(+ : one, two)
  for (int i = 0; i < 1000; ++i) {
    one += i;
    two += 2 * i + 1;
  }
  page(0)[0] = one + two;
}

/* One sum is added up by an atomic operation of each thread, on the initial thread's stack. */
static void one_sum(void) {
  int sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) sum += i;
  page(0)[0] = sum;
}

/* Each thread writes a page of another's again and again, and sums come between. */
static void sums_between_writes(void) {
  for (int round = 1; round <= rounds; ++round) {
#pragma omp parallel firstprivate(round)
    page(omp_get_thread_num() + 1)[round] = round;
    one_sum();
  }
}

/* Operations on pages at home here and on the next node, on words that the touches before leave alone. */
static void atomics(void) {
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    int* const own = page(me);
    int* const next = page((me + 1) % omp_get_num_threads());
    int* const far = page(me + 2);
    for (int round = 1; round <= rounds; ++round) {
      own[50] += round;
      next[60] += round;
#pragma omp barrier
      for (int i = 0; i < 3; ++i) {
        __atomic_fetch_add(&own[0], 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_sub((long long*)&next[8], 1LL << 40, __ATOMIC_SEQ_CST);
        __atomic_exchange_n((char*)&far[40] + me, 1, __ATOMIC_SEQ_CST);
      }
      int expected = -1;
      __atomic_compare_exchange_n(&next[0], &expected, 5, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#pragma omp barrier
    }
  }
}

/* An instruction each. */
static __attribute__((noinline)) void compare_in_vain(int* word, int expected) {
  __atomic_compare_exchange_n(word, &expected, 5, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
static __attribute__((noinline)) void count_by_compare(int* word, int expected) {
  __atomic_compare_exchange_n(word, &expected, expected + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Thread 1 compares a word of `page(variable)` with what it is not, then by another instruction with what it is, and
 * each time stores to a page of another's. What it stores is never next to what was. */
static void compares(int variable, int failing, int looks) {
  const int count = 100;
#pragma omp parallel firstprivate(variable, failing, looks)
  {
    int* const word = &page(variable)[7];
    int* const other = &page(variable == 0 ? 0 : omp_get_num_threads())[100];
    const int acts = omp_get_thread_num() == 1;
#pragma omp barrier
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; acts && i < failing; ++i) {
        compare_in_vain(word, looks ? -1 - *(volatile int*)word : -1 - i);
        other[2 * i] += 1;
      }
      for (int i = failing; acts && i < count; ++i) {
        count_by_compare(word, looks ? *(volatile int*)word : round * (count - failing) + i - failing);
        other[2 * i] += 1;
      }
#pragma omp barrier
    }
  }
}
static void failing_compares(void) {
  compares(12, 100, 0);
}
static void failing_compares_at_home(void) {
  compares(1, 100, 0);
}
static void compares_that_succeed_at_last(void) {
  compares(12, 50, 0);
}
static void compares_with_what_is_there(void) {
  compares(12, 50, 1);
}
static void compares_beside_stores(void) {
  compares(0, 100, 0);
}

/* Each operates and stores again and again in a page that nobody else uses, and whose home is another process. */
static void operations_on_own_pages(void) {
#pragma omp parallel
  {
    int* const own = page(omp_get_thread_num() + 1);
    for (int i = 0; i < 1000; ++i) {
      __atomic_fetch_add(&own[0], 1, __ATOMIC_SEQ_CST);
      own[500] += i;
      int found = own[0];
      __atomic_compare_exchange_n(&own[0], &found, found + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    if (own[0] != 2000 || own[500] != 499500) exit(1);
  }
}

/* Threads add to shared elements, as the assembly of finite elements does. */
static void scattered_updates(void) {
  const int all = pages * page_ints;
#pragma omp parallel
  {
    unsigned random = 17 * omp_get_thread_num() + 1;
    volatile const int* const read = array;
    for (int i = 0; i < 500; ++i) {
      random = random * 1103515245U + 12345U;
      const int element = (int)(random >> 8) % all;
      __atomic_fetch_add(&array[element], 1, __ATOMIC_RELAXED);
      for (int j = 0; j < 8; ++j) (void)read[(element + j * page_ints) % all];
    }
  }
}

/* A fence sends home what was changed. */
static void fences(void) {
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    int* const other = page(me + 1);
    for (int round = 1; round <= rounds; ++round) {
#pragma omp barrier
#pragma omp flush
#pragma omp barrier
      other[60 + me] += round;
#pragma omp flush
    }
  }
}

/* Objects that no instruction takes at once. */
static void whole_objects(void) {
  struct large {
    int numbers[5];
  };
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
    struct large value = {{round, 2, 3, 4, 5}};
    __atomic_store((struct large*)page(omp_get_thread_num() + 1), &value, __ATOMIC_SEQ_CST);
#pragma omp barrier
  }
}

/* Each thread's turn comes when the one before posts its semaphore. */
static void semaphores(void) {
  static sem_t turns[most_threads];
  for (int i = 0; i < omp_get_max_threads(); ++i) sem_init(&turns[i], 0, i == 0);
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
    const int me = omp_get_thread_num();
    sem_wait(&turns[me]);
    page(3)[0] += round;
    sem_post(&turns[(me + 1) % omp_get_num_threads()]);
  }
}

static void library_barriers(void) {
  static pthread_barrier_t meeting;
  pthread_barrier_init(&meeting, NULL, (unsigned)omp_get_max_threads());
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
    const int me = omp_get_thread_num();
    page(me + 1)[me] += round;
    pthread_barrier_wait(&meeting);
    page(me)[50] += page(me + 1)[me];
    pthread_barrier_wait(&meeting);
  }
}

static void read_locks(void) {
  static pthread_rwlock_t shelf = PTHREAD_RWLOCK_INITIALIZER;
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
    const int me = omp_get_thread_num();
    pthread_rwlock_rdlock(&shelf);
    page(me)[1] += page(me + 1)[0];
    pthread_rwlock_unlock(&shelf);
  }
}

/* Teams of all sizes, one after another. */
static void teams(void) {
  for (int size = 1; size <= omp_get_max_threads(); ++size) {
#pragma omp parallel num_threads(size)
    {
      page(2)[omp_get_thread_num()] += size;
#pragma omp barrier
      page(omp_get_thread_num())[1] += page(2)[0];
    }
  }
}

/* Blocks come and go between regions, at the same addresses: what was in one is found in the next. */
static void blocks_of(int round, size_t ints) {
  int* block = malloc(ints * sizeof *block);
  if (block == NULL) exit(1);
  for (size_t i = 0; i < ints; i += 7) block[i] = round;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < ints; ++i) block[i] = (int)i;
  page(0)[round] = block[ints / 2];
  free(block);
}

static void blocks(void) {
  for (int round = 1; round <= rounds; ++round) blocks_of(round, (size_t)(round % 3 + 2) * page_ints);
}

/* Blocks that only serial code has had: what it wrote goes home all the same, and is found in the next. */
static void serial_blocks(void) {
  int sum = 0;
  for (int round = 1; round <= rounds; ++round) {
    int* block = malloc(3 * page_ints * sizeof *block);
    if (block == NULL) exit(1);
    for (int i = 0; i < 3 * page_ints; i += 5) sum += block[i];
    for (int i = 0; i < 3 * page_ints; i += 2 * round + 1) block[i] = round + i;
    free(block);
#pragma omp parallel
    page(omp_get_thread_num())[round] = sum;
  }
}

/* Zeros that each thread finds in a block of its own, some of which others have had. */
static void cleared_blocks(void) {
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
    int* block = calloc(5 * page_ints / 2, sizeof *block);
    if (block == NULL) exit(1);
    for (int i = 0; i < 2 * page_ints; i += 100) page(omp_get_thread_num())[round] += block[i];
#pragma omp barrier
    for (int i = 0; i < page_ints; i += 7) block[i] = i;
    free(block);
#pragma omp barrier
  }
}

/* Blocks that one thread after another writes and frees amid a region, each at the same address. */
static void blocks_freed_amid_a_region(void) {
  enum { ints = 4 * page_ints };
#pragma omp parallel
  for (int turn = 0; turn < 2 * omp_get_num_threads(); ++turn) {
    const int me = omp_get_thread_num();
    if (turn % omp_get_num_threads() == me) {
      int* block = malloc(ints * sizeof *block);
      if (block == NULL) exit(1);
      for (int i = 0; i < ints; ++i) block[i] = (turn + 1) * ints + i;
      page(me)[turn] = block[ints / 2];
      free(block);
    }
#pragma omp barrier
  }
}

/* Each block has the last one's address and other values. Every second one is read from its first pages alone: what
 * comes beside these is no copy of the next block. */
static void blocks_with_other_values(void) {
  enum { ints = 16 * page_ints };
  for (int round = 1; round <= 2 * rounds; ++round) {
    int* block = malloc(ints * sizeof *block);
    if (block == NULL) exit(1);
#pragma omp parallel
    {
      const int me = omp_get_thread_num();
      const int team = omp_get_num_threads();
      for (int p = (me + 1) % team; p < 16; p += team) {
        for (int i = p * page_ints; i < (p + 1) * page_ints; ++i) block[i] = round * ints + i;
      }
#pragma omp barrier
      const int read = round % 2 ? team * page_ints : ints;
      for (int i = 0; i < read; i += 100) {
        if (block[i] != round * ints + i) exit(3);
      }
    }
    free(block);
  }
}

/* The same with some that the C library would give back to the system. */
static void large_blocks(void) {
  for (int round = 1; round <= rounds; ++round)
    blocks_of(round, (size_t)(round % 3 + (round % 2 ? 40 : 2)) * page_ints);
}

/* Memory from the kernel: mapped by one, written by all, given back in parts by all, mapped anew. */
static void mapped_memory(void) {
  for (int round = 1; round <= rounds; ++round) {
    const size_t bytes = (size_t)(2 * most_threads + round) * page_ints * sizeof(int);
    int* block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) exit(1);
#pragma omp parallel
    {
      const int me = omp_get_thread_num();
      const int team = omp_get_num_threads();
      for (int i = me; i < 2 * most_threads * page_ints; i += 64 + team) block[i] += me;
#pragma omp barrier
      page(me)[round] += block[((me + 1) % team) * page_ints];
#pragma omp barrier
      munmap(block + 2 * me * page_ints, 2 * page_ints * sizeof *block);
    }
    munmap(block, bytes);
  }
}

/* What main and the threads have on their stacks, by pointer. */
static void stacks(void) {
  int* place_of[most_threads];
  int mains[256];
  memset(mains, 0, sizeof mains);
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    const int team = omp_get_num_threads();
    int own[64];
    for (int i = 0; i < 64; ++i) own[i] = me * i;
    place_of[me] = own;
#pragma omp barrier
    mains[me] = place_of[(me + 1) % team][5];
    page(0)[me] = mains[(me + 100) % 256];
#pragma omp barrier
  }
}

static void master(void) {
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
#pragma omp master
    for (int p = 0; p < pages; ++p) page(p)[0] = round;
#pragma omp barrier
    page(omp_get_thread_num())[1] += page(8)[0];
#pragma omp barrier
  }
}

static void change_every_page(int value) {
  for (int p = 0; p < pages; ++p) {
    for (int i = 0; i < page_ints; i += 7) ((volatile int*)page(p))[i] = value;
  }
}

/* A block is freed between a change and its end, by which there is none. */
static void changed_back(void) {
  volatile char* block = malloc(100000);
  block[0] = 1;
  change_every_page(1);
  free((void*)block);
  change_every_page(0);
#pragma omp parallel
  page(omp_get_thread_num())[1] = 2;
}

/* The same beside a team of one thread. */
static void changed_back_beside_a_team(void) {
  change_every_page(1);
#pragma omp parallel num_threads(1)
  page(1)[1] = 1;
  change_every_page(0);
#pragma omp parallel
  page(omp_get_thread_num())[1] = 2;
}

/* Every thread stores all over every page; then its atomic operation takes its part of the sum home. */
static void scattered(void) {
  long long sum = 0;
  for (int round = 1; round <= rounds; ++round) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < pages * page_ints; ++i) {
      array[i * 7919 % (pages * page_ints)] = round * i;
      sum += i;
    }
  }
  page(0)[0] = (int)(sum % 1000);
}

static void store_all_over(int round) {
  for (int i = omp_get_thread_num(); i < pages * page_ints; i += omp_get_num_threads())
    array[(long)i * 7919 % (pages * page_ints)] = round * i;
}

/* The same behind a barrier behind the only atomic operation. */
static void scattered_behind_a_barrier(void) {
  int count = 0;
#pragma omp parallel
  {
#pragma omp atomic
    ++count;
#pragma omp barrier
    for (int round = 1; round <= rounds; ++round) {
      store_all_over(round);
#pragma omp barrier
    }
  }
  page(0)[0] = count;
}

/* Behind it there is none, and who stores meets others. */
static void scattered_behind_an_operation(void) {
  int count = 0;
#pragma omp parallel
  {
#pragma omp atomic
    ++count;
    for (int round = 1; round <= rounds; ++round) store_all_over(round);
  }
  page(0)[0] = count;
}

/* Each reads all pages, and does an atomic operation in another one, again and again. */
static void operations_between_reads(void) {
  static int counter[2 * page_ints];
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (int round = 1; round <= 10 * rounds; ++round) {
    for (int p = 0; p < pages; ++p) sum += page(p)[round];
#pragma omp atomic
    ++counter[page_ints];
  }
  page(0)[0] = (int)sum;
}

/* From here on the threads' parts depend on the timing, but not all of their sums. */
static void singles(void) {
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
#pragma omp single
    page(3)[0] += round;
  }
}

static void copied(void) {
  int value = 0;
#pragma omp parallel firstprivate(value)
  for (int round = 1; round <= rounds; ++round) {
#pragma omp single copyprivate(value)
    value = round;
    page(omp_get_thread_num())[0] += value;
  }
}

static void dynamic_loop(void) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int i = 0; i < 128; ++i) page(i / 8)[i] += i;
}

static void sections(void) {
#pragma omp parallel sections
  {
#pragma omp section
    ++page(1)[0];
#pragma omp section
    ++page(2)[0];
#pragma omp section
    ++page(3)[0];
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} programs[] = {
    {"false_sharing", false_sharing},
    {"neighbours", neighbours},
    {"critical", critical},
    {"named_critical", named_critical},
    {"own_locks", own_locks},
    {"locks_alone", locks_alone},
    {"locks_of_a_region", locks_of_a_region},
    {"lock_over_dirty_pages", lock_over_dirty_pages},
    {"two_locks_at_once", two_locks_at_once},
    {"nested_lock", nested_lock},
    {"test_lock", test_lock},
    {"ordered", ordered},
    {"ordered_blocks", ordered_blocks},
    {"locks_between_barriers", locks_between_barriers},
    {"doacross", doacross},
    {"two_sums", two_sums},
    {"sums_between_writes", sums_between_writes},
    {"atomics", atomics},
    {"failing_compares", failing_compares},
    {"failing_compares_at_home", failing_compares_at_home},
    {"compares_that_succeed_at_last", compares_that_succeed_at_last},
    {"compares_with_what_is_there", compares_with_what_is_there},
    {"compares_beside_stores", compares_beside_stores},
    {"operations_on_own_pages", operations_on_own_pages},
    {"scattered_updates", scattered_updates},
    {"fences", fences},
    {"whole_objects", whole_objects},
    {"semaphores", semaphores},
    {"library_barriers", library_barriers},
    {"read_locks", read_locks},
    {"teams", teams},
    {"blocks", blocks},
    {"large_blocks", large_blocks},
    {"serial_blocks", serial_blocks},
    {"cleared_blocks", cleared_blocks},
    {"blocks_freed_amid_a_region", blocks_freed_amid_a_region},
    {"blocks_with_other_values", blocks_with_other_values},
    {"mapped_memory", mapped_memory},
    {"stacks", stacks},
    {"master", master},
    {"changed_back", changed_back},
    {"changed_back_beside_a_team", changed_back_beside_a_team},
    {"scattered", scattered},
    {"scattered_behind_a_barrier", scattered_behind_a_barrier},
    {"scattered_behind_an_operation", scattered_behind_an_operation},
    {"operations_between_reads", operations_between_reads},
    {"singles", singles},
    {"copied", copied},
    {"dynamic_loop", dynamic_loop},
    {"sections", sections},
};

int main(int argc, char** argv) {
  array = aligned_alloc(page_ints * sizeof *array, pages * page_ints * sizeof *array);
  if (array == NULL) return 1;
  memset(array, 0, pages * page_ints * sizeof *array);
  for (int i = 0; i < most_threads; ++i) omp_init_lock(&locks[i]);
  omp_init_nest_lock(&nest_lock);
  for (size_t i = 0; argc == 2 && i < sizeof programs / sizeof programs[0]; ++i) {
    if (strcmp(programs[i].name, argv[1]) != 0) continue;
    const double begin = omp_get_wtime();
    programs[i].run();
    printf("%s: %g s\n", argv[1], omp_get_wtime() - begin);
    free(array);
    return 0;
  }
  fputs("usage: counted NAME\n", stderr);
  return 2;
}
