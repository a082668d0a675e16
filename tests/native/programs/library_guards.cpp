// Static objects of functions, std::call_once and the standard mutexes; initialisations that throw and are done again.
#include <omp.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "expect.h"

namespace {

constexpr int rounds = 40;

int tables_made = 0;
const std::vector<int>& table() {
  static const std::vector<int> made = [] {
    ++tables_made;
    std::vector<int> cells(2000);
    for (int i = 0; i < 2000; ++i) cells[static_cast<std::size_t>(i)] = i * i;
    return cells;
  }();
  return made;
}

struct Settings {
  std::map<std::string, int> values;
  Settings() {
    for (int i = 0; i < 100; ++i) values["k" + std::to_string(i)] = i + table()[1];
  }
  static Settings& get() {
    static Settings settings;
    return settings;
  }
};

/// Fails the first two times.
int tries = 0;
struct Reluctant {
  int value = 0;
  Reluctant() {
    if (++tries < 3) throw std::runtime_error("not yet");
    value = 42;
  }
};
int reluctant() {
  static Reluctant object;
  return object.value;
}

/// One that a constructor uses before main.
const std::string& name() {
  static const std::string text = "before main, longer than a string that is kept in place";
  return text;
}
struct Early {
  std::size_t length = name().size();
} early;

/// What the initialisation writes elsewhere is seen too, by who has an old copy of it.
alignas(4096) volatile int elsewhere[2048];
int made_late() {
  static const int made = [] {
    elsewhere[1024] = 7;
    return 1;
  }();
  return made * elsewhere[1024];
}

std::once_flag flag, failing_flag;
int once_calls = 0, once_tries = 0;
int once_data[3000];

std::mutex mutex;
std::recursive_mutex recursive;
std::timed_mutex timed;
std::shared_mutex shared;
std::map<int, int> histogram;
std::vector<int> order;
int turns = 0;

int recurse(int depth) {
  const std::lock_guard<std::recursive_mutex> lock(recursive);
  return depth == 0 ? 0 : 1 + recurse(depth - 1);
}

}  // namespace

int main() {
  int team = 1;
  std::vector<int> wrong(256), caught(256);
#pragma omp parallel
  {
    const auto self = static_cast<std::size_t>(omp_get_thread_num());
    int bad = 0;
#pragma omp master
    team = omp_get_num_threads();
    bad += elsewhere[1024] % 7;
    usleep(self == 0 ? 10000 : 40000);  // no thread waits for another
    bad += made_late() != 7;
    for (int i = 0; i < rounds; ++i) bad += Settings::get().values.at("k" + std::to_string(i)) != i + 1;
    for (int i = 0; i < 2000; ++i) bad += table()[static_cast<std::size_t>(i)] != i * i;
    bad += name().size() != early.length || name().compare(0, 6, "before") != 0;

    for (;;) {
      try {
        bad += reluctant() != 42;
        break;
      } catch (const std::runtime_error&) {
        ++caught[self];
      }
    }

    std::call_once(flag, [] {
      ++once_calls;
      for (int i = 0; i < 3000; ++i) once_data[i] = i;
    });
    for (int i = 0; i < 3000; ++i) bad += once_data[i] != i;
    for (bool is_done = false; !is_done;) {
      try {
        std::call_once(failing_flag, [] {
          if (++once_tries < 3) throw std::runtime_error("not yet");
        });
        is_done = true;
      } catch (const std::runtime_error&) {
        caught[self] += 100;
      }
    }

    for (int i = 0; i < rounds; ++i) {
      {
        const std::lock_guard<std::mutex> lock(mutex);
        ++histogram[i % 10];
        order.push_back(i);
      }
      bad += recurse(5) != 5;
      {
        std::unique_lock<std::timed_mutex> lock(timed, std::chrono::seconds(60));
        const std::scoped_lock both(mutex, shared);
        if (lock) ++turns;
      }
      {
        const std::shared_lock<std::shared_mutex> lock(shared);
        bad += turns <= i;
      }
    }
    wrong[self] = bad;
  }
  int bad = 0, thrown = 0;
  for (const int each : wrong) bad += each;
  for (const int each : caught) thrown += each;
  EXPECT(bad == 0);
  EXPECT(thrown == 202);
  EXPECT(tables_made == 1);
  EXPECT(tries == 3);
  EXPECT(once_calls == 1);
  EXPECT(once_tries == 3);
  EXPECT(order.size() == static_cast<std::size_t>(rounds * team));
  EXPECT(histogram[3] == rounds / 10 * team);
  EXPECT(turns == rounds * team);
  return expect_status();
}
