/* task and taskwait: recursion, firstprivate values, if, final, untied, mergeable, tasks of tasks, taskyield. */
#include <omp.h>

#include "expect.h"

static int fibonacci(int i) {
  if (i < 2) return i;
  int a = 0;
  int b = 0;
#pragma omp task shared(a) firstprivate(i)
  a = fibonacci(i - 1);
#pragma omp task shared(b) firstprivate(i) if (i > 8)
  b = fibonacci(i - 2);
#pragma omp taskwait
  return a + b;
}

struct node {
  int value;
  int done;
  struct node* next;
};

enum { n = 200 };

static void of_recursion(void) {
  int result = 0;
#pragma omp parallel
#pragma omp single
  result = fibonacci(15);
  EXPECT(result == 610);
}

static void of_a_list(void) {
  // One thread walks a list and makes a task of each element, the barrier at the end of single completes them.
  static struct node list[n];
  for (int i = 0; i < n; ++i) {
    list[i].value = i;
    list[i].next = i + 1 < n ? &list[i + 1] : NULL;
  }
#pragma omp parallel
#pragma omp single
  for (struct node* node = list; node; node = node->next) {
#pragma omp task firstprivate(node)
    node->done = node->value + 1;
  }
  int right = 1;
  for (int i = 0; i < n; ++i) right &= list[i].done == i + 1;
  EXPECT(right);
}

static void of_values(void) {
  // A value is taken when the task is made, not when it runs; also values that do not fit a pointer.
  static long squares[n];
  struct {
    long number;
    char ballast[200];
  } big = {0};
#pragma omp parallel
#pragma omp master
  {
    for (int i = 0; i < n; ++i) {
      big.number = i;
      big.ballast[199] = (char)(i % 100);
#pragma omp task firstprivate(big, i) untied
      squares[i] = big.number * big.number + (big.ballast[199] == i % 100);
    }
#pragma omp taskwait
  }
  int right = 1;
  for (int i = 0; i < n; ++i) right &= squares[i] == (long)i * i + 1;
  EXPECT(right);
}

static void of_every_thread(void) {
  // Every thread makes tasks; a barrier waits for all of them.
  int count = 0;
  int team = 1;
  int missing = 0;
#pragma omp parallel
  {
#pragma omp master
    team = omp_get_num_threads();
    for (int i = 0; i < 50; ++i) {
#pragma omp task
      {
#pragma omp task
        {
#pragma omp critical
          ++count;
        }
#pragma omp taskyield
      }
    }
#pragma omp barrier
#pragma omp critical
    if (count != 50 * omp_get_num_threads()) missing = 1;
  }
  EXPECT(count == 50 * team);
  EXPECT(!missing);
}

static void of_all_kinds(void) {
  // final, mergeable, priority and undeferred tasks; omp_in_final.
  int in_final = 0;
  int undeferred = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task final(1) shared(in_final)
    in_final = omp_in_final();
#pragma omp taskwait
#pragma omp task if (0) shared(undeferred) mergeable priority(3)
    undeferred = 1;
    if (undeferred != 1) undeferred = -1;  // must have run by now
  }
  EXPECT(in_final == 1);
  EXPECT(undeferred == 1);

  // Outside of any region a task runs at once or at the latest at the taskwait.
  int serial = 0;
#pragma omp task shared(serial)
  serial = 1;
#pragma omp taskwait
  EXPECT(serial == 1);
}

int main(void) {
  of_recursion();
  of_a_list();
  of_values();
  of_every_thread();
  of_all_kinds();
  return expect_status();
}
