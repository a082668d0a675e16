// Built as slow_environment with -O0
#include <string.h>
#include <unistd.h>
extern char** environ;
char* getenv(const char* name) {
  usleep(2000);
  size_t length = strlen(name);
  for (char** one = environ; *one; ++one)
    if (!strncmp(*one, name, length) && (*one)[length] == '=') return *one + length + 1;
  return NULL;
}
int main(void) {
#pragma omp parallel
  ;
  return 0;
}
