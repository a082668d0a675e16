/// Programs that fail, cannot be traced, or do what tracers find hard: each ends with the right status and one clear
/// line.
#include <unistd.h>

#include <fstream>

#include "tests/catch.hpp"
#include "tests/native/traced_run.hpp"

using namespace sdsm;
using namespace sdsm::tests;

namespace {

struct Outcome {
  CommandResult result;
  bool has_left_files = false;
};

Outcome trace_outcome(const std::vector<std::string>& command, unsigned threads = 2) {
  const TemporaryFolder folder;
  Outcome outcome;
  outcome.result = run_command(tracing(threads, folder / "t.trace", command));
  outcome.has_left_files = !folder.is_empty();
  return outcome;
}

void check_refused(const Outcome& outcome, int status, const std::string& line) {
  INFO(outcome.result.errors);
  CHECK(outcome.result.status == status);
  CHECK(outcome.result.errors.find(line) != std::string::npos);
  CHECK(outcome.result.errors.find("sdsm: ") != std::string::npos);
  CHECK_FALSE(outcome.has_left_files);
}

}  // namespace

TEST_CASE("a program killed by a signal leaves status 1 and no file") {
  check_refused(trace_outcome({program("ending"), "crash"}), 1, "killed by signal 11");
  check_refused(trace_outcome({program("ending"), "abort"}), 1, "killed by signal 6");
}

TEST_CASE("a program's own status 3 is in its trace") {
  const TemporaryFolder folder;
  const CommandResult result = run_command(tracing(2, folder / "t.trace", {program("ending"), "status"}));
  CHECK(result.status == 1);
  CHECK(result.errors.find("ended with status 3") != std::string::npos);
  CHECK(read_trace(folder / "t.trace").header.exit_status == 3);
}

TEST_CASE("a deadlock ends with 1, and says what each thread waits for") {
  check_refused(trace_outcome({program("deadlock")}), 1,
                "thread 0 waits at a barrier; thread 1 waits for a lock held by thread 0");
}

TEST_CASE("a program that differs between runs is refused with the place") {
  check_refused(trace_outcome({program("ending"), "random"}), 1, "differs from pass 1: thread 0");
}

TEST_CASE("own threads, exec and uses of freed memory give status 1") {
  check_refused(trace_outcome({program("ending"), "thread"}), 1, "pthread_create");
  check_refused(trace_outcome({program("ending"), "thread of a library"}), 1, "a thread that OpenMP did not start");
  check_refused(trace_outcome({program("ending"), "exec"}), 1, "exec");
  check_refused(trace_outcome({program("ending"), "freed"}), 1, "frees or resizes a block that it has freed");
  check_refused(trace_outcome({program("ending"), "fork_shared"}), 1, "mmap with MAP_SHARED");
}

TEST_CASE("an untraceable program is refused with 2 before it runs") {
  check_refused(trace_outcome({program("no_openmp")}), 2, "does not use OpenMP");
  check_refused(trace_outcome({program("static_program")}), 2, "statically linked");
  check_refused(trace_outcome({"/nowhere/program"}), 2, "/nowhere/program: the program cannot be found");
  check_refused(trace_outcome({SDSM_SOURCE_DIR "/CMakeLists.txt"}), 2, "CMakeLists.txt");
}

TEST_CASE("bad usage is refused with 2") {
  const std::string command = std::string(SDSM_BINARY_DIR) + "/sdsm-trace";
  const auto status = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), command);
    const CommandResult result = run_command(arguments);
    CHECK(result.errors.starts_with("sdsm: "));
    return result.status;
  };
  CHECK(status({}) == 2);
  CHECK(status({"-n", "0", "-o", "/dev/null", "--", "true"}) == 2);
  CHECK(status({"-n", "100000", "-o", "/dev/null", "--", "true"}) == 2);
  CHECK(status({"-n", "02", "-o", "/tmp/x", "--", program("ending")}) == 2);
  CHECK(status({"-n", "2.5", "-o", "/dev/null", "--", program("ending")}) == 2);
  CHECK(status({"-n", "-18446744073709551614", "-o", "/tmp/x", "--", program("ending")}) == 2);
  CHECK(status({"-n", "2", "--passes", "010", "-o", "/tmp/x", "--", program("ending")}) == 2);
  CHECK(status({"-n", "two", "-o", "/dev/null", "--", "true"}) == 2);
  CHECK(status({"-n", "2", "--", "true"}) == 2);
  CHECK(status({"-n", "2", "-o", "/tmp/x"}) == 2);
  CHECK(status({"-n", "2", "-o", "/nowhere/x.trace", "--", program("ending")}) == 2);
  CHECK(status({"info"}) == 2);
  CHECK(status({"info", "/nowhere/x.trace"}) == 2);
  CHECK(status({"dump", program("ending")}) == 2);
}

TEST_CASE("an impossible option value is refused with the possible ones") {
  const std::string command = std::string(SDSM_BINARY_DIR) + "/sdsm-trace";
  const auto check = [&](const std::string& option, const std::string& value, const std::string& range) {
    std::vector<std::string> arguments{command, "-o", "/nowhere/x", "-n", "2"};
    if (option == "--threads") arguments.resize(3);
    arguments.insert(arguments.end(), {option, value, "--", program("ending")});
    const CommandResult result = run_command(arguments);
    INFO(result.errors);
    CHECK(result.status == 2);
    CHECK(result.errors.find(option + ": '" + value + "' is not a whole number from " + range) != std::string::npos);
    CHECK(result.errors.find('\n') == result.errors.size() - 1);
  };
  for (const std::string value : {"4294967297", "4097", "0", "18446744073709551616", "two", "2.5", "-1"}) {
    check("--threads", value, "1 to 4096");
    check("--passes", value == "4097" ? "1001" : value, "1 to 1000");
  }
}

TEST_CASE("an unwritable trace is refused with 2 before the program runs") {
  const TemporaryFolder folder;
  const std::string folders = folder / "";
  std::filesystem::create_symlink("circle", folder / "circle");
  std::vector<std::string> outputs{"/nowhere/a", ".", folders, "/dev/full", "/dev/null", folder / "circle", "", "-"};
  std::filesystem::create_directory(folder / "shut");
  std::filesystem::permissions(folder / "shut", std::filesystem::perms::owner_read);
  if (access((folder / "shut").c_str(), W_OK) != 0) outputs.push_back(folder / "shut/a");  // root may write anywhere
  for (const std::string& output : outputs) {
    // Each pass leaves a line in the file that the program's argument names.
    const std::filesystem::path passes = folder / "passes";
    const CommandResult result = run_command(tracing(2, output, {program("ending"), "note", passes}));
    CAPTURE(output, result.errors);
    CHECK(result.status == 2);
    CHECK(result.errors.starts_with("sdsm: "));
    CHECK(result.errors.find('\n') == result.errors.size() - 1);
    CHECK_FALSE(std::filesystem::exists(passes));
  }
}

TEST_CASE("a trace never overwrites the program, its input or its arguments") {
  const TemporaryFolder folder;
  const std::filesystem::path copy = folder / "program", link = folder / "link", part = folder / "a.part";
  std::filesystem::copy_file(program("ending"), copy);
  std::filesystem::create_symlink("program", link);
  std::filesystem::copy_file(program("ending"), part);
  const auto size = std::filesystem::file_size(copy);
  const auto refuse = [&](const std::string& output, const std::vector<std::string>& traced) {
    const CommandResult result = run_command(tracing(2, output, traced));
    CAPTURE(output, result.errors);
    CHECK(result.status == 2);
    CHECK(result.errors.starts_with("sdsm: " + output));
    CHECK(result.errors.find('\n') == result.errors.size() - 1);
  };
  refuse(copy, {copy});
  refuse(link, {copy});
  refuse(copy, {link});
  refuse(folder / "a", {part});
  refuse(copy, {program("ending"), "shell", copy});
  CHECK(std::filesystem::file_size(copy) == size);
  CHECK(std::filesystem::file_size(part) == size);
  const std::string input = folder / "input", shell = "exec \"$@\" <\"$0\"";
  std::ofstream(input) << "2 3 1\n";
  std::vector<std::string> command{"/bin/sh", "-c", shell, input};
  for (const std::string& word : tracing(2, input, {program("ending"), "sum"})) command.push_back(word);
  CHECK(run_command(command).status == 2);
  CHECK(std::filesystem::file_size(input) == 6);

  const std::string trace = folder / "t.trace", command_name = std::string(SDSM_BINARY_DIR) + "/sdsm-trace";
  REQUIRE(run_command(tracing(2, trace, {program("ending"), "shell"})).status == 0);
  std::filesystem::create_hard_link(trace, folder / "other.trace");
  for (const std::string& json : {trace, (folder / "other.trace").string()}) {
    const CommandResult info = run_command({command_name, "info", trace, "--json", json});
    CAPTURE(json, info.errors);
    CHECK(info.status == 2);
    CHECK(info.errors.find(trace) != std::string::npos);
  }
  CHECK(read_trace(trace).header.threads == 2);
  // Its own old trace is no input.
  CHECK(run_command(tracing(2, trace, {program("ending"), "shell"})).status == 0);
}

TEST_CASE("an endless spin is no deadlock, Ctrl-C leaves no trace") {
  const TemporaryFolder folder;
  std::vector<std::string> command{"/usr/bin/timeout", "--preserve-status", "-s", "INT", "3"};
  for (const std::string& word : tracing(2, folder / "t.trace", {program("spin"), "forever"})) command.push_back(word);
  const CommandResult result = run_command(command);
  INFO(result.errors);
  CHECK(result.status == 1);
  CHECK(result.errors == "sdsm: interrupted; no trace is written\n");
  CHECK(folder.is_empty());
}

TEST_CASE("bad usage is reported with what to type instead") {
  const std::string command = std::string(SDSM_BINARY_DIR) + "/sdsm-trace";
  const auto errors = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), command);
    const CommandResult result = run_command(arguments);
    CHECK(result.status == 2);
    CHECK(result.errors.find('\n') == result.errors.size() - 1);
    return result.errors;
  };
  CHECK(errors({"frob"}).find("'frob'") != std::string::npos);
  CHECK(errors({"frob"}).find("sdsm trace info FILE") != std::string::npos);
  CHECK(errors({"frob"}).find("-- frob") != std::string::npos);
  CHECK(errors({"-n", "2", "-o", "a.trace", "./program", "x"}).find("-- ./program") != std::string::npos);
  CHECK(errors({"-n", "2", "-o", "a.trace", "--bogus", "--", "true"}).find("--bogus") != std::string::npos);
  CHECK(errors({"info"}).find("sdsm trace info --help") != std::string::npos);
  CHECK(errors({"dump"}).find("sdsm trace dump --help") != std::string::npos);
  const CommandResult help = run_command({command, "info", "--help"});
  CHECK(help.status == 0);
  CHECK(help.output.find("Example") != std::string::npos);
}

TEST_CASE("larger teams than asked for are reported with their limit") {
  const TemporaryFolder folder;
  const CommandResult larger = run_command(tracing(2, folder / "t.trace", {program("ending"), "team"}));
  INFO(larger.errors);
  CHECK(larger.status == 0);
  CHECK(larger.errors.find("OMP_THREAD_LIMIT=2") != std::string::npos);
  CHECK(read_trace(folder / "t.trace").header.threads == 8);
  std::vector<std::string> limited{"/usr/bin/env", "OMP_THREAD_LIMIT=2"};
  for (const std::string& word : tracing(2, folder / "t.trace", {program("ending"), "team"})) limited.push_back(word);
  CHECK(run_command(limited).errors.empty());
  CHECK(read_trace(folder / "t.trace").header.threads == 2);
}

TEST_CASE("info finds damage in unprinted parts and writes to devices") {
  const TemporaryFolder folder;
  const std::string command = std::string(SDSM_BINARY_DIR) + "/sdsm-trace", trace = (folder / "t.trace").string();
  REQUIRE(run_command(tracing(2, trace, {program("ending"), "shell"})).status == 0);
  CHECK(run_command({command, "info", trace}).status == 0);
  CHECK(run_command({command, "info", trace, "--json", "/dev/null"}).status == 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
  CHECK(run_command({command, "info", trace, "--json", "/dev/full"}).status == 1);
  CHECK(run_command({command, "info", trace, "--json", "/nowhere/a.json"}).status == 2);
  CHECK(run_command({command, "info", trace, "--json", "/"}).status == 2);
  const std::string written = (folder / "a.json").string();
  CHECK(run_command({command, "info", trace, "--json", written}).status == 0);
  CHECK(std::filesystem::file_size(written) > 100);
  {
    std::fstream file(trace, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(24);  // in the first block
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(24);
    file.put(byte);
  }
  const CommandResult damaged = run_command({command, "info", trace});
  INFO(damaged.errors);
  CHECK(damaged.status == 2);
  CHECK(damaged.output.empty());
  CHECK(damaged.errors.starts_with("sdsm: " + trace + ": byte 16: "));
}

TEST_CASE("a trace is made where a dangling link points") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("target.trace", folder / "t.trace");
  REQUIRE(run_command(tracing(2, folder / "t.trace", {program("ending"), "shell"})).status == 0);
  CHECK(std::filesystem::is_symlink(folder / "t.trace"));
  CHECK(std::filesystem::is_regular_file(folder / "target.trace"));
}

TEST_CASE("every pass reads the same standard input") {
  const TemporaryFolder folder;
  const CommandResult result = run_command(tracing(2, folder / "t.trace", {program("ending"), "sum"}), "2 3 1\n");
  INFO(result.errors);
  REQUIRE(result.status == 0);
  const TraceContent trace = read_trace(folder / "t.trace");
  std::size_t forks = 0;
  for (const auto kind : trace.events(0)) forks += kind == EventKind::fork ? 1 : 0;
  CHECK(forks == 1 + 6);
}

TEST_CASE("a shell command in protected memory runs once, untraced") {
  const TemporaryFolder folder;
  const CommandResult result = run_command(tracing(2, folder / "t.trace", {program("ending"), "shell"}));
  INFO(result.errors);
  CHECK(result.status == 0);
  CHECK(result.output == "from the shell\n");
}

TEST_CASE("a forked child runs on untraced, and the parent's trace is whole") {
  CHECK(trace_of("ending", 2, {"fork"}).events(1).back() == EventKind::end);
}

TEST_CASE("closed standard streams leave the trace whole") {
  for (const std::string closed : {"<&- >&-", "1>&- 2>&-", "<&- 1>&- 2>&-", "2>&-"}) {
    CAPTURE(closed);
    const TemporaryFolder folder;
    const CommandResult result =
        run_with("exec \"$@\" " + closed, tracing(2, folder / "t.trace", {program("ending"), "print"}));
    INFO(result.errors);
    CHECK(result.status == 0);
    CHECK(result.output == (closed == "2>&-" ? "from the program\n" : ""));
    CHECK(read_trace(folder / "t.trace").header.exit_status == 0);
  }
}

TEST_CASE("a low limit of open files is reported with advice") {
  const TemporaryFolder folder;
  const CommandResult result =
      run_with("ulimit -n 20; exec \"$@\"", tracing(2, folder / "t.trace", {program("ending")}));
  CHECK(result.status == 1);
  CHECK(result.errors.starts_with("sdsm: a process could not be given its files ("));
  CHECK(result.errors.find("ulimit -n") != std::string::npos);
  CHECK(folder.is_empty());
}
