// Built as cpp_state with -O1
#include <omp.h>

#include <cstdio>
#include <locale>
struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};
int main() {
  std::locale::global(std::locale(std::locale::classic(), new Comma));
  int have = 0;
#pragma omp parallel reduction(+ : have)
  have += std::use_facet<std::numpunct<char>>(std::locale()).decimal_point() == ',';
  std::printf("%d have it\n", have);
}
