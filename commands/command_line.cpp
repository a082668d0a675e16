#include "commands/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "commands/errors.hpp"
#include "commands/version.hpp"
#include "models/page_size.hpp"
#include "models/units.hpp"

namespace sdsm::commands {
namespace {

/// The text of what `read` throws, or nothing.
template <typename Read>
std::string problem_in(Read&& read) {
  try {
    read();
    return {};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

}  // namespace

Arguments::Arguments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (has_separator) {
      program.emplace_back(argv[i]);
    } else if (std::string_view(argv[i]) == "--") {
      has_separator = true;
    } else {
      own.emplace_back(argv[i]);
    }
  }
}

bool parse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants a vector
  if (app.get_version_ptr() == nullptr) {
    app.set_version_flag("--version", fmt::format("{} {}", app.get_name(), version()), "print the version and exit");
  }
  const std::string advice = fmt::format("`{} --help` explains the options", app.get_name());
  try {
    app.parse(arguments);
    return true;
  } catch (const CLI::Success& asked) {
    app.exit(asked);
    return false;
  } catch (const CLI::ExtrasError&) {
    const std::string extra = app.remaining().front();
    if (extra.starts_with("-o") && app.get_option_no_throw("--json") != nullptr) {
      throw BadInput(fmt::format("unknown option {}. --json FILE writes the result; {}", extra, advice));
    }
    if (extra.starts_with('-')) throw BadInput(fmt::format("unknown option {}. {}", extra, advice));
    const std::vector<const CLI::Option*> named =
        std::as_const(app).get_options([](const CLI::Option* option) { return option->get_positional(); });
    // Commands that run a program name nothing else before it.
    if (named.empty()) {
      throw BadInput(
          fmt::format("unexpected argument '{0}': a program and its arguments stand behind --, as in {1} -- {0}. {2}",
                      extra, app.get_name(), advice));
    }
    throw BadInput(fmt::format("unexpected argument '{}': beside options {} takes {} alone. {}", extra, app.get_name(),
                               named.front()->get_name(true), advice));
  } catch (const CLI::ParseError& error) {
    throw BadInput(fmt::format("{}. {}", error.what(), advice));
  }
}

int run(CLI::App& app, int argc, char** argv, const std::function<int()>& body) {
  return exit_status_of([&]() -> int { return parse(app, {argv + 1, argv + argc}) ? body() : done; });
}

std::string name_problem(const std::string& text) {
  return text.empty() ? "the name is empty" : "";
}

CLI::Option* add_name(CLI::App& app, const std::string& option, std::string& name, const std::string& help,
                      const std::string& kind) {
  return app.add_option(option, name, help)->check(&name_problem)->type_name(kind);
}

CLI::Option* add_output(CLI::App& app, const std::string& option, std::string& file, const std::string& help) {
  return add_name(app, option, file, help, "FILE|-");
}

Check whole_number(std::uint64_t least, std::uint64_t most) {
  return [=](const std::string& text) { return problem_in([&] { parse_whole_number(text, least, most); }); };
}

Check number(double least, double most) {
  return [=](const std::string& text) -> std::string {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, status] = std::from_chars(text.data(), end, value);
    if (status == std::errc() && rest == end && value >= least && value <= most) return {};
    const std::string range =
        most < std::numeric_limits<double>::infinity() ? fmt::format(" from {} to {}", least, most) : "";
    return fmt::format("'{}' is not a number{}. Write it without a unit, as 40 or 2.5", text, range);
  };
}

std::string bytes_problem(const std::string& text) {
  return problem_in([&] { parse_bytes(text); });
}

std::string page_size_text_problem(const std::string& text) {
  return problem_in([&] { parse_page_size(text); });
}

std::string time_problem(const std::string& text) {
  return text.empty() ? "" : problem_in([&] { parse_seconds(text); });
}

Check one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("'{}' is none of {}. Give one of them", text, fmt::join(words, ", "));
  };
}

}  // namespace sdsm::commands
