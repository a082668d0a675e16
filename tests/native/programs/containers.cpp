// The standard library in parallel: containers, strings, smart pointers, new and delete, streams.
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "expect.h"

int main() {
  // Each thread fills its own vectors, and all vectors are read by others.
  std::vector<std::vector<int>> rows(50);
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 50; ++i) {
    for (int j = 0; j <= i * 20; ++j) rows[i].push_back(i + j);
  }
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static, 1)
  for (int i = 49; i >= 0; --i) sum += std::accumulate(rows[i].begin(), rows[i].end(), 0L);
  long expected = 0;
  for (int i = 0; i < 50; ++i) {
    for (int j = 0; j <= i * 20; ++j) expected += i + j;
  }
  EXPECT(sum == expected);

  // A shared map and string behind a lock.
  std::map<std::string, int> counts;
  std::string letters;
#pragma omp parallel for
  for (int i = 0; i < 300; ++i) {
    const std::string key = "a key too long for the string to hold in place: " + std::to_string(i % 7);
#pragma omp critical
    {
      ++counts[key];
      letters += static_cast<char>('a' + i % 26);
    }
  }
  EXPECT(counts.size() == 7);
  EXPECT(counts["a key too long for the string to hold in place: 5"] == 43);  // 5, 12, ... 299
  EXPECT(letters.size() == 300);
  std::sort(letters.begin(), letters.end());
  EXPECT(letters.front() == 'a' && letters.back() == 'z' && std::count(letters.begin(), letters.end(), 'a') == 12);

  // Made by one thread, owned by another, destroyed by a third.
  std::vector<std::unique_ptr<std::string>> texts(200);
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 200; ++i) texts[i] = std::make_unique<std::string>(i, 'x');
  std::vector<std::shared_ptr<std::string>> shared(200);
#pragma omp parallel for schedule(static, 2)
  for (int i = 0; i < 200; ++i) shared[i] = std::move(texts[199 - i]);
  int wrong = 0;
#pragma omp parallel for schedule(static, 3) reduction(+ : wrong)
  for (int i = 0; i < 200; ++i) {
    wrong += texts[i] != nullptr || shared[i]->size() != static_cast<std::size_t>(199 - i);
    shared[i].reset();
  }
  EXPECT(wrong == 0);

  // Arrays of objects with alignment beyond the usual.
  struct alignas(256) Wide {
    int values[64];
  };
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < 100; ++i) {
    Wide* wide = new Wide[3];
    wrong += reinterpret_cast<std::uintptr_t>(wide) % 256 != 0;
    std::fill_n(wide[2].values, 64, i);
    wrong += wide[2].values[63] != i;
    delete[] wide;
  }
  EXPECT(wrong == 0);

  std::ostringstream stream;
#pragma omp parallel for ordered
  for (int i = 0; i < 30; ++i) {
    std::ostringstream own;
    own << i * 1.5 << ';';
#pragma omp ordered
    stream << own.str();
  }
  EXPECT(stream.str().substr(0, 14) == "0;1.5;3;4.5;6;");
  std::ostringstream sequential;
  for (int i = 0; i < 30; ++i) sequential << i * 1.5 << ';';
  EXPECT(stream.str() == sequential.str());
  return expect_status();
}
