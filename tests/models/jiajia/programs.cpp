#include "tests/models/jiajia/programs.hpp"

namespace sdsm::test {
namespace {

constexpr std::uint64_t pages_of(std::uint64_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes;
}

/// Pages [first, end).
struct Pages {
  std::uint64_t first, end;
};

class Program {
 public:
  Program(std::uint32_t processes, const jiajia::Rules& rules, Requests requests)
      : P(processes),
        owned(std::make_unique<PlayedCluster>(processes, jiajia::Rules{.quirks = rules.quirks}, requests)),
        cluster(*owned),
        rules_(rules) {}

  /// Behind the initialisation.
  void begin_counting() {
    cluster.barrier();
    cluster.set_rules(rules_);
    cluster.reset();
  }
  void read(std::uint32_t p, Pages pages) {
    for (std::uint64_t page = pages.first; page < pages.end; ++page) cluster.read(p, page);
  }
  void write(std::uint32_t p, Pages pages) {
    for (std::uint64_t page = pages.first; page < pages.end; ++page) cluster.write(p, page, ++values_);
  }
  void update(std::uint32_t p, Pages pages) {
    for (std::uint64_t page = pages.first; page < pages.end; ++page) {
      cluster.read(p, page);
      cluster.write(p, page, ++values_);
    }
  }

  const std::uint32_t P;
  std::unique_ptr<PlayedCluster> owned;
  PlayedCluster& cluster;

 private:
  jiajia::Rules rules_;
  std::uint64_t values_ = 0;
};

/// One row from red to black, or back.
void relax(Program& program, std::uint32_t p, std::uint32_t row, std::uint64_t width,
           const std::vector<std::uint64_t>& from, const std::vector<std::uint64_t>& to) {
  for (std::uint64_t x = 0; x < width; ++x) {
    for (const std::uint32_t neighbour : {row - 1, row + 1, row}) program.cluster.read(p, from[neighbour] + x);
    program.write(p, {to[row] + x, to[row] + x + 1});
  }
}

}  // namespace

std::unique_ptr<PlayedCluster> run(const Sor& sor, std::uint32_t processes, const jiajia::Rules& rules,
                                   Requests requests) {
  Program program(processes, rules, requests);
  const std::uint64_t width = pages_of((sor.n + 1) * sizeof(float));
  const std::uint32_t rows = sor.m + 2;
  std::vector<std::uint64_t> red, black;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t home = row / (rows / processes) % processes;
    red.push_back(program.cluster.allocate(width, home));
    black.push_back(program.cluster.allocate(width, home));
  }
  program.cluster.barrier();
  for (std::uint32_t row = 0; row < rows; ++row) {
    program.write(0, {black[row], black[row] + width});
    program.write(0, {red[row], red[row] + width});
  }
  program.begin_counting();
  for (std::uint32_t half = 0; half < 2 * sor.iterations; ++half) {
    for (std::uint32_t p = 0; p < processes; ++p) {
      const std::uint32_t begin = rows * p / processes, end = rows * (p + 1) / processes;
      for (std::uint32_t row = begin; row < end; ++row) {
        if (row == 0 || row == rows - 1) continue;
        relax(program, p, row, width, half % 2 == 0 ? red : black, half % 2 == 0 ? black : red);
      }
    }
    program.cluster.barrier();
  }
  program.cluster.barrier();
  return std::move(program.owned);
}

namespace {

/// A matrix of blocks, with their owners.
class Blocks {
 public:
  Blocks(Program& program, const Lu& lu) : side(lu.n / lu.block), program_(program) {
    for (std::uint32_t rows = 1; rows * rows <= program.P; ++rows) {
      if (program.P % rows == 0) rows_ = rows;
    }
    columns_ = program.P / rows_;
    const std::uint64_t bytes = std::uint64_t{lu.block} * lu.block * sizeof(double);
    std::vector<std::uint64_t> count(program.P);
    for (std::uint32_t i = 0; i < side; ++i) {
      for (std::uint32_t j = 0; j < side; ++j) places_.push_back(count[owner(i, j)]++ * bytes);
    }
    std::vector<std::uint64_t> base;
    constexpr std::uint64_t slack = 8192;
    for (std::uint32_t p = 0; p < program.P; ++p) {
      base.push_back(program.cluster.allocate(pages_of(count[p] * bytes + slack), p));
    }
    for (std::uint32_t i = 0; i < side; ++i) {
      for (std::uint32_t j = 0; j < side; ++j) {
        const std::uint64_t begin = places_[i * side + j];
        pages_.push_back({base[owner(i, j)] + begin / page_bytes, base[owner(i, j)] + pages_of(begin + bytes)});
      }
    }
  }

  std::uint32_t owner(std::uint32_t i, std::uint32_t j) const { return j % columns_ + i % rows_ * columns_; }
  Pages pages(std::uint32_t i, std::uint32_t j) const { return pages_[i * side + j]; }
  void read(std::uint32_t p, std::uint32_t i, std::uint32_t j) { program_.read(p, pages(i, j)); }
  void update(std::uint32_t p, std::uint32_t i, std::uint32_t j) { program_.update(p, pages(i, j)); }

  /// Everything right of and below step `k`'s block.
  void modify(std::uint32_t p, std::uint32_t k) {
    for (std::uint32_t i = k + 1; i < side; ++i) {
      for (std::uint32_t j = k + 1; j < side; ++j) {
        if (owner(i, j) != p) continue;
        read(p, i, k);
        read(p, k, j);
        update(p, i, j);
      }
    }
  }
  /// The blocks below it and those to its right.
  void solve(std::uint32_t p, std::uint32_t k) {
    const auto divide = [&](std::uint32_t i, std::uint32_t j) {
      if (owner(i, j) != p) return;
      read(p, k, k);
      update(p, i, j);
    };
    for (std::uint32_t i = k + 1; i < side; ++i) divide(i, k);
    for (std::uint32_t j = k + 1; j < side; ++j) divide(k, j);
  }

  const std::uint32_t side;

 private:
  Program& program_;
  std::uint32_t rows_ = 1, columns_ = 1;
  std::vector<std::uint64_t> places_;
  std::vector<Pages> pages_;
};

}  // namespace

std::unique_ptr<PlayedCluster> run(const Lu& lu, std::uint32_t processes, const jiajia::Rules& rules,
                                   Requests requests) {
  Program program(processes, rules, requests);
  Blocks blocks(program, lu);
  program.cluster.barrier();
  for (std::uint32_t j = 0; j < blocks.side; ++j) {
    for (std::uint32_t i = 0; i < blocks.side; ++i) program.write(0, blocks.pages(i, j));
  }
  program.begin_counting();
  program.cluster.barrier();
  for (std::uint32_t i = 0; i < blocks.side; ++i) {
    for (std::uint32_t j = 0; j < blocks.side; ++j) blocks.read(blocks.owner(i, j), i, j);
  }
  program.cluster.barrier();
  for (std::uint32_t k = 0; k < blocks.side; ++k) {
    for (std::uint32_t p = 0; p < processes; ++p) {
      if (k > 0) blocks.modify(p, k - 1);  // no barrier behind it in the program
      if (blocks.owner(k, k) == p) blocks.update(p, k, k);
    }
    program.cluster.barrier();
    for (std::uint32_t p = 0; p < processes; ++p) blocks.solve(p, k);
    program.cluster.barrier();
  }
  program.cluster.barrier();
  program.cluster.barrier();
  return std::move(program.owned);
}

std::unique_ptr<PlayedCluster> run(const Mm& mm, std::uint32_t processes, const jiajia::Rules& rules,
                                   Requests requests) {
  Program program(processes, rules, requests);
  const std::uint64_t row_bytes = mm.n * sizeof(float), bytes = row_bytes * mm.n;
  const auto allocate = [&] {
    const std::uint64_t share = pages_of(bytes / processes);
    const std::uint64_t first = program.cluster.allocate(share, 0);
    for (std::uint64_t dealt = share; dealt < pages_of(bytes); dealt += share) {
      program.cluster.allocate(share, static_cast<std::uint32_t>(dealt / share % processes));
    }
    return first;
  };
  const std::uint64_t a = allocate(), b = allocate(), c = allocate();
  const auto row = [&](std::uint64_t matrix, std::uint64_t i) {
    return Pages{matrix + i * row_bytes / page_bytes, matrix + pages_of((i + 1) * row_bytes)};
  };
  program.cluster.barrier();
  for (std::uint32_t i = 0; i < mm.n; ++i) {
    program.write(0, row(a, i));
    program.write(0, row(b, i));
  }
  program.begin_counting();
  const std::uint32_t share = mm.n / processes;
  for (std::uint32_t p = 0; p < processes; ++p) {
    for (std::uint32_t i = p * share; i < (p + 1) * share; ++i) program.read(p, row(a, i));
    for (std::uint32_t j = 0; j < mm.n; ++j) program.read(p, row(b, j));
    for (std::uint32_t i = p * share; i < (p + 1) * share; ++i) program.write(p, row(c, i));
  }
  program.cluster.barrier();
  return std::move(program.owned);
}

}  // namespace sdsm::test
