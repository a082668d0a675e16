/* What each action of the protocol costs on the system that runs this: a plain OpenMP program, timed from outside the
 * run-time, as a user's is. Prints one JSON object: the pages of a burst; for each quantity the samples in nanoseconds.
 *
 *   sdsm run --nodes N --threads-per-node T -- microbench T [SAMPLES [streams] [together] | SAMPLES own-writes]
 *
 * Threads are laid out by blocks of T. In the faults' and releases' samples one thread acts at a time, and the others
 * wait at a barrier. With `together` nodes are awake, as programs find them: one thread of each node sends its diffs at
 * once, and while one node takes faults, in turn, the others compute. Processors that wait sleep, and then what is
 * measured is their waking up. Where nodes are emulated or share processors, only one can be timed. A barrier lies
 * between two samples, so each begins on pages at rest. A fault's sample is the mean over a burst of pages; NAME.single
 * has the faults of all bursts one by one, NAME.home what a page took from a home that computed; of NAME.first the
 * pages (in WUMR.first and WROL.first: their twins) have not been on the node before, WROH.again repeats WROH.first,
 * and in NAME.waiting their home's thread waits. With `own-writes` only WROH is sampled, by threads that are all awake,
 * and the samples lie between the first and last reading of omp_get_wtime, for the run's account of them. pace has the
 * times of one piece of work on all processors. The memory bus is that of the first thread's node: threads of other
 * nodes wait, as nodes may be processes of one machine.
 */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sdsm/placement.h"

enum { page_words = SDSM_PAGE_BYTES / 8, most_samples = 4096, most_burst = 64 };

typedef volatile double* pages;

static double samples[most_samples];
/* Of the last quantity that was sampled by bursts: its faults one by one. Or of a second quantity. */
static double singles[most_samples * most_burst];
/* Of the last quantity that was sampled by bursts: what each page took from the home's thread, which computed. */
static double taken[most_samples];
static int is_first_quantity = 1;

static double read_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double now_ns(void) {
  return read_ns(CLOCK_MONOTONIC);
}

static void print_samples(const char* name, const double* values, int count) {
  printf("%s\n  \"%s\": [", is_first_quantity ? "{" : ",", name);
  is_first_quantity = 0;
  for (int i = 0; i < count; ++i) printf("%s%.0f", i ? "," : "", values[i]);
  printf("]");
}

static void print_number(const char* name, int number) {
  printf("%s\n  \"%s\": %d", is_first_quantity ? "{" : ",", name, number);
  is_first_quantity = 0;
}

/* Each thread's pages, at home there. The first is for flags and results, the others are worked on. */
static pages own_page(pages memory, int thread, int pages_each, int page) {
  return memory + ((size_t)thread * (size_t)pages_each + (size_t)page) * page_words;
}

/* Pages that are worked on: as many as a program's arrays have, as neither caches nor the kernel's lists of a few pages
 * make them cheaper. */
enum { worked_on = 1024, pages_each = 1 + worked_on };

/* Who acts. Programs take faults in rows: what a lone one costs more is the processor's waking up. */
struct setting {
  int nodes;
  int per_node;
  int wanted;       /* samples */
  bool is_together; /* nodes are awake */
  int burst;        /* pages of a sample, at most most_burst */
  bool has_room;    /* each thread of a node has a processor of its own */
  bool home_waits;  /* at the barrier, where nodes are awake otherwise */
};

enum act { nothing, reads, writes };

/* By a thread of the node that lies `node` behind the home's, which is its `thread`-th there. */
struct step {
  int node;
  int thread;
  enum act act;
};

/* In how many samples a node is home once. */
static int turns_of(struct setting setting) {
  return setting.is_together ? setting.nodes : 1;
}

/* At home with which thread the pages are that `self` acts on in this step of sample `sample`; below 0 if it does not
 * act. Nodes that are awake take turns as homes. */
static int home_of_step(struct setting setting, struct step step, int home, int self, int sample) {
  if (step.act == nothing || self % setting.per_node != step.thread) return -1;
  const int node = (self / setting.per_node - step.node + setting.nodes) % setting.nodes;
  return node == sample % turns_of(setting) ? node * setting.per_node + home : -1;
}

/* About as long as the acting node takes for its burst: longer than that only makes the sample last longer. */
static double meanwhile_ns(int burst) {
  const double each_ns = 100e3;
  return burst * each_ns;
}

/* Computes for that long. Returns how long others had the processor: the sum of those steps between two readings of the
 * clock that are longer than any reading. A thread that serves pages here takes it, with the system's part of it. */
static double compute_meanwhile(int burst) {
  double shortest = 1e9;
  double now = now_ns();
  for (int i = 0; i < 16; ++i) {
    const double before = now;
    now = now_ns();
    if (now - before < shortest) shortest = now - before;
  }
  const double longest_poll_ns = 2e3 + 5 * shortest;
  double lost = 0;
  for (const double end = now + meanwhile_ns(burst); now < end;) {
    const double before = now;
    now = now_ns();
    if (now - before > longest_poll_ns) lost += now - before;
  }
  return lost;
}

/* The mean time over a burst of pages; each page's goes to `each`. */
static double act_on(pages first, enum act act, int burst, double* each) {
  const double begin = now_ns();
  double since = begin;
  for (int page = 0; page < burst; ++page) {
    if (act == writes) {
      first[(size_t)page * page_words + 1] = begin;
    } else if (act == reads) {
      (void)first[(size_t)page * page_words + 1];
    }
    const double now = now_ns();
    each[page] = now - since;
    since = now;
  }
  return (since - begin) / burst;
}

/* What threads measured in one sample, each in its first page. */
enum { result_word = 64, acted_word = 65, lost_word = 66 };

static void tell_result(pages memory, int self, double result) {
  own_page(memory, self, pages_each, 0)[result_word] = result;
  own_page(memory, self, pages_each, 0)[acted_word] = 1;
}

/* The mean over those who acted in this sample. */
static double take_results(pages memory, int threads) {
  double sum = 0;
  int acted = 0;
  for (int thread = 0; thread < threads; ++thread) {
    pages own = own_page(memory, thread, pages_each, 0);
    if (own[acted_word] == 0) continue;
    sum += own[result_word];
    ++acted;
  }
  return sum / acted;
}

/* What a page of this sample took from the home's thread. Pages that came after it had ended are not in what it lost.
 */
static double taken_from(pages memory, struct setting setting, int sample) {
  const int home = sample % turns_of(setting) * setting.per_node;
  const double lasted_ns = samples[sample] * setting.burst;
  const double seen_ns = meanwhile_ns(setting.burst);
  const double seen = lasted_ns > seen_ns ? seen_ns / lasted_ns : 1;
  return own_page(memory, home, pages_each, 0)[lost_word] / (seen * setting.burst);
}

/* First one thread prepares the pages, then another one, on the same node, acts and is timed. That the first is done it
 * sees on a page that is at home on their node: it is the same memory. */
static void sample_fault(const char* name, pages memory, struct setting setting, int home, struct step first,
                         struct step timed) {
  const int threads = setting.nodes * setting.per_node;
#pragma omp parallel firstprivate(memory, setting, threads, home, first, timed)
  {
    const int self = omp_get_thread_num();
    const int other = self - timed.thread + first.thread;
    for (int i = 0; i < setting.wanted; ++i) {
      const int first_home = home_of_step(setting, first, home, self, i);
      const int timed_home = home_of_step(setting, timed, home, self, i);
      const int page = 1 + i / turns_of(setting) % (worked_on / setting.burst) * setting.burst;
      const double mark = i + 1;
#pragma omp barrier
      own_page(memory, self, pages_each, 0)[acted_word] = 0;
      if (first_home >= 0) {
        double unused[most_burst];
        act_on(own_page(memory, first_home, pages_each, page), first.act, setting.burst, unused);
        if (first.thread != timed.thread) own_page(memory, self, pages_each, 0)[0] = mark;
      }
      if (timed_home >= 0) {
        if (first.act != nothing && first.thread != timed.thread) {
          while (own_page(memory, other, pages_each, 0)[0] != mark) {
            const struct timespec pause = {0, 20000};
            nanosleep(&pause, NULL);
          }
        }
        double each[most_burst]; /* its own memory: the shared one has faults of its own */
        const double mean = act_on(own_page(memory, timed_home, pages_each, page), timed.act, setting.burst, each);
        tell_result(memory, self, mean);
        /* Of one node: what another one's faults take longer is no scatter of a fault. */
        if (timed_home / setting.per_node == 0) {
          for (int k = 0; k < setting.burst; ++k) singles[i / turns_of(setting) * setting.burst + k] = each[k];
        }
      } else if (setting.is_together && self % setting.per_node == timed.thread &&
                 !(setting.home_waits && self / setting.per_node == i % turns_of(setting))) {
        const double lost = compute_meanwhile((first.act != nothing ? 2 : 1) * setting.burst);
        own_page(memory, self, pages_each, 0)[lost_word] = lost;
      }
#pragma omp barrier
      if (self == 0) {
        samples[i] = take_results(memory, threads);
        taken[i] = taken_from(memory, setting, i);
      }
    }
  }
  print_samples(name, samples, setting.wanted);
}

/* One step of a five-point stencil, over `count` pages from `page` on. */
static void relax(const double* restrict from, double* restrict to, size_t page, size_t count) {
  for (size_t i = page * page_words; i < (page + count) * page_words; ++i)
    to[i] = 0.25 * (from[i - page_words] + from[i + page_words] + from[i - 1] + from[i + 1]);
}

/* As programs write their own arrays: whole pages, every one, from another array, and all threads at once. Each page
 * traps in the first pass. The last one, two passes later, takes the program's own work off: the one between still
 * finds caches and translations as cold as the traps have left them. By page; by the clock of the run's account,
 * which is held against it. */
static void write_own(pages memory, int threads, int count) {
#pragma omp parallel firstprivate(memory, threads, count)
  {
    enum { half = worked_on / 2, written = half - 2, passes = 3 };
    const int self = omp_get_thread_num();
    for (int i = 0; i < count; ++i) {
      const double* const from = (const double*)own_page(memory, self, pages_each, 1 + (i & 1) * half);
      double* const to = (double*)own_page(memory, self, pages_each, 1 + (~i & 1) * half);
      double times[passes];
#pragma omp barrier
      for (int pass = 0; pass < passes; ++pass) {
        const double begin = now_ns();
        relax(from, to, 1, written);
        times[pass] = now_ns() - begin;
      }
      const double longer = times[0] - times[passes - 1];
      tell_result(memory, self, longer > 0 ? longer / written : 0);
#pragma omp barrier
      if (self == 0) samples[i] = take_results(memory, threads);
    }
  }
}

static void sample_own_writes(pages memory, struct setting setting) {
  const int threads = setting.nodes * setting.per_node;
  write_own(memory, threads, 2);
  (void)omp_get_wtime();
  write_own(memory, threads, setting.wanted);
  (void)omp_get_wtime();
  print_samples("WROH", samples, setting.wanted);
}

/* Own pages one after another, which the system gives their memory when they are written for the first time; and again.
 */
static void sample_first_writes(pages memory, struct setting setting) {
  enum { bursts = worked_on / most_burst };
  const int threads = setting.nodes * setting.per_node;
  for (int again = 0; again < 2; ++again) {
#pragma omp parallel firstprivate(memory, threads)
    {
      const int self = omp_get_thread_num();
      for (int i = 0; i < bursts; ++i) {
        double unused[most_burst];
#pragma omp barrier
        pages burst = own_page(memory, self, pages_each, 1 + i * most_burst);
        tell_result(memory, self, act_on(burst, writes, most_burst, unused));
#pragma omp barrier
        if (self == 0) samples[i] = take_results(memory, threads);
      }
    }
    print_samples(again ? "WROH.again" : "WROH.first", samples, bursts);
  }
}

/* System noise: the time of one piece of work again and again, on all processors at once. Work as that of programs
 * here, of faults and memory, as neighbours on a core slow it more than arithmetic; in memory of its own, as that of
 * samples before lies scattered. All threads' times of one piece stand side by side. */
static void sample_pace(struct setting setting) {
  const int threads = setting.nodes * setting.per_node;
  enum { half = worked_on / 2, pace_pieces = 128, pace_word = page_words - pace_pieces, warm_up = 8 };
  pages memory = sdsm_galloc((size_t)threads * pages_each * SDSM_PAGE_BYTES, sdsm_block);
  if (!memory) exit(1);
  double lasted = 0;
#pragma omp parallel firstprivate(memory) reduction(max : lasted)
  {
    const int self = omp_get_thread_num();
    double first = 0;
    memset((void*)own_page(memory, self, pages_each, 0), 0, (size_t)pages_each * SDSM_PAGE_BYTES);
    for (int i = -warm_up; i < pace_pieces; ++i) {
      const double* const from = (const double*)own_page(memory, self, pages_each, 1 + (i & 1) * half);
      double* const to = (double*)own_page(memory, self, pages_each, 1 + (~i & 1) * half);
#pragma omp barrier
      const double begin = now_ns();
      if (i == 0) first = begin;
      relax(from, to, 1, half - 2);
      const double end = now_ns();
      if (i >= 0) own_page(memory, self, pages_each, 0)[pace_word + i] = end - begin;
      lasted = end - first;
    }
  }
  for (int i = 0; i < pace_pieces; ++i) {
    for (int thread = 0; thread < threads; ++thread)
      singles[i * threads + thread] = own_page(memory, thread, pages_each, 0)[pace_word + i];
  }
  sdsm_gfree((void*)memory);
  print_samples("pace", singles, pace_pieces * threads);
  lasted /= pace_pieces;
  print_samples("pace.every", &lasted, 1);
}

/* Each page once, so that all are in the node's memory afterwards. */
static void sample_first(const char* name, pages memory, struct setting setting, struct step timed) {
  const struct step none = {0, 0, nothing};
  setting.wanted = turns_of(setting) * (worked_on / setting.burst);
  sample_fault(name, memory, setting, 0, none, timed);
}

static void sample_faults(pages memory, struct setting setting) {
  const struct step none = {0, 0, nothing};
  const struct step home_writer = {0, 0, writes};
  if (!setting.is_together) sample_fault("WROH", memory, setting, 0, none, home_writer);
  if (setting.nodes > 1) {
    const struct step reader = {1, 0, reads};
    const struct step writer = {1, 0, writes};
    sample_first("RUMR.first", memory, setting, reader);
    if (setting.is_together) {
      struct setting asleep = setting;
      asleep.home_waits = true;
      sample_fault("RUMR.waiting", memory, asleep, 0, none, reader);
    }
    sample_fault("RUMR", memory, setting, 0, none, reader);
    print_samples("RUMR.single", singles, (setting.wanted + turns_of(setting) - 1) / turns_of(setting) * setting.burst);
    if (setting.is_together && setting.per_node == 1) print_samples("RUMR.home", taken, setting.wanted);
    /* So that their twins have their memory, too. */
    if (setting.is_together) sample_first("WUMR.first", memory, setting, writer);
    sample_fault("WUMR", memory, setting, 0, none, writer);
    sample_fault("WROR", memory, setting, 0, reader, writer);
    if (setting.per_node > 1) {
      const struct step second_reader = {1, 1, reads};
      const struct step second_writer = {1, 1, writes};
      sample_fault("RROR", memory, setting, 0, reader, second_reader);
      sample_fault("RRWR", memory, setting, 0, writer, second_reader);
      sample_fault("WRWR", memory, setting, 0, writer, second_writer);
    }
  }
  if (setting.per_node > 1) {
    const struct step local_writer = {0, 1, writes}; /* a local peer of the home */
    if (setting.is_together) sample_first("WROL.first", memory, setting, local_writer);
    sample_fault("WROL", memory, setting, 0, none, local_writer);
    sample_fault("WRWL", memory, setting, 0, home_writer, local_writer);
    sample_fault("WRWH", memory, setting, 0, local_writer, home_writer);
  }
}

/* The last thread of a node changes `words` words of 4 bytes of pages of the next node, under a lock of its own: at the
 * release their diffs go home. The time by page. */
static void sample_release(pages memory, struct setting setting, int words, bool is_reported) {
  const int threads = setting.nodes * setting.per_node;
  const int burst = setting.is_together ? setting.burst : 1;
  /* One lock for each size where one node acts, so that sizes have managers in turn: some releases stay on the node. */
  const int lock_count = setting.is_together ? setting.nodes : 1;
  omp_lock_t* const locks = malloc((size_t)lock_count * sizeof *locks);
  if (!locks) exit(1);
  for (int i = 0; i < lock_count; ++i) omp_init_lock(&locks[i]);
    /* Copies: what is read of shared variables inside would be fetched there. */
#pragma omp parallel firstprivate(memory, setting, threads, words, burst, locks, lock_count)
  {
    const int self = omp_get_thread_num();
    const int node = self / setting.per_node;
    const int home = (node + 1) % setting.nodes * setting.per_node;
    omp_lock_t* const lock = &locks[node % lock_count];
    const bool acts = self % setting.per_node == setting.per_node - 1 && (setting.is_together || home == 0);
    own_page(memory, self, pages_each, 0)[acted_word] = 0;
    for (int i = 0; i < setting.wanted; ++i) {
#pragma omp barrier
      if (acts) {
        omp_set_lock(lock);
        for (int k = 0; k < burst; ++k) {
          volatile int* page = (volatile int*)own_page(memory, home, pages_each, 1 + (i * burst + k) % worked_on);
          for (int word = 0; word < words; ++word) page[word] = page[word] + 1;
        }
        const double begin = now_ns();
        omp_unset_lock(lock);
        tell_result(memory, self, (now_ns() - begin) / burst);
      }
#pragma omp barrier
      if (self == 0) samples[i] = take_results(memory, threads);
    }
  }
  for (int i = 0; i < lock_count; ++i) omp_destroy_lock(&locks[i]);
  free(locks);
  if (!is_reported) return;
  char name[32];
  snprintf(name, sizeof name, "release.%d", words);
  print_samples(name, samples, setting.wanted);
}

/* As EPCC does it: repetitions in a row, divided by their number. */
static void sample_barrier(int wanted) {
  enum { repetitions = 20 };
#pragma omp parallel firstprivate(wanted)
  for (int i = 0; i < wanted; ++i) {
#pragma omp barrier
    const double begin = now_ns();
    for (int k = 0; k < repetitions; ++k) {
#pragma omp barrier
    }
    if (omp_get_thread_num() == 0) samples[i] = (now_ns() - begin) / repetitions;
  }
  print_samples("barrier", samples, wanted);
}

static void sample_lock(int wanted) {
  enum { repetitions = 20 };
  omp_lock_t shared_lock;
  omp_lock_t* const lock = &shared_lock;
  omp_init_lock(lock);
#pragma omp parallel firstprivate(lock, wanted)
  for (int i = 0; i < wanted; ++i) {
#pragma omp barrier
    const double begin = now_ns();
    for (int k = 0; k < repetitions; ++k) {
      omp_set_lock(lock);
      omp_unset_lock(lock);
    }
#pragma omp barrier
    if (omp_get_thread_num() == 0) samples[i] = (now_ns() - begin) / (repetitions * omp_get_num_threads());
  }
  omp_destroy_lock(lock);
  print_samples("lock", samples, wanted);
}

/* A barrier that the first thread comes to last, after it wrote `dirty` of its home pages, each `stride`-th: what it
 * takes longer than one without is the cost of protecting them again, by pages and by runs of adjacent ones. The others
 * wait there, so that none's lateness counts as that cost. */
static void sample_dirty_barrier(const char* name, pages memory, int wanted, int dirty, int stride) {
  const double late_ns = 1e6;
#pragma omp parallel firstprivate(memory, wanted, dirty, stride)
  for (int i = 0; i < wanted; ++i) {
#pragma omp barrier
    double begin = 0;
    if (omp_get_thread_num() == 0) {
      pages own = own_page(memory, 0, pages_each, 0);
      for (int page = 0; page < dirty; ++page) own[(size_t)page * (size_t)stride * page_words] = i + 1;
      const double since = now_ns();
      do begin = now_ns();
      while (begin < since + late_ns);
    }
#pragma omp barrier
    if (omp_get_thread_num() == 0) samples[i] = now_ns() - begin;
  }
  print_samples(name, samples, wanted);
}

/* Three arrays in one thread's own memory, gone round in pieces: what a pass meets was last met a whole round ago, and
 * has long left the caches. */
struct ring {
  double* words;
  size_t array_words;
  size_t at;
};

enum { piece_words = (4 << 20) / sizeof(double) };

/* Of a file without a name: unlike anonymous memory no run-time shares it, so no page of it is ever protected or
 * faults. */
static struct ring new_ring(void) {
  const size_t least = 64 << 20, most = 512 << 20;
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  size_t bytes = cache > 0 ? 4 * (size_t)cache : 0;
  bytes = bytes < least ? least : bytes > most ? most : bytes;
  const size_t pieces = bytes / (3 * piece_words * sizeof(double));
  struct ring ring = {NULL, pieces * piece_words, 0};
  const size_t length = 3 * ring.array_words * sizeof(double);
  const int file = memfd_create("microbench", MFD_CLOEXEC);
  void* const memory = file >= 0 && ftruncate(file, (off_t)length) == 0
                           ? mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0)
                           : MAP_FAILED;
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "sdsm: no %zu bytes of memory for each thread to measure its speed. Free some\n", bytes);
    exit(1);
  }
  ring.words = memory;
  return ring;
}

static void free_ring(struct ring ring) {
  munmap(ring.words, 3 * ring.array_words * sizeof(double));
}

/* As much arithmetic as a memory-bound loop has: two words read, one written. */
static void stream_piece(struct ring* ring) {
  double* a = ring->words + ring->at;
  const double* b = a + ring->array_words;
  const double* c = b + ring->array_words;
  for (size_t i = 0; i < piece_words; ++i) a[i] = b[i] + 3 * c[i];
  ring->at = (ring->at + piece_words) % ring->array_words;
}

/* A piece's time on the first thread, in turn alone and while all threads of its node stream. That begins when all of
 * them are at it, and none stops before it ends; they tell each other on pages that are at home on their node: it is
 * the same memory. Processor time, as what the system gives to others meanwhile is not the memory's. */
static void sample_streams(pages memory, struct setting setting) {
  const int wanted = setting.wanted, per_node = setting.per_node;
  /* Threads that take turns on too few processors are not at memory at once. */
  const int team_sizes = per_node > 1 && setting.has_room ? 2 : 1;
#pragma omp parallel firstprivate(memory, wanted, per_node, team_sizes)
  {
    const int self = omp_get_thread_num();
    const bool takes_part = self < (team_sizes > 1 ? per_node : 1);
    struct ring ring = {NULL, 0, 0};
    if (takes_part) ring = new_ring();
    pages first_flag = own_page(memory, 0, pages_each, 0);
    for (int i = 0; i < wanted * team_sizes; ++i) {
      const int active = i % team_sizes ? per_node : 1;
      const double mark = 1e6 + i; /* no sample of other quantities has left it there */
#pragma omp barrier
      if (self == 0) {
        for (int started = 1; started < active;) {
          stream_piece(&ring);
          if (own_page(memory, started, pages_each, 0)[0] == mark) ++started;
        }
        stream_piece(&ring);
        const double begin = read_ns(CLOCK_THREAD_CPUTIME_ID);
        stream_piece(&ring);
        const double time = read_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
        first_flag[0] = mark;
        (i % team_sizes ? singles : samples)[i / team_sizes] = time;
      } else if (self < active) {
        own_page(memory, self, pages_each, 0)[0] = mark;
        while (first_flag[0] != mark) stream_piece(&ring);
      }
    }
    if (takes_part) free_ring(ring);
  }
  print_samples("stream.alone", samples, wanted);
  if (team_sizes > 1) print_samples("stream.together", singles, wanted);
}

/* Bare loops of operations on a page at home here, and at home with the last thread. From here on the run is in flag
 * mode. */
static void sample_atomics(pages memory, int wanted) {
  const int threads = omp_get_max_threads();
  for (int is_remote = 0; is_remote < 2; ++is_remote) {
    enum { repetitions = 20 };
    volatile long* const counter = (volatile long*)own_page(memory, is_remote * (threads - 1), pages_each, 0);
#pragma omp parallel
    for (int i = 0; i < wanted; ++i) {
#pragma omp barrier
      const double begin = now_ns();
      for (int k = 0; omp_get_thread_num() == 0 && k < repetitions; ++k)
        __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
      if (omp_get_thread_num() == 0) samples[i] = (now_ns() - begin) / repetitions;
    }
    print_samples(is_remote ? "atomic.remote" : "atomic.own", samples, wanted);
  }
}

/* All but the own writes of threads that are all awake. */
static void sample_all(pages memory, struct setting setting) {
  sample_faults(memory, setting);
  if (setting.is_together && setting.nodes * setting.per_node > 1) sample_pace(setting);
  if (setting.nodes > 1) {
    /* The first diffs of pages take longer than all later ones. */
    sample_release(memory, setting, 1, false);
    for (int words = 0; words <= 1024; words = words ? words * 4 : 1) sample_release(memory, setting, words, true);
  }
  sample_barrier(setting.wanted);
  sample_lock(setting.wanted);
  sample_dirty_barrier("barrier.dirty0", memory, setting.wanted, 0, 1);
  sample_dirty_barrier("barrier.dirty1024", memory, setting.wanted, worked_on, 1);
  sample_dirty_barrier("barrier.apart512", memory, setting.wanted, worked_on / 2, 2);
  sample_streams(memory, setting);
  if (setting.nodes > 1) sample_atomics(memory, setting.wanted);
}

int main(int argc, char** argv) {
  const int per_node = argc > 1 ? atoi(argv[1]) : 0;
  const int wanted = argc > 2 ? atoi(argv[2]) : 200;
  bool is_together = false, has_room = false, is_of_own_writes = false, is_usage = true;
  for (int i = 3; i < argc; ++i) {
    if (strcmp(argv[i], "together") == 0) {
      is_together = true;
    } else if (strcmp(argv[i], "streams") == 0) {
      has_room = true;
    } else if (strcmp(argv[i], "own-writes") == 0 && argc == 4) {
      is_of_own_writes = true;
    } else {
      is_usage = false;
    }
  }
  const int threads = omp_get_max_threads();
  if (per_node < 1 || threads % per_node != 0 || wanted < 1 || wanted > most_samples || !is_usage) {
    fprintf(
        stderr,
        "usage: microbench THREADS_PER_NODE [SAMPLES [streams] [together] | SAMPLES own-writes]\n  THREADS_PER_NODE "
        "divides the number of threads; SAMPLES: 1 to %d\n  streams: each thread of a node has a processor of its "
        "own\n",
        most_samples);
    return 2;
  }
  const struct setting setting = {threads / per_node, per_node, wanted, is_together, is_together ? most_burst : 16,
                                  has_room,           false};
  const size_t bytes_each = (size_t)pages_each * SDSM_PAGE_BYTES;
  pages memory = sdsm_galloc((size_t)threads * bytes_each, sdsm_block);
  if (!memory) return 1;
  print_number("burst", setting.burst);
  if (setting.is_together) sample_first_writes(memory, setting);
#pragma omp parallel firstprivate(memory)
  memset((void*)own_page(memory, omp_get_thread_num(), pages_each, 0), 1, bytes_each);
  if (is_of_own_writes) {
    sample_own_writes(memory, setting);
  } else {
    sample_all(memory, setting);
  }
  printf("\n}\n");
  sdsm_gfree((void*)memory);
  return 0;
}
