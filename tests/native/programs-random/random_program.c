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
 * On request (--with) locks are the C library's or of integers, some cells are changed by atomic operations of all, of
 * which the model knows the result or the results that there may be, some are handed on from thread to thread behind a
 * signal, and some are filled once by whoever comes first.
 *
 * Ends with status 0, or prints the first wrong value on stderr and ends with status 1. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdsm/placement.h"
#include "tests/native/programs-random/meetings.h"

enum {
  page_bytes = SDSM_PAGE_BYTES,
  most_pages = 64,
  most_locks = 16,
  most_threads = 64,
  most_actors = 64,
  slots = 24,
  cells_of_lock = 6,
  cells_in_order = 3,
  chains = 2,
  most_rounds = 3,
  most_onces = 64,
  wide_values = 2,
  most_tickets = 1 << 16,
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
  unsigned first_phase;
  unsigned ingredients;
  enum sdsm_distribution placement;
} wanted = {
    1, 1, 20, 60, 2, 4, 0, cells_alone | openmp_locks | blocks | constructs | teams | thread_locals, sdsm_round_robin};

static int has(enum ingredient ingredient) {
  return (wanted.ingredients & ingredient) != 0;
}

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
static struct lock static_locks[most_locks];
static struct lock* locks;
static struct signal signals[chains];
static struct once onces[most_onces];
static uint64_t guards[1000 * most_onces];
static unsigned used_guards;
static pthread_barrier_t library_barrier;
static SDSM_PAGE_ALIGNED volatile unsigned __int128 wide[wide_values];
/* Of each actor: what its exchanges found. Who drew which ticket. */
static uint64_t found_sum[most_actors];
static unsigned char drawer[most_tickets];
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

enum {
  for_phase = 1,
  for_actor,
  for_role,
  for_slot,
  for_group,
  for_start,
  for_shape,
  for_team,
  for_value,
  for_lock,
  for_chain,
  for_order,
  for_once,
  for_operation,
  for_wide,
};

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
  return region == 0 || random % 4 != 0 || !has(teams) ? threads : 1 + (unsigned)(random >> 8) % threads;
}

static struct phase phase_of(unsigned number) {
  uint64_t random = mix3(for_phase, number, 0);
  struct phase phase = {.number = number, .kind = (enum kind)(next(&random) % kinds)};
  phase.is_serial = number % phases_of_region == phases_of_region - 1;
  phase.team = team_of(number);
  if (phase.is_serial) phase.kind = by_threads;
  if (next(&random) % 4 == 0 || !has(constructs)) phase.kind = by_threads;
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
  uint64_t shift; /* of the contents to the block's begin */
};
/* Cells of a phase that nobody owns. */
enum { signal_cell = cells_of_lock - 1 }; /* of a chain: where a number grows */
enum {
  group_in_order = most_locks,
  group_of_chains,
  group_of_once = group_of_chains + chains,
  group_of_atomics,
  groups
};
struct model {
  uint64_t program; /* which one it is of; 0: none */
  unsigned phase;   /* phases that it has gone through */
  unsigned cells;
  unsigned begin_of[most_areas + 1];
  struct slot slot[slots];
  uint64_t added[most_locks];
  unsigned group[groups][cells_of_lock];
  uint64_t operated[cells_of_lock]; /* of the atomic cells: all operands so far as one */
  uint64_t last_stored[cells_of_lock][most_actors];
  unsigned tickets[most_actors];
  uint64_t all_tickets;
  uint64_t wide[wide_values][2];
  uint64_t found[most_actors]; /* by exchanges of the actors that this thread was */
  unsigned char is_done[most_actors];
  unsigned char has_stored[cells_of_lock][most_actors];
  unsigned char is_operated[cells_of_lock];
  unsigned char is_initialised;
  struct cell* cell;
  uint64_t* value;
  unsigned char* is_guarded;
};
static _Thread_local struct model* own;
static _Thread_local const char* doing; /* for the message that something is wrong */

/* Anonymous memory would be shared, but for that in the lowest 4 GiB. */
static void* private_memory(size_t bytes) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
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
  const uint64_t pattern = mix3(for_start, area, most_pages);
  if (area == area_zeros || pattern % 4 == 0) return 0;
  return low_bytes(pattern % 4 == 1 ? UINT64_MAX : mix3(for_start, cell, 0), bytes);
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
    memset(own->wide, 0, sizeof own->wide);
    cut_into_cells(own);
    memset(own->is_guarded, 0, own->cells);
  }
  return own;
}

/* The memory as it is. */
static _Noreturn void fail(const struct phase* phase, unsigned actor, const char* what, const void* address,
                           unsigned bytes, uint64_t found, uint64_t expected) {
  fprintf(
      stderr,
      "random_program: seed %llu, phase %u (%s, team of %u), thread %d, actor %u, %s: %s at %p, %u bytes: found %#llx, "
      "expected %#llx\n",
      (unsigned long long)seed, phase->number, phase->is_serial ? "serial" : names_of_kinds[phase->kind], phase->team,
      omp_get_thread_num(), actor, doing, what, address, bytes, (unsigned long long)found,
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
  if (area >= first_thread_area && (area - first_thread_area) % 2 == 1 && !has(thread_locals)) return 0;
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

static enum signal_kind kind_of_signal(unsigned chain) {
  uint64_t random = mix3(for_chain, UINT32_MAX, chain);
  for (unsigned tries = 0; tries < 1000; ++tries) {
    const enum signal_kind kind = (enum signal_kind)(next(&random) % signal_kinds);
    if (has(ingredient_of_signal(kind))) return kind;
  }
  return by_exchange;
}

/* The first one is wide: what the others ought to be follows from it. What is loaded plainly is not in the stack of who
 * loads it, where sdsm run does not see the load. */
static int may_guard(const struct model* m, const struct phase* phase, unsigned group, unsigned i, unsigned cell) {
  if (m->is_guarded[cell] || !is_there(m, phase, cell)) return 0;
  if (i == 0) return m->cell[cell].bytes == 8;
  const unsigned chain = group - group_of_chains;
  if (chain >= chains || i != signal_cell || m->cell[cell].area < area_initial_stack) return 1;
  const enum signal_kind kind = kind_of_signal(chain);
  return kind < read_plainly || kind > flushed;
}

static int is_group(unsigned group) {
  return group < wanted.locks || group >= most_locks;
}

static void choose_guarded_cells(struct model* m, const struct phase* phase) {
  for (unsigned group = 0; group < groups; ++group) {
    uint64_t random = mix3(for_group, phase->number, group);
    for (unsigned i = 0; i < cells_of_lock && is_group(group); ++i) {
      unsigned cell = some_cell(m, phase, &random);
      while (!may_guard(m, phase, group, i, cell)) cell = (cell + 1) % m->cells;
      m->group[group][i] = cell;
      m->is_guarded[cell] = 1;
    }
  }
}

/* Now and then the same value again, all bits, none, or another byte among those that stay. */
static uint64_t next_value(uint64_t value, uint64_t drawn) {
  switch (drawn % 10) {
    case 0: return value;
    case 1: return 0;
    case 2: return UINT64_MAX;
    case 3: return value ^ (drawn >> 8) % 256 << 8 * ((drawn >> 16) % 8);
    default: return value * 3 + (drawn >> 8);
  }
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
      m->value[cell] = low_bytes(next_value(m->value[cell], drawn >> 2), m->cell[cell].bytes);
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
  const uint64_t variant = mix(*random, lock);
  if (!is_real) {
    hold_lock(m, phase, actor, lock, random, is_real);
  } else if (locks[lock].kind == critical) {
#pragma omp critical
    hold_lock(m, phase, actor, lock, random, is_real);
  } else if (locks[lock].kind == other_critical) {
#pragma omp critical(other)
    hold_lock(m, phase, actor, lock, random, is_real);
  } else {
    enter(&locks[lock], variant);
    hold_lock(m, phase, actor, lock, random, is_real);
    leave(&locks[lock], variant);
  }
}

/* With others that only read. */
static int read_under_lock(const struct model* m, const struct phase* phase, unsigned actor, unsigned lock) {
  if (!enter_as_reader(&locks[lock])) return 0;
  const unsigned* group = m->group[lock];
  const uint64_t so_far = read_cell(m, group[0]) - m->value[group[0]];
  for (unsigned i = 0; i < cells_of_lock; ++i) {
    check_cell(m, phase, actor, group[i], low_bytes(m->value[group[i]] + so_far, m->cell[group[i]].bytes));
  }
  leave_as_reader(&locks[lock]);
  return 1;
}

static void step_on_locks(struct model* m, const struct phase* phase, unsigned actor, uint64_t* random, int is_real) {
  if (wanted.locks == 0) return;
  // Two locks of each phase, so that actors meet at them.
  const unsigned lock =
      (unsigned)((mix3(for_lock, phase->number, most_locks) % most_locks + next(random) % 2) % wanted.locks);
  if (next(random) % 3 == 0 && is_real) read_under_lock(m, phase, actor, lock);
  step_under_lock(m, phase, actor, lock, random, is_real);
}

/* Two critical sections, of which the program has one each, and any of the others. */
static enum lock_kind kind_of_lock(unsigned lock) {
  if (lock < 2 && has(openmp_locks)) return lock == 0 ? critical : other_critical;
  uint64_t random = mix3(for_lock, lock, 0);
  for (unsigned tries = 0; tries < 1000; ++tries) {
    const enum lock_kind kind = (enum lock_kind)(nested + next(&random) % (lock_kinds - nested));
    if (has(ingredient_of_lock(kind))) return kind;
  }
  return simple;
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
                        uint64_t end, const struct slot* slot) {
  for (uint64_t i = begin; i < end; ++i) {
    const unsigned char found = block[i];
    const unsigned char expected = byte_of_block(slot->stamp, slot->shift + i);
    if (found != expected) fail(phase, actor, "an allocated block", (const void*)(block + i), 1, found, expected);
  }
}
static void fill_block(unsigned char* block, const struct slot* slot, uint64_t begin) {
  for (uint64_t i = begin; i < slot->bytes; ++i) block[i] = byte_of_block(slot->stamp, slot->shift + i);
}

static unsigned char* new_block(const struct phase* phase, unsigned actor, uint64_t bytes, unsigned how) {
  if (how % 2 == 0) return malloc(bytes);
  unsigned char* block = calloc(bytes, 1);
  for (uint64_t i = 0; block != NULL && i < bytes; ++i) {
    if (block[i] != 0) fail(phase, actor, "a zeroed block", block + i, 1, block[i], 0);
  }
  return block;
}

static void pipe_through(unsigned char* to, const unsigned char* from, size_t bytes, const struct phase* phase) {
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], from, bytes) != (ssize_t)bytes || read(ends[0], to, bytes) != (ssize_t)bytes) {
    fail(phase, 0, "a pipe", from, (unsigned)bytes, 0, bytes);
  }
  close(ends[0]);
  close(ends[1]);
}

/* Moves what is in a block towards its begin, or makes it a copy of one that is nobody's. */
static void move_contents(const struct model* m, const struct phase* phase, struct slot* slot, unsigned char** block,
                          uint64_t* random) {
  const unsigned other = (unsigned)(next(random) % slots);
  const uint64_t drawn = next(random);
  if (mix3(for_slot, phase->number, other) % 3 != 0 || m->slot[other].bytes == 0) {
    const uint64_t shift = drawn % slot->bytes;
    slot->shift += shift;
    if (!block) return;
    memmove(*block, *block + shift, slot->bytes - shift);
    fill_block(*block, slot, slot->bytes - shift);
    return;
  }
  *slot = m->slot[other];
  if (!block) return;
  *block = realloc(*block, slot->bytes);
  if (!*block) fail(phase, 0, "no memory left", NULL, 0, 0, slot->bytes);
  if (drawn % 2 == 0 && slot->bytes <= 4 * page_bytes) {
    pipe_through(*block, slot_block[other], slot->bytes, phase);
  } else {
    memcpy(*block, slot_block[other], slot->bytes);
  }
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
    check_block(phase, actor, slot_block[number], at, slot->bytes - at > 64 ? at + 64 : slot->bytes, slot);
    return;
  }
  if ((turn >> 8) % phase->actors != actor) return;
  const struct slot before = *slot;
  unsigned char* block = is_real ? slot_block[number] : NULL;
  if (is_real && before.bytes > 0) check_block(phase, actor, block, 0, before.bytes, &before);
  if (before.bytes > 0 && has(copies) && drawn % 4 == 0) {
    move_contents(m, phase, slot, is_real ? &slot_block[number] : NULL, random);
    return;
  }
  slot->stamp = drawn >> 8;
  slot->shift = 0;
  if (before.bytes == 0) {
    slot->bytes = bytes;
    if (is_real) block = new_block(phase, actor, bytes, drawn % 2);
  } else if (drawn % 3 == 0) {
    *slot = (struct slot){0, 0, 0};
    if (is_real) free(block);
    block = NULL;
  } else if (drawn % 3 == 1) {
    slot->bytes = bytes;
    if (is_real) {
      block = realloc(block, bytes);
      if (block) check_block(phase, actor, block, 0, bytes < before.bytes ? bytes : before.bytes, &before);
    }
  }
  if (!is_real) return;
  if (slot->bytes > 0 && block == NULL) fail(phase, actor, "no memory left", NULL, 0, 0, bytes);
  fill_block(block, slot, 0);
  slot_block[number] = block;
}

/* What all change by atomic operations. The first cell gives tickets, of the second all exchange what they find, the
 * others have an operation each. */
enum { ticket_cell, exchange_cell, first_operated_cell };
static enum operation operation_of(const struct model* m, const struct phase* phase, unsigned i) {
  const struct cell* cell = &m->cell[m->group[group_of_atomics][i]];
  const uint64_t drawn = mix3(for_operation, phase->number, i);
  if (i == ticket_cell) return op_add;
  if (i == exchange_cell) return op_exchange;
  const enum operation operation = (enum operation)(drawn % operations);
  /* Of plain stores at once to a variable on a stack, one stays whole only if it has four bytes. Anywhere, those to a
   * shorter one undo a change of what lies beside it in the same four bytes (docs/contract.md). */
  const int is_whole = cell->bytes == 4 || (cell->bytes == 8 && cell->area < area_initial_stack);
  const int may_tear = operation == op_store_any && !is_whole;
  return operation == op_exchange || may_tear ? op_add : operation;
}
static uint64_t same_for_all(const struct phase* phase, unsigned bytes) {
  return low_bytes(mix3(for_operation, phase->number, cells_of_lock), bytes);
}
static uint64_t operand_of(const struct model* m, const struct phase* phase, unsigned i, uint64_t drawn) {
  const unsigned cell = m->group[group_of_atomics][i];
  const unsigned bytes = m->cell[cell].bytes;
  const enum operation operation = operation_of(m, phase, i);
  if (operation == op_store_same) return same_for_all(phase, bytes);
  return low_bytes(operation == op_store_any ? stored_at_once(m->value[cell], drawn) : drawn, bytes);
}

static void draw_ticket(struct model* m, const struct phase* phase, unsigned actor, uint64_t variant, int is_real) {
  const unsigned cell = m->group[group_of_atomics][ticket_cell];
  ++m->tickets[actor];
  ++m->operated[ticket_cell];
  if (!is_real) return;
  const uint64_t ticket = fetch_and(place_of(m, cell), 8, op_add, 1, variant) - m->value[cell];
  if (ticket >= most_tickets) fail(phase, actor, "a ticket", (const void*)place_of(m, cell), 8, ticket, 0);
  drawer[ticket] = (unsigned char)(actor + 1);
}

static void exchange(struct model* m, unsigned actor, uint64_t token, uint64_t variant, int is_real) {
  const unsigned cell = m->group[group_of_atomics][exchange_cell];
  const unsigned bytes = m->cell[cell].bytes;
  m->operated[exchange_cell] += token;
  if (!is_real) return;
  m->found[actor] += fetch_and(place_of(m, cell), bytes, op_exchange, token, variant);
  found_sum[actor] = low_bytes(m->found[actor], bytes);
}

/* What the actor itself did to a cell cannot be undone by what others do. */
static void check_own_effect(const struct model* m, const struct phase* phase, unsigned actor, unsigned cell,
                             enum operation operation, uint64_t operand, uint64_t variant) {
  const uint64_t found = load(place_of(m, cell), m->cell[cell].bytes, variant);
  const int is_right = operation == op_or         ? (found & operand) == operand
                       : operation == op_and      ? (found & ~operand) == 0
                       : operation == op_least    ? found <= operand
                       : operation == op_greatest ? found >= operand
                                                  : operation != op_store_same || found == operand;
  const void* place = (const void*)place_of(m, cell);
  if (!is_right) fail(phase, actor, "what an own operation left", place, m->cell[cell].bytes, found, operand);
}

static void step_on_atomic(struct model* m, const struct phase* phase, unsigned actor, uint64_t* random, int is_real) {
  const unsigned i = (unsigned)(next(random) % cells_of_lock);
  const uint64_t drawn = next(random);
  const uint64_t variant = next(random);
  const unsigned cell = m->group[group_of_atomics][i];
  const unsigned bytes = m->cell[cell].bytes;
  if (i == ticket_cell) {
    draw_ticket(m, phase, actor, variant, is_real);
    return;
  }
  if (i == exchange_cell) {
    exchange(m, actor, low_bytes(drawn, bytes), variant, is_real);
    return;
  }
  const enum operation operation = operation_of(m, phase, i);
  const uint64_t operand = operand_of(m, phase, i, drawn);
  const int is_first = !m->is_operated[i];
  m->is_operated[i] = 1;
  switch (operation) {
    case op_subtract: m->operated[i] += operand; break;
    case op_store_same: m->operated[i] = operand; break;
    case op_store_any:
      m->has_stored[i][actor] = 1;
      m->last_stored[i][actor] = operand;
      break;
    default: m->operated[i] = is_first ? operand : result_of(operation, m->operated[i], operand);
  }
  if (!is_real) return;
  update(place_of(m, cell), bytes, operation, operand, variant);
  if (drawn >> 60 < 6) check_own_effect(m, phase, actor, cell, operation, operand, variant >> 16);
}

static void step_on_wide(struct model* m, const struct phase* phase, unsigned actor, uint64_t* random, int is_real) {
  (void)phase;
  (void)actor;
  const unsigned i = (unsigned)(next(random) % wide_values);
  const uint64_t low = next(random);
  const uint64_t high = next(random);
  m->wide[i][0] += low;
  m->wide[i][1] += high;
  if (is_real) update_wide(&wide[i], low, high, low >> 8);
}

/* What the first one who comes fills, and all who come find. */
static uint64_t value_of_once(const struct model* m, const struct phase* phase, unsigned i) {
  const unsigned cell = m->group[group_of_once][i];
  if (i == 0) return m->value[cell] + 1;
  return low_bytes(mix3(for_once, phase->number, i), m->cell[cell].bytes);
}
static _Thread_local struct phase once_phase;
static void initialise(void) {
  const unsigned* group = own->group[group_of_once];
  write_cell(own, group[0], read_cell(own, group[0]) + 1);
  for (unsigned i = 1; i < cells_of_lock; ++i) write_cell(own, group[i], value_of_once(own, &once_phase, i));
}
static void step_on_once(struct model* m, const struct phase* phase, unsigned actor, uint64_t* random, int is_real) {
  if (phase->number >= most_onces) return;
  m->is_initialised = 1;
  if (!is_real) return;
  once_phase = *phase;
  const unsigned kinds_here = has(flags) ? once_kinds : once_kinds - 1;
  do_once(&onces[phase->number], (unsigned)(mix3(for_once, phase->number, 99) % kinds_here), initialise);
  for (unsigned i = 0; i < cells_of_lock; ++i) {
    if ((next(random) >> 8) % 2 == 0)
      check_cell(m, phase, actor, m->group[group_of_once][i], value_of_once(m, phase, i));
  }
}

/* Some may do what depends on the order. */
static uint64_t in_order(uint64_t value, unsigned iteration, unsigned bytes) {
  return low_bytes(value * 31 + iteration + 1, bytes);
}
static void step_in_order(const struct model* m, const struct phase* phase, unsigned group, unsigned cells,
                          unsigned actor, unsigned number) {
  for (unsigned i = 0; i < cells; ++i) {
    const unsigned cell = m->group[group][i];
    uint64_t expected = m->value[cell];
    for (unsigned before = 0; before < number; ++before) expected = in_order(expected, before, m->cell[cell].bytes);
    check_cell(m, phase, actor, cell, expected);
    write_cell(m, cell, in_order(expected, number, m->cell[cell].bytes));
  }
}
static void act_in_order(const struct model* m, const struct phase* phase, unsigned iteration) {
  doing = "in order";
  step_in_order(m, phase, group_in_order, cells_in_order, iteration, iteration);
}

/* Chains: all threads in an order, some rounds. */
static int has_chains(const struct phase* phase) {
  return phase->kind == by_threads && !phase->is_serial && phase->team > 1 &&
         has(flags | read_flags | plain_flags | library);
}
static unsigned rounds_of(const struct phase* phase, unsigned chain) {
  return (unsigned)(mix3(for_chain, phase->number, chain) % (most_rounds + 1));
}
/* Whose turn it is first, and how far it is to the next one: prime to the team's size. */
static unsigned position_of(const struct phase* phase, unsigned chain, unsigned thread) {
  const uint64_t random = mix3(for_order, phase->number, chain);
  const unsigned turned = (thread + (unsigned)(random % phase->team)) % phase->team;
  return (random >> 32) % 2 == 0 ? turned : phase->team - 1 - turned;
}
static unsigned thread_at(const struct phase* phase, unsigned chain, unsigned position) {
  unsigned thread = 0;
  while (position_of(phase, chain, thread) != position) ++thread;
  return thread;
}
static void take_turn(const struct model* m, const struct phase* phase, unsigned chain, unsigned round, unsigned self) {
  const unsigned group = group_of_chains + chain;
  const unsigned cell = m->group[group][signal_cell];
  const unsigned bytes = m->cell[cell].bytes;
  const unsigned turn = round * phase->team + position_of(phase, chain, self);
  if (turn > 0) await(&signals[chain], place_of(m, cell), bytes, low_bytes(m->value[cell] + turn, bytes), self);
  step_in_order(m, phase, group, signal_cell, self, turn);
  const unsigned next = thread_at(phase, chain, (turn + 1) % phase->team);
  const int is_last = turn + 1 == phase->team * rounds_of(phase, chain);
  if (is_last && signals[chain].kind == by_semaphores) {
    write_cell(m, cell, low_bytes(m->value[cell] + turn + 1, bytes));
  } else {
    announce(&signals[chain], place_of(m, cell), bytes, low_bytes(m->value[cell] + turn + 1, bytes), next,
             phase->number + turn);
  }
}
/* Rounds in ascending order, and chains in each: so somebody can always go on. */
static void take_turns(const struct model* m, const struct phase* phase, unsigned self, unsigned round) {
  doing = "hand-overs";
  for (unsigned chain = 0; chain < chains; ++chain) {
    if (round < rounds_of(phase, chain)) take_turn(m, phase, chain, round, self);
  }
}

static void begin_phase(struct model* m, const struct phase* phase) {
  choose_guarded_cells(m, phase);
  memset(m->added, 0, sizeof m->added);
  memset(m->is_done, 0, sizeof m->is_done);
  memset(m->operated, 0, sizeof m->operated);
  memset(m->is_operated, 0, sizeof m->is_operated);
  memset(m->has_stored, 0, sizeof m->has_stored);
  memset(m->tickets, 0, sizeof m->tickets);
  memset(m->found, 0, sizeof m->found);
  m->is_initialised = 0;
}

/* All that an actor does in a phase; in the model alone if it is another thread's. A step follows from its number, so
 * that one may be left out without a change of the others. */
static void act(struct model* m, const struct phase* phase, unsigned actor, int is_real) {
  const uint64_t start = mix3(for_actor, phase->number, actor);
  const unsigned steps = phase->actors > 2 * threads ? wanted.steps * threads / phase->actors + 1 : wanted.steps;
  unsigned round = 0;
  m->is_done[actor] = 1;
  if (phase->number < wanted.first_phase) return;
  if (is_real && has(atomics)) found_sum[actor] = 0;
  for (unsigned step = 0; step < steps; ++step) {
    uint64_t random = mix(start, step);
    const unsigned what = (unsigned)(next(&random) % 32);
    if (what < 3) {
      doing = "locks";
      if (has(openmp_locks | library | flags | plain_flags)) step_on_locks(m, phase, actor, &random, is_real);
    } else if (what == 3) {
      doing = "blocks";
      if (has(blocks)) step_on_slot(m, phase, actor, &random, is_real);
    } else if (what < 10) {
      doing = "atomics";
      const unsigned times = 1 + (unsigned)(next(&random) % 4);
      for (unsigned i = 0; i < times && has(atomics); ++i) step_on_atomic(m, phase, actor, &random, is_real);
    } else if (what == 10) {
      doing = "wide atomics";
      for (unsigned i = 0; i < 3 && has(atomics); ++i) step_on_wide(m, phase, actor, &random, is_real);
    } else if (what == 11) {
      doing = "once";
      if (has(library)) step_on_once(m, phase, actor, &random, is_real);
    } else {
      doing = "cells";
      if (has(cells_alone)) step_on_cell(m, phase, actor, &random, is_real);
    }
    while (is_real && has_chains(phase) && round < (step + 1) * most_rounds / steps)
      take_turns(m, phase, actor, round++);
  }
}

static void act_for_others(struct model* m, const struct phase* phase) {
  for (unsigned actor = 0; actor < phase->actors; ++actor) {
    if (!m->is_done[actor]) act(m, phase, actor, 0);
  }
}

/* What atomic operations left, as far as their order decides it, becomes what the model knows. By one thread, between
 * two barriers. */
static uint64_t value_after_atomics(const struct model* m, const struct phase* phase, unsigned i) {
  const unsigned cell = m->group[group_of_atomics][i];
  const unsigned bytes = m->cell[cell].bytes;
  const uint64_t before = m->value[cell];
  const enum operation operation = operation_of(m, phase, i);
  if (i == exchange_cell || operation == op_store_any) return low_bytes(mix3(for_value, phase->number, i), bytes);
  if (i != ticket_cell && !m->is_operated[i]) return before;
  return low_bytes(result_of(operation, before, m->operated[i]), bytes);
}
static int may_be(const struct model* m, const struct phase* phase, unsigned i, uint64_t found) {
  int is_stored = 0;
  for (unsigned actor = 0; actor < phase->actors; ++actor) {
    is_stored |= m->has_stored[i][actor];
    if (m->has_stored[i][actor] && m->last_stored[i][actor] == found) return 1;
  }
  return !is_stored && found == m->value[m->group[group_of_atomics][i]];
}
static void finish(const struct model* m, const struct phase* phase) {
  doing = "what atomics left";
  const unsigned exchanged_cell = m->group[group_of_atomics][exchange_cell];
  const unsigned bytes = m->cell[exchanged_cell].bytes;
  uint64_t sum = read_cell(m, exchanged_cell);
  for (unsigned actor = 0; actor < phase->actors; ++actor) sum += found_sum[actor];
  sum = low_bytes(sum, bytes);
  const uint64_t expected = low_bytes(m->value[exchanged_cell] + m->operated[exchange_cell], bytes);
  if (phase->number >= wanted.first_phase && sum != expected) {
    fail(phase, 0, "the sum of all that was exchanged", (const void*)place_of(m, exchanged_cell), bytes, sum, expected);
  }
  uint64_t drawn[most_actors + 1] = {0};
  for (uint64_t ticket = 0; ticket < m->operated[ticket_cell]; ++ticket) {
    ++drawn[drawer[ticket] <= phase->actors ? drawer[ticket] : 0];
    drawer[ticket] = 0;
  }
  for (unsigned actor = 0; actor < phase->actors; ++actor) {
    if (drawn[actor + 1] == m->tickets[actor]) continue;
    fail(phase, actor, "a thread's tickets", drawer, 1, drawn[actor + 1], m->tickets[actor]);
  }
  for (unsigned i = first_operated_cell; i < cells_of_lock; ++i) {
    const unsigned cell = m->group[group_of_atomics][i];
    const uint64_t found = read_cell(m, cell);
    if (operation_of(m, phase, i) != op_store_any || may_be(m, phase, i, found)) continue;
    fail(phase, 0, "what nobody stored last", (const void*)place_of(m, cell), m->cell[cell].bytes, found, 0);
  }
  for (unsigned i = exchange_cell; i < cells_of_lock; ++i) {
    if (i != exchange_cell && operation_of(m, phase, i) != op_store_any) continue;
    write_cell(m, m->group[group_of_atomics][i], value_after_atomics(m, phase, i));
  }
}

static void end_phase(struct model* m, const struct phase* phase) {
  for (unsigned group = 0; group < groups; ++group) {
    for (unsigned i = 0; i < cells_of_lock && is_group(group); ++i) {
      const unsigned cell = m->group[group][i];
      const unsigned bytes = m->cell[cell].bytes;
      const unsigned chain = group - group_of_chains;
      m->is_guarded[cell] = 0;
      if (group < most_locks) m->value[cell] = low_bytes(m->value[cell] + m->added[group], bytes);
      if (group == group_in_order && phase->kind == ordered_loop && i < cells_in_order) {
        for (unsigned k = 0; k < phase->actors; ++k) m->value[cell] = in_order(m->value[cell], k, bytes);
      }
      if (chain < chains && has_chains(phase) && phase->number >= wanted.first_phase) {
        const unsigned turns = phase->team * rounds_of(phase, chain);
        if (i == signal_cell) m->value[cell] = low_bytes(m->value[cell] + turns, bytes);
        for (unsigned k = 0; i != signal_cell && k < turns; ++k) m->value[cell] = in_order(m->value[cell], k, bytes);
      }
      if (group == group_of_once && m->is_initialised) m->value[cell] = value_of_once(m, phase, i);
      if (group == group_of_atomics && has(atomics)) m->value[cell] = value_after_atomics(m, phase, i);
    }
  }
  ++m->phase;
}

static void catch_up(struct model* m, unsigned phase) {
  while (m->phase < phase) {
    const struct phase missed = phase_of(m->phase);
    begin_phase(m, &missed);
    act_for_others(m, &missed);
    end_phase(m, &missed);
  }
}

/* The constructs. Each ends with a barrier. */

static void run_by_threads(const struct phase* phase) {
  act(own, phase, (unsigned)omp_get_thread_num(), 1);
  if (has(library) && mix3(for_phase, phase->number, for_lock) % 2 == 0) {
    pthread_barrier_wait(&library_barrier);
  } else {
#pragma omp barrier
  }
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
  act_for_others(own, &phase);
  if (has(atomics)) {
    if ((unsigned)omp_get_thread_num() == number % phase.team) finish(own, &phase);
#pragma omp barrier
  }
  end_phase(own, &phase);
}

/* A thread's own memory is as the model says. */
static void fill_area(const struct model* m, unsigned area) {
  for (unsigned cell = m->begin_of[area]; cell < m->begin_of[area + 1]; ++cell) write_cell(m, cell, m->value[cell]);
}

static void check_everything(const struct model* m, const struct phase* phase) {
  doing = "the end";
  for (unsigned cell = 0; cell < m->cells; ++cell) {
    if (is_there(m, phase, cell)) check_cell(m, phase, 0, cell, m->value[cell]);
  }
  for (unsigned i = 0; i < slots; ++i) {
    if (m->slot[i].bytes > 0) check_block(phase, 0, slot_block[i], 0, m->slot[i].bytes, &m->slot[i]);
  }
  for (unsigned i = 0; i < wide_values; ++i) {
    const uint64_t found[2] = {(uint64_t)wide[i], (uint64_t)(wide[i] >> 64)};
    for (unsigned half = 0; half < 2; ++half) {
      if (found[half] == m->wide[i][half]) continue;
      fail(phase, 0, "a wide value", (const void*)&wide[i], 16, found[half], m->wide[i][half]);
    }
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
    if (thread == 0) {
      too_few = (unsigned)omp_get_num_threads() != team;
      pthread_barrier_init(&library_barrier, NULL, team);
    }
#pragma omp barrier
    if (!too_few) {
      for (unsigned phase = first_phase; phase < end; ++phase) run_phase(phase);
      if (end == wanted.phases) {
        const struct phase last = phase_of(end - 1);
        check_everything(m, &last);
        // The stacks that others read end with the region.
#pragma omp barrier
      }
    }
  }
  if (too_few) {
    fprintf(stderr, "random_program: there is no team of %u threads\n", team);
    exit(2);
  }
}

static uint64_t* next_guard(void) {
  return used_guards < sizeof guards / sizeof guards[0] ? &guards[used_guards++] : NULL;
}

static void make_meetings(void) {
  locks = seed % 2 == 0 ? static_locks : malloc(sizeof static_locks);
  if (!locks) exit(2);
  for (unsigned i = 0; i < most_locks; ++i) make_lock(&locks[i], kind_of_lock(i));
  for (unsigned i = 0; i < chains; ++i) make_signal(&signals[i], kind_of_signal(i));
  for (unsigned i = 0; i < most_onces; ++i) make_once(&onces[i], next_guard());
  for (unsigned i = 0; i < wide_values; ++i) wide[i] = 0;
  memset(drawer, 0, sizeof drawer);
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
  make_meetings();

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
    act_for_others(m, &serial);
    if (has(atomics)) finish(m, &serial);
    end_phase(m, &serial);
  }

  struct phase after = phase_of(wanted.phases);
  after.is_serial = 1;
  check_everything(m, &after);
  for (unsigned i = 0; i < slots; ++i) free(slot_block[i]);
  for (unsigned i = 0; i < most_locks; ++i) destroy_lock(&locks[i]);
  if (locks != static_locks) free(locks);
  sdsm_gfree(base_of[area_placed_heap]);
  free(base_of[area_heap]);
}

static const char help[] =
    "usage: random_program [--seed N] [--programs N] [--phases N] [--steps N] [--pages N] [--locks N]\n"
    "                      [--placement round-robin|block] [--with INGREDIENT,...] [--first-phase N]\n\n"
    "Runs random OpenMP programs without data races and checks each value that they read.\n\n"
    "  --seed N         the first program's number (1)\n"
    "  --programs N     programs, one after another, with ascending seeds (1)\n"
    "  --phases N       of each program, between barriers (20)\n"
    "  --steps N        of each thread in each phase (60)\n"
    "  --pages N        of each of the larger pieces of memory, 1 to 64 (2)\n"
    "  --locks N        0 to 16 (4)\n"
    "  --placement ...  of what the program itself places (round-robin)\n"
    "  --with ...       what it is made of: cells, locks, blocks, constructs, teams, thread-locals (these by\n"
    "                   themselves), library, atomics, flags, read-flags, plain-flags, copies; +NAME adds to them,\n"
    "                   all-but-plain is all that does not hand on by plain loads or stores. The other steps are\n"
    "                   left out, which makes less of a program\n"
    "  --first-phase N  leaves out the steps of earlier phases (0)\n";

static unsigned long number(const char* option, const char* text, unsigned long least, unsigned long most) {
  char* end;
  const unsigned long value = strtoul(text, &end, 10);
  if (end == text || *end != '\0' || value < least || value > most) {
    fprintf(stderr, "random_program: --%s '%s' is not a number from %lu to %lu\n", option, text, least, most);
    exit(2);
  }
  return value;
}

static unsigned ingredients_of(char* list) {
  static const char* const names[] = {"cells",   "locks", "blocks",     "constructs",  "teams",  "library",
                                      "atomics", "flags", "read-flags", "plain-flags", "copies", "thread-locals"};
  enum { count = sizeof names / sizeof names[0] };
  unsigned result = list[0] == '+' ? wanted.ingredients : 0;
  for (const char* name = strtok(list, "+,"); name; name = strtok(NULL, "+,")) {
    unsigned i = 0;
    while (i < count && strcmp(name, names[i]) != 0) ++i;
    if (i < count) {
      result |= 1u << i;
    } else if (strcmp(name, "all-but-plain") == 0) {
      result |= ((1u << count) - 1) & ~(unsigned)(read_flags | plain_flags);
    } else {
      fprintf(stderr, "random_program: --with '%s' is no ingredient\n", name);
      exit(2);
    }
  }
  return result;
}

static void read_options(int argc, char** argv) {
  static const struct option options[] = {
      {"seed", 1, NULL, 's'},        {"programs", 1, NULL, 'n'}, {"phases", 1, NULL, 'f'},    {"steps", 1, NULL, 't'},
      {"pages", 1, NULL, 'p'},       {"locks", 1, NULL, 'l'},    {"placement", 1, NULL, 'a'}, {"with", 1, NULL, 'w'},
      {"first-phase", 1, NULL, 'b'}, {"help", 0, NULL, 'h'},     {NULL, 0, NULL, 0}};
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
      case 'w': wanted.ingredients = ingredients_of(optarg); break;
      case 'b': wanted.first_phase = (unsigned)number("first-phase", optarg, 0, 1000000); break;
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
