// Programs in C++ that each have one fault planted, at a line that a comment names (see planted.c).
//
//   planted_cxx first|copies
#include <omp.h>

#include <cstddef>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

constexpr int rounds = 20;
constexpr std::size_t elements = 64 * 512;

/// A wrapper, as programs have one.
[[gnu::noinline]] double* make_field(std::size_t count) {
  return new double[count];
}

/// The initial thread alone fills what others work on: under first touch all of it is at home with that one.
[[gnu::noinline]] double serial_first_touch() {
  double* other = make_field(elements);
  double* field = make_field(elements);  // planted: first
  for (std::size_t i = 0; i < elements; ++i) field[i] = 1;
  other[0] = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel for
    for (std::size_t i = 0; i < elements; ++i) field[i] += 1;  // touched: first
  }
  const double result = field[0] + other[0];
  delete[] field;
  delete[] other;
  return result;
}

[[gnu::noinline]] double largest(std::vector<double> values) {
  double found = values[0];
  for (double& value : values) {
    value *= 2;
    if (value > found) found = value;
  }
  return found;
}

/// By value, where a reference would do.
[[gnu::noinline]] double of_all(const std::vector<double>& values) {
  return largest(values);  // planted: copies, touched: copies
}

[[gnu::noinline]] double passed_by_value() {
  const std::vector<double> values(4 * 512, 1.0);
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (int round = 0; round < rounds; ++round) sum += of_all(values);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc == 2 ? argv[1] : "";
  if (name == "first") return std::printf("%g\n", serial_first_touch()) < 0;
  if (name == "copies") return std::printf("%g\n", passed_by_value()) < 0;
  std::fprintf(stderr, "usage: planted_cxx first|copies\n");
  return 2;
}
