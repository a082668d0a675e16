#include "native/launch/trace/stream_reader.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "commands/errors.hpp"
#include "commands/interruption.hpp"
#include "tests/catch.hpp"

using namespace sdsm;

namespace {

/// A signal comes while records are worked on, and others are there already.
struct Interrupted final : trace_command::StreamHandler {
  void on_time() override {
    if (++times == 1) raise(SIGTERM);
  }
  int times = 0;
};

}  // namespace

TEST_CASE("an interruption during records is handled without cutting waits short") {
  constexpr int heard = 7;
  // In a process of its own, as an interruption stays.
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);  // a background job may ignore it
    commands::catch_interruptions();
    std::array<int, 2> ends{};
    const std::array<char, 4> part_of_a_record{};
    if (pipe(ends.data()) != 0 || write(ends[1], part_of_a_record.data(), part_of_a_record.size()) < 0) _exit(1);
    close(ends[1]);
    Interrupted handler;
    try {
      trace_command::read_stream(ends[0], handler);
    } catch (const commands::RunError&) {
      _exit(heard);
    }
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == heard);
}
