#include "sim/command_line.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <system_error>

#include "commands/output.hpp"
#include "commands/standard_streams.hpp"
#include "models/units.hpp"
#include "platforms/file/platform.hpp"
#include "sim/simulation.hpp"
#include "workloads/trace/reader.hpp"

namespace sdsm::sim {

int report_errors(const std::function<int()>& body) {
  using commands::say;
  try {
    const int status = body();
    // A full disk behind stdout must not pass for success.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      say("the report could not be written to stdout. Make room, or give another place");
      return run_failed;
    }
    return status;
  } catch (const PlatformError& error) {
    for (const std::string& finding : error.findings()) say(finding);
    return bad_input;
  } catch (const trace::FormatError& error) {
    say(error.what());
    return bad_input;
  } catch (const std::invalid_argument& error) {
    say(error.what());
    return bad_input;
  } catch (const std::system_error& error) {
    say(error.what());
    return commands::is_bad_input(error.code()) ? bad_input : run_failed;
  } catch (const std::exception& error) {
    say(error.what());
    return run_failed;
  }
}

std::string problem_with_whole_number(const std::string& text, std::uint64_t most) {
  try {
    parse_whole_number(text, 0, most);
    return {};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

std::string plain_number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status == std::errc() && rest == end) return {};
  return fmt::format("'{}' is not a number. Write it without a unit, as 40 or 2.5", text);
}

void write_json(const nlohmann::ordered_json& json, const std::string& where) {
  commands::write_output(json.dump(2) + "\n", where);
}

}  // namespace sdsm::sim
