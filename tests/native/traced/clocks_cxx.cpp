// Prints what the clocks of C++ show before a region of the team and behind it, in seconds.
#include <chrono>
#include <cstdio>

namespace {

template <typename Clock>
double shown() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

double times[2][3];

}  // namespace

int main() {
  for (auto& row : times) {
    row[0] = shown<std::chrono::system_clock>();
    row[1] = shown<std::chrono::steady_clock>();
    row[2] = shown<std::chrono::high_resolution_clock>();
#pragma omp parallel
    {
#pragma omp barrier
    }
  }
  for (const auto& row : times) {
    for (const double time : row) std::printf("%.9f\n", time);
  }
}
