/// Are inline atomic operations found in programs as gcc builds them, and how are they reported?
#include "native/launch/run/atomics.hpp"

#include <unistd.h>

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace sdsm::run_command;

namespace {

std::filesystem::path built(const std::string& name) {
  return std::filesystem::path(RUN_FOLDER) / name;
}

}  // namespace

TEST_CASE("atomic operations are found in programs linked in each way") {
  for (const std::string name : {"atomics", "atomics_no_pie", "atomics_stripped"}) {
    CAPTURE(name);
    const auto places = find_atomics(built(name));
    REQUIRE(places.size() == 3);
    const auto with = [&](const std::string& instruction) {
      return std::count_if(places.begin(), places.end(),
                           [&](const AtomicPlace& place) { return contains(place.instruction, instruction); });
    };
    CHECK(with("lock add") == 1);
    CHECK(with("xchg") == 1);
    CHECK(std::count_if(places.begin(), places.end(), [](const AtomicPlace& place) { return place.is_fence; }) == 1);
    CHECK(std::is_sorted(places.begin(), places.end(),
                         [](const AtomicPlace& a, const AtomicPlace& b) { return a.address < b.address; }));
  }
}

TEST_CASE("a program without atomic operations has none, although its padding exchanges registers") {
  CHECK(find_atomics(built("echo")).empty());
}

TEST_CASE("an atomic place has its function, source line and advice") {
  const std::string text = atomics_text(built("atomics"), find_atomics(built("atomics")));
  INFO(text);
  CHECK(contains(text, "has 3 inline atomic operations"));
  CHECK(contains(text, "main._omp_fn.0"));
  CHECK(contains(text, "shared_ptr"));
  CHECK(contains(text, "omp flush"));
  if (access("/usr/bin/addr2line", X_OK) == 0) {
    CHECK(contains(text, "atomics.c:12): lock add"));
    CHECK_FALSE(contains(text, "-g"));
  }
}

TEST_CASE("a stripped program's report says what would show more") {
  const std::string text = atomics_text(built("atomics_stripped"), find_atomics(built("atomics_stripped")));
  INFO(text);
  CHECK(contains(text, "in a function without a name"));
  CHECK(contains(text, "Build it with -g"));
}

TEST_CASE("at most ten places are listed, the others counted") {
  const auto places = find_atomics(built("many_atomics"));
  REQUIRE(places.size() >= 15);
  const std::string text = atomics_text(built("many_atomics"), places);
  INFO(text);
  CHECK(contains(text, "  and " + std::to_string(places.size() - 10) + " more\n"));
}

TEST_CASE("a program file that is cut off crashes nothing") {
  const std::string program = sdsm::test::read_text(built("atomics"));
  for (std::size_t size = 1; size < program.size(); size = size * 3 / 2 + 1) {
    CHECK_NOTHROW(find_atomics(sdsm::test::TemporaryFile(program.substr(0, size)).path()));
  }
}
