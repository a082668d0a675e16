// Monte Carlo with C++11's atomics and its once: random engines of each thread, doubles added by compare and exchange,
// statics of functions, thread_local objects, a spin lock, a lock-free list, shared pointers, exceptions.
#include <omp.h>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

std::atomic<int> engines_made{0};
std::atomic<long> tables_made{0};

struct Engine {
  std::mt19937_64 generator;
  long drawn = 0;
  explicit Engine(std::uint64_t seed) : generator(seed) { ++engines_made; }
  double uniform() {
    ++drawn;
    return std::generate_canonical<double, 53>(generator);
  }
};

Engine& engine() {
  thread_local Engine own(1000u + static_cast<unsigned>(omp_get_thread_num()));
  return own;
}

// Made once, by whichever thread comes first.
const std::vector<double>& weights() {
  static const std::vector<double> table = [] {
    ++tables_made;
    std::vector<double> made(512);
    std::iota(made.begin(), made.end(), 1.0);
    for (double& w : made) w = 1 / w;
    return made;
  }();
  return table;
}

class Spin {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) continue;
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

void add(std::atomic<double>& to, double value) {
  double seen = to.load(std::memory_order_relaxed);
  while (!to.compare_exchange_weak(seen, seen + value, std::memory_order_acq_rel)) continue;
}

bool circle(long samples) {
  std::atomic<long> inside{0};
#pragma omp parallel
  {
    long own = 0;
#pragma omp for schedule(static)
    for (long i = 0; i < samples; ++i) {
      const double x = engine().uniform(), y = engine().uniform();
      own += x * x + y * y < 1;
    }
    inside.fetch_add(own, std::memory_order_relaxed);
  }
  const double pi = 4.0 * static_cast<double>(inside) / static_cast<double>(samples);
  std::printf("pi is about %.4f\n", pi);
  return std::fabs(pi - 3.1416) < 8 / std::sqrt(static_cast<double>(samples));
}

bool sums(int rounds) {
  std::atomic<double> sum{0};
  std::atomic<std::int8_t> small{0};
  std::atomic<std::uint16_t> medium{0};
  std::atomic<bool> seen{false};
  std::atomic<int> largest{-1};
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < rounds; ++i) {
    add(sum, weights()[static_cast<std::size_t>(i) % 512] * 0 + i);
    small.fetch_add(1);
    medium.fetch_xor(static_cast<std::uint16_t>(i));
    if (i == rounds / 2) seen = true;
    int old = largest;
    while (old < i && !largest.compare_exchange_strong(old, i)) continue;
  }
  std::uint16_t parity = 0;
  for (int i = 0; i < rounds; ++i) parity = static_cast<std::uint16_t>(parity ^ i);
  return sum == rounds * (rounds - 1) / 2.0 && small == static_cast<std::int8_t>(rounds) && medium == parity && seen &&
         largest == rounds - 1;
}

struct Link {
  int value;
  Link* next;
};

bool lock_free_list(int count) {
  std::atomic<Link*> head{nullptr};
#pragma omp parallel for
  for (int i = 0; i < count; ++i) {
    auto* link = new Link{i, head.load(std::memory_order_relaxed)};
    while (!head.compare_exchange_weak(link->next, link, std::memory_order_release, std::memory_order_relaxed))
      continue;
  }
  std::vector<int> seen(static_cast<std::size_t>(count));
  std::atomic<int> popped{0};
#pragma omp parallel
  {
    for (;;) {
      Link* link = head.exchange(nullptr, std::memory_order_acquire);
      if (link == nullptr) break;
      while (link != nullptr) {
        ++seen[static_cast<std::size_t>(link->value)];
        ++popped;
        delete std::exchange(link, link->next);
      }
    }
  }
  for (const int times : seen)
    if (times != 1) return false;
  return popped == count;
}

bool spin_locked(int rounds) {
  Spin spin;
  std::vector<int> log;
  std::string text;
#pragma omp parallel
  for (int i = 0; i < rounds; ++i) {
    const std::lock_guard<Spin> guard(spin);
    log.push_back(omp_get_thread_num());
    text += static_cast<char>('a' + omp_get_thread_num() % 26);
  }
  std::vector<int> of_thread(static_cast<std::size_t>(omp_get_max_threads()));
  for (const int thread : log) ++of_thread[static_cast<std::size_t>(thread)];
  for (const int times : of_thread)
    if (times != rounds) return false;
  return text.size() == log.size();
}

bool once() {
  static std::once_flag flag;
  static std::unique_ptr<std::vector<long>> squares;
  std::atomic<int> bad{0}, failures{0};
#pragma omp parallel
  {
    for (int tries = 0; tries < 3; ++tries) {
      try {
        std::call_once(flag, [&] {
          if (failures.fetch_add(1) == 0) throw std::runtime_error("the first try fails");
          squares = std::make_unique<std::vector<long>>(3000);
          for (std::size_t i = 0; i < squares->size(); ++i) (*squares)[i] = static_cast<long>(i * i);
        });
        for (std::size_t i = 0; i < squares->size(); i += 100) bad += (*squares)[i] != static_cast<long>(i * i);
      } catch (const std::runtime_error& error) {
        if (std::string(error.what()) != "the first try fails") ++bad;
      }
    }
  }
  return bad == 0 && failures == 2;
}

struct Particle {
  std::vector<double> path;
  std::shared_ptr<const std::vector<double>> material;
};

bool walks(int count) {
  std::vector<Particle> particles(static_cast<std::size_t>(count));
  auto material = std::make_shared<const std::vector<double>>(64, 0.5);
  double energy = 0;
  int escaped = 0;
#pragma omp parallel for reduction(+ : energy, escaped) schedule(guided)
  for (int i = 0; i < count; ++i) {
    std::minstd_rand generator(static_cast<unsigned>(i) + 1);
    std::exponential_distribution<double> free_path(1.0);
    Particle& particle = particles[static_cast<std::size_t>(i)];
    particle.material = material;
    double depth = 0;
    try {
      for (int s = 0;; ++s) {
        depth += (s % 3 ? 1 : -0.5) * free_path(generator);
        particle.path.push_back(depth);
        if (depth > 6) throw std::out_of_range("escaped");
        energy += particle.material->at(static_cast<std::size_t>(s));
      }
    } catch (const std::out_of_range&) {
      ++escaped;
    }
  }
  std::size_t points = 0;
  for (const Particle& particle : particles) points += particle.path.size();
  const bool shared = material.use_count() == count + 1;
  particles.clear();
  return escaped == count && shared && material.use_count() == 1 && energy <= 0.5 * static_cast<double>(points) &&
         energy >= 0.5 * static_cast<double>(points - static_cast<std::size_t>(count));
}

}  // namespace

int main(int argc, char** argv) {
  const int scale = argc > 1 ? std::atoi(argv[1]) : 1;
  const double begun = omp_get_wtime();
  const struct {
    const char* name;
    std::function<bool()> run;
  } parts[] = {{"circle", [=] { return circle(20000L * scale); }},
               {"sums", [=] { return sums(60 * scale); }},
               {"list", [=] { return lock_free_list(60 * scale); }},
               {"spin", [=] { return spin_locked(20 * scale); }},
               {"once", [] { return once(); }},
               {"walks", [=] { return walks(100 * scale); }}};
  int wrong = 0;
  for (const auto& part : parts) {
    const double from = omp_get_wtime();
    const bool good = part.run();
    std::printf("%s: %.3f s%s\n", part.name, omp_get_wtime() - from, good ? "" : ", WRONG");
    wrong += !good;
  }
  wrong += tables_made != 1 || engines_made != omp_get_max_threads();
  std::printf("monte carlo: %d engines, %ld table, %.3f s: %s\n", engines_made.load(), tables_made.load(),
              omp_get_wtime() - begun, wrong ? "WRONG" : "verified");
  return wrong != 0;
}
