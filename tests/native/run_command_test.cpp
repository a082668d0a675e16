/// The launcher of native runs, with a run-time that only speaks its protocol and goes wrong on demand
/// (tests/native/run/fake_runtime.cpp).
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "native/launch/run/host_output.hpp"
#include "tests/catch.hpp"
#include "tests/native/traced_run.hpp"

using sdsm::tests::CommandResult;
using sdsm::tests::TemporaryFolder;

namespace {

const std::string folder = RUN_FOLDER;
const std::string command = folder + "/sdsm-run";
const std::string echo = folder + "/echo";

/// plan: FAKE_RUN.
CommandResult run(const std::string& plan, const std::vector<std::string>& options,
                  const std::vector<std::string>& program, const std::string& input = "") {
  std::vector<std::string> words{command};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  setenv("FAKE_RUN", plan.c_str(), 1);
  return sdsm::tests::run_command(words, input);
}

/// Names of processes that have this word among their environment: nothing that a run started may be left.
int processes_with(const std::string& word) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (std::isdigit(static_cast<unsigned char>(entry.path().filename().string()[0])) == 0) continue;
    if (entry.path().filename() == std::to_string(getpid())) continue;
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const std::string environment{std::istreambuf_iterator<char>(file), {}};
    if (environment.find(word) != std::string::npos) ++count;
  }
  return count;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Two agents on this machine, as if it were two: node 0 on host a, node 1 on host b.
const std::vector<std::string> on_hosts{"--hosts", "a,b=127.0.0.2", "--launcher", "env", "--export", "FAKE_RUN"};

void check_failure(const std::string& plan, const std::string& text, const std::vector<std::string>& options) {
  CAPTURE(plan, options);
  const std::string mark = "SDSM_TEST_MARK=" + std::to_string(getpid()) + "." + std::to_string(std::rand());
  putenv(const_cast<char*>(mark.c_str()));
  std::vector<std::string> all{"--nodes", "2", "--threads-per-node", "2"};
  all.insert(all.end(), options.begin(), options.end());
  // The program itself sleeps: a run that waited for it would be noticed.
  const auto begin = std::chrono::steady_clock::now();
  const CommandResult result = run(plan, all, {echo, "sleep", "100"});
  INFO(result.errors);
  CHECK(result.status == 1);
  CHECK(lines_of(result.errors) == 1);
  CHECK(result.errors.starts_with("sdsm: "));
  CHECK(result.errors.find(text) != std::string::npos);
  CHECK(processes_with(mark) == 0);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
  unsetenv("SDSM_TEST_MARK");
}

/// A run that fails says so in one line, with status 1, and leaves no process.
void check_failure(const std::string& plan, const std::string& text, const std::string& timeout = "20") {
  check_failure(plan, text, std::vector<std::string>{"--timeout", timeout});
}

/// The same on several hosts.
void check_failure_on_hosts(const std::string& plan, const std::string& text, const std::string& timeout = "20") {
  std::vector<std::string> options = on_hosts;
  options.insert(options.end(), {"--timeout", timeout});
  check_failure(plan, text, options);
}

}  // namespace

TEST_CASE("a run has the program's input and output, its report on stderr") {
  const CommandResult result = run("", {"-n", "4", "--threads-per-node", "2"}, {echo, "cat", "a b"}, "some\ninput\n");
  INFO(result.errors);
  CHECK(result.status == 0);
  CHECK(result.output == "4 threads cat a b\nsome\ninput\n");
  CHECK(result.errors.starts_with("sdsm: echo on 2 nodes of 2 threads: 2.0000 s"));
  CHECK(result.errors.find("RUMR") != std::string::npos);
  CHECK(result.errors.find("WROH") == std::string::npos);
}

TEST_CASE("runs on several hosts keep the program's streams and status") {
  std::vector<std::string> options = on_hosts;
  options.insert(options.end(), {"-n", "4", "--nodes", "4"});
  const std::string input(300000, 'x');  // more than pipes hold
  const CommandResult result = run("", options, {echo, "cat", "a b"}, input + "\n");
  INFO(result.errors);
  CHECK(result.status == 0);
  CHECK(result.output == "4 threads cat a b\n" + input + "\n");
  CHECK(result.errors.starts_with("sdsm: echo on 4 nodes of 1 thread: 2.0000 s"));
  // It does not read what there is.
  options.insert(options.end(), {"-q", "--repeat", "2"});
  const CommandResult twice = run("", options, {echo, "cat"}, "once\n");
  CHECK(twice.output == "4 threads cat\nonce\n4 threads cat\nonce\n");
  const CommandResult unread = run("", options, {echo}, input);
  CHECK(unread.status == 0);
  CHECK(unread.output == "4 threads\n4 threads\n");
  const CommandResult failed = run("", options, {echo, "status", "7"});
  CHECK(failed.status == 7);
  CHECK(failed.errors == "sdsm: the program ended with status 7\n");
}

TEST_CASE("hosts' output goes on in whole lines, or after a while") {
  using sdsm::run_command::HostOutput;
  sdsm::commands::Pipe pipe = sdsm::commands::make_pipe();
  fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
  HostOutput output(pipe.write_end.get());
  sdsm::commands::Descriptor one = output.add_host(), other = output.add_host();
  auto now = HostOutput::Time{} + std::chrono::hours(1);
  const auto passed = [&] {
    output.pass(now);
    std::string text(1 << 16, ' ');
    return text.substr(
        0, static_cast<std::size_t>(std::max<ssize_t>(0, read(pipe.read_end.get(), text.data(), text.size()))));
  };
  const auto print = [](const sdsm::commands::Descriptor& host, const std::string& text) {
    REQUIRE(sdsm::commands::write_all(host.get(), text));
  };
  print(one, "first\nsec");
  print(other, "third\nfou");
  CHECK(passed() == "first\nthird\n");
  print(other, "rth\n");
  CHECK(passed() == "fourth\n");
  now += HostOutput::patience;
  CHECK(passed().empty());
  print(one, "ond\nNumber? ");
  CHECK(passed() == "second\n");
  now += HostOutput::patience + std::chrono::milliseconds(1);
  CHECK(passed() == "Number? ");
  print(one, "end");
  CHECK(passed().empty());
  one.reset();
  CHECK(passed() == "end");
  // A reader that takes its time, and one that goes.
  const std::string line(1 << 14, 'x');
  for (int i = 0; i < 8; ++i) {
    print(other, line + "\n");
    output.pass(now);
  }
  CHECK(output.is_pending());
  std::string all;
  for (std::string part; !(part = passed()).empty();) all += part;
  CHECK(all.size() == 8 * (line.size() + 1));
  std::signal(SIGPIPE, SIG_IGN);
  pipe.read_end.reset();
  print(other, "lost\n");
  output.pass(now);
  CHECK(!sdsm::commands::write_all(other.get(), "lost"));
}

TEST_CASE("each host is a node, with a thread for each slot") {
  const TemporaryFolder files;
  std::vector<std::string> on_hosts = ::on_hosts;
  const auto nodes_of = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all{"--json", (files / "r").string(), "-q"};
    all.insert(all.end(), on_hosts.begin(), on_hosts.end());
    all.insert(all.end(), options.begin(), options.end());
    const CommandResult result = run("", all, {echo});
    INFO(result.errors);
    REQUIRE(result.status == 0);
    const auto json = nlohmann::json::parse(sdsm::test::read_text(files / "r"));
    CHECK(json["options"]["hosts"] == std::vector<std::string>{"a", "b"});
    CHECK(json["options"]["transport"] == "tcp");
    return std::pair(json["nodes"].get<int>(), json["threads_per_node"].get<int>());
  };
  CHECK(nodes_of({}) == std::pair(2, 1));
  CHECK(nodes_of({"-n", "6"}) == std::pair(2, 3));
  CHECK(nodes_of({"--threads-per-node", "3"}) == std::pair(2, 3));
  CHECK(nodes_of({"-n", "6", "--threads-per-node", "2"}) == std::pair(3, 2));
  CHECK(nodes_of({"--nodes", "5"}) == std::pair(5, 1));
  on_hosts[0] = "--hostfile";
  on_hosts[1] = (files / "hosts").string();
  const auto nodes_of_file = [&](const std::string& text, const std::vector<std::string>& options = {}) {
    std::ofstream(files / "hosts") << text;
    return nodes_of(options);
  };
  CHECK(nodes_of_file("# two\n\n a\nb=127.0.0.2 # the other\n") == std::pair(2, 1));
  CHECK(nodes_of_file("a slots=3\nb:3") == std::pair(2, 3));
  CHECK(nodes_of_file("a slots=3\nb:3", {"--nodes", "2"}) == std::pair(2, 3));
  CHECK(nodes_of_file("a slots=3\nb:3", {"--nodes", "4"}) == std::pair(4, 1));
  CHECK(nodes_of_file("a slots=3\nb", {"-n", "4"}) == std::pair(2, 2));
}

TEST_CASE("a run says what makes its times others than a cluster's, once") {
  const TemporaryFolder files;
  const auto errors_of = [&](const std::string& plan, std::vector<std::string> options) {
    options.insert(options.end(), {"--repeat", "2", "--json", (files / "r").string()});
    const CommandResult result = run(plan, options, {echo});
    REQUIRE(result.status == 0);
    return result.errors;
  };
  const auto json = [&] { return nlohmann::json::parse(sdsm::test::read_text(files / "r")); };
  const auto count = [](const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  std::vector<std::string> options = on_hosts;
  options.insert(options.end(), {"--nodes", "4"});
  for (const std::string plan : {"lossy network", "few processors", ""}) {
    CAPTURE(plan);
    const std::string errors = errors_of(plan, options);
    INFO(errors);
    // 5 + 6 + 7 + 8; each process has 20 messages, and hosts two processes each.
    const bool loses = plan == "lossy network";
    CHECK(count(errors, "\nTCP retransmissions 26\n") == (loses ? 2 : 0));
    CHECK(count(errors, "sdsm: note: the network loses packets: TCP sent 26 segments again, for 80 messages.") ==
          (loses ? 1 : 0));
    CHECK(json()["runs"][1]["retransmissions"] == (loses ? 26 : 0));
    CHECK(count(errors, "note") == (loses ? 1 : 0));
    CHECK(json()["options"]["processes_per_processor"] == Approx(plan == "few processors" ? 1 : 0.002));
  }
  const std::string errors = errors_of("few processors", {"-n", "5"});
  CHECK(count(errors, "sdsm: note: 2.5 processes share each processor: ") == 1);
  CHECK(json()["options"]["processes_per_processor"] == 2.5);
  CHECK(!json()["runs"][0].contains("retransmissions"));
  CHECK(errors_of("few processors", {"-n", "5", "-q"}).empty());
}

TEST_CASE("a quiet run says nothing of its own") {
  const CommandResult result = run("", {"-n", "3", "-q"}, {echo});
  CHECK(result.status == 0);
  CHECK(result.output == "3 threads\n");
  CHECK(result.errors.empty());
}

TEST_CASE("a program inherits the control socket and shared memory only") {
  // Beside what this test has from where it was started.
  setenv("OMP_NUM_THREADS", "2", 1);
  const auto numbers = [](const std::string& output) {
    std::istringstream lines(output.substr(output.find('\n')));
    std::set<int> found;
    for (int number = 0; lines >> number;) found.insert(number);
    return found;
  };
  std::set<int> expected = numbers(sdsm::tests::run_command({echo, "files"}).output);
  expected.insert({200, 201, 204});
  CHECK(numbers(run("", {"-n", "2", "-q"}, {echo, "files"}).output) == expected);
  // With more files than the numbers that are given away.
  CHECK(numbers(run("", {"-n", "120", "-q"}, {echo, "files"}).output) == expected);
}

TEST_CASE("a program's nonzero status is the run's") {
  const TemporaryFolder out;
  const CommandResult result = run("", {"-n", "2", "-q", "--json", (out / "r.json").string()}, {echo, "status", "7"});
  CHECK(result.status == 7);
  CHECK(result.errors == "sdsm: the program ended with status 7; no results are written\n");
  CHECK(out.is_empty());
}

TEST_CASE("a process that dies at any stage ends the run by name") {
  for (const std::string stage : {"listening", "connected", "go"}) {
    const std::string when = stage == "go" ? "" : " before the program began";
    check_failure(stage + " kill 2", "process 2 on node 1 was killed by signal 9 (Killed)" + when);
    check_failure(stage + " exit 3", "process 3 on node 1 ended with status 3 and no word" + when);
  }
  check_failure("listening segv 0", "process 0 on node 0 was killed by signal 11 (Segmentation fault)");
  check_failure("go pipe 0", "process 0 on node 0 was killed by signal 13 (Broken pipe). What it wrote to was closed");
  check_failure("start kill 0", "was killed by signal 9 (Killed) before the program began");
  check_failure("result kill 1", "process 1 on node 0 was killed by signal 9 (Killed)");
  check_failure("go exec 1", "process 1 on node 0 ended with status 0 and no word");
}

TEST_CASE("a process that hangs ends the run with its place") {
  check_failure("start hang 0", "has not reported within 3 s of its start", "3");
  check_failure("listening hang 1", "process 1 on node 0 has not reported within 3 s of its start", "3");
  check_failure("connected hang 1", "process 1 on node 0 has not connected to the others within 3 s", "3");
  check_failure("go hang 0", "process 0 on node 0 has not answered for 3 s", "3");
}

TEST_CASE("a process that outlives the program ends the run") {
  const CommandResult result = run("go stay 1", {"-n", "2", "--timeout", "1"}, {echo});
  CHECK(result.status == 1);
  CHECK(result.errors.find("process 1 on node 1 has not ended within 1 s of") != std::string::npos);
}

TEST_CASE("what a process says of its failure is said on") {
  for (const std::string stage : {"listening", "connected", "go"}) {
    check_failure(stage + " fail 2", "process 2 on node 1 ended the run: no more memory\n");
  }
}

TEST_CASE("a death is reported as the cause of lost connections") {
  for (const std::string stage : {"listening", "connected", "go"}) {
    check_failure(stage + " lost 0", "process 1 on node 0 was killed by signal 9 (Killed)");
  }
}

TEST_CASE("nonsense on the control socket ends the run") {
  for (const std::string stage : {"listening", "connected", "go"}) {
    check_failure(stage + " garbage 1", "process 1 on node 0 sent the launcher bytes that are no message");
    check_failure(stage + " huge 1", "process 1 on node 0 sent the launcher bytes that are no message");
    check_failure(stage + " misplaced 1", "process 1 on node 0 sent the launcher a message that has no place there");
    check_failure(stage + " close 1", "process 1 on node 0 has closed its connection to the launcher");
  }
}

TEST_CASE("on several hosts a failure names its host and ends all") {
  const std::string second = "process 2 on node 1 (host b)";
  for (const std::string stage : {"listening", "connected", "go"}) {
    const std::string when = stage == "go" ? "" : " before the program began";
    check_failure_on_hosts(stage + " kill 2", second + " was killed by signal 9 (Killed)" + when);
  }
  check_failure_on_hosts("start kill 0", " was killed by signal 9 (Killed) before the program began");
  check_failure_on_hosts("result kill 2", second + " was killed by signal 9 (Killed)");
  check_failure_on_hosts("listening exit 2", second + " ended with status 3 and no word before the program began");
  check_failure_on_hosts("go exec 2", second + " ended with status 0 and no word");
  check_failure_on_hosts("listening hang 2", second + " has not reported within 3 s of its start", "3");
  check_failure_on_hosts("go hang 0", "process 0 on node 0 (host a) has not answered for 3 s", "3");
  check_failure_on_hosts("go fail 2", second + " ended the run: no more memory\n");
  check_failure_on_hosts("go lost 0", "process 1 on node 0 (host a) was killed by signal 9 (Killed)");
  check_failure_on_hosts("go garbage 2", second + " sent the launcher bytes that are no message");
  check_failure_on_hosts("go close 2", second + " has closed its connection to the launcher");
  check_failure_on_hosts("go orphan 2", second + " was killed by signal 9 (Killed)");
}

TEST_CASE("what a dying program has left behind dies with the run") {
  check_failure("go orphan 1", "process 1 on node 0 was killed by signal 9 (Killed)");
}

TEST_CASE("a failing repeated run ends with unread piped input") {
  setenv("FAKE_RUN", "go kill 1", 1);
  // The clock only ends a command that hangs.
  const CommandResult result = sdsm::tests::run_command(
      {"/bin/sh", "-c", "seq 1 1000000 | timeout -k 2 20 " + command + " -q -n 2 --repeat 2 -- " + echo});
  INFO(result.errors);
  CHECK(result.status == 1);
  CHECK(result.errors.find("was killed by signal 9") != std::string::npos);
}

TEST_CASE("unprintable results and failures are failures") {
  setenv("FAKE_RUN", "go kill 1", 1);
  for (const std::string errors : {"2>&-", "2>/dev/full"}) {
    CHECK(sdsm::tests::run_with("exec \"$@\" " + errors, {command, "-n", "2", "--", echo}).status == 1);
  }
  setenv("FAKE_RUN", "", 1);
  const CommandResult asked =
      sdsm::tests::run_with("exec \"$@\" >&-", {command, "-q", "-n", "2", "--json", "-", "--", echo});
  CHECK(asked.status == 1);
  CHECK(asked.errors == "sdsm: the output could not be written to stdout. Make room, or give another place\n");
}

TEST_CASE("programs that cannot be run are refused with 2 before anything starts") {
  const auto refused = [](const std::vector<std::string>& program, const std::string& text) {
    const CommandResult result = run("", {"-n", "2"}, program);
    INFO(result.errors);
    CHECK(result.status == 2);
    CHECK(lines_of(result.errors) == 1);
    CHECK(result.errors.find(text) != std::string::npos);
  };
  refused({"/nowhere/program"}, "/nowhere/program: the program cannot be found");
  refused({"/bin/true"}, "/bin/true: does not use OpenMP");
  refused({SDSM_SOURCE_DIR "/CMakeLists.txt"}, "not executable");
}

TEST_CASE("a program that the system cannot execute is refused with 2") {
  // A dynamic linker that is not there.
  const TemporaryFolder files;
  std::ifstream file(echo, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), {}};
  const auto linker = content.find("/lib64/ld-linux");
  REQUIRE(linker != std::string::npos);
  content[linker + 1] = 'X';
  std::ofstream(files / "broken", std::ios::binary) << content;
  std::filesystem::permissions(files / "broken", std::filesystem::perms::owner_all);
  const CommandResult result = run("", {"-n", "2"}, {(files / "broken").string()});
  INFO(result.errors);
  CHECK(result.status == 2);
  CHECK(result.errors.find("cannot be executed (No such file or directory)") != std::string::npos);
}

TEST_CASE("a host that lacks something is named, with what it lacks") {
  const TemporaryFolder files;
  const std::string program = (files / "echo").string();
  // What happens on the host before its agent looks at its files.
  const auto failed = [&](const std::string& before, const std::string& text) {
    std::filesystem::remove(program);
    std::filesystem::copy_file(echo, program);
    std::ofstream(files / "launcher") << before << "\nexec \"$@\"\n";
    const std::string launcher = "sh " + (files / "launcher").string();
    const CommandResult result = run("", {"--hosts", "b", "--launcher", launcher, "--timeout", "2"}, {program});
    CAPTURE(before);
    INFO(result.errors);
    CHECK(result.status == 1);
    CHECK(result.errors.find("sdsm: host b") != std::string::npos);
    CHECK(result.errors.find(text) != std::string::npos);
  };
  failed("exit 9", "ended with status 9 before the processes were started");
  failed("kill -9 $$", "was killed by signal 9 (Killed) before the processes were started");
  failed("exec sleep 60", "has not started its processes within 2 s");
  failed("set -- /nowhere/sdsm-run", "ended with status 127 before the processes were started");
  failed("echo >> " + program, program + " is another file than on the launcher's machine");
  failed("chmod -x " + program, program + " may not be executed");
  failed("rm " + program, program + " is not there");
  failed("exec 0< /dev/null", "ended with status 1 before the processes were started");
}

TEST_CASE("an address that is not the host's is refused by name") {
  const auto failed = [&](const std::vector<std::string>& options, const std::string& text) {
    std::vector<std::string> all{"--launcher", "env"};
    all.insert(all.end(), options.begin(), options.end());
    const CommandResult result = run("", all, {echo});
    INFO(result.errors);
    CHECK(result.status == 1);
    CHECK(result.errors.find(text) != std::string::npos);
  };
  // Of a network that is reserved for documents (RFC 5737).
  failed({"--hosts", "a,b", "--listen", "192.0.2.1"}, "--listen 192.0.2.1: Cannot assign requested address");
  failed({"--hosts", "a,b=192.0.2.1"}, "host b: the launcher cannot be reached");
}

TEST_CASE("multicast and wildcard addresses are refused for listening") {
  for (const std::string address : {"0.0.0.0", "224.0.0.1", "255.255.255.255"}) {
    for (const std::vector<std::string>& options : {std::vector<std::string>{"--hosts", "a,b", "--listen", address},
                                                    std::vector<std::string>{"--hosts", "a,b=" + address}}) {
      const CommandResult result = run("", options, {echo});
      INFO(result.errors);
      CHECK(result.status == 2);
      CHECK(result.errors.find(address + " is no single machine's address") != std::string::npos);
    }
  }
}

TEST_CASE("inline atomic operations are refused with 2 on request") {
  const CommandResult refused = run("", {"-n", "2", "--atomics", "refuse"}, {folder + "/atomics"});
  INFO(refused.errors);
  CHECK(refused.status == 2);
  CHECK(refused.output.empty());
  CHECK(refused.errors.find("--atomics home") != std::string::npos);
  for (const std::string atomics : {"home", "lock", "relaxed"}) {
    const CommandResult done = run("", {"-n", "2", "--atomics", atomics, "--json", "-"}, {folder + "/atomics"});
    INFO(done.errors);
    CHECK(done.status == 0);
    CHECK(done.output.find("\"atomics\": \"" + atomics + "\"") != std::string::npos);
  }
}

TEST_CASE("wrong usage is refused with 2 and with what to do") {
  const auto refused = [](const std::vector<std::string>& options, const std::string& text) {
    const CommandResult result = run("", options, {echo});
    CAPTURE(options);
    INFO(result.errors);
    CHECK(result.status == 2);
    CHECK(result.errors.starts_with("sdsm: "));
    CHECK(result.errors.find(text) != std::string::npos);
  };
  refused({}, "-n THREADS");
  refused({"-n", "0"}, "from 1 to 256");
  refused({"-n", "257"}, "256");
  refused({"-n", "two"}, "two");
  refused({"--nodes", "20", "--threads-per-node", "20"}, "256");
  refused({"-n", "3", "--nodes", "2"}, "3 threads cannot be laid out evenly, over 2 nodes. Give -n a multiple of 2");
  refused({"-n", "4", "--nodes", "2", "--threads-per-node", "4"}, "-n 4 is not --nodes 2 times --threads-per-node 4");
  refused({"-n", "2", "--placement", "anywhere"}, "anywhere");
  refused({"-n", "2", "--placement", "foo"}, "--placement: 'foo' is none of as-asked, round-robin, block");
  refused({"-n", "2", "--protocol", "hardware"},
          "'hardware' is not played here: for this machine's own memory start the program without sdsm. Give one of "
          "scash, home-open, jiajia");
  refused({"-n", "2", "--scope", "lock"}, "--scope is of protocol jiajia, but the protocol is scash");
  refused({"-n", "2", "--protocol", "jiajia", "--scope", "page"}, "'page' is none of openmp, lock");
  refused({"-n", "2", "--protocol", "jiajia", "--atomics", "home"}, "--atomics home is not run under jiajia");
  refused({"-n", "2", "--protocol", "jiajia", "--invalidation", "changed"},
          "--invalidation is not played under jiajia");
  for (const std::string option : {"--home-migration", "--adaptive-write-detection"}) {
    refused({"-n", "2", option}, option + " is of protocol jiajia, but the protocol is scash");
  }
  refused({"-n", "2", "--protocol", "jiajia", "--fork", "broadcast"}, "--fork is simulated only");
  refused({"-n", "2", "--protocol", "jiajia", "--order", "p3-score"},
          "--order: under jiajia counts do not depend on the order of a node's faults");
  refused(
      {"-n", "2", "--protocol", "jiajia", "--emulate", SDSM_SOURCE_DIR "/platforms/jiajia-alpha.xml"},
      "messages of one length, or acknowledgements (jiajia.message.size, jiajia.message.acknowledgement), which are "
      "simulated only");
  refused({"-n", "2", "--invalidation", "some"}, "--invalidation: 'some' is none of all, changed");
  refused({"-n", "2", "--invalidation", "changed", "--protocol", "home-open"},
          "under home-open nobody knows what homes write");
  refused({"-n", "2", "--prefetch", "15"}, "--prefetch: '15' is not a whole number from 0 to 14");
  refused({"-n", "2", "--prefetch", "1", "--order", "-"}, "--prefetch and --order do not go together");
  refused({"-n", "2", "--page-size", "12KiB"}, "12288 bytes are not 4096 times a power of two");
  refused({"-n", "2", "--page-size", "8KiB", "--order", "-"}, "--order is of pages of 4096 bytes");
  refused({"-n", "2", "--transport", "pigeon"}, "pigeon");
  refused({"-n", "2", "--timeout", "0"}, "0");
  for (const std::string seconds : {"nan", "inf", "0.09", "1e7", "10x"}) {
    refused({"-n", "2", "--timeout", seconds}, "--timeout: '" + seconds + "' is not a number from 0.1 to 1000000");
  }
  refused({"-n", "2", "--frobnicate"}, "--frobnicate");
  refused({"-n", "2", "--agent"}, "--agent");
  for (const std::string option : {"--launcher", "--listen", "--export"}) {
    refused({"-n", "2", option, "x"}, option + " is for several hosts: name them by --hosts a,b,c or --hostfile FILE");
  }
  refused({"--hosts", "a,b", "--listen", "there"}, "'there' is no IPv4 address");
  refused({"--hosts", "a,b=here"}, "'here' is no IPv4 address");
  refused({"--hosts", "a,b="}, "'' is no IPv4 address");
  for (const std::string name : {"a b", "-oProxyCommand", "b;true", "$(b)", "b'"}) {
    refused({"--hosts", "a," + name}, "is no name of a host");
  }
  for (const std::string names : {"a,,b", ",a", "a,"}) {
    refused({"--hosts", names}, "--hosts '" + names + "': a name between the commas is empty");
  }
  refused({"--hosts", "a,b", "--export", "X,,Y"}, "--export 'X,,Y': a name between the commas is empty");
  for (const std::string name : {"A B", "A=1", "1A", "A-B"}) {
    refused({"--hosts", "a,b", "--export", "X," + name}, "'" + name + "' is no name of an environment variable");
  }
  const TemporaryFolder files;
  const std::string hostfile = (files / "hosts").string();
  const std::pair<std::string, std::string> bad_hostfiles[] = {
      {"a\n\nb c\n", ":3: unexpected 'c'"},
      {"a:2 slots=2\n", ":1: unexpected 'slots=2'"},
      {"# none\n", ": no host in this file"},
      {"a\n-b\n", ":2: '-b' is no name of a host"},
      {"a=b\n", ":1 a: 'b' is no IPv4 address"},
      {"a:0\n", ":1: slots: '0' is not a whole number from 1 to 256"},
      {"a slots=x\n", ":1: slots: 'x' is not a whole number"},
      {"a slots=2\nb\n", ": the hosts' slots differ (2, 1), but all nodes need the same number of threads. Give -n"},
  };
  for (const auto& [text, problem] : bad_hostfiles) {
    std::ofstream(hostfile) << text;
    refused({"--hostfile", hostfile, "--launcher", "env"}, hostfile + problem);
  }
  refused({"--hostfile", "/nowhere/hosts"}, "--hostfile /nowhere/hosts: ");
  refused({"--hosts", "a", "--hostfile", hostfile}, "--hosts");
  refused({"--hosts", "a,b,c", "--nodes", "2"}, "3 hosts for 2 nodes");
  refused({"--hosts", "a,b", "--transport", "unix"}, "--transport unix reaches no other host");
  refused({"--hosts", "a,b", "--emulate", SDSM_SOURCE_DIR "/platforms/p3-score.xml"}, "--emulate is for one machine");
  const std::string no_platform = (files / "no.xml").string(), empty = (files / "empty.xml").string();
  std::ofstream(no_platform) << "these are\nwords\n";
  std::ofstream{empty};
  refused({"-n", "2", "--emulate", no_platform}, no_platform + ":3: not well-formed XML (No document element found)");
  refused({"-n", "2", "--emulate", empty}, empty + ": is empty. Give a SimGrid platform file");
  refused({"-n", "2", "--json", "/nowhere/at/all.json"}, "there is no folder /nowhere/at");
  CHECK(sdsm::tests::run_command({command, "-n", "2", echo}).status == 2);
  CHECK(sdsm::tests::run_command({command, "-n", "2"}).errors.find("no program to run") != std::string::npos);
}

TEST_CASE("the help says how to use the command") {
  const CommandResult result = sdsm::tests::run_command({command, "--help"});
  CHECK(result.status == 0);
  for (const std::string word :
       {"--nodes", "--threads-per-node", "--placement", "--transport", "--timeout", "--repeat", "--json", "--quiet",
        "--hosts", "--launcher", "--listen", "--export", "-- PROGRAM", "Exit status"}) {
    CAPTURE(word);
    CHECK(result.output.find(word) != std::string::npos);
  }
  CHECK(result.output.find("--agent") == std::string::npos);
}

TEST_CASE("results are JSON of all runs and of the median") {
  const TemporaryFolder files;
  const CommandResult result = run(
      "", {"-n", "2", "--repeat", "3", "--placement", "block", "--transport", "tcp", "--json", (files / "r").string()},
      {echo, "cat"}, "input\n");
  INFO(result.errors);
  REQUIRE(result.status == 0);
  // Each run reads the input from its begin.
  CHECK(result.output == "2 threads cat\ninput\n2 threads cat\ninput\n2 threads cat\ninput\n");
  CHECK(result.errors.find("sdsm: 3 runs: median 2.0000 s, least 2.0000 s, most 2.0000 s\n") != std::string::npos);
  std::ifstream file(files / "r");
  const auto json = nlohmann::json::parse(file);
  CHECK(json["kind"] == "native");
  CHECK(json["program"] == std::vector<std::string>{echo, "cat"});
  CHECK(json["nodes"] == 2);
  CHECK(json["makespan_s"] == 2.0);
  CHECK(json["whole_run"]["makespan_s"] == 3.0);
  CHECK(json["runs"].size() == 3);
  CHECK(json["options"]["placement"] == "block");
  CHECK(json["options"]["transport"] == "tcp");
  CHECK(json["inputs"][0]["sha256"].get<std::string>().size() == 64);
  const auto& thread = json["threads"][1];
  CHECK(thread["id"] == 1);
  CHECK(thread["node"] == 1);
  CHECK(thread["faults"]["RUMR"] == 11);
  CHECK(thread["messages_by_kind"]["page_request"] == 11);
  // Its process says of a second more than process 0 does, whose time counts.
  CHECK(thread["time_s"]["compute"].get<double>() == Approx(1.0));
  CHECK(thread["time_s"]["fault"]["RUMR"] == 0.5);
  CHECK(thread["traps"] == 11);
}
