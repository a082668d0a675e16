#include "native/launch/trace/structure.hpp"

#include "commands/errors.hpp"
#include "tests/catch.hpp"

using namespace sdsm;
using namespace sdsm::commands;
using namespace sdsm::trace_command;

namespace {

constexpr Event barrier{EventKind::barrier, 0, 0, 2};
constexpr Event end{EventKind::end, 0, 0, 0};
const Event acquire{EventKind::acquire, static_cast<std::uint8_t>(LockClass::critical), 4, 0};

std::string message_of(auto&& action) {
  try {
    action();
  } catch (const RunError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("an interval's compute time is the least of all passes") {
  Structure structure;
  structure.add(0, barrier, 100);
  structure.add_time(0, 0, 80);
  structure.add_time(0, 0, 90);
  CHECK(structure.least_compute_ns(0, 0) == 80);
}

TEST_CASE("a differing pass is an error with pass, thread and interval") {
  Structure structure;
  structure.add(0, barrier, 1);
  structure.add(1, barrier, 1);
  const std::string message = message_of([&] { structure.compare(3, 1, 0, acquire); });
  CHECK(message.find("pass 3 differs from pass 1: thread 1, interval 0 ends with acquire of critical 4 instead of "
                     "barrier of 2 threads") == 0);
}

TEST_CASE("more intervals, fewer intervals and another thread are each found") {
  Structure structure;
  structure.add(0, barrier, 1);
  CHECK_NOTHROW(structure.compare(2, 0, 0, barrier));
  CHECK(message_of([&] { structure.compare(2, 0, 1, barrier); }).find("had only 1 intervals") != std::string::npos);
  CHECK(message_of([&] { structure.compare(2, 1, 0, barrier); }).find("there was no thread 1") != std::string::npos);
  CHECK(message_of([&] { structure.compare_count(2, 0, 0); }).find("ended after 0 of 1 intervals") !=
        std::string::npos);
}

TEST_CASE("a thread waiting at the program's end matches a later pass") {
  Structure structure;
  structure.add(1, barrier, 1);
  structure.cut(1);
  CHECK_NOTHROW(structure.compare(2, 1, 0, barrier));
  CHECK_NOTHROW(structure.compare(2, 1, 0, end));
}
