/** Gangs: parts of an OpenMP team that work and synchronise by themselves. They are the `divide` directive that
 *  [WR-opt] proposes, as functions. For C (C11) and C++ programs compiled with -fopenmp; Fortran: placement.f90.
 *
 *    #pragma omp parallel
 *    {
 *      SDSM_DIVIDE(sdsm_by_block, 2, 1) {             // two gangs, each of half of the team
 *        struct sdsm_rows mine = sdsm_for_begin(0, n); // this thread's share of its gang's loop
 *        for (long i = mine.begin; i < mine.end; ++i) work(sdsm_get_gang_num(), i);
 *        sdsm_for_end();                               // a barrier of the gang
 *      }                                               // a barrier of those that were divided
 *    }
 *
 *  Header only, under any OpenMP run-time; sdsm's run-times use their own code instead. Divisions nest. Outside of any,
 *  the functions refer to the team, which is one gang. OpenMP's own directives and functions always refer to the team:
 *  inside of a smaller gang, sdsm's run-times refuse its barriers and work-sharing directives, which the other threads
 *  would have to reach.
 *
 *  Misuse ends the program with one line and exit status 1. Under an ordinary run-time, a thread that ends its region
 *  inside of a gang is noticed only at its next call (SDSM_DIVIDE leaves the gang on every way out of its block), and
 *  members wait for ever where others miss a call that all have to make. Directives that gcc compiles without a call,
 *  as `omp for schedule(static) nowait`, cannot be refused: in a gang they are still the team's.
 */
#ifndef SDSM_DIVIDE_H
#define SDSM_DIVIDE_H

#include <sched.h>
#include <sdsm/partition.h>
#include <sdsm/placement.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions of a run-time, as in placement.h. */

void sdsm_rt_divide(int partition, int gangs, int unit) __attribute__((weak));
void sdsm_rt_unite(void) __attribute__((weak));
void sdsm_rt_gang_barrier(void) __attribute__((weak));
/** The calling thread begins (1) or ends (0) a loop of its gang; it does not wait. */
void sdsm_rt_gang_loop(int begins) __attribute__((weak));
/** Answers an enum sdsm_gang_query. */
int sdsm_rt_gang(int query) __attribute__((weak));
enum sdsm_gang_query { sdsm_thread_num, sdsm_num_threads, sdsm_gang_num, sdsm_num_gangs };

/* The implementation without such a run-time. */

/** State that a gang's members share. `busy` guards the rest. */
struct sdsm_gang {
  char busy;
  int size;
  int arrived; /**< at its barrier, members that wait */
  int left;    /**< members that have gone for good */
  unsigned round;
  struct sdsm_division division; /**< of the gang, while `parts` is not null */
  struct sdsm_gang* parts;
};

/** A thread's place in a gang. */
struct sdsm_membership {
  struct sdsm_membership* outer;
  struct sdsm_gang* whole; /**< that was divided */
  struct sdsm_gang* gang;
  int number;
  int gang_num;
  int num_gangs;
  int level; /**< of the parallel region */
  int in_loop;
};

/* One for each thread of the program, in however many files this is included. */
__attribute__((weak)) __thread struct sdsm_membership* sdsm_own_membership = NULL;
__attribute__((weak)) __thread int sdsm_own_team_loop = 0; /**< in a loop of the team at level - 1; 0: in none */

__attribute__((weak)) char sdsm_is_misused = 0;
__attribute__((noreturn)) static inline void sdsm_misuse(const char* call, const char* why) {
  while (__atomic_test_and_set(&sdsm_is_misused, __ATOMIC_RELAXED)) sched_yield(); /* one line is enough */
  fflush(stdout);
  fprintf(stderr, "sdsm: the program calls %s: %s\n", call, why);
  _Exit(1);
}

static inline int sdsm_level(void) {
#ifdef _OPENMP
  return omp_get_level();
#else
  return 0;
#endif
}

/** Returns NULL outside of any gang. */
static inline struct sdsm_membership* sdsm_membership_here(const char* call) {
  struct sdsm_membership* own = sdsm_own_membership;
  if (own && own->level > sdsm_level()) sdsm_misuse(call, SDSM_LEFT_UNDIVIDED);
  return own && own->level == sdsm_level() ? own : NULL;
}

static inline int sdsm_is_in_loop(const struct sdsm_membership* own) {
  return own ? own->in_loop : sdsm_own_team_loop == sdsm_level() + 1;
}

static inline void sdsm_lock_gang(struct sdsm_gang* gang) {
  while (__atomic_test_and_set(&gang->busy, __ATOMIC_ACQUIRE)) sched_yield();
}

static inline void sdsm_unlock_gang(struct sdsm_gang* gang) {
  __atomic_clear(&gang->busy, __ATOMIC_RELEASE);
}

static inline struct sdsm_gang* sdsm_new_gangs(int count) {
  struct sdsm_gang* gangs = (struct sdsm_gang*)calloc((size_t)count, sizeof *gangs);
  if (!gangs) sdsm_misuse("sdsm_divide", "there is no memory left for its gangs");
  return gangs;
}

/** Waits for all members of the gang; the last one resets its division. */
static inline void sdsm_meet(struct sdsm_gang* gang, const char* call) {
  sdsm_lock_gang(gang);
  if (gang->left > 0) sdsm_misuse(call, SDSM_NOT_ALL_COME);
  unsigned round = gang->round;
  if (++gang->arrived < gang->size) {
    sdsm_unlock_gang(gang);
    for (unsigned looks = 0; __atomic_load_n(&gang->round, __ATOMIC_ACQUIRE) == round; ++looks) {
      if (looks > 1000) sched_yield();
    }
    return;
  }
  free(gang->parts);
  gang->parts = NULL;
  gang->arrived = 0;
  __atomic_store_n(&gang->round, round + 1, __ATOMIC_RELEASE);
  sdsm_unlock_gang(gang);
}

/** Makes the team a gang; one of its threads calls this. */
static inline struct sdsm_gang* sdsm_team_as_gang(int threads) {
  struct sdsm_gang* team = NULL;
#ifdef _OPENMP
  _Pragma("omp single copyprivate(team)")
#endif
  {
    team = sdsm_new_gangs(1);
    team->size = threads;
  }
  return team;
}

static inline void sdsm_wait_for_team(void) {
#ifdef _OPENMP
  _Pragma("omp barrier")
#endif
}

/* The interface. */

static inline int sdsm_gang_value(enum sdsm_gang_query query) {
  int (*ask)(int);
  SDSM_RT_FIND(sdsm_rt_gang, ask);
  if (ask) return ask((int)query);
  struct sdsm_membership* own = sdsm_membership_here("a function of gangs");
  int thread = 0;
  int threads = 1;
#ifdef _OPENMP
  thread = omp_get_thread_num();
  threads = omp_get_num_threads();
#endif
  switch (query) {
    case sdsm_thread_num: return own ? own->number : thread;
    case sdsm_num_threads: return own ? own->gang->size : threads;
    case sdsm_gang_num: return own ? own->gang_num : 0;
    case sdsm_num_gangs: return own ? own->num_gangs : 1;
  }
  return 0;
}

/** The calling thread's number in its gang, and the gang's size. */
static inline int sdsm_get_thread_num(void) {
  return sdsm_gang_value(sdsm_thread_num);
}
static inline int sdsm_get_num_threads(void) {
  return sdsm_gang_value(sdsm_num_threads);
}
/** The gang's number in its division, and the number of gangs there: 0 and 1 outside of any division. */
static inline int sdsm_get_gang_num(void) {
  return sdsm_gang_value(sdsm_gang_num);
}
static inline int sdsm_get_num_gangs(void) {
  return sdsm_gang_value(sdsm_num_gangs);
}

/** Divides the calling thread's gang (the team, outside of any). All its members make the same call. sdsm's
 *  run-times let no thread wait here. */
static inline void sdsm_divide(enum sdsm_partition partition, int gangs, int unit) {
  void (*divide)(int, int, int);
  SDSM_RT_FIND(sdsm_rt_divide, divide);
  if (divide) {
    divide((int)partition, gangs, unit);
    return;
  }
  struct sdsm_membership* outer = sdsm_membership_here("sdsm_divide");
  if (sdsm_is_in_loop(outer)) sdsm_misuse("sdsm_divide", SDSM_IN_GANG_LOOP);
  struct sdsm_division division;
  division.partition = (int)partition;
  division.gangs = gangs;
  division.unit = unit;
  division.threads = sdsm_get_num_threads();
  const int thread = sdsm_get_thread_num();
  const char* problem = sdsm_problem_of(&division);
  if (problem) sdsm_misuse("sdsm_divide", problem);

  struct sdsm_gang* whole = outer ? outer->gang : sdsm_team_as_gang(division.threads);
  sdsm_lock_gang(whole);
  if (!whole->parts) {
    whole->parts = sdsm_new_gangs(gangs);
    whole->division = division;
    for (int i = 0; i < gangs; ++i) whole->parts[i].size = sdsm_gang_size(&division, i);
  }
  if (whole->division.partition != (int)partition || whole->division.gangs != gangs || whole->division.unit != unit) {
    sdsm_misuse("sdsm_divide", SDSM_DIVIDED_OTHERWISE);
  }
  sdsm_unlock_gang(whole);

  struct sdsm_membership* own = (struct sdsm_membership*)calloc(1, sizeof *own);
  if (!own) sdsm_misuse("sdsm_divide", "there is no memory left for its gangs");
  own->outer = sdsm_own_membership;
  own->whole = whole;
  own->gang_num = sdsm_gang_of(&division, thread);
  own->gang = &whole->parts[own->gang_num];
  own->num_gangs = gangs;
  own->number = sdsm_member_number(&division, thread);
  own->level = sdsm_level();
  sdsm_own_membership = own;
}

/** Leaves the gang, and waits for all threads that were divided. */
static inline void sdsm_unite(void) {
  void (*unite)(void);
  SDSM_RT_FIND(sdsm_rt_unite, unite);
  if (unite) {
    unite();
    return;
  }
  struct sdsm_membership* own = sdsm_membership_here("sdsm_unite");
  if (!own) sdsm_misuse("sdsm_unite", SDSM_NOT_DIVIDED);
  if (own->in_loop) sdsm_misuse("sdsm_unite", SDSM_IN_GANG_LOOP);
  sdsm_lock_gang(own->gang);
  if (own->gang->arrived > 0) sdsm_misuse("sdsm_unite", SDSM_NOT_ALL_COME);
  ++own->gang->left;
  sdsm_unlock_gang(own->gang);

  struct sdsm_gang* whole = own->whole;
  const int is_team = !own->outer || own->outer->level != own->level;
  sdsm_own_membership = own->outer;
  free(own);
  sdsm_meet(whole, "sdsm_unite");
  if (is_team && __atomic_add_fetch(&whole->left, 1, __ATOMIC_ACQ_REL) == whole->size) free(whole);
}

/** Waits for the other members of the calling thread's gang, and makes their writes visible. */
static inline void sdsm_gang_barrier(void) {
  void (*barrier)(void);
  SDSM_RT_FIND(sdsm_rt_gang_barrier, barrier);
  if (barrier) {
    barrier();
    return;
  }
  struct sdsm_membership* own = sdsm_membership_here("sdsm_gang_barrier");
  if (sdsm_is_in_loop(own)) sdsm_misuse("sdsm_gang_barrier", SDSM_IN_GANG_LOOP);
  if (own) {
    sdsm_meet(own->gang, "sdsm_gang_barrier");
  } else {
    sdsm_wait_for_team();
  }
}

static inline void sdsm_gang_loop(int begins) {
  void (*loop)(int);
  SDSM_RT_FIND(sdsm_rt_gang_loop, loop);
  if (loop) {
    loop(begins);
    return;
  }
  struct sdsm_membership* own = sdsm_membership_here("sdsm_for_begin or sdsm_for_end");
  if (begins && sdsm_is_in_loop(own)) sdsm_misuse("sdsm_for_begin", SDSM_IN_GANG_LOOP);
  if (!begins && !sdsm_is_in_loop(own)) sdsm_misuse("sdsm_for_end", SDSM_NO_GANG_LOOP);
  if (own) {
    own->in_loop = begins;
  } else {
    sdsm_own_team_loop = begins ? sdsm_level() + 1 : 0;
  }
}

/** Begins a loop over [first, last) that the members of the gang share. Returns the calling thread's iterations, which
 *  follow each other. The first threads get one more where iterations do not divide evenly. */
static inline struct sdsm_rows sdsm_for_begin(long first, long last) {
  sdsm_gang_loop(1);
  return sdsm_equal_share(first, last, sdsm_get_thread_num(), sdsm_get_num_threads());
}

/** End it, with a barrier of the gang or without. */
static inline void sdsm_for_end_nowait(void) {
  sdsm_gang_loop(0);
}
static inline void sdsm_for_end(void) {
  sdsm_gang_loop(0);
  sdsm_gang_barrier();
}

/* SDSM_DIVIDE(partition, gangs, unit) { ... } divides the threads for a block; every way out of it reunites them. */
struct sdsm_divided {
  int is_inside;
};
static inline struct sdsm_divided sdsm_begin_divided(enum sdsm_partition partition, int gangs, int unit) {
  struct sdsm_divided divided;
  sdsm_divide(partition, gangs, unit);
  divided.is_inside = 1;
  return divided;
}
static inline void sdsm_end_divided(struct sdsm_divided* divided) {
  (void)divided;
  sdsm_unite();
}
#define SDSM_JOINED_NAME(name, line) name##line
#define SDSM_NAME_OF_LINE(name, line) SDSM_JOINED_NAME(name, line)
#define SDSM_DIVIDE_AS(name, partition, gangs, unit)                                                  \
  for (struct sdsm_divided name                                                                       \
       __attribute__((cleanup(sdsm_end_divided))) = sdsm_begin_divided((partition), (gangs), (unit)); \
       name.is_inside; name.is_inside = 0)
#define SDSM_DIVIDE(partition, gangs, unit) \
  SDSM_DIVIDE_AS(SDSM_NAME_OF_LINE(sdsm_divided_, __COUNTER__), partition, gangs, unit)

#ifdef __cplusplus
}
#endif

#endif
