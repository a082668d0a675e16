#include "sim/command_line.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "sim/platform.hpp"
#include "sim/simulation.hpp"
#include "workloads/trace/reader.hpp"

namespace sdsm::sim {

int report_errors(const std::function<int()>& body) {
  const auto say = [](const std::string& text) { fmt::print(stderr, "sdsm: {}\n", text); };
  try {
    return body();
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

void write_json(const nlohmann::ordered_json& json, const std::string& where) {
  const std::string text = json.dump(2) + "\n";
  if (where == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "cannot write to stdout");
    return;
  }
  const std::filesystem::path part = where + ".part";
  {
    std::ofstream file(part, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
      const int error = errno;
      std::filesystem::remove(part);
      throw std::system_error(error, std::generic_category(), "cannot write " + where);
    }
  }
  std::filesystem::rename(part, where);
}

}  // namespace sdsm::sim
