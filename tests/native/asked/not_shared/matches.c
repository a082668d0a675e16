#include <regex.h>
#include <stddef.h>
int main(void) {
  regex_t pattern;
  int wrong = regcomp(&pattern, "([a-z]+)-([0-9]+)", REG_EXTENDED);
  wrong += regexec(&pattern, "abc-17", 0, NULL, 0);
#pragma omp parallel reduction(+ : wrong)
  wrong += regexec(&pattern, "abc-17", 0, NULL, 0);
  return wrong;
}
