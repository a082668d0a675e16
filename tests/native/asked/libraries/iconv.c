#include <iconv.h>
#include <stdio.h>
int main(void) {
  int opened = 0;
#pragma omp parallel reduction(+ : opened)
  opened += iconv_open("UTF-16LE", "UTF-8") != (iconv_t)-1;
  puts(opened > 1 ? "opened" : "not opened");
}
