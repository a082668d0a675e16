// As constructs.c, in C++.
//
//   planted_constructs_cxx members|mutex|dynamic [mended]
#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include <omp.h>

namespace {

constexpr int rounds = 40;

struct Particles {
  std::vector<double> mass, charge, spin;
};

/// Each thread counts in its element of a vector.
void members(bool is_mended) {
  Particles particles;
  particles.mass.assign(64 * 512, 1);
  particles.charge.assign(64 * 512 * (is_mended ? 4 : 1), 0);  // planted: members
  particles.spin.assign(64 * 512, 1);
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
    const int self = omp_get_thread_num();
    for (int i = 0; i < 64; ++i) {
      const int at = is_mended ? (i * omp_get_num_threads() + self) * 512 : i * 512 + self * 8;
      particles.charge[static_cast<std::size_t>(at)] += particles.mass[static_cast<std::size_t>(i)];
    }
#pragma omp barrier
  }
}

/// A mutex for each addition, beside one that is hardly used.
void mutexes(bool is_mended) {
  static std::mutex rare, often;
  static double counted[1024];
#pragma omp parallel
  {
    double own = 0;
    for (int round = 0; round < 4 * rounds; ++round) {
      if (is_mended) {
        own += 1;
      } else {
        const std::lock_guard guard(often);  // planted: mutex
        counted[0] += 1;
      }
    }
    if (is_mended) {
      const std::lock_guard guard(often);
      counted[0] += own;
    }
    const std::lock_guard guard(rare);
    counted[512] += 1;
  }
}

/// A dynamic loop whose chunks are too large, beside another loop.
void chunks(bool is_mended) {
  static double results[64 * 512];
  const auto work = [](int i, int times) {
    double value = i;
    for (int k = 0; k < times; ++k) value = value * 0.999999 + 1e-6;
    return value;
  };
  const int size = is_mended ? 1 : 12;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 32; ++i) results[i * 512] = work(i, 400000);
#pragma omp for schedule(dynamic, size)  // planted: dynamic
    for (int i = 0; i < 32; ++i) results[i * 512] += work(i, 2000000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_mended = argc == 3 && std::strcmp(argv[2], "mended") == 0;
  const auto is = [&](const char* name) { return argc >= 2 && std::strcmp(argv[1], name) == 0; };
  if (is("members")) {
    members(is_mended);
  } else if (is("mutex")) {
    mutexes(is_mended);
  } else if (is("dynamic")) {
    chunks(is_mended);
  } else {
    std::fprintf(stderr, "usage: planted_constructs_cxx members|mutex|dynamic [mended]\n");
    return 2;
  }
}
