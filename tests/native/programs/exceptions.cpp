// Exceptions thrown and caught inside a region: in loops, criticals, tasks, across calls, rethrown, and after it.
#include <omp.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "expect.h"

namespace {

class Odd : public std::runtime_error {
 public:
  explicit Odd(int value) : std::runtime_error("odd: " + std::to_string(value)), value_(value) {}
  int value() const { return value_; }

 private:
  int value_;
};

/// Counts what is destroyed while the stack unwinds.
class Guard {
 public:
  explicit Guard(int* count) : count_(count) {}
  ~Guard() { ++*count_; }

 private:
  int* count_;
};

int halve(int value, int depth, int* unwound) {
  const Guard guard(unwound);
  if (depth > 0) return halve(value, depth - 1, unwound);
  if (value % 2 != 0) throw Odd(value);
  return value / 2;
}

}  // namespace

static void caught_in_loops() {
  int caught = 0;
  int halves = 0;
  int unwound = 0;
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : caught, halves, unwound)
  for (int i = 0; i < 200; ++i) {
    try {
      halves += halve(i, 5, &unwound);
    } catch (const Odd& odd) {
      caught += odd.value() == i && odd.what() == "odd: " + std::to_string(i);
    }
  }
  EXPECT(caught == 100);
  EXPECT(halves == 4950);  // 0 + 1 + ... + 99
  EXPECT(unwound == 1200);
}

static void caught_in_critical() {
  int in_critical = 0;
  int team = 1;
#pragma omp parallel
  {
#pragma omp master
    team = omp_get_num_threads();
    for (int i = 0; i < 20; ++i) {
#pragma omp critical
      {
        try {
          if (i % 2 == 0) throw i;
          throw std::string("text");
        } catch (int number) {
          in_critical += number == i;
        } catch (const std::string& text) {
          in_critical += text == "text";
        }
      }
    }
  }
  EXPECT(in_critical == 20 * team);
}

static void carried_out() {
  // Carried out of the region by a pointer, and rethrown by the initial thread.
  std::exception_ptr first;
#pragma omp parallel for
  for (int i = 0; i < 50; ++i) {
    try {
      if (i == 33) std::vector<int>(3).at(5) = 1;
    } catch (...) {
#pragma omp critical
      first = std::current_exception();
    }
  }
  bool out_of_range = false;
  try {
    if (first) std::rethrow_exception(first);
  } catch (const std::out_of_range&) {
    out_of_range = true;
  }
  EXPECT(out_of_range);
}

static void caught_in_tasks() {
  int from_tasks = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task shared(from_tasks) firstprivate(i)
    {
      try {
        throw Odd(i);
      } catch (const std::exception&) {
#pragma omp critical(tasks)
        ++from_tasks;
      }
    }
  }
  EXPECT(from_tasks == 20);
}

static void between_regions() {
  // A function with a region that is called with an exception in flight elsewhere, and one thrown between regions.
  int rounds = 0;
  for (int round = 0; round < 20; ++round) {
    try {
#pragma omp parallel
      {
#pragma omp master
        ++rounds;
      }
      throw round;
    } catch (int caught_round) {
      EXPECT(caught_round == round);
#pragma omp parallel num_threads(2)
      {}
    }
  }
  EXPECT(rounds == 20);
}

int main() {
  caught_in_loops();
  caught_in_critical();
  carried_out();
  caught_in_tasks();
  between_regions();
  return expect_status();
}
