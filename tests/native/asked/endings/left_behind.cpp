// Built as left_behind with -O0
#include <omp.h>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>
static std::vector<std::string> names;
struct Left {
  std::string name;
  explicit Left(const char* given) : name(given) {}
  ~Left() {
    names.push_back(name);
    std::printf("%s is number %zu\n", name.c_str(), names.size());
  }
};
static void handler() {
  int members = 0;
#pragma omp parallel reduction(+ : members)
  ++members;
  if (members > 0) std::printf("handler\n");
}
static void initial_handler() {
  int members = 0;
#pragma omp parallel reduction(+ : members)
  ++members;
  std::printf("handler of main: %d member\n", members);
}
int main(int, char** argv) {
  std::atexit(initial_handler);
#pragma omp parallel
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      static std::ofstream file(argv[1]);
      file << "text\n";
      static Left first("first");
      std::atexit(handler);
    }
#pragma omp barrier
    if (omp_get_thread_num() == 1) static Left second("second");
  }
  std::printf("end of main\n");
}
