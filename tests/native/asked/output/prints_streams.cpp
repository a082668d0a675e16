#include <omp.h>
#include <iomanip>
#include <iostream>
int main(int argc, char**) {
  if (argc > 1) std::ios_base::sync_with_stdio(false);
#pragma omp parallel
  {
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 20; ++i) {
#pragma omp ordered
      {
        std::cout << "turn " << std::setw(0) << i << std::endl;
        std::cerr << "and " << i << "\n";
      }
    }
  }
  std::cout << "end\n";
}
