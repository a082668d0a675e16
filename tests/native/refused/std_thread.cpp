// `std::thread`: pthread_create
#include <omp.h>

#include <thread>

int main() {
  if (omp_in_parallel() != 0) return 4;  // so that it uses OpenMP
  std::thread([] {}).join();
  return 0;
}
