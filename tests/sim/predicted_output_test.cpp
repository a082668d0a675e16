/// The rounds of a program that runs again under the predicted clock.

#include "sim/predicted_output.hpp"

#include "tests/catch.hpp"

using namespace sdsm;
using namespace sdsm::sim;

namespace {

std::vector<trace::Reading> readings(std::initializer_list<std::int64_t> microseconds) {
  std::vector<trace::Reading> own;
  for (const std::int64_t time : microseconds) own.push_back({ClockSource::omp_get_wtime, Time{time * 1'000'000}});
  return own;
}

}  // namespace

TEST_CASE("the first round gives the predicted readings") {
  const trace::Readings predicted{readings({1, 5, 9})};
  CHECK(readings_that_continue({}, predicted, {}) == predicted);
}

TEST_CASE("unchanged decisions keep their readings, and the prediction continues them") {
  const trace::Readings given{readings({10, 20, 30, 35}), readings({12, 40})};
  const trace::Readings predicted{readings({11, 22, 29, 31, 50}), readings({13, 14}), readings({7})};
  // Thread 0: 20 instead of 22, so all behind it is 2 us earlier. Thread 1 did nothing the same, thread 2 is new.
  CHECK(readings_that_continue(given, predicted, {2, 0, 0}) ==
        trace::Readings{readings({10, 20, 27, 29, 48}), readings({13, 14}), readings({7})});
}

TEST_CASE("a thread that reads less often gets fewer readings") {
  const trace::Readings given{readings({10, 20, 30})}, predicted{readings({11})};
  CHECK(readings_that_continue(given, predicted, {3}) == trace::Readings{readings({10})});
}
