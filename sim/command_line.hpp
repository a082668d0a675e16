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

/// Writes JSON to a file (whole or not at all), or to stdout for "-". Throws std::system_error.
void write_json(const nlohmann::ordered_json& json, const std::string& where);

}  // namespace sdsm::sim
