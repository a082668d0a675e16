/// What the commands of this folder share: exit statuses, and where errors become one clear line.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

namespace sdsm::sim {

enum ExitStatus : int { done = 0, run_failed = 1, bad_input = 2 };

/// Calls `body` and turns exceptions into "sdsm: ..." on stderr and an exit status: RunError and broken invariants 1,
/// anything about input 2, of errors of the system those that another file would mend.
int report_errors(const std::function<int()>& body);

/// Prints the help that was asked for, or what was wrong with the command line. Returns the command's exit status.
template <typename App, typename Error>
int answer(const App& app, const Error& error) {
  if (app.exit(error) != 0) return bad_input;
  return report_errors([] { return int{done}; });
}

/// Makes a command's wrong usage one line on stderr, as any other error is. App: CLI::App.
template <typename App>
void report_usage_errors(App& app) {
  app.failure_message([](const App* command, const auto& error) {
    std::string text = "sdsm: ";
    text.append(error.what()).append(". `").append(command->get_name()).append(" --help` explains the options\n");
    return text;
  });
}

/// What is wrong with `text` as a whole number from 0 to `most`, or nothing.
std::string problem_with_whole_number(const std::string& text, std::uint64_t most);

/// The check of an option that is a count or a seed, and is kept as a Number. CLI11 itself takes -1 for the largest
/// number there is, what is too large for the largest, and 010 for eight; and of others it tells neither what is
/// expected.
template <typename Number>
std::string whole_number(const std::string& text) {
  return problem_with_whole_number(text, std::numeric_limits<Number>::max());
}

/// The check of an option that is a number with or without a fraction; its user looks at its bounds.
std::string plain_number(const std::string& text);

/// Writes JSON as commands::write_output() writes text.
void write_json(const nlohmann::ordered_json& json, const std::string& where);

}  // namespace sdsm::sim
