#include "commands/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
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

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::check(const Check& problem) {
  option_->check(problem);
  return *this;
}

Option Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option Option::default_str(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option Option::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

Option Option::needs(Option other) {
  option_->needs(other.option_);
  return *this;
}

Option Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

Option Option::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Option Option::allow_extra_args(bool are_allowed) {
  option_->allow_extra_args(are_allowed);
  return *this;
}

Option Option::delimiter(char mark) {
  option_->delimiter(mark);
  return *this;
}

CommandLine::CommandLine(const std::string& help, const std::string& name)
    : app_(std::make_unique<CLI::App>(help, name)) {}

CommandLine::~CommandLine() = default;

const std::string& CommandLine::name() const {
  return app_->get_name();
}

void CommandLine::footer(const std::string& text) {
  app_->footer(text);
}

void CommandLine::version_text(const std::string& text) {
  app_->set_version_flag("--version", text, "print the versions and exit");
}

template <typename Value>
Option CommandLine::add_option(const std::string& names, Value& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

template <typename Value>
Option CommandLine::add_option_function(const std::string& names, const std::function<void(const Value&)>& take,
                                        const std::string& help) {
  return Option(app_->add_option_function<Value>(names, take, help));
}

Option CommandLine::add_flag(const std::string& names, bool& flag, const std::string& help) {
  return Option(app_->add_flag(names, flag, help));
}

Option CommandLine::add_flag_callback(const std::string& names, const std::function<void()>& take,
                                      const std::string& help) {
  return Option(app_->add_flag_callback(names, take, help));
}

#define SDSM_OPTION_OF(...) \
  template Option CommandLine::add_option(const std::string&, __VA_ARGS__&, const std::string&);
SDSM_OPTION_OF(std::string)
SDSM_OPTION_OF(std::filesystem::path)
SDSM_OPTION_OF(std::int32_t)
SDSM_OPTION_OF(std::vector<std::uint32_t>)
SDSM_OPTION_OF(std::uint32_t)
SDSM_OPTION_OF(std::uint64_t)
SDSM_OPTION_OF(double)
SDSM_OPTION_OF(std::optional<std::uint32_t>)
SDSM_OPTION_OF(std::optional<std::uint64_t>)
SDSM_OPTION_OF(std::optional<double>)
SDSM_OPTION_OF(std::vector<std::string>)
SDSM_OPTION_OF(std::vector<std::uint64_t>)
#undef SDSM_OPTION_OF
#define SDSM_OPTION_FUNCTION_OF(...)                                                                                   \
  template Option CommandLine::add_option_function(const std::string&, const std::function<void(const __VA_ARGS__&)>&, \
                                                   const std::string&);
SDSM_OPTION_FUNCTION_OF(std::string)
SDSM_OPTION_FUNCTION_OF(std::uint32_t)
SDSM_OPTION_FUNCTION_OF(std::vector<std::string>)
#undef SDSM_OPTION_FUNCTION_OF

bool CommandLine::parse(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants a vector
  if (app_->get_version_ptr() == nullptr) {
    app_->set_version_flag("--version", fmt::format("{} {}", name(), version()), "print the version and exit");
  }
  const std::string advice = fmt::format("`{} --help` explains the options", name());
  try {
    app_->parse(arguments);
    return true;
  } catch (const CLI::Success& asked) {
    app_->exit(asked);
    return false;
  } catch (const CLI::ExtrasError&) {
    const std::string extra = app_->remaining().front();
    if (extra.starts_with("-o") && app_->get_option_no_throw("--json") != nullptr) {
      throw BadInput(fmt::format("unknown option {}. --json FILE writes the result; {}", extra, advice));
    }
    if (extra.starts_with('-')) throw BadInput(fmt::format("unknown option {}. {}", extra, advice));
    const std::vector<const CLI::Option*> named =
        std::as_const(*app_).get_options([](const CLI::Option* option) { return option->get_positional(); });
    // Commands that run a program name nothing else before it.
    if (named.empty()) {
      throw BadInput(
          fmt::format("unexpected argument '{0}': a program and its arguments stand behind --, as in {1} -- {0}. {2}",
                      extra, name(), advice));
    }
    throw BadInput(fmt::format("unexpected argument '{}': beside options {} takes {} alone. {}", extra, name(),
                               named.front()->get_name(true), advice));
  } catch (const CLI::ParseError& error) {
    throw BadInput(fmt::format("{}. {}", error.what(), advice));
  }
}

int run(CommandLine& app, int argc, char** argv, const std::function<int()>& body) {
  return exit_status_of([&]() -> int { return app.parse({argv + 1, argv + argc}) ? body() : done; });
}

std::string name_problem(const std::string& text) {
  return text.empty() ? "the name is empty" : "";
}

Option add_name(CommandLine& app, const std::string& option, std::string& name, const std::string& help,
                const std::string& kind) {
  return app.add_option(option, name, help).check(&name_problem).type_name(kind);
}

Option add_output(CommandLine& app, const std::string& option, std::string& file, const std::string& help) {
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
