/// The commands as a user meets them: what they print and write, and that each error is one line.

#include <sys/stat.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>
#include <tuple>

#include "sim/memory_limit.hpp"
#include "tests/campaign.hpp"
#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"
#include "tests/workloads/programs/run_program.hpp"
#include "tests/workloads/trace/format_1.hpp"
#include "tests/workloads/trace/samples.hpp"
#include "workloads/trace/limits.hpp"
#include "workloads/trace/writer.hpp"

using namespace sdsm;
using nlohmann::json;
using sdsm::test::Outcome;
using sdsm::test::PlatformText;
using sdsm::test::Scratch;
using sdsm::test::TemporaryFile;
using sdsm::test::TestProgram;

namespace {

/// `text` in quotes that the shell leaves alone.
std::string in_quotes(const std::string& text) {
  return "'" + text + "'";
}
std::string in_quotes(const TemporaryFile& file) {
  return in_quotes(file.path().string());
}

Outcome sdsm_command(const std::string& command, const std::string& arguments) {
  return test::run("LC_ALL=C", "'" SDSM_BINARY_DIR "/sdsm-" + command + "' " + arguments);
}

const std::string p3 = in_quotes(test::p3_score().string());

/// Two threads, 4 pages of shared memory, a fault of each kind that two nodes have, between two clock readings.
TestProgram small_program() {
  TestProgram program({2, 1});
  program.pages = 4;
  program.joins = false;
  for (auto& intervals : program.threads) intervals.clear();
  program.clock(0, 100);
  program.interval(0, 100, {}, {EventKind::fork, 0, 0, 2});
  program.interval(1, 0, {}, {EventKind::team_begin, 0, 0, 2});
  program.barrier(0, 1000, {test::writes(0), test::reads(1, 128)});
  program.barrier(1, 1000, {test::reads(0), test::writes(0, 10), test::writes(2, 128), test::writes(3, 255)});
  for (std::uint32_t t = 0; t < 2; ++t) program.interval(t, 10, {}, {EventKind::join, 0, 0, 2});
  program.clock(0, 100);
  return program;
}

/// Writes the program as a trace file.
void write_trace(const TestProgram& program, const std::filesystem::path& path, int exit_status = 0,
                 const std::string& name = "./program", trace::Speed speed = {}) {
  trace::Writer writer(path, program.layout().processes());
  for (std::uint32_t t = 0; t < program.threads.size(); ++t) {
    for (trace::Interval interval : program.threads[t]) {
      trace::fill_lines(interval);
      writer.append(t, interval);
    }
    if (program.joins) writer.append(t, {0, {}, {EventKind::join, 0, 0, program.layout().processes()}});
    writer.append(t, {0, {}, {EventKind::end, 0, 0, 0}});
  }
  writer.finish({.program = {name, "--size", "4"},
                 .threads = program.layout().processes(),
                 .passes = 3,
                 .machine = "a machine",
                 .sdsm_version = "0",
                 .exit_status = exit_status,
                 .speed = speed},
                {{{RegionKind::heap_block, Placement::round_robin, 0, program.pages}, RegionId{0}, 0, false, "block"}});
}

class TraceFile {
 public:
  explicit TraceFile(const TestProgram& program = small_program()) : path_(folder_ / "a.trace") {
    write_trace(program, path_);
  }
  /// Of `sdsm simulate` without progress bar, up to those of the layout.
  std::string arguments(const std::string& platform = p3) const {
    return in_quotes(path_.string()) + " -q --platform " + platform;
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path beside(const std::string& name) const { return folder_ / name; }

 private:
  Scratch folder_;
  std::filesystem::path path_;
};

bool one_line_of_ours(const std::string& errors) {
  return test::is_one_line(errors) && errors.starts_with("sdsm: ");
}

/// The errors, in one line or several, of a command that is refused.
std::string refusal(const std::string& command, const std::string& arguments, const std::string& named) {
  const Outcome run = sdsm_command(command, arguments);
  CAPTURE(arguments, run.errors);
  CHECK(run.status == 2);
  CHECK(contains(run.errors, named));
  CHECK(run.output.empty());
  return run.errors;
}

void check_refused(const std::string& command, const std::string& arguments, const std::string& named) {
  CHECK(one_line_of_ours(refusal(command, arguments, named)));
}

/// What a command writes to stdout as JSON.
json json_of(const std::string& command, const std::string& arguments) {
  const Outcome run = sdsm_command(command, arguments + " --json -");
  CAPTURE(arguments, run.errors);
  REQUIRE(run.status == 0);
  return json::parse(run.output);
}

void check_has(const json& object, const json& members) {
  for (const auto& [name, value] : members.items()) {
    CAPTURE(name);
    CHECK(object.at(name) == value);
  }
}

}  // namespace

TEST_CASE("simulate's report and JSON: each thread's times sum to the makespan") {
  const TraceFile trace;
  const auto file = trace.beside("result.json");
  const Outcome run =
      sdsm_command("simulate", trace.arguments() + " --nodes 2 --compute-factor 1 --json " + in_quotes(file.string()));
  CAPTURE(run.errors);
  CHECK(run.status == 0);
  CHECK(run.errors.empty());
  CHECK(contains(run.output, "makespan"));
  const json result = json::parse(test::read_text(file));
  check_has(result, {{"format", 1},
                     {"kind", "simulation"},
                     {"nodes", 2},
                     {"threads_per_node", 1},
                     {"protocol", "scash"},
                     {"program", json({"./program", "--size", "4"})}});
  CHECK(result.at("versions").at("network") == "queue");
  CHECK(result.at("inputs").size() == 2);
  CHECK(result.at("inputs")[0].at("sha256").get<std::string>().size() == 64);
  REQUIRE(result.at("threads").size() == 2);
  for (const char* part : {"", "/whole_run"}) {
    const json& whole = result.at(json::json_pointer(part));
    for (const json& thread : whole.at("threads")) {
      double sum = 0;
      for (const auto& [item, time] : thread.at("time_s").items()) {
        if (item != "fault") sum += time.get<double>();
      }
      CHECK(thread.at("time_s").at("fault").size() == fault_kinds);
      for (const auto& [kind, time] : thread.at("time_s").at("fault").items()) sum += time.get<double>();
      CHECK(sum == Approx(whole.at("makespan_s").get<double>()).epsilon(1e-12));
    }
  }
  // RUMR of page 0, and of the region's page.
  check_has(result.at("threads")[1].at("faults"), {{"RUMR", 2}, {"WROR", 1}, {"WUMR", 1}, {"WROH", 1}});
}

TEST_CASE("simulate --readings writes every thread's clock readings to the picosecond") {
  TestProgram program({2, 1});
  program.joins = false;
  for (auto& intervals : program.threads) intervals.clear();
  program.clock(0, 1000);
  program.interval(0, 0, {}, {EventKind::fork, 0, 0, 2});
  program.interval(0, 2000, {}, {EventKind::join, 0, 0, 2});
  program.clock(0, 250);
  program.interval(1, 0, {}, {EventKind::team_begin, 0, 0, 2});
  program.clock(1, 700);
  program.interval(1, 1300, {}, {EventKind::join, 0, 0, 2});
  const TraceFile trace(program);
  const Outcome run = sdsm_command("simulate", trace.arguments() + " --nodes 2 --compute-factor 1 --readings -");
  CHECK(run.status == 0);
  // Fork: 8 us to write the region's page, 661 us of barrier, 18.95 us for the written page, which the worker then
  // reads in 587 us. It is at the join, of another 661 us, last: 1000 + 8 + 661 + 18.95 + 587 (+ 700) + 2000 + 661 +
  // 250.
  CHECK(run.output ==
        "thread,reading,clock,time_s\n"
        "0,0,omp_get_wtime,0.001000000000\n"
        "0,1,omp_get_wtime,0.005185950000\n"
        "1,0,omp_get_wtime,0.002974950000\n");
}

TEST_CASE("the same command writes the same bytes, on both networks") {
  const TraceFile trace;
  const std::string network = GENERATE(as<std::string>{}, "queue", "simgrid");
  const std::string arguments = trace.arguments() + " --nodes 2 --json - --jitter 0.05 --seed 3 --network " + network;
  const Outcome first = sdsm_command("simulate", arguments);
  const Outcome second = sdsm_command("simulate", arguments);
  CHECK(first.status == 0);
  CHECK(first.output == second.output);
  CHECK(json::parse(first.output).at("seed") == 3);
}

TEST_CASE("simulate notes whose compute times it uses, unless a factor is given") {
  const TraceFile trace;
  const auto said = [&](const std::string& options) {
    const Outcome run = sdsm_command("simulate", trace.arguments() + " --nodes 2 --quiet " + options);
    REQUIRE(run.status == 0);
    return contains(run.errors, "note: compute times are those of the machine that traced");
  };
  CHECK(said(""));
  CHECK_FALSE(said("--sequential-time 7.5s"));
  CHECK_FALSE(said("--compute-factor 1"));
  CHECK(said("--sequential-time ''"));  // a script's unset variable
}

TEST_CASE("the result has the compute factor's origin and the sequential time") {
  const TraceFile trace;
  TestProgram program({1, 1});
  program.barrier(0, 1000);
  const TraceFile alone(program);
  const auto simulated = [&](const std::string& given) {
    return json_of("simulate", trace.arguments() + " --nodes 2 " + given);
  };
  const auto options = [&](const std::string& given) { return simulated(given).at("options"); };
  const json plain = options("--sequential-time ''"), factor = options("--compute-factor 2");
  check_has(plain, {{"compute_from", "trace"}, {"compute_factor", 1}});
  CHECK_FALSE(plain.contains("sequential_time_s"));
  CHECK(factor.at("compute_from") == "compute-factor");
  CHECK(options("--compute-factor 2 --sequential-time ''") == factor);
  const json time = options("--sequential-time 20ms");
  const Outcome shown = sdsm_command("simulate", trace.arguments() + " --nodes 2 --sequential-time 20ms");
  std::smatch speedup;
  REQUIRE(
      std::regex_search(shown.output, speedup, std::regex(R"(\nspeedup ([0-9.]+) \(over 20\.000 ms with one thread)")));
  const double makespan_s = simulated("--sequential-time 20ms").at("makespan_s").get<double>();
  CHECK(std::stod(speedup[1]) == Approx(0.02 / makespan_s).epsilon(0.005));
  check_has(time, {{"compute_from", "sequential-time"}, {"sequential_time_s", 0.02}});
  // 20 ms over the 1 ms that the other trace computes.
  const json by_trace = options("--sequential-time 20ms --sequential-trace " + in_quotes(alone.path().string()));
  check_has(by_trace, {{"compute_from", "sequential-trace"}, {"sequential_time_s", 0.02}});
  CHECK(by_trace.at("compute_factor").get<double>() == Approx(20));
}

TEST_CASE("simulate --from-host-speed scales computing by the machines' speeds") {
  const TraceFile trace;
  write_trace(small_program(), trace.path(), 0, "./program", {2'200'000'000});
  // Hosts of 550 Mf take 2200 / 550 = 4 times as long.
  const Outcome by_speed = sdsm_command("simulate", trace.arguments() + " --nodes 2 --json - --from-host-speed");
  CAPTURE(by_speed.errors);
  REQUIRE(by_speed.status == 0);
  const json said = json::parse(by_speed.output);
  check_has(said.at("options"),
            {{"compute_factor", 4}, {"compute_from", "host-speed"}, {"traced_flops", 2.2e9}, {"host_flops", 5.5e8}});
  CHECK(contains(by_speed.errors, "computing takes 4 times as long"));
  CHECK(contains(by_speed.errors, "warning: nobody says that the speed of"));
  const Outcome by_factor = sdsm_command("simulate", trace.arguments() + " --nodes 2 --json - --compute-factor 4");
  CHECK(said.at("threads") == json::parse(by_factor.output).at("threads"));
  const Outcome measured = sdsm_command(
      "simulate", trace.arguments() + " --nodes 2 --json - --from-host-speed --set host.speed-is=measured");
  CHECK(measured.status == 0);
  CHECK_FALSE(contains(measured.errors, "nobody says"));
}

TEST_CASE("simulate --from-host-speed tells both ends of what the hosts' memory leaves open") {
  const TraceFile trace;
  // By arithmetic 4 times as long, by caches 5, by memory 40; the traced machine's measurements differ by a quarter.
  write_trace(small_program(), trace.path(), 0, "./program", {2'200'000'000, 4'000, 20'000'000'000, 250});
  const std::string hosts = " --set cache.latency=20ns --set memory.bandwidth=0.5GBps --from-host-speed";
  const auto simulated = [&](const std::string& options) {
    return sdsm_command("simulate", trace.arguments() + " --nodes 2 --json - " + options);
  };
  const Outcome both = simulated(hosts);
  REQUIRE(both.status == 0);
  const json said = json::parse(both.output);
  CHECK(said.at("options").at("compute_factor").get<double>() == Approx(std::sqrt(4. * 50)));
  const json& range = said.at("computing_range");
  check_has(range, {{"least_factor", 4}, {"greatest_factor", 50}});
  for (const auto& [factor, time] : {std::pair("4", "shortest_s"), std::pair("50", "longest_s")}) {
    const json end = json::parse(simulated(std::string("--compute-factor ") + factor).output);
    CHECK(range.at(time) == end.at("makespan_s"));
  }
  CHECK(contains(both.errors, "(4 by arithmetic, 5 by caches, 40 by memory)"));
  CHECK(contains(both.errors, "measurements while it traced differ by 25 %"));
  CHECK(contains(simulated("--from-host-speed").errors, "gives no cache.latency and memory.bandwidth"));
}

TEST_CASE("simulate warns where the hosts' memory decides whether a cluster pays") {
  const TraceFile trace;
  TestProgram program({2, 1});
  program.barrier_of_all(1000);
  write_trace(program, trace.path(), 0, "./program", {550'000'000, 4'000, 20'000'000'000});
  // A region of a millisecond on each of two processors, and some of its synchronisation: as long, or 40 times.
  const std::string whole = trace.arguments() + " --nodes 2 --region whole --from-host-speed --set cache.latency=4ns";
  const auto warns = [&](const char* bandwidth) {
    const Outcome done = sdsm_command("simulate", whole + " --set memory.bandwidth=" + bandwidth);
    CAPTURE(done.errors);
    CHECK(done.status == 0);
    return contains(done.errors, "whether this is faster than one processor depends on what the program waits for");
  };
  CHECK(warns("0.5GBps"));
  CHECK_FALSE(warns("19GBps"));
}

TEST_CASE("simulate --from-host-speed refuses unknown, ambiguous and doubly scaled speeds") {
  const TraceFile trace;
  const std::string of_trace = in_quotes(trace.path().string()) + " -q -n 2 --from-host-speed --platform ";
  check_refused("simulate", of_trace + p3, "a.trace does not keep how fast the machine that traced it was");
  check_refused("simulate", of_trace + p3 + " --compute-factor 2", "--from-host-speed and --compute-factor both scale");
  check_refused("simulate", of_trace + p3 + " --sequential-time 2s",
                "--from-host-speed and --sequential-time both scale");

  write_trace(small_program(), trace.path(), 0, "./program", {2'000'000'000});
  const TemporaryFile unmeasured(PlatformText().text());
  const std::string placeholder = of_trace + unmeasured.path().string();
  check_refused("simulate", placeholder, "gives its hosts the speed 1Gf, a placeholder");
  check_refused("simulate", placeholder + " --set host.speed-is=measured", "no machine's measured speed is that");
  const json assumed = json_of("simulate", placeholder + " --set host.speed-is=assumed");
  CHECK(assumed.at("options").at("compute_factor") == 2);

  for (const char* const speed : {"0.5f", "1e30f"}) {
    PlatformText odd;
    odd.speed = speed;
    const TemporaryFile file(odd.text());
    check_refused("simulate", of_trace + in_quotes(file), "which no processor has");
  }

  PlatformText mixed;
  mixed.speed = "4Gf";
  std::string text = mixed.text();
  text.replace(text.find("4Gf"), 3, "2Gf,1Gf");
  check_refused("simulate", of_trace + TemporaryFile(text).path().string(), "hosts of different speeds (2Gf, 4Gf)");
}

TEST_CASE("a sequential trace of another program causes a warning") {
  const TraceFile trace;
  TestProgram program({1, 1});
  program.barrier(0, 1000);
  for (const auto& [name, is_said] : {std::pair("./other", true), std::pair("/elsewhere/program", false)}) {
    const auto alone = trace.beside("alone.trace");
    write_trace(program, alone, 0, name);
    const Outcome run =
        sdsm_command("simulate", trace.arguments() + " --nodes 2 --sequential-time 20ms --sequential-trace " +
                                     in_quotes(alone.string()));
    CHECK(run.status == 0);
    CHECK((contains(run.errors, "is a trace of other, but")) == is_said);
  }
}

TEST_CASE("simulate --set of bandwidth and latency changes a message's time as computed") {
  // A frame of 1538 B takes 12.304 us on 1 Gbit/s: twice, store and forward; once as a flow. And 2 x 20 us.
  const auto [network, expected] =
      GENERATE(table<std::string, double>({{"queue", 2 * 12.304 + 40}, {"simgrid", 12.304 + 40}}));
  const auto settings = GENERATE(as<std::string>{}, " --set network.bandwidth=1Gbps --set network.latency=20us",
                                 " --set network.bandwidth=x10 --set 'network.lat*=x4'");
  const json document = json_of("replay", p3 + " --only network --messages 1460 --network " + network + settings);
  CHECK(document.at("rows")[0].at("simulated_s").get<double>() == Approx(expected * 1e-6).epsilon(1e-9));
  CHECK(document.at("set").size() == 2);
  const json& changed = document.at("changed")[0];
  CHECK(changed.at("property") == "network.bandwidth");
  CHECK(changed.at("was") == "100Mbps");
  CHECK(parse_bandwidth(changed.at("is").get<std::string>()).bytes_per_second == Approx(125e6));
}

TEST_CASE("the network's --set leaves a cluster's limiters alone") {
  const std::string without = std::regex_replace(PlatformText().text(), std::regex("<(host|link|route)[^\n]*\n"), "");
  const TemporaryFile file(
      std::regex_replace(without, std::regex("</zone>"),
                         "<cluster id=\"c\" prefix=\"n-\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" "
                         "bw=\"1Gbps\" lat=\"5us\" limiter_link=\"500Mbps\"/></zone>"));
  // A frame of 1538 B takes 24.608 us through each limiter, on 10 Gbit/s 1.2304 us; and 2 x 20 us.
  const std::string settings = GENERATE("", " --set network.bandwidth=10Gbps --set network.latency=20us");
  const double expected = settings.empty() ? 2 * (24.608 + 12.304 + 5) : 2 * (24.608 + 1.2304 + 20);
  const json document =
      json_of("replay", in_quotes(file) + " --only network --messages 1460 --network queue" + settings);
  CHECK(document.at("rows")[0].at("simulated_s").get<double>() == Approx(expected * 1e-6).epsilon(1e-9));
}

TEST_CASE("simulate and check report what --set changed, and apply it") {
  const TraceFile trace;
  const std::string setting = " --set 'fault.*=x0.5'";
  const auto file = trace.beside("set.json");
  const Outcome run =
      sdsm_command("simulate", trace.arguments() + " --nodes 2 --json " + in_quotes(file.string()) + setting);
  REQUIRE(run.status == 0);
  CHECK(contains(run.output, "Changed by --set: fault.WROH 4us (was 8us), "));
  CHECK(contains(run.errors, "note: messages alone take longer than what --set leaves of fault.WUMR"));
  const json result = json::parse(test::read_text(file));
  CHECK(result.at("set") == json{"fault.*=x0.5"});
  CHECK(result.at("changed").size() == fault_kinds);
  // A write to an own page that was read before: WROH.
  CHECK(result.at("threads")[1].at("time_s").at("fault").at("WROH").get<double>() == Approx(4e-6));
  const Outcome shaped =
      sdsm_command("simulate", trace.arguments() + " --nodes 2 --set barrier.shape=tree --set prefetch.page=5us" +
                                   " --set atomic.own=3us");
  for (const char* const said : {"barrier.shape tree (was flat, by default)", "prefetch.page 5us (was 0us, by default)",
                                 "atomic.own 3us (was that of fault.WROH, by default)"}) {
    CHECK(contains(shaped.output, said));
  }
  const Outcome check = sdsm_command("check", p3 + setting);
  CHECK(check.status == 0);
  CHECK(contains(check.output, "fault.RUMR 547.02us (was 587us)"));
  CHECK(sdsm_command("replay", p3 + " --only fault --strict" + setting).status == 0);
  check_refused("simulate", trace.arguments() + " --nodes 2 --set fault.RUMR=300us",
                "its messages alone take 507.040 us");
}

TEST_CASE("the sequential time is the sum of the region's computing") {
  const TraceFile trace;
  double compute = 0;
  const json result = json_of("simulate", trace.arguments() + " --nodes 2 --sequential-time 7.5s");
  for (const json& thread : result.at("threads")) compute += thread.at("time_s").at("compute").get<double>();
  CHECK(compute == Approx(7.5).epsilon(1e-6));
}

TEST_CASE("the default memory limit is half of what is free") {
  const auto limit = [](const char* meminfo, const char* container) {
    std::istringstream machine(meminfo), group(container);
    return sim::memory_limit_from(machine, group).count;
  };
  const char* const sixteen_gib = "MemTotal: 33554432 kB\nMemFree: 1024 kB\nMemAvailable: 16777216 kB\nBuffers: 1 kB\n";
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  CHECK(limit(sixteen_gib, "max\n") == 8 * gib);
  CHECK(limit(sixteen_gib, "") == 8 * gib);
  CHECK(limit(sixteen_gib, "8589934592\n") == 4 * gib);
  CHECK(limit(sixteen_gib, "68719476736\n") == 8 * gib);
  CHECK(limit("", "8589934592\n") == 4 * gib);
  CHECK(limit("", "") == 4 * gib);
}

TEST_CASE("a trace with too many touches is refused before simulating") {
  TestProgram program({2, 1});
  program.pages = 1'000'000'000;
  program.barrier_of_all({{10, {test::reads(999'999'999)}}, {10, {test::reads(0)}}});
  const TraceFile sparse(program);
  CHECK(sdsm_command("simulate", sparse.arguments() + " --nodes 2 --max-memory 1MiB").status == 0);
  constexpr double most_us = 1e8 / trace::most_touches_per_ns / 2 * 1e-3;  // two threads
  TestProgram impossible = program;
  impossible.barrier(0, most_us - 20, {test::reads(0, 0, 100'000'000)});
  impossible.barrier(1);
  const TraceFile made_up(impossible);
  const std::string mend = "mend --without-locks -o out.trace " + in_quotes(made_up.path().string());
  check_refused("trace", mend, "which no processor can do");
  check_refused("simulate", made_up.arguments() + " --nodes 2 --max-memory 100GiB", "which no processor can do");
  program.barrier_of_all({{most_us, {test::reads(0, 0, 100'000'000)}}, {}});
  const TraceFile dense(program);
  check_refused("simulate", dense.arguments() + " --nodes 2 --max-memory 4GiB", "more pages than 2 nodes can hold in");
  check_refused("simulate", dense.arguments() + " --nodes 2 --max-memory 1", "--max-memory");
}

TEST_CASE("the list of written pages counts with its growth") {
  // 100,000 written pages on each of 4 nodes took 87 bytes each, above what the command takes itself.
  constexpr std::uint32_t pages = 100'000;
  TestProgram program({2, 1});
  program.pages = pages;
  program.barrier_of_all({{pages, {test::writes(0, 0, pages)}}, {}});
  const TraceFile trace(program);
  check_refused("simulate", trace.arguments() + " --nodes 2 --max-memory " + std::to_string(pages * 87),
                "--max-memory");
  CHECK(sdsm_command("simulate", trace.arguments() + " --nodes 2 --max-memory 16MiB").status == 0);
}

TEST_CASE("traces of format 1 are simulated, but not mended") {
  const TraceFile trace;
  const Scratch folder;
  const auto older = folder / "older.trace";
  trace::store(trace::write_format_1(trace::read(trace.path())), older);
  CHECK(sdsm_command("simulate", in_quotes(older.string()) + " -q -n 2 --platform " + p3).status == 0);
  for (const char* way : {"--pad", "--without-barriers", "--without-locks", "--balance", "--parallel-init"}) {
    const std::string output = in_quotes((folder / "out.trace").string());
    check_refused("trace", std::string("mend ") + way + " -o " + output + " " + in_quotes(older.string()),
                  "is of format 1, which does not tell the changed lines");
  }
}

TEST_CASE("simulate reports bad input in one line, with status 2") {
  const TraceFile trace;
  const std::string good = in_quotes(trace.path().string());
  const TemporaryFile no_platform("<hello/>"), no_trace("not a trace at all", ".trace");
  const std::string whole = test::read_text(trace.path());
  const TemporaryFile cut(whole.substr(0, whole.size() / 2), ".trace"), empty("", ".trace");
  const TemporaryFile contradiction(PlatformText{{"fault.RUMR", "100us"}}.text());
  PlatformText few;
  few.hosts = 1;
  few.cores = 1;
  const TemporaryFile small(few.text());
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"", "trace"},
      {good, "platform"},
      {good + " -p " + p3, "nodes"},
      {"no-such.trace -p " + p3 + " -n 2", "no-such.trace"},
      {"/ -p " + p3 + " -n 2", "/"},
      {in_quotes(no_trace) + " -p " + p3 + " -n 2", "not an sdsm trace"},
      {in_quotes(empty) + " -p " + p3 + " -n 2", in_quotes(empty).substr(1, 8)},
      {in_quotes(cut) + " -p " + p3 + " -n 2", in_quotes(cut).substr(1, 8)},
      {good + " -p no-such.xml -n 2", "no-such.xml"},
      {good + " -p / -n 2", "folder"},
      {good + " -p " + in_quotes(no_platform) + " -n 2", "<platform>"},
      {good + " -p " + in_quotes(contradiction) + " -n 2", "fault.RUMR"},
      {good + " -p " + in_quotes(small) + " -n 2", "1 host, but 2 nodes were asked for"},
      {good + " -p " + in_quotes(small) + " -n 2", "sdsm platform new --nodes 2 --network"},
      {good + " -p " + in_quotes(small) + " -n 1 -t 2", "1 core, but 2 threads per node were asked for"},
      // A trace of so many threads would not help, so hosts and cores come first.
      {good + " -p " + p3 + " -n 64", "8 hosts, but 64 nodes were asked for"},
      {good + " -p " + p3 + " -n 2 -t 3", "2 cores, but 3 threads per node were asked for"},
      {good + " -p p3-scor -n 2", "Did you mean p3-score? Give a SimGrid platform file"},
      {good + " more.trace -p " + p3 + " -n 2",
       "unexpected argument 'more.trace': beside options sdsm simulate takes trace alone"},
      {good + " -p " + p3 + " -n 0", "--nodes: '0' is not a whole number from 1 to 4294967295"},
      {good + " -p " + p3 + " -n -2", "-2"},
      {good + " -p " + p3 + " -n two", "two"},
      {good + " -p " + p3 + " -n 99999999999999",
       "--nodes: '99999999999999' is not a whole number from 1 to 4294967295"},
      {good + " -p " + p3 + " -n 4", "2 threads"},
      {good + " -p " + p3 + " -n 4", "OMP_THREAD_LIMIT=4"},
      {good + " -p " + p3 + " -n 2 --sequential-trace " + good, "sequential-time"},
      {good + " -p " + p3 + " -n 2 --sequential-time 1s --sequential-trace " + good, "one thread"},
      {good + " -p " + p3 + " -n 1 -t 2 --memory-bound 0.5", "no property memory-bus.T"},
      {good + " -p " + p3 + " -n 02", "nodes: '02'"},
      {good + " -p " + p3 + " -n 0x2", "nodes: '0x2'"},
      {good + " -p " + p3 + " -n -18446744073709551614", "nodes: '-18446744073709551614'"},
  };
  for (const auto& [arguments, named] : mistakes) check_refused("simulate", arguments, named);
}

TEST_CASE("simulate reports a wrong option in one line, with status 2") {
  const TraceFile trace;
  const std::string good = in_quotes(trace.path().string()) + " -p " + p3 + " -n 2 ";
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"--bogus", "--bogus"},
      {"--sequential-time 1s --sequential-trace ''", "--sequential-trace: the name is empty"},
      {"-t 0", "--threads-per-node: '0'"},
      {"--compute-factor 40x", "--compute-factor: '40x' is not a number"},
      {"--jitter 5%", "--jitter: '5%' is not a number"},
      {"-o result.json", "unknown option -o. --json FILE writes the result"},
      {"-t 2147483648", "2147483648 threads per node"},
      {"--sequential-time 7.5", "no unit"},
      {"--sequential-time 0s", "above zero"},
      {"--sequential-time -1s", "negative"},
      {"--sequential-time 1s --sequential-trace no-such.trace", "no-such.trace"},
      {"--sequential-time 2501h", "104"},
      {"--compute-factor 0", "compute-factor"},
      {"--compute-factor 1e30", "compute-factor"},
      {"--compute-factor 1 --sequential-time 1s", "compute-factor"},
      {"--compute-factor inf", "compute-factor"},
      {"--compute-factor nan", "compute-factor"},
      {"--network carrier-pigeon", "carrier-pigeon"},
      {"--protocol treadmarks", "'treadmarks' is none of scash, home-open, jiajia, hardware"},
      {"--protocol jiajia", "no costs for protocol jiajia (it has scash)"},
      {"--prefetch 1 --order a.order", "--prefetch and --order do not go together"},
      {"--protocol jiajia --invalidation all", "--invalidation is not played under jiajia"},
      {"--protocol hardware --invalidation all", "--invalidation has no meaning under hardware"},
      {"--protocol home-open --invalidation changed", "under home-open nobody knows what homes write. Leave it out"},
      {"--invalidation some", "'some' is none of all, changed"},
      {"--prefetch -1", "--prefetch: '-1' is not a whole number from 0 to 14"},
      {"--prefetch 15", "--prefetch: '15' is not a whole number from 0 to 14"},
      {"--protocol jiajia --order a.order",
       "--order: under jiajia counts do not depend on the order of a node's faults"},
      {"--protocol home-open --set protocol.invalidation=changed",
       "nobody knows what homes write. Use --set protocol.invalidation=all"},
      {"--protocol home-open --scope lock", "--scope is of protocol jiajia, but the protocol is home-open"},
      {"--protocol jiajia --atomics home", "--atomics home is not simulated under jiajia"},
      {"--page-size 2048", "pages of 2048 bytes are smaller than a trace's, of 4096 bytes"},
      {"--page-size 12KiB", "12288 bytes are not 4096 times a power of two"},
      {"--page-size 128KiB", "Give at most 64KiB"},
      {"--page-size large", "--page-size: 'large'"},
      {"--page-size 8KiB --pages -", "--pages names pages of 4096 bytes"},
      {"--page-size 8KiB --order a.order", "--order is of pages of 4096 bytes"},
      {"--protocol hardware --page-size 8KiB", "--page-size has no meaning under hardware"},
      {"--protocol hardware", "no costs for protocol hardware (it has scash)"},
      {"--protocol hardware --placement block", "--placement has no meaning under hardware"},
      {"--protocol hardware --atomics home", "--atomics has no meaning under hardware"},
      {"--home-migration", "--home-migration is of protocol jiajia, but the protocol is scash"},
      {"--fork broadcast", "--fork is of protocol jiajia, but the protocol is scash"},
      {"--quirks first-page-stays", "--quirks is of protocol jiajia, but the protocol is scash"},
      {"--protocol jiajia --quirks first-page-stays,none", "none"},
      {"--protocol jiajia --privatize globals", "--privatize sends pages with the fork's message"},
      {"--protocol jiajia --home-migration --first-touch-migration 1", "two rules for the same moves"},
      {"--region some", "some"},
      {"--jitter 3", "jitter"},
      {"--jitter nan", "jitter"},
      {"--memory-bound half", "--memory-bound: 'half' is not a number"},
      {"--memory-bound 1.1", "--memory-bound: '1.1' is not a number from 0 to 1"},
      {"--memory-bound -0.1", "memory-bound"},
      {"--memory-bound nan", "memory-bound"},
      {"--seed x", "seed"},
      {"--seed -1", "seed: '-1'"},
      {"--seed +1", "seed: '+1'"},
      {"--seed 18446744073709551616", "seed"},
      {"-t -18446744073709551615", "threads-per-node: '-18446744073709551615'"},
      {"--json /no/such/folder/a.json", "/no/such/folder/a.json"},
      {"--json /", "/"},
  };
  for (const auto& [options, named] : mistakes) check_refused("simulate", good + options, named);
}

TEST_CASE("memory is private by name, if no parallel region writes it") {
  TestProgram program({2, 1});
  for (const std::uint32_t t : {0U, 1U}) program.barrier(t, 10, {test::reads(0), test::reads(1)});
  const TraceFile only_read(program);
  program.barrier_of_all({{10}, {10, {test::writes(5)}}});
  const TraceFile written(program);
  const auto arguments = [](const TraceFile& trace, const std::string& options) {
    return trace.arguments("p3-jiajia") + " -n 2 --protocol jiajia --fork broadcast " + options;
  };
  const json result =
      json_of("simulate", arguments(only_read, "--privatize block --quirks first-page-stays,empty-diffs-travel"));
  CHECK(result["options"]["privatized"] == json{"block"});
  CHECK(result["options"]["fork"] == "broadcast");
  CHECK(result["options"]["quirks"] == json{"empty-diffs-travel", "first-page-stays"});
  CHECK(result["threads"][1]["faults"]["RUMR"] == 0);
  for (const auto& [trace, name, words] :
       {std::tuple{&only_read, "blocks", "has no 'blocks'. It has block"},
        std::tuple{&written, "block", "thread 1 writes page 5 of 'block' in a parallel region"}}) {
    check_refused("simulate", arguments(*trace, std::string("--privatize ") + name), words);
  }
}

TEST_CASE("mismatched barriers fail the run and keep the old result") {
  TestProgram program({2, 1});
  program.joins = false;
  program.barrier(0, 10);
  const TraceFile trace(program);
  const TemporaryFile old("{\"old\": 1}", ".json");
  const Outcome run = sdsm_command("simulate", trace.arguments() + " --nodes 2 --json " + in_quotes(old));
  CAPTURE(run.errors);
  CHECK(run.status == 1);
  CHECK(run.errors.rfind("sdsm: the simulated program stopped", 0) == 0);
  CHECK(test::read_text(old.path()) == "{\"old\": 1}");
}

TEST_CASE("a failed program's trace is simulated with a warning") {
  const TraceFile trace;
  write_trace(small_program(), trace.path(), 3);
  const Outcome run = sdsm_command("simulate", trace.arguments() + " --nodes 2 --compute-factor 1");
  CHECK(run.status == 0);
  CHECK(one_line_of_ours(run.errors));
  CHECK(contains(run.errors, "ended with status 3"));
}

TEST_CASE("the table marks extrapolated costs with a footnote") {
  const TraceFile trace;
  PlatformText other;
  other.properties.erase("barrier.2x1");
  const TemporaryFile platform(other.text());
  const Outcome marked = sdsm_command("simulate", trace.arguments(in_quotes(platform)) + " -n 2");
  CAPTURE(marked.output);
  CHECK(marked.status == 0);
  CHECK(contains(marked.output, " barrier* "));
  CHECK(contains(marked.output, " lock "));
  CHECK(contains(marked.output, "\n* extrapolated"));
  CHECK_FALSE(contains(sdsm_command("simulate", trace.arguments() + " -n 2").output, "*"));
}

TEST_CASE("a memory bus for other thread counts is marked as extrapolated") {
  const TraceFile trace;
  const TemporaryFile platform(PlatformText{{"memory-bus.4", "2.5"}}.text());
  const std::string arguments = trace.arguments(in_quotes(platform)) + " -n 1 -t 2 --memory-bound 0.5";
  const Outcome marked = sdsm_command("simulate", arguments);
  CAPTURE(marked.output, marked.errors);
  CHECK(marked.status == 0);
  CHECK(contains(marked.output, " compute* "));
  CHECK(contains(marked.output, "\n* extrapolated: no memory-bus was measured on 1x2"));
  CHECK(contains(marked.errors, "gives no memory-bus cost for 1x2"));
  const json result = json::parse(sdsm_command("simulate", arguments + " --json -").output);
  CHECK(result.at("options").at("memory_bound") == 0.5);
  CHECK(result.at("extrapolated") == json{"memory-bus"});
}

TEST_CASE("simulate --uncertainty prints a band, writes its draws, and repeats exactly") {
  const TraceFile trace;
  const TemporaryFile platform(
      PlatformText{{"fault.RUMR.standard-error", "20us"}, {"barrier.2x1.standard-error", "10us"}}.text());
  const std::string network = GENERATE(as<std::string>{}, "queue", "simgrid");
  const std::string arguments = trace.arguments(in_quotes(platform)) + " -n 2 --compute-factor 1 --network " + network;
  const Outcome plain = sdsm_command("simulate", arguments + " --json -");
  const Outcome first = sdsm_command("simulate", arguments + " --uncertainty 20 --seed 3 --json -");
  CAPTURE(first.errors);
  REQUIRE(first.status == 0);
  CHECK(contains(first.errors, "note: the band holds"));
  CHECK(first.output == sdsm_command("simulate", arguments + " --uncertainty 20 --seed 3 --json -").output);
  CHECK_FALSE(json::parse(plain.output).contains("uncertainty"));
  const json result = json::parse(first.output);
  CHECK(result.at("makespan_s") == json::parse(plain.output).at("makespan_s"));
  const json& band = result.at("uncertainty");
  check_has(band, {{"samples", 20}, {"refused", 0}, {"holds", json({"standard errors"})}});
  CHECK(band.at("standard_errors").size() == 2);
  CHECK(band.at("standard_errors").at("fault.RUMR").get<double>() == Approx(20e-6));
  CHECK(band.at("standard_errors").at("barrier.2x1").get<double>() == Approx(10e-6));
  REQUIRE(band.at("draws").size() == 20);
  std::vector<double> times;
  for (const json& draw : band.at("draws")) {
    times.push_back(draw.at("makespan_s"));
    CHECK(draw.at("parameters").size() == 2);
  }
  std::sort(times.begin(), times.end());
  CHECK(times.front() < band.at("low_5_percent_s").get<double>());
  CHECK(band.at("median_s").get<double>() == Approx((times[9] + times[10]) / 2));
  CHECK(times.back() > band.at("high_95_percent_s").get<double>());
  const Outcome report = sdsm_command("simulate", arguments + " --uncertainty 20 --jitter 0.1");
  CHECK(contains(report.output, "20 draws of its costs: median"));
  const Outcome jittered = sdsm_command("simulate", arguments + " --uncertainty 20 --jitter 0.1 --json -");
  for (const std::string& said : {report.errors, jittered.errors}) {
    CHECK(contains(said, "standard errors of 2 costs, and the jitter"));
    CHECK(contains(said, "leaves out costs without one, errors of the model"));
  }
  CHECK(json::parse(jittered.output).at("uncertainty").at("holds") == json({"standard errors", "jitter"}));
}

TEST_CASE("simulate --uncertainty with runs says that the band is a single run's") {
  const TraceFile trace;
  const TemporaryFile platform(PlatformText{
      {"fault.RUMR.standard-error", "20us"},
      {"barrier.2x1.runs", "600us 661us 800us"},
      {"barrier.2x1.standard-error",
       "10us"}}.text());
  const std::string arguments =
      trace.arguments(in_quotes(platform)) + " -n 2 --compute-factor 1 --uncertainty 20 --json -";
  const Outcome mixed = sdsm_command("simulate", arguments);
  CAPTURE(mixed.errors);
  REQUIRE(mixed.status == 0);
  CHECK(contains(mixed.errors,
                 "the band is that of a single run: it holds how 1 cost differs from run to run, and the "
                 "standard error of 1 cost. It leaves out"));
  const json band = json::parse(mixed.output).at("uncertainty");
  CHECK(band.at("holds") == json({"standard errors", "runs"}));
  CHECK(band.at("standard_errors").size() == 2);
  REQUIRE(band.at("runs").size() == 1);
  REQUIRE(band.at("runs").at("barrier.2x1").size() == 3);
  CHECK(band.at("runs").at("barrier.2x1")[1].get<double>() == Approx(661e-6));
  // A given cost is exact: the others are as without runs.
  const Outcome exact = sdsm_command("simulate", arguments + " --set barrier.2x1=661us");
  CHECK(json::parse(exact.output).at("uncertainty").at("holds") == json({"standard errors"}));
  CHECK_FALSE(json::parse(exact.output).at("uncertainty").contains("runs"));
  CHECK_FALSE(contains(exact.errors, "single run"));
}

TEST_CASE("simulate --uncertainty reports the share of time with costs taken as exact") {
  const TraceFile trace;
  const auto outcome_with = [&](const std::string& uncertain) {
    const TemporaryFile platform(PlatformText{{uncertain + ".standard-error", "1us"}}.text());
    return sdsm_command("simulate",
                        trace.arguments(in_quotes(platform)) + " -n 2 --sequential-time 1ms --uncertainty 10 --json -");
  };
  const Outcome with_barrier = outcome_with("barrier.2x1"), with_fault = outcome_with("fault.RUMR");
  const Outcome with_others_barrier = outcome_with("barrier.4x1");
  REQUIRE(with_barrier.status == 0);
  double all = 0, computing = 0, barriers = 0, fetches = 0;
  const json result = json::parse(with_barrier.output);
  for (const json& thread : result.at("threads")) {
    for (const auto& [item, time] : thread.at("time_s").items()) {
      if (item != "fault") all += time.get<double>();
    }
    for (const auto& [kind, time] : thread.at("time_s").at("fault").items()) all += time.get<double>();
    computing += thread.at("time_s").at("compute").get<double>();
    barriers += thread.at("time_s").at("barrier").get<double>();
    fetches += thread.at("time_s").at("fault").at("RUMR").get<double>();
  }
  REQUIRE(std::min({computing, barriers, fetches}) > 0.06 * all);
  const auto tells = [&](const Outcome& run, std::string_view what, double part) {
    CAPTURE(run.errors);
    return contains(run.errors, fmt::format("{} {:.0f} %", what, 100 * part / all));
  };
  CHECK(tells(with_barrier, "computing", computing));
  CHECK(tells(with_barrier, "RUMR", fetches));
  CHECK_FALSE(contains(with_barrier.errors, "barriers"));
  CHECK(tells(with_fault, "barriers", barriers));
  // The barriers of other layouts are uncertain, those of two nodes are not.
  CHECK(tells(with_others_barrier, "barriers", barriers));
  CHECK_FALSE(contains(with_fault.errors, "RUMR"));
}

TEST_CASE("simulate --uncertainty refuses missing standard errors and impossible numbers") {
  const TraceFile trace;
  for (const auto& [arguments, named] :
       std::vector<std::pair<std::string, std::string>>{{" --uncertainty 20", "no standard error"},
                                                        {" --uncertainty 9", "from 10 to 10000"},
                                                        {" --uncertainty 10001", "from 10 to 10000"},
                                                        {" --uncertainty ten", "'ten' is not a whole number"},
                                                        {" --uncertainty", "--uncertainty"}}) {
    check_refused("simulate", trace.arguments() + " --nodes 2" + arguments, named);
  }
}

TEST_CASE("a prediction beyond the calibrated range says so") {
  TestProgram program({2, 1});
  program.pages = 4;
  program.barrier(0);
  program.barrier(1, 10, {test::writes(0, 0, 1, {300, 1})});  // a diff of 12 + 4 x 300 bytes
  const TraceFile trace(program);
  PlatformText text;
  const auto simulated = [&] {
    const TemporaryFile platform(text.text());
    return sdsm_command("simulate", trace.arguments(in_quotes(platform)) + " -n 2 --compute-factor 1 --json -");
  };
  CHECK(simulated().errors.empty());
  CHECK_FALSE(json::parse(simulated().output).contains("outside_calibration"));
  text.set("calibrated.nodes", "2");
  text.set("calibrated.threads-per-node", "1");
  text.set("calibrated.diff", "1212B");
  CHECK(simulated().errors.empty());
  CHECK(json::parse(simulated().output).at("outside_calibration") == json::array());
  text.set("calibrated.nodes", "1");
  Outcome run = simulated();
  CHECK(one_line_of_ours(run.errors));
  CHECK(contains(run.errors, "2 nodes are more than the 1"));
  CHECK(json::parse(run.output).at("outside_calibration") ==
        json::array({{{"what", "nodes"}, {"value", 2}, {"calibrated", 1}}}));
  text.set("calibrated.nodes", "2");
  text.set("calibrated.diff", "1211B");
  run = simulated();
  CHECK(one_line_of_ours(run.errors));
  CHECK(contains(run.errors, "a diff of 1212 bytes is larger than the 1211"));
  CHECK(json::parse(run.output).at("outside_calibration") ==
        json::array({{{"what", "diff_bytes"}, {"value", 1212}, {"calibrated", 1211}}}));
}

TEST_CASE("an output link stays, and its target is written, there or not") {
  const TraceFile trace;
  const auto target = trace.beside("target.json"), link = trace.beside("link.json"), far = trace.beside("far.json");
  if (GENERATE(true, false)) std::ofstream(target) << "old";
  std::filesystem::create_symlink("target.json", link);
  std::filesystem::create_symlink(link, far);
  CHECK(sdsm_command("simulate", trace.arguments() + " --nodes 2 --json " + in_quotes(far.string())).status == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(std::filesystem::is_symlink(far));
  CHECK_FALSE(std::filesystem::is_symlink(target));
  CHECK(json::parse(test::read_text(target)).at("nodes") == 2);

  const auto circle = trace.beside("circle.json"), astray = trace.beside("astray.json");
  std::filesystem::create_symlink("circle.json", circle);
  std::filesystem::create_symlink("no-folder/a.json", astray);
  for (const auto& wrong : {circle, astray}) {
    check_refused("simulate", trace.arguments() + " --nodes 2 --json " + in_quotes(wrong.string()), "");
  }
}

TEST_CASE("check, simulate and replay refuse a platform without routes") {
  const TraceFile trace;
  const std::string text = std::regex_replace(test::read_text(test::p3_score()), std::regex("<route [^\\n]*\\n"), "");
  const TemporaryFile platform(text, ".xml");
  const std::string path = in_quotes(platform);
  CHECK(sdsm_command("check", path).status == 2);
  CHECK(sdsm_command("replay", path).status == 2);
  CHECK(sdsm_command("simulate", in_quotes(trace.path().string()) + " -n 2 -p " + path).status == 2);
}

TEST_CASE("a platform that is irregular or too large is refused at once") {
  const TraceFile trace;
  const TemporaryFile huge("<platform/>");
  std::filesystem::resize_file(huge.path(), 65 << 20);  // a hole, which takes no room
  const auto pipe = trace.beside("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  // A command that reads on ends by its limit of memory, or after some seconds.
  const std::string limits = "sh -c 'ulimit -v 1000000; exec timeout 20 \"$@\"' limits ";
  for (const std::string& platform : {std::string("/dev/zero"), pipe.string(), huge.path().string()}) {
    const std::string path = in_quotes(platform);
    for (const std::string& command : {"sdsm-check' " + path, "sdsm-replay' " + path,
                                       "sdsm-simulate' " + in_quotes(trace.path().string()) + " -n 2 -p " + path}) {
      const Outcome run = test::run("LC_ALL=C", limits + "'" SDSM_BINARY_DIR "/" + command);
      CAPTURE(command, run.errors);
      CHECK(run.status == 2);
      CHECK(one_line_of_ours(run.errors));
      CHECK(contains(run.errors, platform));
    }
  }
}

TEST_CASE("replay tells an unusable platform from one that is too small") {
  const TemporaryFile still(test::with_cables("0Mbps"));
  refusal("replay", in_quotes(still), "'0Mbps'");
  PlatformText pair;
  pair.hosts = 2;
  const TemporaryFile small(pair.text());
  const Outcome skipped = sdsm_command("replay", in_quotes(small));
  CHECK(skipped.status == 0);
  CHECK(contains(skipped.errors, "sdsm: barrier.4x2: the platform has no room"));
  // A route is missing between two of the hosts that are used.
  const std::regex route("<route src=\"node-0\" dst=\"node-1\">.*?</route>");
  const TemporaryFile cut(std::regex_replace(PlatformText().text(), route, ""));
  refusal("replay", in_quotes(cut), "no route from 'node-0' to 'node-1'");
}

TEST_CASE("a timeline of several files overwrites no input, and no other output") {
  const TraceFile trace;
  write_trace(small_program(), trace.path(), 0);
  const auto platform = trace.beside("run.pcf");
  std::filesystem::copy_file(test::p3_score(), platform);
  const std::string timeline = " --timeline " + in_quotes(trace.beside("run.prv").string());
  check_refused("simulate", in_quotes(trace.path().string()) + " -q -n 2 -p " + in_quotes(platform.string()) + timeline,
                "run.pcf");
  check_refused("simulate",
                trace.arguments() + " -n 2" + timeline + " --json " + in_quotes(trace.beside("run.row").string()),
                "run.row");
}

TEST_CASE("check finds nothing wrong with the project's platforms") {
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(SDSM_SOURCE_DIR) / "platforms")) {
    if (entry.path().extension() != ".xml") continue;
    const Outcome run = sdsm_command("check", in_quotes(entry.path().string()));
    CAPTURE(entry.path().string(), run.errors);
    CHECK(run.status == 0);
    CHECK(run.errors.empty());
    CHECK(contains(run.output, "nothing found"));
  }
}

TEST_CASE("the starting platform in docs/platforms.md is complete") {
  const std::string page = test::read_text(std::filesystem::path(SDSM_SOURCE_DIR) / "docs" / "platforms.md");
  const std::string begin = "```xml\n";
  const std::size_t from = page.find(begin);
  REQUIRE(from != std::string::npos);
  const std::size_t text = from + begin.size();
  const TemporaryFile platform(page.substr(text, page.find("```", text) - text));
  const std::string path = in_quotes(platform);
  const Outcome checked = sdsm_command("check", path);
  CAPTURE(checked.errors);
  CHECK(checked.status == 0);
  CHECK(sdsm_command("replay", path + " --strict").status == 0);
  const TraceFile trace;
  const Outcome run = sdsm_command("simulate", trace.arguments(path) + " -n 2 --compute-factor 1");
  CAPTURE(run.errors);
  CHECK(run.status == 0);
  CHECK(run.errors.empty());
}

TEST_CASE("check reports what SimGrid would fail on") {
  struct Mistake {
    std::string what, instead, named;
  };
  const std::vector<Mistake> mistakes = {
      {"<route src=\"node-0\" dst=\"node-1\">.*?</route>", "", "no route from 'node-0' to 'node-1'"},
      {"(<route .*?</route>)", "$1$1", "route between node-0 and node-1 already exists"},
      {"link_ctn id=\"cable-0\"", "link_ctn id=\"cabel-0\"", "cabel-0"},
      {"dst=\"node-1\"", "dst=\"nodd-1\"", "nodd-1"},
      {"speed=\"[^\"]*\"", "speed=\"fast\"", "fast"},
      {"host id=\"node-1\"", "host id=\"node-0\"", "host 'node-0' is given twice"},
      {"link id=\"cable-1\"", "link id=\"cable-0\"", "link 'cable-0' is given twice"},
      {"bandwidth=\"100Mbps\"", "bandwidth=\"0Mbps\"", "cable-0"},
      {"bandwidth=\"100Mbps\"", "bandwidth=\"-1Mbps\"", "link 'cable-0' has the bandwidth '-1Mbps'"},
      {"bandwidth=\"100Mbps\"", "bandwidth=\"1e-300Mbps\"", "cable-0"},
      {"bandwidth=\"100Mbps\"", "bandwidth=\"1e300Mbps\"", "at most 1e+18"},
      {"bandwidth=\"100Mbps\"", "bandwidth=\"100Mbitps\"", "Mbitps"},
      {" latency=\"5us\"", " latency=\"-5us\"", "link 'cable-0' has the latency '-5us'"},
      {" latency=\"5us\"", " latency=\"1e300s\"", "cable-0"},
      {"core=\"2\"", "core=\"0\"", "host 'node-0' has no core"},
      {"core=\"2\"", "core=\"-2\"", "host 'node-0' has the core '-2'"},
      {"core=\"2\"", "core=\"two\"", "two"},
      {"version=\"4.1\"", "version=\"99\"", "99"},
      {"<host id=\"node-0\"", "<hots id=\"x\"/><host id=\"node-0\"", "XML"},
      {"<host id=\"node-0\"", "<host colour=\"red\" id=\"node-0\"", "colour"},
      {"<host id=\"node-0\"", "<host ", "id"},
      {"SPLITDUPLEX", "SPLITDPLX", "sharing_policy"},
      {"<(host|link|route)[^\n]*\n", "", "no host"},
      {"<link id", "<link bandwidth_file=\"slow.txt\" id", "link 'cable-0' changes during a run (bandwidth_file)"},
      {"<link id", "<link latency_file=\"slow.txt\" id", "link 'cable-0' changes during a run (latency_file)"},
      {"<link id", "<link state_file=\"off.txt\" id", "link 'cable-0' changes during a run (state_file)"},
      {"<host id", "<host speed_file=\"slow.txt\" id", "host 'node-0' changes during a run (speed_file)"},
      {"<host id", "<trace id=\"t\" periodicity=\"1\">0 1</trace><host id", "trace 't' changes during a run (<trace>)"},
      {"speed=\"", "pstate=\"1\" speed=\"1Gf,0f,", "Give one above zero that is finite"},
  };
  for (const Mistake& mistake : mistakes) {
    const bool everywhere = mistake.named == "no host";
    const std::string text =
        std::regex_replace(PlatformText().text(), std::regex(mistake.what), mistake.instead,
                           everywhere ? std::regex_constants::format_default : std::regex_constants::format_first_only);
    const TemporaryFile file(text);
    CAPTURE(mistake.what, mistake.instead);
    check_refused("check", in_quotes(file), mistake.named);
  }
}

TEST_CASE("check leaves alone what a platform has for other programs") {
  const std::vector<std::pair<std::string, std::string>> additions = {
      {"(<host id=\"node-0\"[^/]*)/>",
       "$1><prop id=\"wattage_per_state\" value=\"90:95\"/><prop id=\"ram\" value=\"1GB\"/></host>"},
      {"(<link id=\"cable-0\"[^/]*)/>", "$1><prop id=\"wattage_range\" value=\"100:200\"/></link>"},
      {"(<host id=\"node-0\"[^/]*)/>",
       "$1><disk id=\"d\" read_bw=\"1MBps\" write_bw=\"1MBps\"><prop id=\"size\" value=\"1TB\"/></disk></host>"},
      {"<prop id=\"fault.WROH\"", "<prop id=\"batsim.role\" value=\"master\"/><prop id=\"fault.WROH\""},
      {"<zone", "<config><prop id=\"network/model\" value=\"CM02\"/></config><zone"},
      {"<host id", "<link id=\"loop\" bandwidth=\"1000EBps\" latency=\"0us\"/><host id"},
      {"speed=\"1Gf\"", "speed=\"1Gf,0f,1e-9f\""},
  };
  for (const auto& [what, instead] : additions) {
    std::string text =
        std::regex_replace(PlatformText().text(), std::regex(what), instead, std::regex_constants::format_first_only);
    if (instead.find("loop") != std::string::npos)
      text = std::regex_replace(text, std::regex("<route "),
                                "<route src=\"node-0\" dst=\"node-0\"><link_ctn id=\"loop\"/></route><route ",
                                std::regex_constants::format_first_only);
    CAPTURE(what, instead);
    REQUIRE(text != PlatformText().text());
    const Outcome run = sdsm_command("check", in_quotes(TemporaryFile(text)));
    CHECK((run.status == 0 && run.errors.empty()));
  }
}

TEST_CASE("check tries the routes of some hosts of a large cluster") {
  const std::string without = std::regex_replace(PlatformText().text(), std::regex("<(host|link|route)[^\n]*\n"), "");
  const std::string text = std::regex_replace(without, std::regex("</zone>"),
                                              "<cluster id=\"c\" prefix=\"n-\" suffix=\"\" radical=\"0-9999\" "
                                              "speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\"/></zone>");
  const Outcome run = sdsm_command("check", in_quotes(TemporaryFile(text)));
  CHECK(run.status == 0);
  CHECK(contains(run.output, "10000 hosts (routes tried between 514)"));
}

TEST_CASE("every command reports a SimGrid abort in one line") {
  const TraceFile trace;
  const TemporaryFile twice(std::regex_replace(PlatformText().text(), std::regex("(<route .*?</route>)"), "$1$1"),
                            ".xml");
  const std::string path = in_quotes(twice);
  const Outcome run = sdsm_command("simulate", trace.arguments(path) + " -n 2");
  CAPTURE(run.errors);
  CHECK(run.status == 2);
  CHECK(one_line_of_ours(run.errors));
  CHECK(run.errors.find(twice.path().string() + ": SimGrid cannot use this file (The route between") !=
        std::string::npos);
  const Outcome replayed = sdsm_command("replay", path);
  CHECK(replayed.status == 2);
  CHECK(replayed.errors == run.errors);
  CHECK(contains(run.errors, "every pair of hosts needs a route, and one only"));
  CHECK(test::run("LC_ALL=C", "sh -c \"'" SDSM_BINARY_DIR "/sdsm-check' " + path + " 2>&-\"").status == 2);
  const TemporaryFile other(std::regex_replace(PlatformText().text(), std::regex("(<host )"), "<include file=\"x\"/>$1",
                                               std::regex_constants::format_first_only));
  CHECK(contains(sdsm_command("check", in_quotes(other)).errors, "). Mend or leave out what it names.\n"));
}

TEST_CASE("check refuses elements nested too deeply") {
  std::string deep = "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">";
  for (int i = 0; i < 200'000; ++i) deep += "<a>";
  for (int i = 0; i < 200'000; ++i) deep += "</a>";
  const TemporaryFile file(deep + "</zone></platform>");
  refusal("check", in_quotes(file), "deep");
}

TEST_CASE("check never crashes on a damaged platform") {
  std::mt19937_64 random(test::seed(1));
  const std::string whole = PlatformText().text();
  const std::uint64_t attempts = test::rounds(60);
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < attempts; ++i) {
    std::string text = whole;
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0: text.erase(at, 1 + random() % 30); break;
      case 1: text[at] = static_cast<char>(' ' + random() % 90); break;
      case 2: text.insert(at, text.substr(random() % text.size(), random() % 100)); break;
      default: {
        // A damaged number, which the XML does not show.
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) text[digit] = "-.e019xM"[random() % 8];
      }
    }
    const TemporaryFile file(text);
    const Outcome run = sdsm_command("check", in_quotes(file));
    CAPTURE(i, run.status, run.errors);
    CHECK((run.status == 0 || run.status == 2));
    if (run.status == 2) {
      ++found;
      CHECK(contains(run.errors, "sdsm: "));
    }
  }
  CHECK(found > attempts / 3);
}

TEST_CASE("check lists the properties, and requires a file or --properties") {
  const Outcome list = sdsm_command("check", "--properties");
  CHECK(list.status == 0);
  CHECK(contains(list.output, "fault.RUMR"));
  CHECK(contains(list.output, "barrier.NxT"));
  CHECK(contains(sdsm_command("check", "--help").output, "Limits: 65536 hosts"));
  CHECK(sdsm_command("check", "").status == 2);
  CHECK(sdsm_command("check", "--properties " + p3).status == 2);
  CHECK(sdsm_command("check", "a.xml b.xml").status == 2);
}

TEST_CASE("replay re-runs the requested sizes and layouts, and reports typing errors") {
  const auto rows_of = [](const std::string& arguments) { return json_of("replay", arguments + " " + p3).at("rows"); };
  const json sizes = rows_of("--only network --messages 1,4096,1 --streams 1460 --network simgrid");
  REQUIRE(sizes.size() == 3);
  CHECK(sizes[0].at("what") == "network.1");
  CHECK(sizes[1].at("what") == "network.4096");
  CHECK(sizes[2].at("what") == "network.stream.1460");
  CHECK(sizes[2].at("simulated_s").get<double>() == Approx(123.04e-6).epsilon(1e-9));
  const json layouts = rows_of("--only barrier,lock --layouts 3x1,4x2 --strict");
  CHECK(layouts.size() == 6 + 6 + 1);
  std::size_t not_given = 0;
  for (const json& row : layouts) {
    if (!row.at("given_s").is_null()) continue;
    ++not_given;
    CHECK((row.at("what") == "barrier.3x1" || row.at("what") == "lock.3x1"));
  }
  CHECK(not_given == 2);
  for (const std::string slip : {"--messages x", "--messages -1", "--messages 1.5", "--messages 99999999999999999999",
                                 "--streams ,", "--layouts 2", "--layouts 0x1", "--layouts 2x1x1", "--only nothing"}) {
    check_refused("replay", slip + " " + p3, "");
  }
}

TEST_CASE("replay reproduces p3's costs, and --strict fails at a gigabit") {
  CHECK(sdsm_command("replay", p3 + " --strict").status == 0);
  CHECK(sdsm_command("replay", p3 + " --strict --network simgrid").status == 0);
  const TemporaryFile gigabit(test::with_cables("1Gbps"));
  const Outcome shown = sdsm_command("replay", in_quotes(gigabit) + " --json -");
  CHECK(shown.status == 0);
  CHECK(json::parse(shown.output).at("rows").size() == fault_kinds + 10 + 7 + 3);
  CHECK(sdsm_command("replay", in_quotes(gigabit) + " --strict").status == 1);
  check_refused("replay", "no-such.xml", "");
}
