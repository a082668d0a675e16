/** The rule for dividing a team's or a gang's threads into gangs, for divide.h and for run-times.
 */
#ifndef SDSM_PARTITION_H
#define SDSM_PARTITION_H

#include <stddef.h> /* NOLINT(modernize-deprecated-headers): for C, too */

#ifdef __cplusplus
extern "C" {
#endif

/** Units of `unit` adjacent threads stay together (the last unit may be smaller). */
enum sdsm_partition {
  sdsm_by_block = 0,      /**< of N units, gang g of G gets those from floor(g N / G) to floor((g + 1) N / G) - 1 */
  sdsm_by_round_robin = 1 /**< unit u belongs to gang u mod G */
};

/** A division of `threads` threads. */
struct sdsm_division {
  int partition;
  int gangs;
  int unit;
  int threads;
};

static inline long sdsm_units(const struct sdsm_division* division) {
  return ((long)division->threads + division->unit - 1) / division->unit;
}

/** Returns why the division is impossible, or NULL if it is not. */
static inline const char* sdsm_problem_of(const struct sdsm_division* division) {
  if (division->partition != sdsm_by_block && division->partition != sdsm_by_round_robin) {
    return "there is no such partition. Use sdsm_by_block or sdsm_by_round_robin";
  }
  if (division->gangs < 1) return "it asks for no gang. Ask for one at least";
  if (division->unit < 1) return "a unit has one thread at least. Use 1 if threads need not stay together";
  if (division->gangs > division->threads) return "more gangs than threads. Ask for fewer";
  if (division->gangs > sdsm_units(division))
    return "more gangs than units of threads. Ask for fewer, or smaller units";
  return NULL;
}

static inline int sdsm_gang_of(const struct sdsm_division* division, int thread) {
  const long unit = thread / division->unit;
  if (division->partition == sdsm_by_round_robin) return (int)(unit % division->gangs);
  return (int)(((unit + 1) * division->gangs - 1) / sdsm_units(division));
}

/** A gang member's number among the threads that are divided; ascends with `member`. */
static inline int sdsm_thread_of(const struct sdsm_division* division, int gang, int member) {
  const int unit = division->unit;
  if (division->partition == sdsm_by_round_robin) {
    return (int)(((long)(member / unit) * division->gangs + gang) * unit + member % unit);
  }
  return (int)(gang * sdsm_units(division) / division->gangs * unit + member);
}

static inline int sdsm_gang_size(const struct sdsm_division* division, int gang) {
  const long units = sdsm_units(division);
  const long gangs = division->gangs;
  const int is_robin = division->partition == sdsm_by_round_robin;
  const long own = is_robin ? (units - gang + gangs - 1) / gangs : (gang + 1) * units / gangs - gang * units / gangs;
  const int has_last = is_robin ? (units - 1) % gangs == gang : gang == gangs - 1;
  return (int)(own * division->unit - (has_last ? units * division->unit - division->threads : 0));
}

/** A thread's number in its gang. */
static inline int sdsm_member_number(const struct sdsm_division* division, int thread) {
  const int gang = sdsm_gang_of(division, thread);
  if (division->partition == sdsm_by_round_robin) {
    return (int)((long)(thread / division->unit) / division->gangs * division->unit + thread % division->unit);
  }
  return thread - sdsm_thread_of(division, gang, 0);
}

/* Every run-time's messages about misuse. */
#define SDSM_IN_GANG_LOOP "inside of a gang's loop. End the loop first (sdsm_for_end)"
#define SDSM_NO_GANG_LOOP "there is no gang's loop to end. Begin one (sdsm_for_begin)"
#define SDSM_NOT_DIVIDED "the threads are not divided here. Call it once for each sdsm_divide, in the same region"
#define SDSM_LEFT_UNDIVIDED "inside of a gang. Call sdsm_unite for each sdsm_divide before the parallel region ends"
#define SDSM_NOT_ALL_COME \
  "a member of the gang leaves it while another waits at the gang's barrier. All members must reach the same barriers"
#define SDSM_DIVIDED_OTHERWISE "members of one gang divide it in different ways. All must give the same arguments"

#ifdef __cplusplus
}
#endif

#endif
