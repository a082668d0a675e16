#include "native/guest/openmp/settings.hpp"
#include "tests/catch.hpp"

using namespace sdsm::gomp;

TEST_CASE("OMP_SCHEDULE=dynamic has chunks of 1, static no chunk size") {
  ControlVariables variables;
  REQUIRE(parse_schedule("static", variables));
  CHECK(variables.schedule == RunSchedule::static_);
  CHECK(variables.chunk == 0);
  REQUIRE(parse_schedule("dynamic", variables));
  CHECK(variables.schedule == RunSchedule::dynamic);
  CHECK(variables.chunk == 1);
}

TEST_CASE("a schedule may have blanks, any case, modifier and chunk") {
  ControlVariables variables;
  REQUIRE(parse_schedule("  NonMonotonic : Guided , 16 ", variables));
  CHECK(variables.schedule == RunSchedule::guided);
  CHECK(variables.chunk == 16);
  CHECK_FALSE(variables.monotonic);
  REQUIRE(parse_schedule("monotonic:static,4", variables));
  CHECK(variables.monotonic);
}

TEST_CASE("what is no schedule is refused and changes nothing") {
  ControlVariables variables;
  variables.chunk = 77;
  for (const char* text : {"", "fast", "static,", "static,0", "static,-1", "static 4", "dynamic,4x", "monotonic static",
                           "dynamic,99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_schedule(text, variables));
    CHECK(variables.chunk == 77);
  }
}

TEST_CASE("OMP_NUM_THREADS is a number or list, 0 is neither") {
  CHECK(parse_threads("8") == 8);
  CHECK(parse_threads(" 4 , 2") == 4);
  CHECK(parse_threads("0") == 0);
  CHECK(parse_threads("-3") == 0);
  CHECK(parse_threads("four") == 0);
  CHECK(parse_threads("3 4") == 0);
  CHECK(parse_threads("99999999999") == 0);
}
