#include <regex.h>
int main(void) {
  regex_t pattern;
  int wrong = regcomp(&pattern, "([a-z]+)-([0-9]+)", REG_EXTENDED | REG_ICASE);
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel for reduction(+ : wrong) schedule(static)
    for (int i = 0; i < 400; ++i) {
      regmatch_t found[3];
      wrong += regexec(&pattern, "..ABC-17..", 3, found, 0) != 0 || found[2].rm_so != 6;
      wrong += regexec(&pattern, "abc-", 3, found, 0) != REG_NOMATCH;
    }
    regfree(&pattern);
    wrong += regcomp(&pattern, "([a-z]+)-([0-9]+)", REG_EXTENDED | REG_ICASE);
  }
  wrong += regcomp(&pattern, "(", REG_EXTENDED) == 0;
  return wrong != 0;
}
