#include <cmath>

#include "tests/catch.hpp"
#include "tests/workloads/programs/run_program.hpp"

using namespace sdsm::test;

namespace {

using Field = std::vector<double>;

/// u, v and p, each of size x size points.
Field swim(const std::string& options, int threads = 1) {
  return result_of<double>("swim", options, threads, "identical to the sequential fields");
}

/// A field of n x n points, indices modulo n.
class Periodic {
 public:
  explicit Periodic(long n) : n_(n), values_(static_cast<std::size_t>(n * n)) {}
  double& operator()(long j, long i) { return values_[static_cast<std::size_t>((j + n_) % n_ * n_ + (i + n_) % n_)]; }

 private:
  long n_;
  Field values_;
};

/// Sadourny's scheme, without repeated rows and columns.
struct Plane {
  explicit Plane(long points) : n(points), u(n), v(n), p(n), u_old(n), v_old(n), p_old(n) {}

  void step(double step_s) {
    const double d = 1e5;
    Periodic cu(n), cv(n), z(n), h(n), u_new(n), v_new(n), p_new(n);
    each([&](long j, long i) {
      cu(j, i) = (p(j, i) + p(j, i - 1)) / 2 * u(j, i);
      cv(j, i) = (p(j, i) + p(j - 1, i)) / 2 * v(j, i);
      z(j, i) = 4 / d * (v(j, i) - v(j, i - 1) - u(j, i) + u(j - 1, i)) /
                (p(j, i) + p(j, i - 1) + p(j - 1, i) + p(j - 1, i - 1));
      h(j, i) = p(j, i) +
                (std::pow(u(j, i), 2) + std::pow(u(j, i + 1), 2) + std::pow(v(j, i), 2) + std::pow(v(j + 1, i), 2)) / 4;
    });
    each([&](long j, long i) {
      u_new(j, i) = u_old(j, i) + step_s * ((z(j, i) + z(j + 1, i)) / 2 *
                                                (cv(j, i) + cv(j, i - 1) + cv(j + 1, i) + cv(j + 1, i - 1)) / 4 -
                                            (h(j, i) - h(j, i - 1)) / d);
      v_new(j, i) = v_old(j, i) - step_s * ((z(j, i) + z(j, i + 1)) / 2 *
                                                (cu(j, i) + cu(j - 1, i) + cu(j, i + 1) + cu(j - 1, i + 1)) / 4 +
                                            (h(j, i) - h(j - 1, i)) / d);
      p_new(j, i) = p_old(j, i) - step_s * (cu(j, i + 1) - cu(j, i) + cv(j + 1, i) - cv(j, i)) / d;
    });
    each([&](long j, long i) {
      u_old(j, i) = u(j, i) + 1e-3 * (u_new(j, i) - 2 * u(j, i) + u_old(j, i));
      v_old(j, i) = v(j, i) + 1e-3 * (v_new(j, i) - 2 * v(j, i) + v_old(j, i));
      p_old(j, i) = p(j, i) + 1e-3 * (p_new(j, i) - 2 * p(j, i) + p_old(j, i));
    });
    u = u_new;
    v = v_new;
    p = p_new;
  }

  template <typename Work>
  void each(Work work) {
    for (long j = 0; j < n; ++j) {
      for (long i = 0; i < n; ++i) work(j, i);
    }
  }

  long n;
  Periodic u, v, p, u_old, v_old, p_old;
};

}  // namespace

TEST_CASE("swim begins with a wave and its stream function's pressure") {
  // 3 x 3 points, 2 of which repeat none: angles are multiples of pi. Cosines of twice that are 1, so all pressures are
  // 50000 + 2 pi^2 1e12 / (2e5)^2. Stream function: +-1e6, so that v = u's opposite or itself, 2e6 / 1e5.
  const Field fields = swim("--size 3 --iterations 0");
  REQUIRE(fields.size() == 27);
  const double pressure = 50000 + 2 * M_PI * M_PI * 1e12 / 4e10;
  for (std::size_t at = 18; at < 27; ++at) CHECK(fields[at] == Approx(pressure).epsilon(1e-14));
  CHECK(fields[0] == Approx(20));
  CHECK(fields[1] == Approx(-20));
  CHECK(fields[9] == Approx(-20));
  CHECK(fields[10] == Approx(20));
}

TEST_CASE("swim's steps match the scheme on points without repetition") {
  const long size = GENERATE(3, 4, 9, 26);
  const std::string options = "--size " + std::to_string(size);
  const auto at = [&](long field, long j, long i) { return static_cast<std::size_t>((field * size + j) * size + i); };
  const Field initial = swim(options + " --iterations 0");
  Plane plane(size - 1);
  plane.each([&](long j, long i) {
    plane.u(j, i) = plane.u_old(j, i) = initial[at(0, j, i)];
    plane.v(j, i) = plane.v_old(j, i) = initial[at(1, j, i)];
    plane.p(j, i) = plane.p_old(j, i) = initial[at(2, j, i)];
  });
  for (int k = 0; k < 4; ++k) plane.step(k == 0 ? 90 : 180);
  const Field found = swim(options + " --iterations 4", 2);
  for (long j = 0; j < size; ++j) {
    for (long i = 0; i < size; ++i) {
      CAPTURE(j, i);
      CHECK(found[at(0, j, i)] == Approx(plane.u(j, i)).margin(1e-9));
      CHECK(found[at(1, j, i)] == Approx(plane.v(j, i)).margin(1e-9));
      CHECK(found[at(2, j, i)] == Approx(plane.p(j, i)).epsilon(1e-12));
    }
  }
}

TEST_CASE("swim's parallel fields have the sequential bits on any team") {
  const std::string size = GENERATE("--size 3", "--size 12", "--size 67");
  const Field sequential = swim("--impl 0 --iterations 5 " + size);
  for (const int threads : {1, 2, 3, 4, 8}) {
    CAPTURE(threads);
    for (const char* impl : {"1", "2"}) {
      CHECK(swim(std::string("--impl ") + impl + " --iterations 5 " + size, threads) == sequential);
    }
  }
}

TEST_CASE("swim's arrays on separate pages give the same fields") {
  // Arrays of 100 x 100 doubles take 10 pages of 8192 bytes each: 280 of 4096, 70 for each of 4 threads.
  const std::string command = program("swim") + " --size 100 --iterations 3 --hash";
  const Outcome apart = run(preload("placement_runtime") + " OMP_NUM_THREADS=4", command + " --apart 8192");
  CHECK(apart.status == 0);
  CHECK(apart.errors == "galloc " + std::to_string(4 * 70 * 4096) + " 1\ngfree\n");
  const Outcome together = run("OMP_NUM_THREADS=4", command);
  const auto hash_in = [](const std::string& output) {
    const auto at = output.find("hash");
    return output.substr(at, output.find('\n', at) - at);
  };
  REQUIRE(together.output.find("hash") != std::string::npos);
  CHECK(hash_in(apart.output) == hash_in(together.output));
}
