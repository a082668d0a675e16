/* Tasks' clauses: dependences of all kinds, priority, untied, mergeable, affinity; combined taskloops. */
#include "expect.h"

#include <omp.h>
#include <string.h>

enum { n = 100 };
static int x, y, order[n], array[n];

static void dependences(void) {
  int count = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 1;
    for (int i = 0; i < 10; ++i) {
#pragma omp task depend(mutexinoutset : y) depend(in : x)
      y += x;
    }
#pragma omp task depend(in : y) depend(inout : x)
    x = y + 1;
#pragma omp task depend(iterator(int i = 0 : n : 2), out : array[i])
    for (int i = 0; i < n; i += 2) array[i] = i;
#pragma omp task depend(iterator(i = 0 : n), in : array[i]) shared(count)
    for (int i = 0; i < n; i += 2) count += array[i] == i;
#pragma omp taskwait
  }
  EXPECT(x == 11 && y == 10 && count == n / 2);
}

static void objects(void) {
  int value = 0, seen = 0;
  omp_depend_t object, another;
#pragma omp depobj(object) depend(inout : value)
#pragma omp depobj(another) depend(in : value)
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(depobj : object) shared(value)
    value = 5;
#pragma omp task depend(depobj : another) shared(value, seen)
    seen = value;
#pragma omp taskwait
  }
  EXPECT(seen == 5);
#pragma omp depobj(object) update(in)
#pragma omp depobj(object) destroy
#pragma omp depobj(another) destroy
}

static int come_next(void) {
  static int so_far = 0;
  int place = 0;
#pragma omp atomic capture
  place = ++so_far;
  return place;
}

/* A detached task is what dependences of each kind wait for. */
static void detached(void) {
  int place[6];
  memset(place, 0, sizeof place);
  omp_depend_t object;
#pragma omp depobj(object) depend(in : x)
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(mutexinoutset : x)
    {}
#pragma omp task depend(depobj : object) shared(place)
    place[1] = come_next();
#pragma omp task depend(mutexinoutset : x) shared(place)
    place[2] = come_next();
#pragma omp task depend(iterator(i = 0 : 1), out : (&x)[i]) shared(place)
    place[3] = come_next();
    place[0] = come_next();
    omp_fulfill_event(event);
#pragma omp taskwait depend(in : x)
    place[4] = come_next();
  }
  EXPECT(place[0] == 1 && place[1] > 1 && place[2] > 1);
  EXPECT(place[3] > place[1] && place[3] > place[2] && place[4] > place[3]);
#pragma omp depobj(object) destroy
}

static int sum_of(int number) {
  if (number == 0) return 0;
  int rest = 0;
#pragma omp task shared(rest) final(number < 5) mergeable untied
  rest = sum_of(number - 1);
#pragma omp taskwait
  return rest + number;
}

static void clauses(void) {
  int sum = 0, in_final = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 10; ++i) {
#pragma omp task priority(i) untied affinity(array) firstprivate(i)
      {
        order[i] = i;
#pragma omp taskyield
      }
    }
#pragma omp taskwait
#pragma omp task shared(sum)
    sum = sum_of(20);
#pragma omp task final(1) shared(in_final)
    {
      in_final = omp_in_final();
#pragma omp task shared(in_final)
      in_final += omp_in_final();
    }
#pragma omp taskwait
  }
  int right = 1;
  for (int i = 0; i < 10; ++i) right &= order[i] == i;
  EXPECT(right && sum == 210 && in_final == 2);
  EXPECT(omp_get_max_task_priority() >= 0);
}

static void loops(void) {
  int sum = 0, all = 0, group = 0;
  memset(array, 0, sizeof array);
#pragma omp parallel master taskloop reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += i;
#pragma omp parallel
  {
#pragma omp master taskloop simd grainsize(7)
    for (int i = 0; i < n; ++i) ++array[i];
#pragma omp barrier
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : group)
      {
#pragma omp taskloop in_reduction(+ : group) grainsize(strict : 9)
        for (int i = 0; i < n; ++i) group += i;
#pragma omp task in_reduction(+ : group)
        group += 1000;
      }
#pragma omp taskloop simd reduction(+ : all) num_tasks(5)
      for (unsigned long long i = 0; i < n; ++i) all += (int)i;
    }
  }
#pragma omp parallel masked taskloop simd
  for (int i = n; i > 0; --i) ++array[i - 1];
  int right = 1;
  for (int i = 0; i < n; ++i) right &= array[i] == 2;
  EXPECT(right && sum == n * (n - 1) / 2 && all == sum && group == sum + 1000);
}

int main(void) {
  dependences();
  objects();
  x = y = 0;
  detached();
  clauses();
  loops();
  return expect_status();
}
