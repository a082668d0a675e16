// Built as constructor with -O2 ./constructor_library.so
// Built as silent_stack with -O2 -DALONE ./silent.so
#define SDSM_NAME own
#include "constructor_library.c"
void library(void), silent(void);
int main(void) {
#ifdef ALONE
  silent();
#else
  library();
#endif
  own();
  return 0;
}
