/* What gcc -fno-inline-atomics calls for atomic operations on up to 8 bytes, with the run-time's own lock for atomics
 * (GOMP_atomic_start) in place of an instruction: a DSM sees a lock, but not an instruction. */
#include <string.h>

void GOMP_atomic_start(void);
void GOMP_atomic_end(void);

#define CHANGES(name, bytes, type, operation)                                           \
  type __atomic_fetch_##name##_##bytes(volatile void* place, type operand, int order) { \
    (void)order;                                                                        \
    volatile type* object = place;                                                      \
    GOMP_atomic_start();                                                                \
    const type before = *object;                                                        \
    *object = (type)(before operation operand);                                         \
    GOMP_atomic_end();                                                                  \
    return before;                                                                      \
  }

#define OPERATIONS(bytes, type)                                                                                    \
  CHANGES(add, bytes, type, +)                                                                                     \
  CHANGES(sub, bytes, type, -)                                                                                     \
  CHANGES(and, bytes, type, &)                                                                                     \
  CHANGES(or, bytes, type, |)                                                                                      \
  CHANGES(xor, bytes, type, ^)                                                                                     \
  type __atomic_load_##bytes(const volatile void* place, int order) {                                              \
    (void)order;                                                                                                   \
    GOMP_atomic_start();                                                                                           \
    const type value = *(const volatile type*)place;                                                               \
    GOMP_atomic_end();                                                                                             \
    return value;                                                                                                  \
  }                                                                                                                \
  void __atomic_store_##bytes(volatile void* place, type value, int order) {                                       \
    (void)order;                                                                                                   \
    GOMP_atomic_start();                                                                                           \
    *(volatile type*)place = value;                                                                                \
    GOMP_atomic_end();                                                                                             \
  }                                                                                                                \
  type __atomic_exchange_##bytes(volatile void* place, type value, int order) {                                    \
    (void)order;                                                                                                   \
    GOMP_atomic_start();                                                                                           \
    const type before = *(volatile type*)place;                                                                    \
    *(volatile type*)place = value;                                                                                \
    GOMP_atomic_end();                                                                                             \
    return before;                                                                                                 \
  }                                                                                                                \
  _Bool __atomic_compare_exchange_##bytes(volatile void* place, void* expected, type value, _Bool weak, int order, \
                                          int order_of_failure) {                                                  \
    (void)weak;                                                                                                    \
    (void)order;                                                                                                   \
    (void)order_of_failure;                                                                                        \
    GOMP_atomic_start();                                                                                           \
    const type before = *(volatile type*)place;                                                                    \
    const _Bool is_same = memcmp((const void*)&before, expected, sizeof before) == 0;                              \
    if (is_same) *(volatile type*)place = value;                                                                   \
    GOMP_atomic_end();                                                                                             \
    if (!is_same) memcpy(expected, (const void*)&before, sizeof before);                                           \
    return is_same;                                                                                                \
  }

OPERATIONS(1, unsigned char)
OPERATIONS(2, unsigned short)
OPERATIONS(4, unsigned int)
OPERATIONS(8, unsigned long)
