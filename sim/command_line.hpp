/// What the commands of this folder share: exit statuses, and where errors become one clear line.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

namespace sdsm::sim {

enum ExitStatus : int { done = 0, run_failed = 1, bad_input = 2 };

/// Calls `body` and turns exceptions into "sdsm: ..." on stderr and an exit status: RunError and broken invariants 1,
/// anything about input 2.
int report_errors(const std::function<int()>& body);

/// Makes a command's wrong usage one line on stderr, as any other error is. App: CLI::App.
template <typename App>
void report_usage_errors(App& app) {
  app.failure_message([](const App* command, const auto& error) {
    std::string text = "sdsm: ";
    text.append(error.what()).append(". `").append(command->get_name()).append(" --help` explains the options\n");
    return text;
  });
}

/// For an option that is a count or a seed: what is wrong with `text`, or nothing. CLI11 itself takes -1 for the
/// largest number there is, what is too large for the largest, and 010 for eight.
std::string whole_number(const std::string& text);

/// Throws std::invalid_argument if a file cannot be written at `where` for a reason that can be told before a run: it
/// is a folder, or lies in none. Nothing is wrong with "" (not wanted) and "-" (stdout).
void check_output(const std::string& where);

/// Writes JSON to a file (whole or not at all), or to stdout for "-". Throws std::system_error.
void write_json(const nlohmann::ordered_json& json, const std::string& where);

}  // namespace sdsm::sim
