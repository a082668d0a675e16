/* omp atomic in all its forms on all types, C11 atomics, __sync and generic __atomic functions: each thread's part of
 * every result is known. */
#include <complex.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { rounds = 40 };

static int failures;
static void check(bool is_right, const char* what) {
  if (is_right) return;
#pragma omp critical
  if (failures++ < 5) printf("FAILED: %s\n", what);
}

static char before[5000];
static int8_t i8;
static uint8_t u8[3];
static int16_t i16;
static uint16_t u16[3];
static int32_t i32;
static _Atomic int least = 1 << 30, most;
static uint32_t u32;
static int64_t i64;
static uint64_t u64, bits, all = ~0ull;
static float f32;
static double f64, product = 1;
static long double f80;
static _Atomic(float complex) c32;
static _Atomic(double complex) c64;
static char between[5000];
static _Atomic int16_t a16;
static _Atomic double a64;
static _Atomic(int*) pointer;
static int array[8192];
struct large {
  int64_t parts[5];
};
static _Atomic struct large wide;
static unsigned __int128 pair __attribute__((aligned(16)));
static int seen[8192];

static void numbers(int threads) {
#pragma omp parallel num_threads(threads)
  {
    const int self = omp_get_thread_num();
    for (int i = 0; i < rounds; ++i) {
#pragma omp atomic
      i8++;
#pragma omp atomic
      u8[1] += 3;
#pragma omp atomic
      --i16;
#pragma omp atomic
      u16[1] -= 2;
#pragma omp atomic
      i32 += self;
#pragma omp atomic
      u32 ^= 1u << self % 32;
#pragma omp atomic
      i64 = i64 + 1000000007;
#pragma omp atomic
      u64 = 5 + u64;
#pragma omp atomic
      bits |= 1ull << (self + i) % 64;
#pragma omp atomic
      all &= ~(1ull << (self + i) % 64);
#pragma omp atomic
      f32 += 0.5f;
#pragma omp atomic
      f64 -= 0.25;
#pragma omp atomic
      f80 += 1;
      c32 += 1;
      c64 += 1.0 * I;
      before[self % 5000] = between[self % 5000] = 1;
    }
#pragma omp atomic
    product *= 2;
  }
  const int n = rounds * threads;
  int64_t sum = 0;
  uint32_t parity = 0;
  for (int i = 0; i < threads; ++i) {
    sum += (int64_t)rounds * i;
    parity ^= rounds % 2 != 0 ? 1u << i % 32 : 0;
  }
  check(i8 == (int8_t)n && u8[1] == (uint8_t)(3 * n) && u8[0] == 0 && u8[2] == 0, "1 byte");
  check(i16 == (int16_t)-n && u16[1] == (uint16_t)(-2 * n) && u16[0] == 0 && u16[2] == 0, "2 bytes");
  check(i32 == sum && u32 == parity, "4 bytes");
  check(i64 == 1000000007ll * n && u64 == 5ull * n, "8 bytes");
  check(all == ~bits && bits != 0, "bits");
  check(f32 == 0.5f * (float)n && f64 == -0.25 * n && f80 == n, "floating point");
  check(c32 == n && c64 == n * I, "complex");
  double power = 1;
  for (int i = 0; i < threads; ++i) power *= 2;
  check(product == power, "product");
}

static void captures(int threads) {
  int tickets = 0;
  int64_t last = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < rounds; ++i) {
    int mine;
    int64_t after, old;
#pragma omp atomic capture
    mine = tickets++;
#pragma omp atomic
    seen[mine]++;
#pragma omp atomic capture
    {
      last += 2;
      after = last;
    }
    check(after % 2 == 0 && after > 0, "captured after");
#pragma omp atomic capture seq_cst
    {
      old = last;
      last += 4;
    }
    check(old % 2 == 0, "captured before");
#pragma omp atomic read acquire
    old = last;
    int best = atomic_load(&least);
    while (mine < best && !atomic_compare_exchange_weak(&least, &best, mine)) continue;
    best = atomic_load(&most);
    while (mine > best && !atomic_compare_exchange_weak(&most, &best, mine)) continue;
  }
  check(tickets == rounds * threads && last == 6 * rounds * threads, "captures");
  for (int i = 0; i < tickets; ++i) check(seen[i] == 1, "each ticket once");
  check(least == 0 && most == tickets - 1, "compare");
}

static void standard(int threads) {
  atomic_store(&pointer, array);
  int sum = 0;
  int least_of_all = 1 << 20;
  unsigned shared_bits = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  for (int i = 0; i < rounds; ++i) {
    sum += 1;
    atomic_fetch_add(&a16, 1);
    double expected = atomic_load(&a64);
    while (!atomic_compare_exchange_weak(&a64, &expected, expected + 1)) continue;
    int* const mine = atomic_fetch_add(&pointer, sizeof(int)); /* gcc counts bytes */
    *mine = 7;
    unsigned __int128 now = 0;
    while (!__atomic_compare_exchange_n(&pair, &now, now + (((unsigned __int128)1 << 64) | 1), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
      continue;
    struct large old = atomic_load(&wide);
    struct large wanted;
    do {
      wanted = old;
      for (int k = 0; k < 5; ++k) wanted.parts[k] += k;
    } while (!atomic_compare_exchange_strong(&wide, &old, wanted));
    __sync_fetch_and_or(&shared_bits, 1u << i % 32);
    __sync_synchronize();
  }
#pragma omp parallel for num_threads(threads) reduction(min : least_of_all)
  for (int i = 0; i < 1000; ++i)
    if (1000 - i < least_of_all) least_of_all = 1000 - i;
  const int n = rounds * threads;
  check(sum == n && least_of_all == 1, "reductions over one variable");
  check(a16 == (int16_t)n && a64 == n, "C11");
  check(pointer == array + n, "pointers");
  for (int i = 0; i < n; ++i) check(array[i] == 7, "what was stored at a pointer that was taken");
  check((uint64_t)pair == (uint64_t)n && (uint64_t)(pair >> 64) == (uint64_t)n, "16 bytes");
  const struct large end = atomic_load(&wide);
  for (int k = 0; k < 5; ++k) check(end.parts[k] == (int64_t)k * n, "40 bytes");
  check(shared_bits == ~0u, "__sync");
}

int main(void) {
  const int threads = omp_get_max_threads();
  numbers(threads);
  captures(threads);
  standard(threads);
  return failures != 0;
}
