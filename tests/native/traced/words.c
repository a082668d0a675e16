/* Accesses whose words are known: page by page of `field`, by two threads. Ends with status 1 if a value is wrong. */
#include <omp.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { words = 1024, pages = 12 };
static int field[pages][words] __attribute__((aligned(4096)));
static int beside[words] __attribute__((aligned(4096)));

static void move(void* to, const void* from, size_t count) {
  __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}
static void fill(void* to, size_t count) {
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(7) : "memory");
}

static int is_wrong(void) {
  for (int t = 0; t < 2; ++t) {
    if (field[0][t] != 1 || ((char*)field[2])[100 * t + 9] != 7 || ((char*)field[2])[100 * t + 10] != 0) return 1;
  }
  if (memcmp(field[5], field[3], 4800) != 0 || field[5][1199] != 1199 || field[5][1200] != 0) return 1;
  if (memcmp(field[7], field[7] + 512, 8) != 0) return 1;
  return field[8][0] != 2 || field[9][1023] != -1 || field[10][0] != -1 || ((char*)field[11])[5] != 9;
}

int main(void) {
  for (int i = 0; i < 2 * words; ++i) (&field[3][0])[i] = i;
  field[7][0] = 21;
  beside[0] = 1;
  int wrong = 0;
#pragma omp parallel num_threads(2)
  {
    const int t = omp_get_thread_num();
    volatile int* counter = &field[0][t];
    *counter += 1;
    __asm__ volatile("movups %0, %%xmm0" : : "m"(field[1][4 * t]) : "xmm0");
    fill((char*)field[2] + 100 * t, 10);
    __sync_fetch_and_add(&field[8][0], 1);
    if (t == 0) {
      move(field[5], field[3], 600);
      int ends[2];
      if (pipe(ends) != 0 || write(ends[1], field[7], 8) != 8 || read(ends[0], field[7] + 512, 8) != 8) wrong = 1;
    } else {
      const int64_t ones = -1;
      __asm__ volatile("movq %1, %0" : "=m"(*(int64_t*)((char*)field[9] + 4092)) : "r"(ones));
      ((volatile char*)field[11])[5] = 9;
      beside[1] += 1;
    }
  }
  return wrong || is_wrong();
}
