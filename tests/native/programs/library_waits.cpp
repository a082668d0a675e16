// C++20's waits: std::atomic::wait, semaphores, latches and barriers. Standard condition variables.
#include <omp.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <semaphore>
#include <vector>

#include "expect.h"

namespace {

constexpr int rounds = 20;

std::mutex mutex;
std::condition_variable ready, nobody_wakes;
std::condition_variable_any any_ready;
int turn = 0;

std::atomic<int> number{0};
std::atomic<long> wide{0};
std::counting_semaphore<8> permits(2);
std::binary_semaphore baton(1);
int passed = 0;
int plain = 0;

}  // namespace

int main() {
  int team = 1;
  std::vector<int> wrong(256);
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    const int size = omp_get_num_threads();
    int bad = 0;
#pragma omp master
    team = size;
    for (int i = 0; i < rounds; ++i) {
      std::unique_lock<std::mutex> lock(mutex);
      ready.wait(lock, [&] { return turn % size == self; });
      ++turn;
      ready.notify_all();
      bad += nobody_wakes.wait_for(lock, std::chrono::milliseconds(1), [] { return false; });
    }
    {
      std::unique_lock<std::mutex> lock(mutex);
      bad += any_ready.wait_for(lock, std::chrono::milliseconds(1)) != std::cv_status::timeout;
    }
#pragma omp barrier
    // A ring by an atomic's waits; what is written before is seen behind.
    for (int i = 0; i < rounds; ++i) {
      const int mine = i * size + self;
      for (int seen = number.load(); seen != mine; seen = number.load()) number.wait(seen);
      bad += plain != mine;
      plain = mine + 1;
      number.store(mine + 1);
      number.notify_all();
    }
    if (self == 0) {
      wide.store(1);
      wide.notify_all();
    } else {
      wide.wait(0);
    }
    for (int i = 0; i < rounds; ++i) {
      permits.acquire();
      baton.acquire();
      ++passed;
      baton.release();
      permits.release();
    }
    wrong[static_cast<std::size_t>(self)] = bad;
  }
  std::latch latch(team);
  std::barrier barrier(team);
  std::vector<int> cells(256);
#pragma omp parallel num_threads(team)
  {
    const auto self = static_cast<std::size_t>(omp_get_thread_num());
    cells[self] = 1;
    latch.arrive_and_wait();
    for (int t = 0; t < team; ++t) wrong[self] += cells[static_cast<std::size_t>(t)] != 1;
    barrier.arrive_and_wait();
    for (int i = 2; i < 6; ++i) {
      cells[self] = i;
      barrier.arrive_and_wait();
      for (int t = 0; t < team; ++t) wrong[self] += cells[static_cast<std::size_t>(t)] != i;
      barrier.arrive_and_wait();
    }
  }
  int bad = 0;
  for (const int each : wrong) bad += each;
  EXPECT(bad == 0);
  EXPECT(turn == rounds * team);
  EXPECT(number.load() == rounds * team);
  EXPECT(passed == rounds * team);
  return expect_status();
}
