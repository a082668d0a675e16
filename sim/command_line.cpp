#include "sim/command_line.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <system_error>

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
  std::uint64_t value = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_plain = status == std::errc() && rest == text.data() + text.size() && (text == "0" || text[0] != '0');
  if (is_plain) return {};
  return fmt::format("'{}' is not a whole number from 0 to {}. Write it in plain digits", text,
                     std::numeric_limits<std::uint64_t>::max());
}

void write_json(const nlohmann::ordered_json& json, const std::string& where) {
  trace::write_output(json.dump(2) + "\n", where);
}

}  // namespace sdsm::sim
