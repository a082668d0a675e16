/// The command line of every command: how it is read, and checks of options. The checks replace CLI11's own, which take
/// -1 for the largest number there is, 010 for eight and nan for a number in any range, and whose words differ by
/// version.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace sdsm::commands {

/// A command's arguments: its own, and behind the first -- those of the program that it starts.
struct Arguments {
  Arguments(int argc, char** argv);

  std::vector<std::string> own;
  std::vector<std::string> program;
  bool has_separator = false;
};

/// False if the user asked for help, which is printed. Throws BadInput that says what is wrong and how to go on.
bool parse(CLI::App& app, std::vector<std::string> arguments);

/// main() of a command: exit_status_of() of `body`, called with the options parsed.
int run(CLI::App& app, int argc, char** argv, const std::function<int()>& body);

/// What is wrong with an option's text, or nothing: for CLI::Option::check().
using Check = std::function<std::string(const std::string&)>;

/// A file's, host's or variable's name: not empty, as a script's unset variable must not pass for an option not given.
std::string name_problem(const std::string& text);

/// An option or argument that is such a name. `kind` stands for it in the help.
CLI::Option* add_name(CLI::App& app, const std::string& option, std::string& name, const std::string& help,
                      const std::string& kind = "FILE");

/// An option that names a file to write, or - for stdout.
CLI::Option* add_output(CLI::App& app, const std::string& option, std::string& file, const std::string& help);

/// A count or a seed: plain digits.
Check whole_number(std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// A number with or without a fraction, without a unit.
Check number(double least = -std::numeric_limits<double>::infinity(),
             double most = std::numeric_limits<double>::infinity());

/// A time with its unit. An empty text counts as not given.
std::string time_problem(const std::string& text);

/// A size with its unit.
std::string bytes_problem(const std::string& text);

/// A size that a page may have (models/page_size.hpp).
std::string page_size_text_problem(const std::string& text);

Check one_of(std::vector<std::string> words);

}  // namespace sdsm::commands
