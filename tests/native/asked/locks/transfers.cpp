// Transfers between accounts of which each has its mutex; the sum of all stays.
#include <omp.h>
#include <cstdio>
#include <mutex>
#include <vector>
struct Account {
  std::mutex mutex;
  long balance = 1000;
};
int main() {
  constexpr int accounts = 3, transfers = 60;
  auto* const all = new Account[accounts];
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < transfers; ++i) {
    Account& from = all[i % accounts];
    Account& to = all[(i * 2 + 1) % accounts];
    if (&from == &to) continue;
    const std::scoped_lock both(from.mutex, to.mutex);
    from.balance -= i;
    to.balance += i;
    for (volatile int k = 0; k < 2000; ++k) {
    }
  }
  long sum = 0;
  for (int i = 0; i < accounts; ++i) sum += all[i].balance;
  std::printf("%ld\n", sum);
  delete[] all;
  return sum == 1000L * accounts ? 0 : 1;
}
