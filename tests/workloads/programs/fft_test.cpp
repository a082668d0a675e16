#include <complex>

#include "tests/catch.hpp"
#include "tests/workloads/programs/run_program.hpp"

using namespace sdsm::test;

namespace {

using Complex = std::complex<double>;
using Spectrum = std::vector<Complex>;

Outcome fft(const std::string& options, const std::string& environment = "") {
  return run(environment, program("fft") + " " + options);
}

/// The transform by a run whose own checks passed.
Spectrum spectrum(const std::string& options, int threads = 1) {
  return result_of<Complex>("fft", options, threads, "within ");
}

/// The documented input: Knuth's MMIX generator from 20050522, upper 53 bits as a fraction.
std::vector<double> input(std::size_t n) {
  std::vector<double> values(n);
  std::uint64_t state = 20050522;
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = std::ldexp(static_cast<double>(state >> 11), -53);
  }
  return values;
}

double largest_difference(const Spectrum& a, const Spectrum& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

TEST_CASE("1, 2 and 4 points match hand arithmetic, in every implementation") {
  const int implementation = GENERATE(0, 1, 2, 3, 4, 5, 6);
  const int threads = GENERATE(1, 2, 4);
  CAPTURE(implementation, threads);
  const std::string options = "--impl " + std::to_string(implementation) + " --points ";
  const std::vector<double> x = input(4);
  if (threads <= 1) CHECK(spectrum(options + "1", threads) == Spectrum{x[0]});
  if (threads <= 2) CHECK(spectrum(options + "2", threads) == Spectrum{x[0] + x[1], x[0] - x[1]});
  // exp(-2 pi i / 4) = -i, so X1 = x0 - i x1 - x2 + i x3 and X3 is its conjugate.
  const Spectrum four{{x[0] + x[1] + x[2] + x[3], 0},
                      {x[0] - x[2], x[3] - x[1]},
                      {x[0] - x[1] + x[2] - x[3], 0},
                      {x[0] - x[2], x[1] - x[3]}};
  CHECK(largest_difference(spectrum(options + "4", threads), four) < 1e-15);
}

TEST_CASE("the first point is the input's sum, the middle one alternates") {
  const int threads = GENERATE(1, 8);
  const std::vector<double> x = input(1 << 14);
  const Spectrum found = spectrum("--impl 1 --points 2^14", threads);
  REQUIRE(found.size() == x.size());
  double sum = 0;
  double alternating = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    alternating += i % 2 == 0 ? x[i] : -x[i];
  }
  CHECK(found[0].real() == Approx(sum).epsilon(1e-13));
  CHECK(found[x.size() / 2].real() == Approx(alternating).margin(1e-13 * sum));
}

TEST_CASE("results do not depend on the number of threads") {
  // Recursive everywhere: the same products in the same order, so the same bits.
  const int implementation = GENERATE(1, 3);
  const std::string points = GENERATE("8", "64", "1024", "2^13");
  const std::string options = "--points " + points + " --impl " + std::to_string(implementation);
  const Spectrum expected = spectrum(options, 1);
  for (const int threads : {2, 4, 8}) {
    CAPTURE(implementation, points, threads);
    CHECK(spectrum(options, threads) == expected);
  }
}

TEST_CASE("the parallel hybrid gives the sequential bits beyond cache") {
  const int implementation = GENERATE(2, 4, 5, 6);
  const std::string options = " --points 2^14 --cache-bytes 16KiB";  // 8 threads: 2048 points, 32 KiB each
  const Spectrum expected = spectrum("--impl 0" + options);
  for (const int threads : {1, 2, 4, 8}) {
    CAPTURE(implementation, threads);
    CHECK(spectrum("--impl " + std::to_string(implementation) + options, threads) == expected);
  }
}

TEST_CASE("every implementation agrees with the direct transform on any team") {
  const int implementation = GENERATE(0, 1, 2, 3, 4, 5, 6);
  const int threads = GENERATE(1, 2, 4, 8);
  const std::string options = GENERATE("--points 8", "--points 256 --cache-bytes 1KiB", "--points 2^12");
  CAPTURE(implementation, threads, options);
  const Outcome outcome =
      fft(options + " --impl " + std::to_string(implementation), "OMP_NUM_THREADS=" + std::to_string(threads));
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("of the direct transform") != std::string::npos);
}

TEST_CASE("half a million points come back within 1e-12") {
  const int implementation = GENERATE(0, 1, 4);
  CAPTURE(implementation);
  const Outcome outcome = fft("--points 2^19 --impl " + std::to_string(implementation), "OMP_NUM_THREADS=2");
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("of the input, transformed back") != std::string::npos);
  CHECK(outcome.output.find("direct") == std::string::npos);
}

TEST_CASE("iterative and recursive transforms agree") {
  const Spectrum recursive = spectrum("--impl 0 --points 2^13 --cache-bytes 1");
  const Spectrum iterative = spectrum("--impl 0 --points 2^13 --cache-bytes 1GiB");
  CHECK(recursive != iterative);  // else the option does nothing
  CHECK(largest_difference(recursive, iterative) < 1e-12 * std::abs(recursive[0]));
}

TEST_CASE("a team that is no power of two is refused") {
  const Outcome outcome = fft("--points 64", "OMP_NUM_THREADS=6");
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors ==
        "fft: 6 threads: the points are halved among halves of the team, so their number must be a power of two "
        "(OMP_NUM_THREADS)\n");
  CHECK(fft("--points 64 --impl 0", "OMP_NUM_THREADS=6").status == 0);  // nothing to share out
}

TEST_CASE("a team may have as many threads as points, not more") {
  CHECK(fft("--points 8 --impl 1", "OMP_NUM_THREADS=8").status == 0);
  const Outcome outcome = fft("--points 4 --impl 1", "OMP_NUM_THREADS=8");
  CHECK(outcome.status == 2);
  CHECK(outcome.errors == "fft: 8 threads are too many for 4 points (OMP_NUM_THREADS, --points)\n");
}

TEST_CASE("a team cut by the thread limit counts its actual size") {
  CHECK(fft("--points 64", "OMP_NUM_THREADS=8 OMP_THREAD_LIMIT=4").status == 0);
  CHECK(fft("--points 64", "OMP_NUM_THREADS=8 OMP_THREAD_LIMIT=3").status == 2);
}

TEST_CASE("only implementations 3 and 4 ask for block placement") {
  const int implementation = GENERATE(0, 1, 2, 3, 4);
  const Outcome outcome = fft("--points 1024 --impl " + std::to_string(implementation), preload("placement_runtime"));
  CHECK(outcome.status == 0);
  CHECK(outcome.errors == (implementation < 3 ? "" : "galloc 16384 1\ngalloc 16384 1\ngfree\ngfree\n"));
}
