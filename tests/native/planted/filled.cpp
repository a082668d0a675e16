// Planted: the initial thread fills an array of which each thread works on a part.
//
//   planted_filled [mended]
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>

struct Field {
  std::unique_ptr<double[]> data;
  std::size_t size;

  Field(std::size_t count, bool is_mended) : data(new double[count]), size(count) {
    if (is_mended) {
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < size; ++i) data[i] = 1;
    } else {
      std::fill(data.get(), data.get() + size, 1.0);
    }
  }
};

int main(int argc, char**) {
  Field field(200000, argc > 1);  // planted: filled
  for (int step = 0; step < 10; ++step) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < field.size; ++i) field.data[i] = field.data[i] * 1.01 + step;  // touched: filled
  }
  std::printf("%g\n", field.data[777]);
}
