#include "commands/forked_call.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <sstream>
#include <vector>

#include "commands/errors.hpp"

namespace sdsm::commands {
namespace {

/// First letter of a child's answer: the kind of the rest.
enum Answer : char { returned = '=', was_bad_input = 'B', failed = 'R' };

std::string answer_of(const std::function<std::string()>& body) {
  const auto said = [](Answer answer, const std::string& text) { return std::string(1, answer) + text; };
  try {
    return said(returned, body());
  } catch (const std::invalid_argument& error) {
    return said(was_bad_input, error.what());  // one finding on each line
  } catch (const std::exception& error) {
    return said(failed, error.what());
  }
}

}  // namespace

ForkedCall::ForkedCall(Pipe pipe, const std::function<std::string()>& body)
    : answer_(std::move(pipe.read_end)), child_([&]() -> int {
        answer_.reset();
        return write_all(pipe.write_end.get(), answer_of(body)) ? done : run_failed;
      }) {}

std::string ForkedCall::result() {
  const std::string said = read_all(answer_.get());
  const ProcessEnd end = process_end(child_.wait());
  if (said.empty() || end.was_killed || end.status != done) {
    if (end.status == bad_input) throw BadInput(std::vector<std::string>{});
    throw RunError(end.was_killed ? fmt::format("a process of the simulation was ended by signal {}; out of memory, "
                                                "perhaps. Simulate fewer at once (taskset -c 0)",
                                                end.signal)
                                  : "a process of the simulation failed");
  }
  std::string text = said.substr(1);
  if (said.front() == returned) return text;
  if (said.front() == failed) throw RunError(text);
  std::vector<std::string> findings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) findings.push_back(line);
  throw BadInput(findings);
}

std::string in_child(const std::function<std::string()>& body) {
  return ForkedCall(body).result();
}

}  // namespace sdsm::commands
