#include "commands/errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>

#include "commands/standard_streams.hpp"
#include "commands/version.hpp"

namespace sdsm::commands {
namespace {

/// Whether another file's name would help; otherwise the run itself failed, as with a full disk.
bool is_bad_input(const std::error_code& error) {
  using std::errc;
  static constexpr std::array kinds{errc::no_such_file_or_directory,
                                    errc::permission_denied,
                                    errc::is_a_directory,
                                    errc::not_a_directory,
                                    errc::filename_too_long,
                                    errc::too_many_symbolic_link_levels,
                                    errc::read_only_file_system,
                                    errc::operation_not_permitted,
                                    errc::no_such_device_or_address,
                                    errc::not_supported};
  return std::any_of(kinds.begin(), kinds.end(), [&](errc kind) { return error == kind; });
}

}  // namespace

BadInput::BadInput(std::vector<std::string> findings)
    : std::invalid_argument(fmt::format("{}", fmt::join(findings, "\n"))), findings_(std::move(findings)) {}

void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int exit_status_of(const std::function<int()>& body) noexcept {
  open_closed_streams();
  try {
    refuse_another_version();
    const int status = body();
    // A full disk behind stdout is a failure.
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    say("the output could not be written to stdout. Make room, or give another place");
  } catch (const BadInput& error) {
    for (const std::string& finding : error.findings()) say(finding);
    return bad_input;
  } catch (const std::invalid_argument& error) {
    say(error.what());
    return bad_input;
  } catch (const std::system_error& error) {
    say(error.what());
    return is_bad_input(error.code()) ? bad_input : run_failed;
  } catch (const std::bad_alloc&) {
    say("there is no memory left. Is it limited (`ulimit -v`, or a container's limit)?");
  } catch (const std::exception& error) {
    say(error.what());
  }
  return run_failed;
}

}  // namespace sdsm::commands
