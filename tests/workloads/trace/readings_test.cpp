/// Readings of the clock as files: what is written is read again, and nothing else is.
#include "workloads/trace/readings.hpp"

#include <fstream>

#include "tests/catch.hpp"
#include "tests/workloads/trace/samples.hpp"

using namespace sdsm;
using namespace sdsm::trace;

namespace {

constexpr const char* title = "thread,reading,clock,time_s\n";

std::string error_of(const std::string& text) {
  const Scratch scratch;
  std::ofstream(scratch / "readings") << text;
  try {
    (void)read_readings(scratch / "readings");
  } catch (const std::invalid_argument& error) {
    return std::string(error.what()).substr((scratch / "readings").string().size());
  }
  return "no error";
}

}  // namespace

TEST_CASE("readings come back by thread, in seconds to the picosecond") {
  const Readings readings{{{ClockSource::omp_get_wtime, Time{1'000'000'000'001}}, {ClockSource::clock_gettime, 2s}},
                          {},
                          {{ClockSource::gettimeofday, Time{}}}};
  const std::string text = std::string(title) +
                           "0,0,omp_get_wtime,1.000000000001\n"
                           "0,1,clock_gettime,2.000000000000\n"
                           "2,0,gettimeofday,0.000000000000\n";
  CHECK(readings_text(readings) == text);
  const Scratch scratch;
  std::ofstream(scratch / "readings") << text;
  CHECK(read_readings(scratch / "readings") == readings);
}

TEST_CASE("what are no readings is refused, and the line named") {
  const auto says = [](const std::string& text, const std::string& what) {
    INFO(text);
    CHECK(error_of(title + text).find(what) != std::string::npos);
  };
  CHECK_THROWS_WITH(read_readings("/tmp"), "/tmp:1: is a folder. Give what `sdsm simulate --readings` wrote");
  CHECK(error_of("thread,time\n").find(":1: the title line is not") != std::string::npos);
  CHECK(error_of("").find(":1: the title line is not") != std::string::npos);
  CHECK(error_of(title) == "no error");
  says("x,0,omp_get_wtime,1.000000000000\n", ":2: 'x'");
  says("4294967295,0,omp_get_wtime,1.000000000000\n", ":2: ");
  says("0,1,omp_get_wtime,1.000000000000\n", "the thread's readings are not in order");
  says("1,0,clock,1.000000000000\n0,0,clock,1.000000000000\n", ":3: the threads are not in order");
  says("0,0,sundial,1.000000000000\n", "'sundial' is no clock");
  says("0,0,clock,1.5\n", "'1.5' is no time in seconds with twelve decimals");
  says("0,0,clock,-1.000000000000\n", ":2: ");
  says("0,0,clock,9223372.000000000000\n", ":2: ");
  says("0,0,clock,1.00000000000x\n", ":2: ");
  says("0,0,clock,1.000000000000,\n", "decimals");
  says("0,0,clock,1.000000000000\n0,1,clock,0.999999999999\n", ":3: the clock goes back");
  says("0,0\n", ":2: '' is no clock");
}
