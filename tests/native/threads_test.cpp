// What threads share inside of a program. Of the unit tests only these start threads, so only these are built with the
// thread sanitizer (preset tsan): in the others it could find nothing.
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/thread_safety.hpp"
#include "tests/catch.hpp"

using namespace sdsm::program;

namespace {

void on_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

constinit Role first{"the first"};
constinit Role second{"the second"};

}  // namespace

TEST_CASE("what a mutex guards is changed by one thread at a time") {
  const Mutex::Kind kind = GENERATE(Mutex::Kind::plain, Mutex::Kind::recursive);
  Mutex mutex(kind);
  long sum = 0;
  on_threads(4, [&](int) {
    for (int i = 0; i < 10'000; ++i) {
      const MutexLock held(mutex);
      ++sum;
    }
  });
  CHECK(sum == 40'000);
}

TEST_CASE("a held mutex excludes others, a recursive one not its holder") {
  for (const Mutex::Kind kind : {Mutex::Kind::plain, Mutex::Kind::recursive}) {
    Mutex mutex(kind);
    mutex.lock();
    bool other_got_it = true;
    on_threads(1, [&](int) { other_got_it = mutex.try_lock(); });
    CHECK(!other_got_it);
    const bool holder_got_it = mutex.try_lock();
    CHECK(holder_got_it == (kind == Mutex::Kind::recursive));
    if (holder_got_it) mutex.unlock();
    mutex.unlock();
    on_threads(1, [&](int) {
      other_got_it = mutex.try_lock();
      if (other_got_it) mutex.unlock();
    });
    CHECK(other_got_it);
  }
}

TEST_CASE("who waits for a condition leaves the mutex to others meanwhile") {
  Mutex mutex;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  int turn = 0;
  std::string said;
  on_threads(3, [&](int self) {
    const MutexLock held(mutex);
    while (turn != self) mutex.wait_for(changed);
    said += static_cast<char>('a' + self);
    ++turn;
    pthread_cond_broadcast(&changed);
  });
  CHECK(said == "abc");
}

TEST_CASE("a role is of the thread that took it") {
  std::vector<int> right(2);
  on_threads(2, [&](int self) {
    const Role& own = self == 0 ? first : second;
    const Role& others = self == 0 ? second : first;
    const bool none = !own.is_taken() && !others.is_taken();
    own.take();
    const bool its = own.is_taken() && !others.is_taken();
    own.hand_over();
    right[static_cast<std::size_t>(self)] = static_cast<int>(none && its && !own.is_taken());
  });
  CHECK(right == std::vector<int>{1, 1});
  CHECK(!first.is_taken());
}

TEST_CASE("threads that look up a function at once find the same") {
  static constinit NextFunction<long(const char*)> next{"atol"};
  std::vector<long> found(8);
  on_threads(8, [&](int self) { found[static_cast<std::size_t>(self)] = next("1470"); });
  CHECK(found == std::vector<long>(8, 1470));
}
