/// What all programs have in common: how they refuse options, fail checks, ask for placement and help.
#include "tests/catch.hpp"
#include "tests/workloads/programs/run_program.hpp"

using namespace sdsm::test;

TEST_CASE("bad usage is reported in one line, with status 2") {
  const auto [name, options, why] = GENERATE(table<std::string, std::string, std::string>({
      {"laplace", "--impl 7", "--impl '7' is not a whole number from 0 to 6"},
      {"laplace", "--impl -1", "--impl '-1' is not"},
      {"laplace", "--impl", "requires an argument"},
      {"laplace", "--size 2", "--size '2' is not a whole number from 3"},
      {"laplace", "--size 1e3", "--size '1e3' is not"},
      {"laplace", "--size ''", "--size '' is not"},
      {"laplace", "--size ' 8'", "--size ' 8' is not"},
      {"laplace", "--size 99999999999999999999", "is not a whole number"},
      {"laplace", "--size 2^70", "--size '2^70' is not"},
      {"laplace", "--size 1^99999999", "--size '1^99999999' is not"},
      {"laplace", "--size 2049 --impl 5", "more than the static arrays of implementation 5 hold (2048)"},
      {"laplace", "--iterations -3", "--iterations '-3' is not"},
      {"laplace", "--hot top,up", "--hot 'top,up' is not a list of"},
      {"laplace", "--hot ''", "--hot '' is not a list of"},
      {"laplace", "--hot top,", "--hot 'top,' is not a list of"},
      {"laplace", "--frobnicate", "unrecognized option '--frobnicate'"},
      {"laplace", "1024", "unexpected argument '1024'"},
      {"fft", "--impl 7", "--impl '7' is not a whole number from 0 to 6"},
      {"fft", "--points 0", "--points '0' is not"},
      {"fft", "--points 12", "--points 12 is not a power of two"},
      {"fft", "--points 2^31", "--points '2^31' is not"},
      {"fft", "--cache-bytes 0", "--cache-bytes '0' is not a size"},
      {"fft", "--cache-bytes 512kb", "--cache-bytes '512kb' is not a size"},
      {"fft", "--cache-bytes 99999999999GiB", "is not a size"},
      {"fft", "--size 8", "unrecognized option '--size'"},
      {"fft", "8", "unexpected argument '8'"},
      {"sor", "--impl 2", "--impl '2' is not a whole number from 0 to 1"},
      {"sor", "--rows 2", "--rows '2' is not a whole number from 3"},
      {"sor", "--columns 7", "--columns 7 is odd"},
      {"sor", "--iterations -1", "--iterations '-1' is not"},
      {"sor", "--size 4", "unrecognized option '--size'"},
      {"sor", "4", "unexpected argument '4'"},
      {"lu", "--impl 2", "--impl '2' is not a whole number from 0 to 1"},
      {"lu", "--size 0", "--size '0' is not a whole number from 1"},
      {"lu", "--block 0", "--block '0' is not a whole number from 1"},
      {"lu", "--rows 4", "unrecognized option '--rows'"},
      {"mm", "--impl 2", "--impl '2' is not a whole number from 0 to 1"},
      {"mm", "--size 0", "--size '0' is not a whole number from 1"},
      {"mm", "--block 4", "unrecognized option '--block'"},
      {"swim", "--apart 12288", "--apart '12288' is no page"},
      {"swim", "--impl 3", "--impl '3' is not a whole number from 0 to 2"},
      {"swim", "--size 2", "--size '2' is not a whole number from 3"},
      {"swim", "--iterations x", "--iterations 'x' is not"},
      {"swim", "--points 4", "unrecognized option '--points'"},
  }));
  CAPTURE(name, options);
  const Outcome outcome = run("", program(name) + " " + options);
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(is_one_line(outcome.errors));
  CHECK(outcome.errors.rfind(name + ": ", 0) == 0);
  CHECK_THAT(outcome.errors, ContainsSubstring(why));
}

TEST_CASE("a wrong result fails the check, which names its first wrong element") {
  const auto [command, why] = GENERATE(table<std::string, std::string>({
      {"laplace --size 8 --iterations 1 --impl 4", "row 1, column 1 is 0 where the sequential grid has 25\n"},
      {"fft --points 64 --impl 4", "differs from the input, transformed back by "},
      {"sor --rows 4 --columns 4 --iterations 1", "row 1, column 1 is 0 where the sequential plate has 31.25\n"},
      {"lu --size 8 --block 2", "row 1 of the factors' product"},
      {"mm --size 64", "row 0 has the weighted sum "},
      {"swim --size 8 --iterations 1", "the sum of the pressures is 0 where it should be "},
  }));
  // Under this run-time no parallel region runs, so the result stays as it began.
  const Outcome outcome = run(preload("broken_runtime"), program(command));
  CHECK(outcome.status == 1);
  CHECK(is_one_line(outcome.errors));
  CHECK(outcome.errors.rfind(command.substr(0, command.find(' ')) + ": check failed: " + why, 0) == 0);
}

TEST_CASE("a program asks for pages in equal parts for all threads") {
  const auto [threads, command, asked] = GENERATE(table<std::string, std::string, std::string>({
      // 5 rows: two groups of 2 rows and row 4, which thread 0 has beside rows 0 and 1, make parts of 4 pages.
      {"2", "sor --rows 5 --columns 4 --iterations 1", "galloc 32768 1\ngalloc 32768 1\ngfree\ngfree\n"},
      // 5 x 5 blocks of 32 KiB, in columns 0, 2, 4 and 1, 3: 15 blocks and 8 KiB for either thread.
      {"2", "lu --size 260 --block 64", "galloc 999424 1\ngfree\n"},
      // 300 x 300 floats are 360000 bytes: 30 pages for each thread.
      {"3", "mm --size 300", "galloc 368640 1\ngalloc 368640 1\ngalloc 368640 1\ngfree\ngfree\ngfree\n"},
      // One block of 14 x 100 x 100 doubles, 273.4 pages: 69 for each thread.
      {"4", "swim --size 100 --iterations 1", "galloc 1130496 1\ngfree\n"},
  }));
  const Outcome outcome =
      run(preload("placement_runtime") + " OMP_NUM_THREADS=" + threads, program(command) + " --no-check");
  CHECK(outcome.status == 0);
  CHECK(outcome.errors == asked);
}

TEST_CASE("help names every implementation or option") {
  const auto [name, named] = GENERATE(table<std::string, std::vector<std::string>>({
      {"laplace",
       {"0  sequential", "1  naive", "2  barrier", "3  locality", "4  locality and", "5  affinity", "6  affinity and"}},
      {"fft", {"0  sequential hybrid", "1  parallel", "2  1,", "3  1 with", "4  2 with"}},
      {"sor", {"--impl", "--rows", "--columns", "--iterations", "--output"}},
  }));
  const Outcome outcome = run("", program(name) + " --help");
  CHECK(outcome.status == 0);
  for (const std::string& part : named) CHECK_THAT(outcome.output, ContainsSubstring(part));
}
