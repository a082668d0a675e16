/// What the commands of this folder share: exit statuses, and where errors become one clear line.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

namespace sdsm::sim {

enum ExitStatus : int { done = 0, run_failed = 1, bad_input = 2 };

/// Calls `body` and turns exceptions into "sdsm: ..." on stderr and an exit status: 1 for RunError and broken
/// invariants, 2 for bad input and for system errors that another file would mend.
int report_errors(const std::function<int()>& body);

/// Prints help, if the user asked for it, or what is wrong with the command line. Returns the exit status.
template <typename App, typename Error>
int answer(const App& app, const Error& error) {
  if (app.exit(error) != 0) return bad_input;
  return report_errors([] { return int{done}; });
}

/// Makes CLI11 report wrong usage in one line on stderr, as other errors. App: CLI::App.
template <typename App>
void report_usage_errors(App& app) {
  app.failure_message([](const App* command, const auto& error) {
    std::string text = "sdsm: ";
    text.append(error.what()).append(". `").append(command->get_name()).append(" --help` explains the options\n");
    return text;
  });
}

/// Why `text` is no whole number from 0 to `most`, or "".
std::string problem_with_whole_number(const std::string& text, std::uint64_t most);

/// CLI11's check of an option that is a count or a seed, kept as a Number. CLI11 itself reads -1 and what is too large
/// as the largest number, 010 as eight, and does not say what it expects.
template <typename Number>
std::string whole_number(const std::string& text) {
  return problem_with_whole_number(text, std::numeric_limits<Number>::max());
}

/// CLI11's check of an option that is a number with or without a fraction. The caller checks its bounds.
std::string plain_number(const std::string& text);

/// Writes JSON as commands::write_output() writes text.
void write_json(const nlohmann::ordered_json& json, const std::string& where);

}  // namespace sdsm::sim
