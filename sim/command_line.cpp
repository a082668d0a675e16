#include "sim/command_line.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "sim/platform.hpp"
#include "sim/simulation.hpp"
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
    return bad_input;
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

void check_output(const std::string& where) {
  if (where.empty() || where == "-") return;
  const std::filesystem::path path = where;
  if (std::filesystem::is_directory(path)) {
    throw std::invalid_argument(fmt::format("{} is a folder. Name a file to write to", where));
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder)) {
    throw std::invalid_argument(
        fmt::format("there is no folder {} for {}. Make it, or name another file", folder.string(), where));
  }
}

void write_json(const nlohmann::ordered_json& json, const std::string& where) {
  const std::string text = json.dump(2) + "\n";
  if (where == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;  // report_errors() looks whether it could be written
  }
  check_output(where);
  // A link stays a link, and a device or pipe is written to: only a regular file is replaced as a whole.
  std::filesystem::path target = where;
  if (std::filesystem::is_symlink(target)) target = std::filesystem::weakly_canonical(target);
  const bool replaces = !std::filesystem::exists(target) || std::filesystem::is_regular_file(target);
  const std::filesystem::path written = replaces ? std::filesystem::path(target.string() + ".part") : target;
  {
    std::ofstream file(written, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
      const int error = errno;
      if (replaces) std::filesystem::remove(written);
      throw std::system_error(error, std::generic_category(), "cannot write " + where);
    }
  }
  if (replaces) std::filesystem::rename(written, target);
}

}  // namespace sdsm::sim
