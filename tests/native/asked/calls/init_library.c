// Built as init_library.so with -O1 -w -shared -fPIC -Wl,-init,begin
// What -init of the linker names, as libnuma has one, and what comes before all constructors.
#include <stdlib.h>
static int *made, runs;
void begin(void) {
  made = malloc(sizeof *made);
  *made = 7 + runs++;
}
int made_once(void) {
  return *made == 7 && runs == 1;
}
