/* Planted: a lock that is taken for each element of a ring. */
#include <omp.h>
#include <stdio.h>

enum { room = 64, rounds = 300 };

static struct {
  volatile long head, tail;
  double slots[room];
} ring;

int main(void) {
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (int round = 0; round < rounds; ++round) {
    const int gives = omp_get_thread_num() % 2 == 0;
#pragma omp critical(queue)
    if (gives) {
      ring.slots[ring.head % room] = round; /* touched: ring */
      ring.head += 1;
    } else if (ring.tail < ring.head) {
      sum += ring.slots[ring.tail % room];
      ring.tail += 1;
    }
  }
  printf("%g\n", sum);
}
