// Built as static_cxx_O0.so with -O0 -shared -fPIC
// Built as static_cxx_O2.so with -O2 -shared -fPIC
#include <omp.h>
#include <string>
#include <vector>
static std::vector<double> numbers(5000, 1.5);
static std::vector<std::string> words;
static int& count() {
  static int counter = 40;
  return counter;
}
extern "C" int sum() {
  int bad = numbers.size() != 5000;
  words.resize(100);
#pragma omp parallel for
  for (int i = 0; i < 5000; ++i) {
    numbers[i] += i;
    if (i < 100) words[i] = std::string(30, char('a' + i % 26));
#pragma omp critical
    ++count();
  }
  for (int i = 0; i < 5000; ++i) bad += numbers[i] != i + 1.5;
  for (int i = 0; i < 100; ++i) bad += words[i] != std::string(30, char('a' + i % 26));
  return bad + (count() != 5040);
}
