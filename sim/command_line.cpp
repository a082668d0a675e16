#include "sim/command_line.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <stdexcept>
#include <system_error>

#include "models/units.hpp"
#include "sim/platform.hpp"
#include "sim/simulation.hpp"
#include "workloads/trace/output.hpp"
#include "workloads/trace/reader.hpp"

namespace sdsm::sim {

int report_errors(const std::function<int()>& body) {
  const auto say = [](const std::string& text) { fmt::print(stderr, "sdsm: {}\n", text); };
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
    return trace::is_bad_input(error.code()) ? bad_input : run_failed;
  } catch (const std::exception& error) {
    say(error.what());
    return run_failed;
  }
}

std::string whole_number(const std::string& text) {
  try {
    parse_whole_number(text);
    return {};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

void write_json(const nlohmann::ordered_json& json, const std::string& where) {
  trace::write_output(json.dump(2) + "\n", where);
}

}  // namespace sdsm::sim
