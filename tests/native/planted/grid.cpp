// Planted: columns are shared out, where each row is a vector of its own. A function makes the grid, under another
// name.
#include <cstdio>
#include <utility>
#include <vector>

using Grid = std::vector<std::vector<double>>;

static Grid make_grid(int rows, int columns) {
  return Grid(rows, std::vector<double>(columns));
}

struct Heat {
  Grid now, next;
  explicit Heat(int rows, int columns) : now(make_grid(rows, columns)), next(make_grid(rows, columns)) {}

  void step() {
    const int rows = static_cast<int>(now.size()), columns = static_cast<int>(now[0].size());
#pragma omp parallel for schedule(static)
    for (int j = 1; j < columns - 1; ++j) {
      for (int i = 1; i < rows - 1; ++i) {
        next[i][j] = 0.25 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]);  // touched: grid
      }
    }
    std::swap(now, next);
  }
};

int main() {
  Heat heat(100, 600);  // planted: grid
  heat.now[50][300] = 1;
  for (int step = 0; step < 5; ++step) heat.step();
  std::printf("%g\n", heat.now[50][301]);
}
