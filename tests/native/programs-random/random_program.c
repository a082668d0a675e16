/* A random program without data races, checked against a flat memory.
 *
 * Memory of all sorts (heap, placed blocks, placed and plain static arrays, the stacks and thread-local variables of
 * all threads) is cut into cells of 1, 2, 4 or 8 bytes. In each phase a cell belongs to one actor, who reads and writes
 * it, or to nobody, so that all may read it, or to a lock, under which all add to it. Actors are the threads, or the
 * iterations, sections or tasks of the phase's construct; barriers separate phases. Who does what follows from the seed
 * alone: each thread goes through the whole program in a model of its own, in memory that it shares with nobody, and
 * compares each value that it reads with the model's. Cells under a lock are changed together, always by the same
 * amount, so that a thread that holds the lock sees if one of the changes is missing. Blocks are allocated, resized and
 * freed on the way by whoever it is the turn of.
 *
 * Ends with status 0, or prints the first wrong value on stderr and ends with status 1. */
#define _GNU_SOURCE
#include <getopt.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sdsm/placement.h"

enum {
  page_bytes = SDSM_PAGE_BYTES,
  most_pages = 64,
  most_locks = 16,
  most_threads = 64,
  most_actors = 64,
  slots = 24,
  cells_of_lock = 6,
  cells_in_order = 3,
  stack_bytes = 512,
  variable_bytes = 256,
  phases_of_region = 5, /* the last one is serial */
};

static struct {
  uint64_t seed;
  unsigned programs;
  unsigned phases;
  unsigned steps;
  unsigned pages;
  unsigned locks;
  enum sdsm_distribution placement;
} wanted = {1, 1, 20, 60, 2, 4, sdsm_round_robin};

/* Where the cells are. */
enum area {
  area_heap,
  area_placed_heap,
  area_placed_static,
  area_static,
  area_zeros,
  area_initial_stack,
  first_thread_area, /* a stack and thread-local variables for each thread */
};
enum { most_areas = first_thread_area + 2 * most_threads };

static SDSM_PAGE_ALIGNED unsigned char placed_static[most_pages * page_bytes];
static SDSM_PAGE_ALIGNED unsigned char plain_static[2 * page_bytes + 64];
static SDSM_PAGE_ALIGNED unsigned char zeros[2 * page_bytes];
static _Thread_local uint64_t thread_variables[variable_bytes / 8];
static unsigned char* base_of[most_areas];

static unsigned char* slot_block[slots];
static omp_lock_t plain_locks[most_locks];
static omp_nest_lock_t nest_lock;
static uint64_t first_total;
static uint64_t second_total;
static unsigned threads;
static uint64_t seed;

/* The generator: SplitMix64, by G. L. Steele Jr., D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number
 * Generators". */
static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = a + (b + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static uint64_t mix3(uint64_t a, uint64_t b, uint64_t c) {
  return mix(mix(mix(seed, a), b), c);
}
static uint64_t next(uint64_t* state) {
  *state = mix(*state, 1);
  return *state;
}

enum { for_phase = 1, for_actor, for_role, for_slot, for_group, for_start, for_shape, for_team, for_value };

/* What a phase is. */
enum kind {
  by_threads,
  dynamic_loop,
  guided_loop,
  cyclic_loop,
  two_loops_without_wait,
  one_thread,
  one_for_all,
  master_only,
  ordered_loop,
  four_sections,
  some_tasks,
  summed_loop,
  kinds,
};
static const char* const names_of_kinds[kinds] = {"threads",      "dynamic loop", "guided loop", "static loop",
                                                  "two loops",    "single",       "copyprivate", "master",
                                                  "ordered loop", "sections",     "tasks",       "reduction"};

struct phase {
  unsigned number;
  enum kind kind;
  int is_serial;
  unsigned team;
  unsigned actors;
  unsigned grain; /* neighbours of so many cells (a power of two) have one owner */
};

static unsigned team_of(unsigned phase) {
  const unsigned region = phase / phases_of_region;
  const uint64_t random = mix3(for_team, region, 0);
  return region == 0 || random % 4 != 0 ? threads : 1 + (unsigned)(random >> 8) % threads;
}

static struct phase phase_of(unsigned number) {
  uint64_t random = mix3(for_phase, number, 0);
  struct phase phase = {.number = number, .kind = (enum kind)(next(&random) % kinds)};
  phase.is_serial = number % phases_of_region == phases_of_region - 1;
  phase.team = team_of(number);
  if (phase.is_serial) phase.kind = by_threads;
  if (next(&random) % 4 == 0) phase.kind = by_threads;
  static const unsigned shifts[] = {0, 0, 1, 3, 7, 10};
  phase.grain = shifts[next(&random) % 6];
  switch (phase.kind) {
    case by_threads: phase.actors = phase.is_serial ? 1 : phase.team; break;
    case one_thread:
    case one_for_all:
    case master_only: phase.actors = 1; break;
    case four_sections: phase.actors = 4; break;
    default: phase.actors = 2 * (1 + (unsigned)(next(&random) % 12));
  }
  return phase;
}

/* The memory as it ought to be: a thread's own. */
struct cell {
  uint32_t offset;
  uint16_t area;
  uint16_t bytes;
};
struct slot {
  uint64_t bytes; /* 0: no block */
  uint64_t stamp;
};
struct model {
  uint64_t program; /* which one it is of; 0: none */
  unsigned phase;   /* phases that it has gone through */
  unsigned cells;
  unsigned begin_of[most_areas + 1];
  struct slot slot[slots];
  uint64_t added[most_locks];
  unsigned group[most_locks + 1][cells_of_lock]; /* the last one: of the ordered loop */
  unsigned char is_done[most_actors];
  struct cell* cell;
  uint64_t* value;
  unsigned char* is_guarded;
};
static _Thread_local struct model* own;

static void* private_memory(size_t bytes) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("random_program");
    exit(2);
  }
  return memory;
}

static size_t bytes_of(unsigned area) {
  switch (area) {
    case area_heap:
    case area_placed_heap:
    case area_placed_static: return (size_t)wanted.pages * page_bytes;
    case area_static:
    case area_zeros: return 2 * page_bytes;
    case area_initial_stack: return page_bytes;
    default: return (area - first_thread_area) % 2 == 0 ? stack_bytes : variable_bytes;
  }
}
static unsigned areas(void) {
  return first_thread_area + 2 * threads;
}

static uint64_t low_bytes(uint64_t value, unsigned bytes) {
  return bytes == 8 ? value : value & ((UINT64_C(1) << 8 * bytes) - 1);
}

static uint64_t value_at_start(unsigned area, unsigned cell, unsigned bytes) {
  return area == area_zeros ? 0 : low_bytes(mix3(for_start, cell, 0), bytes);
}

static void cut_into_cells(struct model* m) {
  static const unsigned char shapes[][8] = {{8}, {4, 4}, {2, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1}, {4, 2, 1, 1}, {8}};
  m->cells = 0;
  for (unsigned area = 0; area < areas(); ++area) {
    m->begin_of[area] = m->cells;
    for (uint32_t word = 0; word < bytes_of(area) / 8; ++word) {
      const unsigned char* shape = shapes[mix3(for_shape, area, word) % 6];
      for (unsigned part = 0, at = 0; at < 8; at += shape[part++]) {
        m->cell[m->cells] = (struct cell){word * 8 + at, (uint16_t)area, shape[part]};
        m->value[m->cells] = value_at_start(area, m->cells, shape[part]);
        ++m->cells;
      }
    }
  }
  m->begin_of[areas()] = m->cells;
}

/* The calling thread's model, at the program's begin if it has not gone further. */
static struct model* own_model(void) {
  const uint64_t program = seed + 1;
  if (own == NULL) {
    size_t most_cells = 0;
    for (unsigned area = 0; area < areas(); ++area) most_cells += bytes_of(area);
    own = private_memory(sizeof *own);
    own->cell = private_memory(most_cells * sizeof *own->cell);
    own->value = private_memory(most_cells * sizeof *own->value);
    own->is_guarded = private_memory(most_cells);
  }
  if (own->program != program) {
    own->program = program;
    own->phase = 0;
    memset(own->slot, 0, sizeof own->slot);
    cut_into_cells(own);
    memset(own->is_guarded, 0, own->cells);
  }
  return own;
}

/* The memory as it is. */
static _Noreturn void fail(const struct phase* phase, unsigned actor, const char* what, const void* address,
                           unsigned bytes, uint64_t found, uint64_t expected) {
  fprintf(stderr,
          "random_program: seed %llu, phase %u (%s, team of %u), thread %d, actor %u: %s at %p, %u bytes: found %#llx, "
          "expected %#llx\n",
          (unsigned long long)seed, phase->number, phase->is_serial ? "serial" : names_of_kinds[phase->kind],
          phase->team, omp_get_thread_num(), actor, what, address, bytes, (unsigned long long)found,
          (unsigned long long)expected);
  exit(1);
}

static volatile void* place_of(const struct model* m, unsigned cell) {
  return base_of[m->cell[cell].area] + m->cell[cell].offset;
}
static uint64_t read_cell(const struct model* m, unsigned cell) {
  volatile void* place = place_of(m, cell);
  switch (m->cell[cell].bytes) {
    case 1: return *(volatile uint8_t*)place;
    case 2: return *(volatile uint16_t*)place;
    case 4: return *(volatile uint32_t*)place;
    default: return *(volatile uint64_t*)place;
  }
}
static void write_cell(const struct model* m, unsigned cell, uint64_t value) {
  volatile void* place = place_of(m, cell);
  switch (m->cell[cell].bytes) {
    case 1: *(volatile uint8_t*)place = (uint8_t)value; break;
    case 2: *(volatile uint16_t*)place = (uint16_t)value; break;
    case 4: *(volatile uint32_t*)place = (uint32_t)value; break;
    default: *(volatile uint64_t*)place = value;
  }
}
static const char* name_of(const struct model* m, unsigned cell) {
  static const char* const names[] = {"a heap block",   "a placed block", "a placed array",
                                      "a static array", "zeros",          "the initial stack"};
  const unsigned area = m->cell[cell].area;
  if (area < first_thread_area) return names[area];
  return (area - first_thread_area) % 2 == 0 ? "a thread's stack" : "a thread's variables";
}
static void check_cell(const struct model* m, const struct phase* phase, unsigned actor, unsigned cell,
                       uint64_t expected) {
  const uint64_t found = read_cell(m, cell);
  if (found == expected) return;
  fail(phase, actor, name_of(m, cell), (const void*)place_of(m, cell), m->cell[cell].bytes, found, expected);
}

/* Memory of a thread is there while it is in a team. */
static int is_there(const struct model* m, const struct phase* phase, unsigned cell) {
  const unsigned area = m->cell[cell].area;
  return area < first_thread_area || (!phase->is_serial && (area - first_thread_area) / 2 < phase->team);
}

enum { nobody = -1, forbidden = -2 };
static int owner_of(const struct model* m, const struct phase* phase, unsigned cell) {
  if (m->is_guarded[cell] || !is_there(m, phase, cell)) return forbidden;
  const uint64_t random = mix3(for_role, phase->number, cell >> phase->grain);
  return random % 4 == 0 ? nobody : (int)((random >> 8) % phase->actors);
}

/* Where things happen: mostly at two places of each phase, so that actors meet in pages. */
static unsigned some_cell(const struct model* m, const struct phase* phase, uint64_t* random) {
  const uint64_t drawn = next(random);
  if (drawn % 4 == 0) return (unsigned)((drawn >> 8) % m->cells);
  const uint64_t place = mix3(for_phase, phase->number, 1 + drawn % 2);
  return (unsigned)((place + (drawn >> 8) % 160) % m->cells);
}

static void choose_guarded_cells(struct model* m, const struct phase* phase) {
  uint64_t random = mix3(for_group, phase->number, 0);
  for (unsigned lock = 0; lock <= wanted.locks; ++lock) {
    for (unsigned i = 0; i < cells_of_lock; ++i) {
      unsigned cell = some_cell(m, phase, &random);
      // The first one is wide: what the others ought to be is told by it.
      while (m->is_guarded[cell] || !is_there(m, phase, cell) || (i == 0 && m->cell[cell].bytes != 8)) {
        cell = (cell + 1) % m->cells;
      }
      const unsigned index = lock == wanted.locks ? most_locks : lock;
      m->group[index][i] = cell;
      m->is_guarded[cell] = 1;
    }
  }
}

static void begin_phase(struct model* m, const struct phase* phase) {
  choose_guarded_cells(m, phase);
  memset(m->added, 0, sizeof m->added);
  memset(m->is_done, 0, sizeof m->is_done);
}

/* A step on one cell of the actor's, or on one that all may read. */
static void step_on_cell(struct model* m, const struct phase* phase, unsigned actor, uint64_t* random, int is_real) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const unsigned cell = some_cell(m, phase, random);
    const int owner = owner_of(m, phase, cell);
    if (owner != nobody && owner != (int)actor) continue;
    const uint64_t drawn = next(random);
    if (is_real && (owner == nobody || drawn % 4 != 0)) check_cell(m, phase, actor, cell, m->value[cell]);
    if (owner == (int)actor && drawn % 2 == 0) {
      m->value[cell] = low_bytes(m->value[cell] * 3 + (drawn >> 8), m->cell[cell].bytes);
      if (is_real) write_cell(m, cell, m->value[cell]);
    }
    return;
  }
}

/* With the lock held. */
static void add_to_group(const struct model* m, const struct phase* phase, unsigned actor, unsigned lock,
                         uint64_t amount) {
  const unsigned* group = m->group[lock];
  const uint64_t so_far = read_cell(m, group[0]) - m->value[group[0]];
  for (unsigned i = 0; i < cells_of_lock; ++i) {
    const unsigned bytes = m->cell[group[i]].bytes;
    check_cell(m, phase, actor, group[i], low_bytes(m->value[group[i]] + so_far, bytes));
    write_cell(m, group[i], low_bytes(m->value[group[i]] + so_far + amount, bytes));
  }
}

static void step_under_lock(struct model* m, const struct phase* phase, unsigned actor, unsigned lock, uint64_t* random,
                            int is_real);

static void hold_lock(struct model* m, const struct phase* phase, unsigned actor, unsigned lock, uint64_t* random,
                      int is_real) {
  const uint64_t drawn = next(random);
  const uint64_t amount = drawn >> 8;
  if (is_real) add_to_group(m, phase, actor, lock, amount);
  m->added[lock] += amount;
  if (drawn % 2 == 0) step_on_cell(m, phase, actor, random, is_real);
  // Always in ascending order, so that no two wait for one another.
  if (drawn % 4 == 1 && lock + 1 < wanted.locks) step_under_lock(m, phase, actor, lock + 1, random, is_real);
}

static void step_under_lock(struct model* m, const struct phase* phase, unsigned actor, unsigned lock, uint64_t* random,
                            int is_real) {
  if (!is_real) {
    hold_lock(m, phase, actor, lock, random, is_real);
  } else if (lock == 0) {
#pragma omp critical
    hold_lock(m, phase, actor, lock, random, is_real);
  } else if (lock == 1) {
#pragma omp critical(other)
    hold_lock(m, phase, actor, lock, random, is_real);
  } else if (lock == 2) {
    omp_set_nest_lock(&nest_lock);
    if (*random % 2 == 0) omp_set_nest_lock(&nest_lock);
    const int is_twice = *random % 2 == 0;
    hold_lock(m, phase, actor, lock, random, is_real);
    if (is_twice) omp_unset_nest_lock(&nest_lock);
    omp_unset_nest_lock(&nest_lock);
  } else {
    if (*random % 2 == 0 || !omp_test_lock(&plain_locks[lock])) omp_set_lock(&plain_locks[lock]);
    hold_lock(m, phase, actor, lock, random, is_real);
    omp_unset_lock(&plain_locks[lock]);
  }
}

static unsigned char byte_of_block(uint64_t stamp, uint64_t i) {
  return (unsigned char)(stamp + i * 37 + (i >> 8) * 11);
}
static uint64_t some_size(uint64_t random) {
  switch (random % 16) {
    case 0: return 1 + (random >> 8) % (40 * page_bytes);
    case 1:
    case 2: return 1 + (random >> 8) % (3 * page_bytes);
    case 3: return page_bytes;
    default: return 1 + (random >> 8) % 200;
  }
}
static void check_block(const struct phase* phase, unsigned actor, const volatile unsigned char* block, uint64_t begin,
                        uint64_t end, uint64_t stamp) {
  for (uint64_t i = begin; i < end; ++i) {
    const unsigned char found = block[i];
    if (found == byte_of_block(stamp, i)) continue;
    fail(phase, actor, "an allocated block", (const void*)(block + i), 1, found, byte_of_block(stamp, i));
  }
}
static void fill_block(unsigned char* block, const struct slot* slot) {
  for (uint64_t i = 0; i < slot->bytes; ++i) block[i] = byte_of_block(slot->stamp, i);
}

static unsigned char* new_block(const struct phase* phase, unsigned actor, uint64_t bytes, unsigned how) {
  if (how % 2 == 0) return malloc(bytes);
  unsigned char* block = calloc(bytes, 1);
  for (uint64_t i = 0; block != NULL && i < bytes; ++i) {
    if (block[i] != 0) fail(phase, actor, "a zeroed block", block + i, 1, block[i], 0);
  }
  return block;
}

/* Allocates, changes, resizes or frees a block whose turn it is; else reads one that is nobody's. */
static void step_on_slot(struct model* m, const struct phase* phase, unsigned actor, uint64_t* random, int is_real) {
  const unsigned number = (unsigned)(next(random) % slots);
  struct slot* slot = &m->slot[number];
  const uint64_t turn = mix3(for_slot, phase->number, number);
  const uint64_t drawn = next(random);
  const uint64_t bytes = some_size(next(random));
  if (turn % 3 == 0) {
    if (!is_real || slot->bytes == 0) return;
    const uint64_t at = drawn % slot->bytes;
    check_block(phase, actor, slot_block[number], at, slot->bytes - at > 64 ? at + 64 : slot->bytes, slot->stamp);
    return;
  }
  if ((turn >> 8) % phase->actors != actor) return;
  const struct slot before = *slot;
  unsigned char* block = is_real ? slot_block[number] : NULL;
  if (is_real && before.bytes > 0) check_block(phase, actor, block, 0, before.bytes, before.stamp);
  slot->stamp = drawn >> 8;
  if (before.bytes == 0) {
    slot->bytes = bytes;
    if (is_real) block = new_block(phase, actor, bytes, drawn % 2);
  } else if (drawn % 3 == 0) {
    *slot = (struct slot){0, 0};
    if (is_real) free(block);
    block = NULL;
  } else if (drawn % 3 == 1) {
    slot->bytes = bytes;
    if (is_real) {
      block = realloc(block, bytes);
      if (block) check_block(phase, actor, block, 0, bytes < before.bytes ? bytes : before.bytes, before.stamp);
    }
  }
  if (!is_real) return;
  if (slot->bytes > 0 && block == NULL) fail(phase, actor, "no memory left", NULL, 0, 0, bytes);
  fill_block(block, slot);
  slot_block[number] = block;
}

/* All that an actor does in a phase; in the model alone if it is another thread's. */
static void act(struct model* m, const struct phase* phase, unsigned actor, int is_real) {
  uint64_t random = mix3(for_actor, phase->number, actor);
  const unsigned steps = phase->actors > 2 * threads ? wanted.steps * threads / phase->actors + 1 : wanted.steps;
  for (unsigned step = 0; step < steps; ++step) {
    const unsigned what = (unsigned)(next(&random) % 24);
    if (what == 0 && wanted.locks > 0) {
      const unsigned lock = (unsigned)(next(&random) % wanted.locks);
      step_under_lock(m, phase, actor, lock, &random, is_real);
    } else if (what == 1) {
      step_on_slot(m, phase, actor, &random, is_real);
    } else {
      step_on_cell(m, phase, actor, &random, is_real);
    }
  }
  m->is_done[actor] = 1;
}

/* Iterations in order may do what depends on the order. */
static uint64_t in_order(uint64_t value, unsigned iteration, unsigned bytes) {
  return low_bytes(value * 31 + iteration + 1, bytes);
}
static void act_in_order(const struct model* m, const struct phase* phase, unsigned iteration) {
  for (unsigned i = 0; i < cells_in_order; ++i) {
    const unsigned cell = m->group[most_locks][i];
    uint64_t expected = m->value[cell];
    for (unsigned before = 0; before < iteration; ++before) expected = in_order(expected, before, m->cell[cell].bytes);
    check_cell(m, phase, iteration, cell, expected);
    write_cell(m, cell, in_order(expected, iteration, m->cell[cell].bytes));
  }
}

static void end_phase(struct model* m, const struct phase* phase) {
  for (unsigned actor = 0; actor < phase->actors; ++actor) {
    if (!m->is_done[actor]) act(m, phase, actor, 0);
  }
  for (unsigned lock = 0; lock <= wanted.locks; ++lock) {
    const unsigned index = lock == wanted.locks ? most_locks : lock;
    for (unsigned i = 0; i < cells_of_lock; ++i) {
      const unsigned cell = m->group[index][i];
      const unsigned bytes = m->cell[cell].bytes;
      m->is_guarded[cell] = 0;
      if (index < most_locks) m->value[cell] = low_bytes(m->value[cell] + m->added[index], bytes);
      if (index == most_locks && phase->kind == ordered_loop && i < cells_in_order) {
        for (unsigned k = 0; k < phase->actors; ++k) m->value[cell] = in_order(m->value[cell], k, bytes);
      }
    }
  }
  ++m->phase;
}

static void catch_up(struct model* m, unsigned phase) {
  while (m->phase < phase) {
    const struct phase missed = phase_of(m->phase);
    begin_phase(m, &missed);
    end_phase(m, &missed);
  }
}

/* The constructs. Each ends with a barrier. */

static void run_by_threads(const struct phase* phase) {
  act(own, phase, (unsigned)omp_get_thread_num(), 1);
#pragma omp barrier
}

static void run_loop(const struct phase* phase) {
  const unsigned chunk = 1 + phase->number % 3;
  if (phase->kind == dynamic_loop) {
#pragma omp for schedule(dynamic, chunk)
    for (unsigned i = 0; i < phase->actors; ++i) act(own, phase, i, 1);
  } else if (phase->kind == guided_loop) {
#pragma omp for schedule(guided)
    for (unsigned i = 0; i < phase->actors; ++i) act(own, phase, i, 1);
  } else {
#pragma omp for schedule(static, chunk)
    for (unsigned i = 0; i < phase->actors; ++i) act(own, phase, i, 1);
  }
}

static void run_two_loops(const struct phase* phase) {
#pragma omp for schedule(dynamic) nowait
  for (unsigned i = 0; i < phase->actors / 2; ++i) act(own, phase, i, 1);
#pragma omp for schedule(dynamic, 2)
  for (unsigned i = phase->actors / 2; i < phase->actors; ++i) act(own, phase, i, 1);
}

static void run_one_thread(const struct phase* phase) {
#pragma omp single
  act(own, phase, 0, 1);
}

static void run_one_for_all(const struct phase* phase) {
  uint64_t random = mix3(for_value, phase->number, 0);
  unsigned cell = some_cell(own, phase, &random);
  while (!is_there(own, phase, cell)) cell = (cell + 1) % own->cells;
  const uint64_t expected = own->value[cell];
  uint64_t found;
  void* address;
#pragma omp single copyprivate(found, address)
  {
    found = read_cell(own, cell);
    address = (void*)place_of(own, cell);
    act(own, phase, 0, 1);
  }
  if (found != expected) fail(phase, 0, "what one thread read for all", address, 8, found, expected);
}

static void run_master_only(const struct phase* phase) {
#pragma omp master
  act(own, phase, 0, 1);
#pragma omp barrier
}

static void run_ordered_loop(const struct phase* phase) {
  if (phase->number % 2 == 0) {
#pragma omp for ordered schedule(dynamic)
    for (unsigned i = 0; i < phase->actors; ++i) {
      act(own, phase, i, 1);
#pragma omp ordered
      act_in_order(own, phase, i);
    }
  } else {
#pragma omp for ordered schedule(static, 2)
    for (unsigned i = 0; i < phase->actors; ++i) {
#pragma omp ordered
      act_in_order(own, phase, i);
      act(own, phase, i, 1);
    }
  }
}

static void run_sections(const struct phase* phase) {
#pragma omp sections
  {
#pragma omp section
    act(own, phase, 0, 1);
#pragma omp section
    act(own, phase, 1, 1);
#pragma omp section
    act(own, phase, 2, 1);
#pragma omp section
    act(own, phase, 3, 1);
  }
}

static void run_tasks(const struct phase* phase) {
  // A thread that is about to leave the last barrier may be given a task there: its model has to be in this phase.
#pragma omp barrier
#pragma omp single
  for (unsigned i = 0; i < phase->actors; ++i) {
    const struct phase copy = *phase;
#pragma omp task firstprivate(i, copy)
    act(own, &copy, i, 1);
  }
}

/* Two sums at once: the compiler adds them up under a lock, where a single one would be an instruction. */
static void run_summed_loop(const struct phase* phase) {
  uint64_t sum = 0;
#pragma omp single
  {
    first_total = 0;
    second_total = 1;
  }
#pragma omp for reduction(+ : first_total, second_total)
  for (unsigned i = 0; i < phase->actors; ++i) {
    act(own, phase, i, 1);
    first_total += mix3(for_value, phase->number, i);
    second_total += mix3(for_value, phase->number, i);
  }
  for (unsigned i = 0; i < phase->actors; ++i) sum += mix3(for_value, phase->number, i);
  if (first_total != sum) fail(phase, 0, "the first sum", &first_total, 8, first_total, sum);
  if (second_total != sum + 1) fail(phase, 0, "the second sum", &second_total, 8, second_total, sum + 1);
#pragma omp barrier
}

static void run_phase(unsigned number) {
  const struct phase phase = phase_of(number);
  begin_phase(own, &phase);
  switch (phase.kind) {
    case dynamic_loop:
    case guided_loop:
    case cyclic_loop: run_loop(&phase); break;
    case two_loops_without_wait: run_two_loops(&phase); break;
    case one_thread: run_one_thread(&phase); break;
    case one_for_all: run_one_for_all(&phase); break;
    case master_only: run_master_only(&phase); break;
    case ordered_loop: run_ordered_loop(&phase); break;
    case four_sections: run_sections(&phase); break;
    case some_tasks: run_tasks(&phase); break;
    case summed_loop: run_summed_loop(&phase); break;
    default: run_by_threads(&phase);
  }
  end_phase(own, &phase);
}

/* A thread's own memory is as the model says. */
static void fill_area(const struct model* m, unsigned area) {
  for (unsigned cell = m->begin_of[area]; cell < m->begin_of[area + 1]; ++cell) write_cell(m, cell, m->value[cell]);
}

static void check_everything(const struct model* m, const struct phase* phase) {
  for (unsigned cell = 0; cell < m->cells; ++cell) {
    if (is_there(m, phase, cell)) check_cell(m, phase, 0, cell, m->value[cell]);
  }
  for (unsigned i = 0; i < slots; ++i) {
    if (m->slot[i].bytes > 0) check_block(phase, 0, slot_block[i], 0, m->slot[i].bytes, m->slot[i].stamp);
  }
}

static void run_region(unsigned first_phase, unsigned end) {
  const unsigned team = team_of(first_phase);
  unsigned too_few = 0;
#pragma omp parallel num_threads(team)
  {
    uint64_t stack[stack_bytes / 8];
    const unsigned thread = (unsigned)omp_get_thread_num();
    struct model* m = own_model();
    catch_up(m, first_phase);
    const unsigned area = first_thread_area + 2 * thread;
    base_of[area] = (unsigned char*)stack;
    base_of[area + 1] = (unsigned char*)thread_variables;
    fill_area(m, area);
    fill_area(m, area + 1);
    if (thread == 0) too_few = (unsigned)omp_get_num_threads() != team;
#pragma omp barrier
    if (!too_few) {
      for (unsigned phase = first_phase; phase < end; ++phase) run_phase(phase);
      if (end == wanted.phases) {
        const struct phase last = phase_of(end - 1);
        check_everything(m, &last);
      }
    }
  }
  if (too_few) {
    fprintf(stderr, "random_program: there is no team of %u threads\n", team);
    exit(2);
  }
}

static void run_program(void) {
  uint64_t stack[page_bytes / 8];
  struct model* m = own_model();
  base_of[area_heap] = malloc(bytes_of(area_heap));
  base_of[area_placed_heap] = sdsm_galloc(bytes_of(area_placed_heap), wanted.placement);
  base_of[area_placed_static] = placed_static;
  base_of[area_static] = plain_static + 40;
  base_of[area_zeros] = zeros;
  base_of[area_initial_stack] = (unsigned char*)stack;
  if (!base_of[area_heap] || !base_of[area_placed_heap]) {
    fputs("random_program: there is no memory left\n", stderr);
    exit(2);
  }
  memset(slot_block, 0, sizeof slot_block);
  memset(zeros, 0, sizeof zeros);
  for (unsigned area = 0; area < first_thread_area; ++area) {
    if (area != area_zeros) fill_area(m, area);
  }
  for (unsigned i = 0; i < most_locks; ++i) omp_init_lock(&plain_locks[i]);
  omp_init_nest_lock(&nest_lock);

  for (unsigned phase = 0; phase < wanted.phases;) {
    unsigned end = phase - phase % phases_of_region + phases_of_region - 1;
    if (end > wanted.phases) end = wanted.phases;
    run_region(phase, end);
    phase = end;
    catch_up(m, phase);
    if (phase == wanted.phases) break;
    const struct phase serial = phase_of(phase++);
    begin_phase(m, &serial);
    act(m, &serial, 0, 1);
    end_phase(m, &serial);
  }

  struct phase after = phase_of(wanted.phases);
  after.is_serial = 1;
  check_everything(m, &after);
  for (unsigned i = 0; i < slots; ++i) free(slot_block[i]);
  for (unsigned i = 0; i < most_locks; ++i) omp_destroy_lock(&plain_locks[i]);
  omp_destroy_nest_lock(&nest_lock);
  sdsm_gfree(base_of[area_placed_heap]);
  free(base_of[area_heap]);
}

static const char help[] =
    "usage: random_program [--seed N] [--programs N] [--phases N] [--steps N] [--pages N] [--locks N]\n"
    "                      [--placement round-robin|block]\n\n"
    "Runs random OpenMP programs without data races and checks each value that they read.\n\n"
    "  --seed N         the first program's number (1)\n"
    "  --programs N     programs, one after another, with ascending seeds (1)\n"
    "  --phases N       of each program, between barriers (20)\n"
    "  --steps N        of each thread in each phase (60)\n"
    "  --pages N        of each of the larger pieces of memory, 1 to 64 (2)\n"
    "  --locks N        0 to 16 (4)\n"
    "  --placement ...  of what the program itself places (round-robin)\n";

static unsigned long number(const char* option, const char* text, unsigned long least, unsigned long most) {
  char* end;
  const unsigned long value = strtoul(text, &end, 10);
  if (end == text || *end != '\0' || value < least || value > most) {
    fprintf(stderr, "random_program: --%s '%s' is not a number from %lu to %lu\n", option, text, least, most);
    exit(2);
  }
  return value;
}

static void read_options(int argc, char** argv) {
  static const struct option options[] = {
      {"seed", 1, NULL, 's'},      {"programs", 1, NULL, 'n'}, {"phases", 1, NULL, 'f'},
      {"steps", 1, NULL, 't'},     {"pages", 1, NULL, 'p'},    {"locks", 1, NULL, 'l'},
      {"placement", 1, NULL, 'a'}, {"help", 0, NULL, 'h'},     {NULL, 0, NULL, 0}};
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
      case 's': wanted.seed = number("seed", optarg, 0, UINT32_MAX); break;
      case 'n': wanted.programs = (unsigned)number("programs", optarg, 1, UINT32_MAX); break;
      case 'f': wanted.phases = (unsigned)number("phases", optarg, 1, 1000000); break;
      case 't': wanted.steps = (unsigned)number("steps", optarg, 1, 1000000); break;
      case 'p': wanted.pages = (unsigned)number("pages", optarg, 1, most_pages); break;
      case 'l': wanted.locks = (unsigned)number("locks", optarg, 0, most_locks); break;
      case 'a':
        if (strcmp(optarg, "round-robin") != 0 && strcmp(optarg, "block") != 0) {
          fprintf(stderr, "random_program: --placement '%s' is neither round-robin nor block\n", optarg);
          exit(2);
        }
        wanted.placement = optarg[0] == 'b' ? sdsm_block : sdsm_round_robin;
        break;
      case 'h': fputs(help, stdout); exit(0);
      default: exit(2);
    }
  }
  if (optind < argc) {
    fprintf(stderr, "random_program: unexpected argument '%s'\n", argv[optind]);
    exit(2);
  }
}

int main(int argc, char** argv) {
  read_options(argc, argv);
  omp_set_dynamic(0);
  threads = (unsigned)omp_get_max_threads();
  if (threads > most_threads) {
    fprintf(stderr, "random_program: at most %d threads\n", most_threads);
    return 2;
  }
  sdsm_map(placed_static, bytes_of(area_placed_static), wanted.placement);
  for (unsigned i = 0; i < wanted.programs; ++i) {
    seed = wanted.seed + i;
    run_program();
  }
  printf("%u programs, seeds %llu to %llu\n", wanted.programs, (unsigned long long)wanted.seed,
         (unsigned long long)seed);
  return 0;
}
