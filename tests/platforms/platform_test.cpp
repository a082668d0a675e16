/// The reader of platform files: what it reads, and that each mistake is reported with its line.

#include "platforms/file/platform.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <random>

#include "tests/campaign.hpp"
#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"

using namespace sdsm;
using namespace sdsm::test;

namespace {

std::vector<std::string> findings_of(const std::string& text) {
  const TemporaryFile file(text);
  try {
    read_platform(file.path());
    return {};
  } catch (const PlatformError& error) {
    return error.findings();
  }
}

/// "file:LINE: ..." -> LINE; 0 if there is none.
int line_of(const std::string& finding) {
  const std::size_t after = finding.find(".xml:");
  return after == std::string::npos ? 0 : std::atoi(finding.c_str() + after + 5);
}

/// The text's only finding.
std::string finding_in(const std::string& text) {
  const auto findings = findings_of(text);
  REQUIRE(findings.size() == 1);
  return findings.front();
}

/// A text in which the line that contains `what` was replaced, and the number of that line.
struct Edited {
  std::string text;
  int line;
};
Edited with_line(const std::string& what, const std::string& instead) {
  std::string text = PlatformText().text();
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  const std::size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at);
  const int line =
      1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
  return {text.replace(begin, end - begin, instead), line};
}

/// The only finding, which is in the edited line.
std::string finding_in(const Edited& edited) {
  const std::string finding = finding_in(edited.text);
  CHECK(line_of(finding) == edited.line);
  return finding;
}

std::string with_property(const std::string& id, const std::string& value) {
  return fmt::format("<prop id=\"{}\" value=\"{}\"/>", id, value);
}

}  // namespace

TEST_CASE("the Pentium III cluster's platform is read exactly") {
  const Costs costs = read_platform(p3_score()).costs;
  const auto fault = [&](FaultKind kind) { return costs.fault[static_cast<std::size_t>(kind)]; };
  CHECK(fault(FaultKind::WROH) == us(8));
  CHECK(fault(FaultKind::WROL) == us(44));
  CHECK(fault(FaultKind::WROR) == us(51));
  CHECK(fault(FaultKind::WRWH) == us(7));
  CHECK(fault(FaultKind::WRWL) == us(16));
  CHECK(fault(FaultKind::WRWR) == us(24));
  CHECK(fault(FaultKind::WUMR) == us(599));
  CHECK(fault(FaultKind::RRWR) == us(25));
  CHECK(fault(FaultKind::RROR) == us(18));
  CHECK(fault(FaultKind::RUMR) == us(587));
  CHECK(costs.message_fixed == us(61.66));
  CHECK(costs.message_per_byte == us(0.181919));
  CHECK(costs.barrier.size() == 5);
  CHECK(costs.barrier.at({2, 1}) == us(661));
  CHECK(costs.barrier.at({1, 2}) == us(225));
  CHECK(costs.barrier.at({4, 1}) == us(7305));
  CHECK(costs.barrier.at({4, 2}) == us(17631));
  CHECK(costs.lock.at({4, 2}) == us(204));
  CHECK(costs.reference.size() == 2);
  CHECK(costs.reference[0].bandwidth.bytes_per_second == 12.5e6);
  CHECK(costs.reference[1].latency == us(5));
  CHECK(costs.interrupt_delay == Time{});
  CHECK(costs.memory_bus.empty());
  CHECK(costs.invalidation == Invalidation::all);
}

TEST_CASE("a misspelt property is an error with its line and correction") {
  const Edited edited = with_line("fault.RUMR", "<prop id=\"fault.RMUR\" value=\"587us\"/>");
  const auto findings = findings_of(edited.text);
  REQUIRE(findings.size() == 2);  // the wrong one, and that fault.RUMR is missing now
  CHECK(line_of(findings[0]) == edited.line);
  CHECK(findings[0].find("unknown property 'fault.RMUR'") != std::string::npos);
  CHECK(findings[0].find("fault.RUMR") != std::string::npos);
  CHECK(findings[1].find("missing property fault.RUMR") != std::string::npos);
}

TEST_CASE("each unusable value is an error with its line") {
  struct Mistake {
    std::string id, value;
  };
  const auto mistake = GENERATE(values<Mistake>({
      {"fault.RUMR", "587"},
      {"fault.RUMR", ""},
      {"fault.RUMR", "-587us"},
      {"fault.RUMR", "587 usec"},
      {"fault.RUMR", "1e9s"},
      {"message.fixed", "61.66"},
      {"message.per-byte", "0.18us"},
      {"barrier.2x1", "661"},
      {"barrier.2x1", "nan us"},
      {"lock.2x1", "52 Us"},
      {"barrier.dirty-home-page", "B"},
      {"local-part.home-share", "1.1"},
      {"local-part.home-share", "-0.1"},
      {"local-part.home-share", "half"},
      {"local-part.home-share", "nan"},
      {"reference.bandwidth", "100"},
      {"reference.bandwidth", "0Mbps"},
      {"reference.latency", "5"},
      {"reference.links", "0"},
      {"reference.links", "1.5"},
      {"reference.links", "17"},
      {"reference.links", "two"},
      {"frame.payload", "0B"},
      {"frame.payload", "1460"},
      {"frame.overhead", "-1B"},
      {"frame.minimum", "84.5B"},
      {"protocol.invalidation", "some"},
      {"home.interrupt-delay", "soon"},
      {"noise.deviation", "-0.1"},
      {"noise.deviation", "1.1"},
      {"noise.deviation", "10%"},
      {"noise.duration", "0s"},
      {"noise.duration", "0.1"},
      {"noise.duration", "3601s"},
      {"memory-bus.2", "0.99"},
      {"memory-bus.2", "1001"},
      {"memory-bus.2", "1.5us"},
      {"memory-bus.2", "nan"},
      {"memory-bus.2", ""},
  }));
  CAPTURE(mistake.id, mistake.value);
  // The cluster's file tells nothing of its memory bus and noise: these lines take another optional one's place.
  const bool is_told = !mistake.id.starts_with("memory-bus") && !mistake.id.starts_with("noise");
  const std::string place = is_told ? mistake.id : "home.interrupt-delay";
  CHECK_THAT(finding_in(with_line(fmt::format("\"{}\"", place), with_property(mistake.id, mistake.value))),
             ContainsSubstring(fmt::format("'{}'", mistake.id)));
}

TEST_CASE("a barrier's shape is flat or tree, by default flat") {
  const auto shape_of = [](const char* value) {
    PlatformText text;
    if (value != nullptr) text.set("barrier.shape", value);
    const TemporaryFile file(text.text());
    return read_platform(file.path()).costs.barrier_shape;
  };
  CHECK(shape_of(nullptr) == BarrierShape::flat);
  CHECK(shape_of("flat") == BarrierShape::flat);
  CHECK(shape_of("tree") == BarrierShape::tree);
  for (const char* wrong : {"", "Tree", "ring", "2"}) {
    PlatformText text{{"barrier.shape", wrong}};
    CHECK_THAT(finding_in(text.text()), ContainsSubstring(fmt::format("'{}' is neither 'flat' nor 'tree'", wrong)));
  }
  CHECK(describe_properties().find("barrier.shape") != std::string::npos);
}

TEST_CASE("standard errors, correlation and calibrated range are read in any order") {
  PlatformText text{{"barrier.4x1.standard-error", "12us"}, {"barrier.2x1.standard-error", "0.5ms"}};
  text.set("fault.RUMR.standard-error", "0.2ps");  // less than a picosecond is not nothing
  text.set("local-part.home-share.standard-error", "0.02");
  text.set("message.fixed.standard-error", "2us");
  text.set("message.per-byte.standard-error", "0.3ps/B");
  text.set("message.correlation", "-0.83");
  text.set("reference.bandwidth.standard-error", "0Mbps");
  text.set("calibrated.nodes", "4");
  text.set("calibrated.threads-per-node", "2");
  text.set("calibrated.diff", "1036B");
  const TemporaryFile file(text.text());
  const Platform platform = read_platform(file.path());
  std::vector<std::pair<std::string, double>> found;
  for (const UncertainCost& cost : platform.uncertain) found.emplace_back(cost.property, cost.standard_error);
  const std::vector<std::pair<std::string, double>> expected{
      {"fault.RUMR", 0.2e-12},         {"message.fixed", 2e-6},    {"message.per-byte", 0.3e-12},
      {"local-part.home-share", 0.02}, {"reference.bandwidth", 0}, {"barrier.2x1", 0.5e-3},
      {"barrier.4x1", 12e-6}};
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].first == expected[i].first);
    CHECK(found[i].second == Approx(expected[i].second));
  }
  CHECK(platform.message_correlation == -0.83);
  CHECK(platform.calibrated.nodes == 4U);
  CHECK(platform.calibrated.threads_per_node == 2U);
  CHECK(platform.calibrated.diff == Bytes{1036});
  CHECK(read_platform(p3_score()).uncertain.empty());
  CHECK_FALSE(read_platform(p3_score()).calibrated.is_known());
}

namespace {

Platform with_settings(const PlatformText& text, const std::vector<std::string>& settings,
                       WireModel model = WireModel::store_and_forward) {
  const TemporaryFile file(text.text());
  return read_platform(file.path(), {settings, model});
}

std::string refusal_of(const PlatformText& text, const std::vector<std::string>& settings) {
  try {
    with_settings(text, settings);
    return {};
  } catch (const PlatformError& error) {
    REQUIRE(error.findings().size() == 1);
    return error.findings().front();
  }
}

Time fault_of(const Platform& platform, FaultKind kind) {
  return platform.costs.fault[static_cast<std::size_t>(kind)];
}

}  // namespace

TEST_CASE("costs get a value or factor from --set and report changes") {
  const Platform platform = with_settings(
      {}, {"fault.RUMR=900us", "lock.4x?=x2", "message.fixed=x1.5", "barrier.8x1=9ms", "barrier.dirty-home-page=x0"});
  CHECK(fault_of(platform, FaultKind::RUMR) == us(900));
  CHECK(fault_of(platform, FaultKind::WUMR) == us(599));
  CHECK(platform.costs.lock.at({4, 1}) == us(148));
  CHECK(platform.costs.lock.at({4, 2}) == us(408));
  CHECK(platform.costs.lock.at({2, 1}) == us(52));
  CHECK(platform.costs.message_fixed == us(92.49));
  CHECK(platform.costs.barrier.at({8, 1}) == us(9000));
  CHECK(platform.costs.dirty_home_page == Time{});
  CHECK(platform.notes.empty());
  std::vector<std::string> reported;
  for (const PlatformChange& one : platform.changes)
    reported.push_back(fmt::format("{} {} {}", one.property, one.was.value_or("-"), one.is));
  std::sort(reported.begin(), reported.end());
  CHECK(reported == std::vector<std::string>{"barrier.8x1 - 9ms", "barrier.dirty-home-page 18.95us 0us",
                                             "fault.RUMR 587us 900us", "lock.4x1 74us 148us", "lock.4x2 204us 408us",
                                             "message.fixed 61.66us 92.49us"});
}

TEST_CASE("several settings of one cost act in their order") {
  CHECK(fault_of(with_settings({}, {"fault.WROH=x2", "fault.*=x3"}), FaultKind::WROH) == us(48));
  CHECK(fault_of(with_settings({}, {"fault.WROH=20us", "fault.*=x3"}), FaultKind::WROH) == us(60));
  CHECK(fault_of(with_settings({}, {"fault.WROH=x3", "fault.WROH=20us"}), FaultKind::WROH) == us(20));
}

TEST_CASE("a fault of half a second is accepted after a question") {
  const Platform slip = with_settings({}, {"fault.RUMR=587ms"});
  CHECK(fault_of(slip, FaultKind::RUMR) == us(587000));
  REQUIRE(slip.notes.size() == 1);
  CHECK(slip.notes[0].find(": warning: fault.RUMR is 587 ms, and on no known cluster is it more than 50 ms") !=
        std::string::npos);
  CHECK(with_settings({}, {"fault.RUMR=50ms"}).notes.empty());
}

TEST_CASE("a fault's parts sum to its cost") {
  const std::string part = GENERATE("fault.cold", "fault.trap", "fault.first-copy", "fault.first-write");
  const Platform slip = with_settings({}, {part + "=60ms"});
  REQUIRE(slip.notes.size() == 1);
  CHECK(slip.notes[0].find(": warning: " + part + " is 60 ms, and on no known cluster is it more than 50 ms") !=
        std::string::npos);
}

TEST_CASE("a cost of over a quarter of an hour is refused") {
  const std::string cost = GENERATE("fault.RUMR", "fault.first-write", "message.fixed", "barrier.2x1", "lock.2x1",
                                    "barrier.further-run", "home.interrupt-delay");
  CHECK_NOTHROW(with_settings({}, {cost + "=1000s"}));
  CHECK_THROWS_WITH(
      with_settings({}, {cost + "=1000.1s"}),
      ContainsSubstring("'1000.1s' is more than 1000 s, and nothing that a cluster does takes as long. Look at"));
  CHECK_THROWS_WITH(with_settings({}, {"message.per-byte=1500000us/B"}), ContainsSubstring("more than 1 s/B"));
}

TEST_CASE("a frame or message of over a gigabyte is refused") {
  const std::string size = GENERATE("frame.payload", "frame.overhead", "frame.minimum");
  CHECK_NOTHROW(with_settings({}, {size + "=1073741824B"}));
  CHECK_THROWS_WITH(with_settings({}, {size + "=1073741825B"}), ContainsSubstring("'1073741825B' is more than 1 GiB"));
}

TEST_CASE("half a fault halves its processor part where messages are longer") {
  // p3-score, store and forward: the request takes 2 x 110 B / 12.5 MB/s + 2 x 5 us = 27.6 us; the page (4330 B in
  // frames of 1538 B) 346.4 + 123.04 + 10 = 479.44 us. So of RUMR's 587 us 507.04 are messages, and 79.96 the
  // processors'.
  const Platform half = with_settings({}, {"fault.*=x0.5"});
  CHECK(fault_of(half, FaultKind::RUMR) == us(507.04 + 39.98));
  CHECK(fault_of(half, FaultKind::WUMR) == us(507.04 + 45.98));
  CHECK(fault_of(half, FaultKind::WROH) == us(4));
  REQUIRE(half.notes.size() == 1);
  CHECK(half.notes[0].find("fault.WUMR (messages 507.04 us), fault.RUMR (messages 507.04 us)") != std::string::npos);
  const auto rumr = std::find_if(half.changes.begin(), half.changes.end(),
                                 [](const PlatformChange& one) { return one.property == "fault.RUMR"; });
  CHECK(rumr->was == "587us");
  CHECK(rumr->is == "547.02us");
  // SimGrid's flows: (110 + 4330) B / 12.5 MB/s + 20 us = 375.2 us, so 211.8 are the processors'.
  const Platform flow = with_settings({}, {"fault.RUMR=x0.5"}, WireModel::flow);
  CHECK(fault_of(flow, FaultKind::RUMR) == us(375.2 + 105.9));
  // Where half is more than the messages, it is half.
  CHECK(fault_of(with_settings({}, {"fault.RUMR=x0.9"}), FaultKind::RUMR) == us(528.3));
}

TEST_CASE("assumed costs are named one by one, or by their beginning") {
  const auto assumed = [](const char* names) {
    const TemporaryFile file(PlatformText{{"costs.assumed", names}}.text());
    return read_platform(file.path()).assumed;
  };
  CHECK(assumed("fault.WROL  message.*") ==
        std::vector<std::string>{"fault.WROL", "message.fixed", "message.per-byte"});
  CHECK(assumed("").empty());
  // What the user gives is no assumption of the file's.
  const TemporaryFile file(PlatformText{{"costs.assumed", "fault.WROL message.fixed"}}.text());
  CHECK(read_platform(file.path(), {{"fault.WROL=50us"}}).assumed == std::vector<std::string>{"message.fixed"});
  for (const char* wrong : {"fault.WRONG", "jiajia.*", "fault.WROH lock.9x9"}) {
    const std::string finding = finding_in(PlatformText{{"costs.assumed", wrong}}.text());
    CHECK_THAT(finding, ContainsSubstring("which is not in this file. Leave it out"));
  }
  const std::string finding = finding_in(PlatformText{{"costs.assumed", "local-part.home-share"}}.text());
  CHECK_THAT(finding, ContainsSubstring("whose share of the time no result can report"));
}

TEST_CASE("a factor multiplies a cost's standard error, a value drops it") {
  PlatformText text{{"fault.RUMR.standard-error", "4us"},
                    {"fault.WUMR.standard-error", "6us"},
                    {"message.fixed.standard-error", "2us"},
                    {"message.per-byte.standard-error", "1ns/B"},
                    {"message.correlation", "0.5"}};
  const auto errors = [&](const std::vector<std::string>& settings) {
    std::map<std::string, double> found;
    for (const UncertainCost& one : with_settings(text, settings).uncertain) found[one.property] = one.standard_error;
    return found;
  };
  auto found = errors({"fault.*=x2", "message.fixed=100us", "fault.WUMR.standard-error=1us"});
  CHECK(found.at("fault.RUMR") == Approx(8e-6));
  CHECK(found.at("fault.WUMR") == Approx(1e-6));
  CHECK(found.at("message.fixed") == 0);
  CHECK(found.at("message.per-byte") == Approx(1e-9));
}

TEST_CASE("each run's costs are read and give their standard error") {
  PlatformText text{{"fault.RUMR.runs", "580us  590us\n0.6ms"},
                    {"fault.RUMR.standard-error", "4us"},
                    {"message.per-byte.runs", "1ns/B 2ns/B 6ns/B"},
                    {"lock.02x1.runs", "50us 52us 54us"}};
  text.set("lock.02x1", text.properties.extract("lock.2x1").mapped());
  const TemporaryFile file(text.text());
  const Platform platform = read_platform(file.path());
  REQUIRE(platform.uncertain.size() == 3);
  const auto check = [&](std::size_t at, const std::string& property, double error, const std::vector<double>& runs) {
    const UncertainCost& one = platform.uncertain[at];
    CHECK(one.property == property);
    CHECK(one.standard_error == Approx(error));
    REQUIRE(one.runs.size() == runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) CHECK(one.runs[i] == Approx(runs[i]));
  };
  check(0, "fault.RUMR", 4e-6, {580e-6, 590e-6, 600e-6});
  check(1, "message.per-byte", std::sqrt(7. / 3) * 1e-9, {1e-9, 2e-9, 6e-9});  // deviations -2, -1, 3
  check(2, "lock.2x1", std::sqrt(4. / 3) * 1e-6, {50e-6, 52e-6, 54e-6});
  CHECK(describe_properties().find("X.runs") != std::string::npos);
}

TEST_CASE("a factor multiplies a cost's runs, a given value drops them") {
  PlatformText text;
  for (const std::string cost : {"fault.RUMR", "fault.WUMR", "fault.WROH", "fault.WROL"}) {
    text.set(cost + ".standard-error", "1us");
    text.set(cost + ".runs", "10us 20us 30us");
  }
  text.set("lock.2x1.runs", "50us 52us 54us");
  const auto runs = [&](const std::vector<std::string>& settings) {
    std::map<std::string, std::pair<double, std::size_t>> found;  // second run in us, and how many
    for (const UncertainCost& one : with_settings(text, settings).uncertain) {
      found[one.property] = {one.runs.empty() ? 0 : one.runs[1] * 1e6, one.runs.size()};
    }
    return found;
  };
  using Found = std::pair<double, std::size_t>;
  auto found = runs({"fault.*=x2", "fault.WUMR=700us", "fault.WROH.standard-error=3us", "lock.2x1=60us"});
  CHECK(found.at("fault.RUMR") == Found{40, 3});
  CHECK(found.at("fault.WUMR") == Found{0, 0});
  CHECK(found.at("fault.WROH") == Found{0, 0});
  CHECK(found.at("fault.WROL") == Found{40, 3});
  CHECK_FALSE(found.contains("lock.2x1"));
  found = runs({"fault.W*.runs=x3", "fault.RUMR.runs=1us 5us 9us"});
  CHECK(found.at("fault.RUMR").first == Approx(5));
  CHECK(found.at("fault.WROL").first == Approx(60));
  const Platform reported = with_settings(text, {"fault.RUMR.runs=x2"});
  REQUIRE(reported.changes.size() == 1);
  CHECK(reported.changes[0].property == "fault.RUMR.runs");
  CHECK(reported.changes[0].is == "20us 40us 60us");
}

TEST_CASE("the network's --set gives all links a value or factor") {
  const Platform faster = with_settings({}, {"network.bandwidth=1Gbps", "network.latency=x4"});
  CHECK(faster.bandwidth.of(12.5e6) == 125e6);
  CHECK(faster.latency.of(5e-6) == Approx(20e-6));
  REQUIRE(faster.changes.size() == 2);
  CHECK(faster.changes[0].was == "100Mbps");
  CHECK(faster.changes[0].is == "1Gbps");
  CHECK(faster.changes[1].is == "20us");
  CHECK(faster.costs.reference.front().bandwidth.bytes_per_second == 12.5e6);
  PlatformText mixed;
  mixed.other_bandwidth[1] = "1Gbps";
  const Platform twice = with_settings(mixed, {"network.bandwidth=x2"});
  CHECK(twice.changes[0].was == "100Mbps to 1Gbps");
  CHECK(twice.changes[0].is == "200Mbps to 2Gbps");
  CHECK(refusal_of(mixed, {"network.bandwidth=1Gbps"}).find("links have from 100Mbps to 1Gbps. Give a factor") !=
        std::string::npos);
  PlatformText alone;
  alone.hosts = 0;
  CHECK(refusal_of(alone, {"network.latency=x2"}).find("no link") != std::string::npos);
}

TEST_CASE("an impossible setting is refused with names or reason") {
  struct Mistake {
    std::string setting, reported;
  };
  const auto mistake = GENERATE(values<Mistake>({
      {"fault.RMUR=300us", "Nearest: fault.RUMR, "},
      {"fualt.*=x0.5", "Nearest: fault."},
      {"network.bandwith=1Gbps", "Nearest: network.bandwidth, "},
      {"fault.RUMR=300", "'300' is not a time: it has no unit"},
      {"fault.RUMR=0.5x", "'0.5x' is not a time"},
      {"fault.RUMR=x-1", "'x-1' is not a time"},
      {"fault.RUMR=xnan", "'xnan' is not a time"},
      {"network.bandwidth=1", "'1' is not a bandwidth: it has no unit"},
      {"network.latency=20", "it has no unit"},
      {"network.bandwidth=x0", "at least 1"},
      {"network.latency=2h", "at most 3600 s"},
      {"barrier.8x1=x2", "nothing to multiply"},
      {"protocol.invalidation=x2", "'all' is no number to multiply"},
      {"local-part.home-share=x4", "'2' is not a number from 0 to 1"},
      {"local-part.waiting-share=10.1", "'10.1' is not a number from 0 to 10"},
      {"fault.first-copy=-1us", "negative"},
      {"fault.first-write=-1us", "negative"},
      {"fault.trap=soon", "'soon' is not a time"},
      {"calibrated.*=x2", "there is no such property, nor is one that the file gives"},
      {"fault.RUMR", "is no KEY=VALUE"},
      {"=3us", "is no KEY=VALUE"},
      {"fault.RUMR=", "is no KEY=VALUE"},
      {"", "is no KEY=VALUE"},
  }));
  const std::string reported = refusal_of({}, {mistake.setting});
  CAPTURE(mistake.setting, reported);
  CHECK(reported.rfind("--set", 0) == 0);
  CHECK(reported.find(mistake.reported) != std::string::npos);
}

TEST_CASE("a number without unit over many costs is reported once") {
  CHECK(refusal_of({}, {"fault.*=0.5"}) ==
        "--set 'fault.*=0.5': '0.5' is not a time: it has no unit. Write a number and one of the units s, ms, us, ns, "
        "ps, "
        "min, h. To multiply by it, write 'fault.*=x0.5'.");
}

TEST_CASE("an impossible standard error is a finding with its line") {
  struct Mistake {
    std::string id, value, reported;
  };
  const auto mistake = GENERATE(values<Mistake>({
      {"fault.RUMR.standard-error", "-1us", "negative"},
      {"fault.RUMR.standard-error", "1", "no unit"},
      {"fault.RUMR.standard-error", "1us/B", "not a unit"},
      {"fault.RUMR.standard-error", "nan us", "not"},
      {"message.per-byte.standard-error", "1us", "not a unit"},
      {"reference.bandwidth.standard-error", "1us", "not a unit"},
      {"local-part.home-share.standard-error", "-0.1", "not a number"},
      {"local-part.home-share.standard-error", "1us", "not a number"},
      {"barrier.8x1.standard-error", "1us", "there is no 'barrier.8x1'"},
      {"memory-bus.4.standard-error", "0.1", "there is no 'memory-bus.4'"},
      {"memory-bus.1.standard-error", "0.1", "names no number of threads"},
      {"barrier.8.standard-error", "1us", "names no layout"},
      {"fault.RMUR.standard-error", "1us", "Did you mean 'fault.RUMR.standard-error'"},
      {"frame.payload.standard-error", "1B", "unknown property"},
      {"fault.RUMR.runs", "1us 2us", "2 runs. Give 3 to 100"},
      {"fault.RUMR.runs", "", "0 runs. Give 3 to 100"},
      {"fault.RUMR.runs", "1us 2us -3us", "negative"},
      {"fault.RUMR.runs", "1 us 2 us 3 us", "no unit"},
      {"fault.RUMR.runs", "1us, 2us, 3us", "not a unit"},
      {"lock.2x1.runs", "1us 2us 3us/B", "not a unit"},
      {"barrier.8x1.runs", "1us 2us 3us", "there is no 'barrier.8x1'"},
      {"barrier.8.runs", "1us 2us 3us", "names no layout"},
      {"fault.RMUR.runs", "1us 2us 3us", "Did you mean 'fault.RUMR.runs'"},
      {"frame.payload.runs", "1B 2B 3B", "unknown property"},
      {".standard-error", "1us", "unknown property"},
      {"calibrated.nodes", "0", "not a whole number"},
      {"calibrated.nodes", "4 nodes", "not a whole number"},
      {"calibrated.threads-per-node", "2.5", "not a whole number"},
      {"calibrated.diff", "1036", "no unit"},
  }));
  CAPTURE(mistake.id, mistake.value);
  const std::string finding = finding_in(with_line("frame.payload", with_property(mistake.id, mistake.value)));
  CAPTURE(finding);
  CHECK(finding.find(mistake.reported) != std::string::npos);
}

TEST_CASE("costs of different runs are one finding with both places") {
  PlatformText text{{"fault.RUMR.runs", "1us 2us 3us"},
                    {"lock.2x1.runs", "1us 2us 3us 4us"},
                    {"lock.4x1.runs", "1us 2us 3us 4us 5us"}};
  const auto line = [&](const std::string& id) {
    const std::string whole = text.text(), before = whole.substr(0, whole.find('"' + id + '"'));
    return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  };
  const std::string finding = finding_in(text.text());
  CHECK(line_of(finding) == line("lock.2x1.runs"));
  CHECK(finding.find(fmt::format("'lock.2x1.runs' tells 4 runs, but 'fault.RUMR.runs' in line {} tells 3",
                                 line("fault.RUMR.runs"))) != std::string::npos);
  CHECK(finding.find("Give all costs as many, or remove") != std::string::npos);
}

TEST_CASE("an impossible correlation of errors is a finding") {
  PlatformText text{{"message.correlation", "0.5"}, {"message.fixed.standard-error", "1us"}};
  CHECK_THAT(finding_in(text.text()), ContainsSubstring("there is no 'message.per-byte.standard-error'"));
  text.set("message.per-byte.standard-error", "1ns/B");
  CHECK(findings_of(text.text()).empty());
  for (const std::string value : {"1.01", "-1.01", "nan", "strong"}) {
    text.set("message.correlation", value);
    CHECK_THAT(finding_in(text.text()), ContainsSubstring("not a number from -1 to 1"));
  }
}

TEST_CASE("a property with an invalid layout is unknown") {
  const auto id = GENERATE(as<std::string>{}, "barrier.", "barrier.2", "barrier.2x", "barrier.x1", "barrier.0x1",
                           "barrier.2x0", "barrier.2x1x1", "barrier.-2x1", "barrier. 2x1", "barrier.2X1", "lock.2x1 ",
                           "barrier.99999999999x1", "barrier.65537x1", "fault.", "fault.rumr", "fault.RUMR ", "");
  CAPTURE(id);
  finding_in(with_line("barrier.4x2", with_property(id, "5us")));
}

TEST_CASE("a misnumbered layout is refused with the existing layouts") {
  const auto id = GENERATE(as<std::string>{}, "barrier.0x1", "barrier.2x0", "lock.-2x1", "lock.2X1", "barrier.65537x1");
  CAPTURE(id);
  const std::string finding = finding_in(with_line("barrier.4x2", with_property(id, "5us")).text);
  CHECK(finding.find("1 to 65536 nodes") != std::string::npos);
  CHECK(finding.find("Did you mean") == std::string::npos);
}

TEST_CASE("the memory bus is given by numbers of threads") {
  const TemporaryFile file(PlatformText{{"memory-bus.2", "1.6"}, {"memory-bus.16", "9"}}.text());
  CHECK(read_platform(file.path()).costs.memory_bus == std::map<std::uint32_t, double>{{2, 1.6}, {16, 9}});
  const auto id =
      GENERATE(as<std::string>{}, "memory-bus.", "memory-bus.1", "memory-bus.0", "memory-bus.02", "memory-bus.-2",
               "memory-bus.two", "memory-bus.2x2", "memory-bus.4097", "memory-bus.99999999999", "memory-bus.2 ");
  CAPTURE(id);
  CHECK_THAT(finding_in(with_line("home.interrupt-delay", with_property(id, "1.5"))),
             ContainsSubstring("2 to 4096 threads"));
}

TEST_CASE("the memory bus's former property is refused with its successor") {
  CHECK_THAT(finding_in(with_line("home.interrupt-delay", "<prop id=\"node.memory-contention\" value=\"0.25\"/>").text),
             ContainsSubstring("memory-bus.2"));
}

TEST_CASE("an impossible number of a host or link has its line") {
  struct Mistake {
    std::string attribute, value;
  };
  const auto mistake = GENERATE(values<Mistake>({{"speed", "0"},
                                                 {"speed", "0f"},
                                                 {"speed", "0Gf"},
                                                 {"speed", "-0f"},
                                                 {"speed", "-1f"},
                                                 {"speed", "nan"},
                                                 {"speed", "inf"},
                                                 {"speed", "0f,1Gf"},
                                                 {"bandwidth", "0Mbps"},
                                                 {"bandwidth", "0.5bps"},
                                                 {"bandwidth", "1e-300Mbps"},
                                                 {"bandwidth", "inf"},
                                                 {"latency", "1.5h"},
                                                 {"latency", "1e300s"},
                                                 {"latency", "nan"}}));
  CAPTURE(mistake.attribute, mistake.value);
  const bool is_host = mistake.attribute == "speed";
  const std::string what = is_host ? "host id=\"node-1\"" : "link id=\"cable-1\"";
  std::string line = is_host
                         ? "<host id=\"node-1\" speed=\"1Gf\" core=\"2\"/>"
                         : "<link id=\"cable-1\" bandwidth=\"1MBps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>";
  const std::size_t at = line.find(mistake.attribute + "=\"") + mistake.attribute.size() + 2;
  line.replace(at, line.find('"', at) - at, mistake.value);
  CHECK_THAT(finding_in(with_line(what, line)),
             ContainsSubstring(fmt::format("has the {} '{}'", mistake.attribute, mistake.value)));
}

TEST_CASE("an unknown routing is an error with the known ones") {
  const std::string finding = finding_in(with_line("<zone", "<zone id=\"cluster\" routing=\"Bogus\">"));
  CHECK(finding.find("'Bogus'") != std::string::npos);
  CHECK(finding.find("Full") != std::string::npos);
  CHECK(findings_of(with_line("<zone", "<zone id=\"cluster\" routing=\"full\">").text).empty());
  CHECK(finding_in(with_line("<zone", "<zone id=\"cluster\" routing=\"Wifi\">")).find("wireless") != std::string::npos);
  CHECK_THAT(finding_in(with_line("<zone", "<zone id=\"cluster\" routing=\"Vivaldi\">")),
             ContainsSubstring("takes latencies from coordinates (Vivaldi), which are not simulated"));
  CHECK_THAT(finding_in(with_line("link id=\"cable-1\"",
                                  "<link id=\"cable-1\" bandwidth=\"1MBps\" latency=\"1us\" "
                                  "sharing_policy=\"WIFI\"/>")),
             ContainsSubstring("link 'cable-1' is wireless (WIFI)"));
}

TEST_CASE("settings of SimGrid's network are noted, impossible factors refused") {
  const auto configured = [](const std::string& id, const std::string& value) {
    return with_line("<platform", "<platform version=\"4.1\"><config>" + with_property(id, value) + "</config>");
  };
  const auto notes_of = [&](const std::string& id, const std::string& value) {
    const TemporaryFile file(configured(id, value).text);
    return read_platform(file.path()).notes;
  };
  REQUIRE(notes_of("network/bandwidth-factor", "0.97").size() == 1);
  CHECK_THAT(notes_of("network/bandwidth-factor", "0.97").front(),
             ContainsSubstring("note: network/bandwidth-factor acts with --network simgrid alone"));
  CHECK(notes_of("network/bandwidth-factor", "0:1;65472:0.9").size() == 1);  // SimGrid 4
  CHECK(notes_of("network/model", "LV08").empty());                          // the simulator's own holds
  for (const char* const value : {"-1", "0", "nan", "inf", "abc", "", "0.5x"}) {
    CHECK_THAT(finding_in(configured("network/latency-factor", value)),
               ContainsSubstring(fmt::format("network/latency-factor is '{}'. Give a number above 0", value)));
  }
}

TEST_CASE("a platform beyond the simulator's limits is refused") {
  struct Bomb {
    std::string with, says;
  };
  const auto cluster = [](const std::string& radical) {
    return "<cluster id=\"c\" prefix=\"n\" suffix=\"\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" radical=\"" + radical +
           "\"/>";
  };
  const auto many = [](const std::string& line, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += fmt::format(fmt::runtime(line), i);
    return text;
  };
  const std::string links = many("<link_ctn id=\"cable-1\"/>", 1001);
  const auto bomb = GENERATE_REF(values<Bomb>(
      {{cluster("0-99999999"), "the cluster 'c' there are more than 65536 hosts"},
       {cluster("0-18446744073709551615"), "more than 65536 hosts"},
       {cluster("0-99999999999999999999999"), "more than 65536 hosts"},
       {cluster("0-39999,50000-89999"), "more than 65536 hosts"},
       {cluster("0-39999") + cluster("50000-89999"), "more than 65536 hosts"},
       {many("<host id=\"x{}\" speed=\"1Gf\"/>", 4097), "has 4101 hosts; more than 4096 take a <cluster>"},
       {"<route src=\"node-0\" dst=\"node-1\">" + links + "</route>", "from 'node-0' to 'node-1' has 1001 links"},
       {std::string(65537, ' '), "blanks in a row. Leave them out"}}));
  std::string text = PlatformText().text();
  text.insert(text.find("<host"), bomb.with + "\n");
  const std::string finding = finding_in(text);
  CAPTURE(finding.substr(0, 200));
  CHECK(finding.find(bomb.says) != std::string::npos);
}

TEST_CASE("empty and unreadable platform files have different messages") {
  CHECK(findings_of("").at(0).find("empty") != std::string::npos);
  const auto reason = [](const std::filesystem::path& path) {
    try {
      read_platform(path);
    } catch (const PlatformError& error) {
      return error.findings().at(0);
    }
    return std::string();
  };
  CHECK(reason("no-such.xml").find("No such file or directory") != std::string::npos);
  CHECK(reason(p3_score() / "a.xml").find("Not a directory") != std::string::npos);
}

TEST_CASE("a property given twice is an error with both lines") {
  const Edited first = with_line("fault.WROH", "<prop id=\"fault.WROH\" value=\"8us\"/>");
  CHECK_THAT(finding_in(with_line("fault.WROL",
                                  "<prop id=\"fault.WROL\" value=\"44us\"/><prop id=\"fault.WROH\" value=\"9us\"/>")),
             ContainsSubstring(fmt::format("line {}", first.line)));
}

TEST_CASE("an unread property of host, link or zone is an error") {
  const auto [what, instead] = GENERATE(table<std::string, std::string>({
      {"host id=\"node-1\"",
       "<host id=\"node-1\" speed=\"1Gf\" core=\"2\"><prop id=\"fault.RUMR\" value=\"1us\"/></host>"},
      {"link id=\"cable-1\"",
       "<link id=\"cable-1\" bandwidth=\"1Bps\" latency=\"1us\"><prop id=\"barier.2x1\" value=\"1us\"/></link>"},
      {"  </zone>", "</zone><prop id=\"fault.RUMR\" value=\"1us\"/>"},
  }));
  CHECK_THAT(finding_in(with_line(what, instead)), ContainsSubstring("not used"));
}

TEST_CASE("names near a property's are errors, other programs' are left alone") {
  for (const std::string id : {"lokc.2x1",    "Lock.2x1",    "LOCK.2x1",        "lock_2x1",     "lock-2x1",
                               "lock2x1",     "lock 2x1",    " lock.2x1",       "locks.2x1",    "lock:2x1",
                               "barrier-2x1", "BARRIER.2x1", "memory-bus-2",    "FAULT.WUMR",   "NOISE.DEVIATION",
                               "JIAJIA.diff", "fault.RMUR",  "fault.RMUR.runs", "message.fixd", "calibrated.date"}) {
    CAPTURE(id);
    CHECK_FALSE(findings_of(with_line("barrier.4x2", with_property(id, "5us")).text).empty());
  }
  for (const std::string id : {"wattage_per_state", "ram", "role", "batsim.role", "gpu.runs", "host.os", "host_type",
                               "page.title", "image.size", "carrier.x", "home.page", "size", "type", "core_count"}) {
    CAPTURE(id);
    CHECK(findings_of(with_line("barrier.4x2", with_property(id, "5us")).text).empty());
  }
}

TEST_CASE("each missing required property is reported") {
  const std::vector<std::string> optional{"barrier.dirty-home-page", "local-part.home-share", "frame.payload",
                                          "frame.overhead",          "frame.minimum",         "protocol.invalidation",
                                          "home.interrupt-delay",    "protocol.atomics"};
  for (const auto& [id, value] : PlatformText().properties) {
    PlatformText without;
    without.properties.erase(id);
    CAPTURE(id);
    const auto findings = findings_of(without.text());
    const bool several = id.find("barrier.") == 0 || id.find("lock.") == 0;  // any one of them will do
    const bool needed = !several && std::find(optional.begin(), optional.end(), id) == optional.end();
    CHECK(findings.size() == (needed ? 1U : 0U));
    if (needed) CHECK(findings.at(0).find(id) != std::string::npos);
  }
}

TEST_CASE("at least one barrier and one lock are required") {
  for (const std::string prefix : {"barrier.", "lock."}) {
    PlatformText without;
    std::erase_if(without.properties, [&](const auto& property) {
      return property.first.find(prefix) == 0 && property.first.find('x') != std::string::npos &&
             property.first != "barrier.dirty-home-page";
    });
    CHECK_THAT(finding_in(without.text()), ContainsSubstring(fmt::format("{}NxT", prefix)));
  }
}

TEST_CASE("all errors are reported at once") {
  PlatformText text{{"fault.WROH", "8"}, {"fault.WROL", "44"}, {"fault.WHAT", "1us"}};
  CHECK(findings_of(text.text()).size() == 3);
}

TEST_CASE("a byte order mark is refused by name") {
  CHECK_THAT(finding_in("\xEF\xBB\xBF" + PlatformText().text()), ContainsSubstring("begins with a byte order mark"));
}

TEST_CASE("malformed XML is refused with its line") {
  const Edited open = with_line("host id=\"node-1\"", "<host id=\"node-1");
  const std::string finding = finding_in(open.text);
  CHECK(line_of(finding) >= open.line);
  for (const std::string text : {"", "   \n", "hello", "<a/>", "<platform",
                                 "\x7f"
                                 "ELF\1\2",
                                 "<platform/>", "{\"json\": 1}"}) {
    CAPTURE(text);
    CHECK(findings_of(text).size() == 1);
  }
}

TEST_CASE("a missing file and a folder are refused by name") {
  for (const std::string path : {"no-such-file.xml", SDSM_SOURCE_DIR}) {
    try {
      read_platform(path);
      FAIL("was read");
    } catch (const PlatformError& error) {
      CHECK(std::string(error.what()).find(path) == 0);
    }
  }
}

TEST_CASE("a damaged platform is read or refused, never worse") {
  std::mt19937_64 random(test::seed(1));
  PlatformText all;
  for (const char* const cost : {"fault.RUMR", "fault.WUMR", "barrier.2x1"}) {
    all.set(std::string(cost) + ".standard-error", "1us");
    all.set(std::string(cost) + ".runs", "581us 587us 599us 600us");
  }
  const std::string whole = all.text();
  const std::string pieces[] = {"<",     ">",     "\"",  "/>",   "</zone>", "<prop",     "&",
                                "&#0;",  "\xff",  "id=", "<!--", "-->",     "<![CDATA[", "]]>",
                                "<?xml", "1e999", "0",   "-",    "us",      "x",         std::string(1, '\0')};
  std::uint64_t refused = 0;
  const std::uint64_t rounds = test::rounds(3000);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    std::string text = whole;
    for (std::size_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 5) {
        case 0: text.erase(at, 1 + random() % 40); break;
        case 1: text.insert(at, pieces[random() % std::size(pieces)]); break;
        case 2: text[at] = static_cast<char>(random()); break;
        case 3: text.resize(at); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 200)); break;
      }
      if (text.empty()) text.push_back(' ');
    }
    try {
      if (!findings_of(text).empty()) ++refused;
    } catch (const std::exception& error) {
      FAIL("attempt " << i << ": " << error.what());
    }
  }
  WARN(refused << " refused, " << rounds - refused << " read");
  CHECK(refused > rounds / 3);
}

TEST_CASE("the list of properties names all that the reader knows") {
  const std::string list = describe_properties();
  for (const auto& [id, value] : PlatformText().properties) {
    CAPTURE(id);
    const bool table = id.find("x1") != std::string::npos || id.find("x2") != std::string::npos;
    CHECK(list.find(table ? id.substr(0, id.find('.') + 1) + "NxT" : id) != std::string::npos);
  }
}
