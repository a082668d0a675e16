// C++'s file streams, which one thread opens: all read and write them.
#include <fstream>
#include <memory>
#include <string>

#include <omp.h>
#include <unistd.h>

#include "expect.h"

static const std::string name = "/tmp/sdsm-streams-" + std::to_string(getpid());
static std::ofstream opened_before_main(name);

static int lines_of_file() {
  std::ifstream in(name);
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) ++lines;
  return lines;
}

int main() {
  const int count = 600;
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < count; ++i) {
#pragma omp critical
    opened_before_main << "line " << i << "\n";
  }
  opened_before_main.close();
  EXPECT(opened_before_main.good());
  EXPECT(lines_of_file() == count);

  std::ifstream in(name);
  int sum = 0, lines = 0;
#pragma omp parallel reduction(+ : sum, lines)
  for (;;) {
    std::string line;
    bool is_line = false;
#pragma omp critical
    is_line = static_cast<bool>(std::getline(in, line));
    if (!is_line) break;
    sum += std::stoi(line.substr(5));
    ++lines;
  }
  EXPECT(lines == count);
  EXPECT(sum == count / 2 * (count - 1));

  // Opened by one thread of a region, closed by another.
  std::unique_ptr<std::ofstream> out;
  bool is_open = true;
#pragma omp parallel
  {
#pragma omp single
    out = std::make_unique<std::ofstream>(name);
    for (int i = 0; i < 20; ++i) {
#pragma omp critical
      *out << omp_get_thread_num() << std::endl;
    }
#pragma omp barrier
    if (omp_get_thread_num() == omp_get_num_threads() - 1) out->close();
#pragma omp barrier
    if (omp_get_thread_num() == 0) is_open = out->is_open() || !out->good();
  }
  EXPECT(!is_open);
  EXPECT(lines_of_file() == 20 * omp_get_max_threads());

  // One place for reading and writing.
  std::fstream both(name, std::ios::in | std::ios::out | std::ios::trunc);
  int wrong = 0;
#pragma omp parallel for ordered schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < 100; ++i) {
#pragma omp ordered
    {
      both.seekp(4 * i);
      both << "abc\n";
      std::string line;
      both.seekg(i > 0 ? 4 * i - 4 : 0);
      wrong += !std::getline(both, line) || line != "abc";
    }
  }
  EXPECT(wrong == 0);
  both.close();
  EXPECT(lines_of_file() == 100);
  unlink(name.c_str());
  return expect_status();
}
