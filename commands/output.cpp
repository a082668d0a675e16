#include "commands/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>

#include "commands/errors.hpp"
#include "commands/interruption.hpp"

namespace sdsm::commands {
namespace {

[[noreturn]] void fail(int error, const std::string& where) {
  throw std::system_error(error, std::generic_category(), fmt::format("{}: cannot be written", where));
}

}  // namespace

std::filesystem::path output_target(const std::filesystem::path& path) {
  // std::filesystem::weakly_canonical would take a dangling link for the file itself.
  constexpr int most_links = 40;  // as Linux allows
  std::filesystem::path target = path;
  std::error_code error;
  // The link behind /dev/stdout names a pipe by a text that is no file's name.
  if (std::filesystem::is_other(path, error)) return path;
  for (int links = 0; std::filesystem::is_symlink(target, error); ++links) {
    if (links == most_links) fail(ELOOP, path.string());
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) fail(error.value(), path.string());
    target = target.parent_path() / next;  // equals `next` if that is absolute
  }
  return target;
}

bool is_replaced(const std::filesystem::path& target) {
  std::error_code error;
  return !std::filesystem::exists(target, error) || std::filesystem::is_regular_file(target, error);
}

std::filesystem::path part_of(const std::filesystem::path& target) {
  return target.string() + ".part";
}

void check_output(const std::string& where, const std::vector<std::filesystem::path>& inputs) {
  if (where.empty() || where == "-") return;
  const std::filesystem::path path = output_target(where);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw BadInput(fmt::format("{} is a folder. Name a file to write to", where));
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, error)) {
    if (error && error != std::errc::no_such_file_or_directory) fail(error.value(), where);
    throw BadInput(fmt::format("there is no folder {} for {}. Make it, or name another file", folder.string(), where));
  }
  if (!is_replaced(path)) {
    if (access(path.c_str(), W_OK) != 0) fail(errno, where);
    return;
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw BadInput(fmt::format("{}: nothing can be written to its folder ({}). Name another file", where,
                               std::generic_category().message(errno)));
  }
  for (const std::filesystem::path& input : inputs) {
    if (std::filesystem::equivalent(path, input, error)) {
      throw BadInput(
          fmt::format("{}: would overwrite the input {}. Name another file to write to", where, input.string()));
    }
  }
}

void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::filesystem::path>& inputs) {
  std::set<std::filesystem::path> targets;
  for (const std::string& output : outputs) {
    check_output(output, inputs);
    if (output.empty()) continue;
    // Several outputs may go to one device: nothing is lost there.
    if (output != "-" && !is_replaced(output_target(output))) continue;
    // Absolute first: weakly_canonical leaves a relative path relative if no part of it exists.
    const std::filesystem::path target =
        output == "-" ? "-" : std::filesystem::weakly_canonical(std::filesystem::absolute(output_target(output)));
    if (!targets.insert(target).second) {
      throw BadInput(fmt::format("{} cannot take two outputs: one of them would be lost. Name another file",
                                 output == "-" ? "stdout" : output));
    }
  }
}

void check_trace_output(const std::string& where, const std::vector<std::filesystem::path>& inputs) {
  if (where.empty()) throw BadInput("a trace needs a name. Name a file to write to");
  if (where == "-") {
    throw BadInput("-: a trace cannot go to stdout. Name a file to write to (./- if it is called so)");
  }
  check_output(where, inputs);
  const std::filesystem::path target = output_target(where);
  std::error_code error;
  for (const std::filesystem::path& input : inputs) {
    if (!std::filesystem::equivalent(part_of(target), input, error)) continue;
    throw BadInput(fmt::format("{}: is written as {} until it is whole, which is an input. Name another file", where,
                               input.string()));
  }
  // The trace replaces the file of that name, which must not be a device.
  if (!is_replaced(target)) {
    throw BadInput(
        fmt::format("{}: this is no regular file, and a trace needs one of its own. Name another file", where));
  }
}

void write_output(std::string_view text, const std::string& where) {
  if (where == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  write_output([text](std::ostream& out) { out << text; }, where);
}

void write_output(const std::function<void(std::ostream&)>& write, const std::string& where) {
  if (where == "-") return write(std::cout);
  check_output(where);
  const std::filesystem::path target = output_target(where);
  std::error_code error;
  const bool replaces = is_replaced(target);
  // The name has the process's number, as another process may write the same output.
  std::filesystem::path written = target;
  if (replaces) written += fmt::format(".{}.part", getpid());
  // A signal that ends the command would leave the part file. Pipes and devices have none, and may make it wait.
  std::optional<HeldInterruptions> held;
  if (replaces) held.emplace();
  errno = 0;
  std::ofstream file(written, std::ios::binary);
  if (!file) fail(errno, where);
  try {
    write(file);
  } catch (...) {
    if (replaces) std::filesystem::remove(written, error);
    throw;
  }
  file.close();
  if (!file) {
    const int reason = errno;
    if (replaces) std::filesystem::remove(written, error);
    fail(reason, where);
  }
  if (!replaces) return;
  std::filesystem::rename(written, target, error);
  if (!error) return;
  const int reason = error.value();
  std::filesystem::remove(written, error);
  fail(reason, where);
}

}  // namespace sdsm::commands
