// Built as no_rename.so with -O1 -shared -fPIC -w
// A disk that is full when a file is to take its name.
#include <errno.h>
int rename(const char* from, const char* to) {
  errno = ENOSPC;
  return -1;
}
