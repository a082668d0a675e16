/// The command line of every command: its options, how it is read, and checks of options. Only command_line.cpp knows
/// CLI11, whose headers take longer to compile than a command's own code. The checks replace CLI11's own, which accept
/// -1 as the largest number, 010 as eight and nan in any range, and whose words differ by version.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sdsm::commands {

/// A command's arguments: its own, and behind the first -- those of the program that it starts.
struct Arguments {
  Arguments(int argc, char** argv);

  std::vector<std::string> own;
  std::vector<std::string> program;
  bool has_separator = false;
};

/// What is wrong with an option's text, or nothing: for Option::check().
using Check = std::function<std::string(const std::string&)>;

/// One option or argument of a command. Each method returns the option, so that calls can be chained.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required();
  Option check(const Check& problem);
  Option type_name(const std::string& name);    ///< stands for the value in the help
  Option default_str(const std::string& text);  ///< stands for the default in the help
  Option capture_default_str();                 ///< shows the variable's value now as the default
  Option needs(Option other);                   ///< is refused without the other
  Option excludes(Option other);                ///< is refused with the other
  Option group(const std::string& heading);     ///< of the help; "" hides the option
  Option allow_extra_args(bool are_allowed);    ///< several values behind one name
  Option delimiter(char mark);                  ///< between values

 private:
  CLI::Option* option_;
};

/// The options and arguments of a command.
class CommandLine {
 public:
  /// `name` as the user types it: "sdsm simulate".
  CommandLine(const std::string& help, const std::string& name);
  ~CommandLine();

  const std::string& name() const;
  void footer(const std::string& text);        ///< below the options, in the help
  void version_text(const std::string& text);  ///< of --version, instead of name and version

  /// `names`: "-n,--nodes", or a plain word for an argument. `value` keeps what it holds where the option is not given.
  /// Defined for texts, paths, uint32_t, uint64_t, double, these as std::optional, and lists of texts and numbers.
  template <typename Value>
  Option add_option(const std::string& names, Value& value, const std::string& help);
  /// Calls `take` with the value. Defined for texts, lists of texts, and whole numbers of 32 bits.
  template <typename Value>
  Option add_option_function(const std::string& names, const std::function<void(const Value&)>& take,
                             const std::string& help = "");
  Option add_flag(const std::string& names, bool& flag, const std::string& help);
  Option add_flag_callback(const std::string& names, const std::function<void()>& take, const std::string& help);

  /// False if the user asked for help, which is printed. Throws BadInput that says what is wrong and how to go on.
  bool parse(std::vector<std::string> arguments);

 private:
  std::unique_ptr<CLI::App> app_;
};

/// main() of a command: exit_status_of() of `body`, called with the options parsed.
int run(CommandLine& app, int argc, char** argv, const std::function<int()>& body);

/// A file's, host's or variable's name: not empty, as a script's unset variable must not pass for an option not given.
std::string name_problem(const std::string& text);

/// An option or argument that is such a name. `kind` stands for it in the help.
Option add_name(CommandLine& app, const std::string& option, std::string& name, const std::string& help,
                const std::string& kind = "FILE");

/// An option that names a file to write, or - for stdout.
Option add_output(CommandLine& app, const std::string& option, std::string& file, const std::string& help);

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
