// What threads hand each other without regions' barriers: Chase and Lev's deque with stealing, Vyukov's bounded queue,
// a stack with counted pointers, an unbounded list queue, a sequence lock, ticket and MCS locks, a bounded buffer with
// two condition variables, C++20's barrier, latch, semaphore and waits on atomics, futures kept by promise, a
// thread-safe cache of shared pointers with a shared mutex. Everything handed over is counted and summed.
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

bool check(const char* what, long is, long should) {
  if (is != should) std::printf("WRONG: %s: %ld instead of %ld\n", what, is, should);
  return is == should;
}

// Lê, Pop, Cohen and Zappa Nardelli, "Correct and efficient work-stealing for weak memory models", PPoPP 2013.
class Deque {
 public:
  explicit Deque(int capacity) : ring_(capacity) {}
  bool push(int value) {
    const long bottom = bottom_.load(std::memory_order_relaxed), top = top_.load(std::memory_order_acquire);
    if (bottom - top >= static_cast<long>(ring_.size())) return false;
    ring_[bottom % ring_.size()].store(value, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    bottom_.store(bottom + 1, std::memory_order_relaxed);
    return true;
  }
  std::optional<int> take() {
    const long bottom = bottom_.load(std::memory_order_relaxed) - 1;
    bottom_.store(bottom, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    long top = top_.load(std::memory_order_relaxed);
    if (top > bottom) {
      bottom_.store(bottom + 1, std::memory_order_relaxed);
      return std::nullopt;
    }
    std::optional<int> value = ring_[bottom % ring_.size()].load(std::memory_order_relaxed);
    if (top == bottom) {
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
        value.reset();
      bottom_.store(bottom + 1, std::memory_order_relaxed);
    }
    return value;
  }
  std::optional<int> steal() {
    long top = top_.load(std::memory_order_acquire);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const long bottom = bottom_.load(std::memory_order_acquire);
    if (top >= bottom) return std::nullopt;
    const int value = ring_[top % ring_.size()].load(std::memory_order_relaxed);
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
      return std::nullopt;
    return value;
  }

 private:
  alignas(64) std::atomic<long> top_{0};
  alignas(64) std::atomic<long> bottom_{0};
  std::vector<std::atomic<int>> ring_;
};

// Each item spawns smaller ones, as a tree of work; done when nothing is outstanding.
bool stealing(int work) {
  const int threads = omp_get_max_threads();
  std::deque<Deque> deques;
  for (int i = 0; i < threads; ++i) deques.emplace_back(256);
  std::atomic<long> outstanding{1}, sum{0}, items{0};
  deques[0].push(work);
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    unsigned victim = me;
    long own_sum = 0, own_items = 0;
    while (outstanding.load(std::memory_order_acquire) > 0) {
      auto item = deques[me].take();
      if (!item && omp_get_num_threads() > 1) item = deques[++victim % omp_get_num_threads()].steal();
      if (!item) continue;
      own_sum += *item;
      ++own_items;
      for (int part : {*item / 2, *item / 3})
        if (part > 0) {
          outstanding.fetch_add(1, std::memory_order_relaxed);
          if (!deques[me].push(part)) std::abort();
        }
      outstanding.fetch_sub(1, std::memory_order_release);
    }
    sum += own_sum;
    items += own_items;
  }
  const std::function<std::pair<long, long>(int)> serial = [&](int item) {
    std::pair<long, long> result{item, 1};
    for (int part : {item / 2, item / 3})
      if (part > 0) {
        const auto [s, n] = serial(part);
        result.first += s;
        result.second += n;
      }
    return result;
  };
  const auto [expected_sum, expected_items] = serial(work);
  return check("stolen sum", sum, expected_sum) && check("stolen items", items, expected_items);
}

// Vyukov's queue: a sequence number in each cell says whose turn it is.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t size) : cells_(size) {
    for (std::size_t i = 0; i < size; ++i) cells_[i].sequence.store(i, std::memory_order_relaxed);
  }
  bool push(T value) {
    std::size_t at = tail_.load(std::memory_order_relaxed);
    while (true) {
      Cell& cell = cells_[at % cells_.size()];
      const std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
      if (sequence == at) {
        if (!tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
        cell.value = std::move(value);
        cell.sequence.store(at + 1, std::memory_order_release);
        return true;
      }
      if (sequence < at) return false;
      at = tail_.load(std::memory_order_relaxed);
    }
  }
  bool pop(T& value) {
    std::size_t at = head_.load(std::memory_order_relaxed);
    while (true) {
      Cell& cell = cells_[at % cells_.size()];
      const std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
      if (sequence == at + 1) {
        if (!head_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
        value = std::move(cell.value);
        cell.sequence.store(at + cells_.size(), std::memory_order_release);
        return true;
      }
      if (sequence < at + 1) return false;
      at = head_.load(std::memory_order_relaxed);
    }
  }

 private:
  struct Cell {
    std::atomic<std::size_t> sequence;
    T value;
  };
  std::vector<Cell> cells_;
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

bool bounded(int each) {
  BoundedQueue<std::string> queue(8);
  std::atomic<int> made{0}, used{0};
  long characters = 0, expected = 0;
  const int all = each * omp_get_max_threads();
#pragma omp parallel reduction(+ : characters)
  {
    std::string text;
    while (used < all) {
      if (const int id = made.load(); id < all) {
        int mine = id;
        if (made.compare_exchange_strong(mine, id + 1))
          while (!queue.push(std::string(id % 40, 'x') + std::to_string(id)))
            if (queue.pop(text)) characters += text.size(), ++used;
      }
      if (queue.pop(text)) characters += text.size(), ++used;
    }
  }
  for (int i = 0; i < all; ++i) expected += i % 40 + std::to_string(i).size();
  return check("bounded queue", characters, expected);
}

// Treiber's stack; the head is an index and a count, so that a node that came back is not taken for the same.
bool stack(int each) {
  struct Node {
    std::atomic<std::uint32_t> next{0};
    int value = 0;
  };
  const int threads = omp_get_max_threads();
  std::vector<Node> nodes(each * threads + 1);
  std::atomic<std::uint64_t> head{0};
  const auto push = [&](std::uint32_t node) {
    std::uint64_t old = head.load();
    do nodes[node].next.store(static_cast<std::uint32_t>(old));
    while (!head.compare_exchange_weak(old, ((old >> 32) + 1) << 32 | node));
  };
  const auto pop = [&]() -> std::uint32_t {
    std::uint64_t old = head.load();
    while (static_cast<std::uint32_t>(old) != 0)
      if (head.compare_exchange_weak(old, ((old >> 32) + 1) << 32 | nodes[static_cast<std::uint32_t>(old)].next.load()))
        return static_cast<std::uint32_t>(old);
    return 0;
  };
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    const int me = omp_get_thread_num();
    for (int i = 0; i < each; ++i) {
      nodes[me * each + i + 1].value = me * each + i;
      push(me * each + i + 1);
      if (i % 3 == 2)
        if (const std::uint32_t node = pop()) {
          ++nodes[node].value;
          --sum;
          push(node);
        }
    }
#pragma omp barrier
    while (const std::uint32_t node = pop()) sum += nodes[node].value;
  }
  const long all = static_cast<long>(each) * omp_get_max_threads();
  return check("stack", sum, all * (all - 1) / 2);
}

// Readers see both halves of one update or look again.
bool sequence_lock(int updates) {
  static std::atomic<unsigned> sequence;
  static std::array<std::atomic<long>, 600> data;  // more than a page
  static std::atomic<bool> over;
  long torn = 0, seen = 0;
#pragma omp parallel reduction(+ : torn, seen)
  if (omp_get_thread_num() == 0) {
    for (int u = 1; u <= updates; ++u) {
      sequence.fetch_add(1, std::memory_order_acq_rel);
      std::atomic_thread_fence(std::memory_order_release);
      data.front().store(u, std::memory_order_relaxed);
      data.back().store(-u, std::memory_order_relaxed);
      sequence.store(2 * u, std::memory_order_release);
    }
    over.store(true, std::memory_order_release);
  } else {
    bool last = false;
    do {
      last = over.load(std::memory_order_acquire);
      const unsigned before = sequence.load(std::memory_order_acquire);
      const long a = data.front().load(std::memory_order_relaxed), b = data.back().load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (before % 2 == 0 && sequence.load(std::memory_order_relaxed) == before)
        torn += a != -b, seen = std::max(seen, a);
    } while (!last);
  }
  const int readers = omp_get_max_threads() - 1;
  return check("torn", torn, 0) && check("last update seen", seen, static_cast<long>(readers) * updates);
}

struct TicketLock {
  std::atomic<unsigned> next{0}, served{0};
  void lock() {
    const unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
    while (served.load(std::memory_order_acquire) != mine) continue;
  }
  void unlock() { served.store(served.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
};

struct QueueLock {
  struct Place {
    std::atomic<Place*> next{nullptr};
    std::atomic<bool> waits{false};
  };
  std::atomic<Place*> tail{nullptr};
  void lock(Place& mine) {
    mine.next.store(nullptr, std::memory_order_relaxed);
    mine.waits.store(true, std::memory_order_relaxed);
    if (Place* before = tail.exchange(&mine, std::memory_order_acq_rel)) {
      before->next.store(&mine, std::memory_order_release);
      while (mine.waits.load(std::memory_order_acquire)) continue;
    }
  }
  void unlock(Place& mine) {
    Place* next = mine.next.load(std::memory_order_acquire);
    if (!next) {
      Place* expected = &mine;
      if (tail.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel)) return;
      while (!(next = mine.next.load(std::memory_order_acquire))) continue;
    }
    next->waits.store(false, std::memory_order_release);
  }
};

bool spinning(int times) {
  TicketLock ticket;
  QueueLock queue;
  // Not on the threads' stacks, and what the lock guards neither: one look at an own one may be newer than others'
  // there.
  std::vector<QueueLock::Place> places(omp_get_max_threads());
  std::map<int, long> tally;
  const auto by_queue_here = std::make_unique<long>(0);
  long& by_queue = *by_queue_here;
#pragma omp parallel
  {
    QueueLock::Place& mine = places[omp_get_thread_num()];
    for (int i = 0; i < times; ++i) {
      {
        std::lock_guard guard(ticket);
        ++tally[i % 5];
      }
      queue.lock(mine);
      by_queue += i;
      queue.unlock(mine);
    }
  }
  long sum = 0;
  for (const auto& [key, count] : tally) sum += count;
  const long threads = omp_get_max_threads();
  return check("ticket lock", sum, threads * times) &&
         check("queue lock", by_queue, threads * times * (times - 1L) / 2);
}

bool buffer(int each) {
  std::mutex mutex;
  std::condition_variable not_full, not_empty;
  std::deque<std::unique_ptr<int>> held;
  int producers = 0;
  long sum = 0, most = 0;
#pragma omp parallel reduction(+ : sum)
  {
    const int me = omp_get_thread_num(), team = omp_get_num_threads();
#pragma omp single
    producers = (team + 1) / 2;
    if (me < (team + 1) / 2) {
      for (int i = 0; i < each; ++i) {
        std::unique_lock lock(mutex);
        not_full.wait(lock, [&] { return held.size() < 3 || team == 1; });
        held.push_back(std::make_unique<int>(me * each + i));
        most = std::max(most, static_cast<long>(held.size()));
        not_empty.notify_one();
      }
      std::lock_guard lock(mutex);
      if (--producers == 0) not_empty.notify_all();
    }
    if (me >= (team + 1) / 2 || team == 1) {
      std::unique_lock lock(mutex);
      while (true) {
        not_empty.wait(lock, [&] { return !held.empty() || producers == 0; });
        if (held.empty()) break;
        sum += *held.front();
        held.pop_front();
        not_full.notify_one();
      }
    }
  }
  const long all = static_cast<long>(each) * ((omp_get_max_threads() + 1) / 2);
  return check("buffer", sum, all * (all - 1) / 2) &&
         (omp_get_max_threads() == 1 || check("buffer's size", most <= 3, 1));
}

bool of_twenty(int rounds) {
  const int threads = omp_get_max_threads();
  int phases = 0;
  std::barrier meeting(threads, [&]() noexcept { ++phases; });
  std::latch started(threads);
  std::counting_semaphore<4> two(2);
  std::atomic<int> inside{0}, most{0}, turn{0};
  std::vector<long> row(threads), next(threads);
  int early = 0;
#pragma omp parallel reduction(+ : early)
  {
    const int me = omp_get_thread_num();
    row[me] = me;
    started.arrive_and_wait();
    for (int r = 0; r < rounds; ++r) {
      next[me] = row[(me + 1) % threads] + row[me];
      meeting.arrive_and_wait();
      row[me] = next[me];
      if (phases != 2 * r + 1) ++early;
      meeting.arrive_and_wait();
    }
    two.acquire();
    const int now = ++inside;
    for (int old = most; old < now && !most.compare_exchange_weak(old, now);) continue;
    --inside;
    two.release();
    // In turn, each waiting on the atomic itself.
    for (int seen = turn; seen != me; seen = turn) turn.wait(seen);
    row[me] += me == 0 ? 0 : row[me - 1];
    turn = me + 1;
    turn.notify_all();
  }
  std::vector<long> expected(threads), step(threads);
  std::iota(expected.begin(), expected.end(), 0);
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < threads; ++i) step[i] = expected[i] + expected[(i + 1) % threads];
    expected = step;
  }
  std::partial_sum(expected.begin(), expected.end(), expected.begin());
  return check("phases", phases, 2 * rounds) && check("early", early, 0) && check("rows", row == expected, 1) &&
         check("at most two inside", most <= 2, 1);
}

bool promises() {
  const int threads = omp_get_max_threads();
  std::vector<std::promise<std::string>> kept(threads);
  std::vector<std::shared_future<std::string>> told;
  for (auto& promise : kept) told.push_back(promise.get_future().share());
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    const int me = omp_get_thread_num();
    if (me == 0)
      kept[0].set_value("0");
    else if (me % 5 == 4)
      kept[me].set_exception(std::make_exception_ptr(std::runtime_error("broken by " + std::to_string(me))));
    else if ((me - 1) % 5 == 4)
      kept[me].set_value(std::to_string(me));
    else
      kept[me].set_value(told[me - 1].get() + "," + std::to_string(me));
    try {
      if (told[(me + 1) % threads].get().empty()) ++wrong;
    } catch (const std::runtime_error& error) {
      if (error.what() != "broken by " + std::to_string((me + 1) % threads)) ++wrong;
    }
  }
  return check("promises", wrong, 0);
}

bool cache(int asks) {
  std::shared_mutex mutex;
  std::unordered_map<int, std::shared_ptr<const std::vector<long>>> known;
  std::atomic<std::shared_ptr<const std::vector<long>>> latest;
  std::once_flag first;
  int made_first = 0;
  long sum = 0, expected = 0;
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum)
  for (int i = 0; i < asks; ++i) {
    std::call_once(first, [&] { ++made_first; });
    const int key = i * 7 % 11;
    std::shared_ptr<const std::vector<long>> entry;
    {
      std::shared_lock lock(mutex);
      if (const auto found = known.find(key); found != known.end()) entry = found->second;
    }
    if (!entry) {
      auto fresh = std::make_shared<std::vector<long>>(20 + key);
      std::iota(fresh->begin(), fresh->end(), key);
      std::unique_lock lock(mutex);
      entry = known.try_emplace(key, std::move(fresh)).first->second;
    }
    sum += std::accumulate(entry->begin(), entry->end(), 0L);
    latest.store(entry);
    if (const auto other = latest.load(); !other || other->size() < 20) sum += 1000000;
  }
  for (int i = 0; i < asks; ++i)
    for (int k = 0; k < 20 + i * 7 % 11; ++k) expected += i * 7 % 11 + k;
  return check("cache", sum, expected) && check("once", made_first, 1);
}

}  // namespace

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 20;
  bool right = stealing(size * 4);
  right &= bounded(size / 2);
  right &= stack(size / 2);
  right &= sequence_lock(size / 2);
  right &= spinning(size / 4);
  right &= buffer(size / 2);
  right &= of_twenty(size / 5);
  right &= promises();
  right &= cache(size * 2);
  if (right) std::puts("verified");
  return !right;
}
