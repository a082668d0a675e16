#include "workloads/trace/dump.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/workloads/trace/samples.hpp"

using namespace sdsm;
using namespace sdsm::trace;
using nlohmann::json;

namespace {

std::vector<json> dumped(const Trace& trace) {
  const Scratch scratch;
  write(trace, scratch / "a.trace");
  std::stringstream out;
  dump(File(scratch / "a.trace"), out);
  std::vector<json> lines;
  for (std::string line; std::getline(out, line);) lines.push_back(json::parse(line));
  return lines;
}

}  // namespace

TEST_CASE("a dump has a line for header, regions and each interval") {
  const std::vector<json> lines = dumped(small_trace());
  REQUIRE(lines.size() == 1 + 3 + 5 + 6);
  CHECK(lines[0]["type"] == "header");
  CHECK(lines[0]["program"] == json{"./laplace", "--size", "1024"});
  CHECK(lines[0]["threads"] == 2);
  CHECK(lines[0]["speed_flops"] == 3'141'592'653);
  CHECK(lines[0]["cache_latency_ps"] == 3'820);
  CHECK(lines[0]["memory_bandwidth"] == 35'100'000'000);
  CHECK(lines[0]["speed_spread"] == 12);
  CHECK(lines[2] == json::parse(R"({"type": "region", "id": 1, "kind": "heap_block", "placement": "block",
                                    "pages": 2048, "owner": 0, "lead_pages": 0, "filled": false, "name": "heap #1"})"));
  CHECK(lines[1]["lead_pages"] == 5);
  CHECK(lines[0]["unseen"] == json::parse(R"([{"call": "mmap", "calls": 3, "bytes": 12288}])"));
  CHECK(lines[4] == json::parse(R"({"type": "interval", "thread": 0, "compute_ns": 1000000, "touches": [
      {"region": 0, "first": 2, "pages": 1, "access": "read", "position": 0, "change": {"words": 0, "runs": 0}},
      {"region": 1, "first": 0, "pages": 2048, "access": "write", "position": 1, "change": {"words": 2, "runs": 1}}],
      "lines": [{"lines": "0000000000000001", "first_word": true, "last_word": false, "pages": 2048}], "sites": [],
      "end": {"kind": "fork", "detail": 0, "object": 0, "value": 2, "team": 0}, "call_site": 0})"));
  CHECK(lines[0]["call_sites"] == json::parse(R"([{"file": "./laplace", "address": 64, "caller": 0},
                                                  {"file": "./laplace", "address": 96, "caller": 1}])"));
  CHECK(lines[5]["call_site"] == 2);
  CHECK(lines[6]["end"] ==
        json::parse(R"({"kind": "loop_begin", "detail": "dynamic", "object": 3, "value": 100, "team": 0})"));
  CHECK(lines[9]["thread"] == 1);
  CHECK(lines[10]["end"] ==
        json::parse(R"({"kind": "acquire", "detail": "critical", "object": 77, "value": 0, "team": 0})"));
}

TEST_CASE("a dump stops when nobody reads it") {
  const Scratch scratch;
  write(small_trace(), scratch / "a.trace");
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  CHECK_THROWS_AS(dump(File(scratch / "a.trace"), out), std::runtime_error);
}

TEST_CASE("info gives totals by thread and together, and bytes per touch") {
  const Scratch scratch;
  write(small_trace(), scratch / "a.trace");
  const json result = info(File(scratch / "a.trace"));
  CHECK(result["header"]["passes"] == 3);
  CHECK(result["regions"][2]["owner"] == 1);
  CHECK(result["regions"][1]["placements"]["first-touch"] == "first_touch");
  CHECK(result["threads"][1]["page_touches"] == 101);
  CHECK(result["threads"][1]["events"]["acquire"] == 1);
  CHECK(result["totals"]["page_touches"] == 2057 + 101);
  CHECK(result["totals"]["compute_ns"] == 1'500'014 + 480'060);
  CHECK(result["events"] == json{{"fork", 1},
                                 {"team_begin", 1},
                                 {"join", 2},
                                 {"barrier", 2},
                                 {"acquire", 1},
                                 {"release", 1},
                                 {"loop_begin", 1},
                                 {"end", 2}});
  const auto bytes = std::filesystem::file_size(scratch / "a.trace");
  CHECK(result["file_bytes"] == bytes);
  CHECK(result["bytes_per_page_touch"].get<double>() == Approx(static_cast<double>(bytes) / 2158));
}

TEST_CASE("info of a trace without touches has no bytes per touch") {
  const Scratch scratch;
  write({.header = header_for(1), .regions = {}, .threads = {{}}}, scratch / "a.trace");
  CHECK(info(File(scratch / "a.trace"))["bytes_per_page_touch"].is_null());
}

TEST_CASE("of a machine's measured speeds the best counts, beside the second") {
  const Speed quiet{1000, 4000, 2000, 0}, busy{800, 5000, 1900, 0}, calm{990, 4000, 2000, 0};
  CHECK(best_of(std::array{busy, quiet}) == Speed{1000, 4000, 2000, 250});
  CHECK(best_of(std::array{busy, quiet, calm, busy}) == Speed{1000, 4000, 2000, 10});
  CHECK(best_of(std::array{busy}) == busy);
  CHECK(in_words({1'000'000'000, 4000, 2'000'000'000, 250}) ==
        "1.000 Gf, cache 4.00 ns, memory 2.0 GB/s (doubtful: measurements while it traced differ by 25 %)");
}
