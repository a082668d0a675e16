/// Format 2 says more of each page than format 1 did, and must not take much more for it.
#include "tests/catch.hpp"
#include "tests/native/traced_run.hpp"
#include "tests/workloads/trace/format_1.hpp"

using namespace sdsm;
using namespace sdsm::tests;

namespace {

std::uint64_t bytes_of(const trace::Trace& trace, const TemporaryFolder& folder) {
  write(trace, folder / "written.trace");
  return std::filesystem::file_size(folder / "written.trace");
}

}  // namespace

TEST_CASE("a trace is hardly larger than one of format 1") {
  const std::string workloads = std::string(SDSM_BINARY_DIR) + "/workloads/";
  using Words = std::vector<std::string>;
  const Words command =
      GENERATE_COPY(Words{workloads + "laplace", "--impl", "1", "--size", "512", "--iterations", "30", "--no-check"},
                    Words{workloads + "laplace", "--impl", "4", "--size", "1024", "--iterations", "20", "--no-check"},
                    Words{workloads + "fft", "--impl", "2", "--points", "2^17", "--no-check"},
                    Words{workloads + "fft", "--impl", "3", "--points", "2^15", "--no-check"}, Words{program("pages")},
                    Words{program("constructs")}, Words{program("heap")}, Words{program("critical")});
  const TemporaryFolder folder;
  Words tracer = tracing(4, folder / "t.trace", command);
  tracer.insert(std::find(tracer.begin(), tracer.end(), "--"), "--lines");
  const CommandResult result = run_command(tracer);
  INFO(result.errors);
  REQUIRE(result.status == 0);
  // The same intervals, with the same places and times, written three times.
  const trace::File file(folder / "t.trace");
  trace::Trace trace = trace::read(folder / "t.trace");
  REQUIRE(!trace.header.sites.empty());
  const auto with_sites = static_cast<double>(bytes_of(trace, folder));
  trace.header.sites.clear();
  for (trace::Region& region : trace.regions) region.calls.clear();
  for (auto& intervals : trace.threads) {
    for (trace::Interval& interval : intervals) interval.sites.clear();
  }
  const auto without = static_cast<double>(bytes_of(trace, folder));
  const auto format_1 = static_cast<double>(write_format_1(trace).size());
  WARN(command[0].substr(command[0].rfind('/') + 1)
       << (command.size() > 2 ? " " + command[2] : "") << ": " << format_1 << " bytes in format 1, "
       << without / format_1 << " times as many in format 3, " << with_sites / format_1 << " times with instructions");
  std::uint64_t touches = 0;
  for (std::uint32_t thread = 0; thread < 4; ++thread) touches += file.totals(thread).page_touches;
  // A page touch of Laplace takes two bytes at most.
  if (command[0].ends_with("laplace")) CHECK(without <= 2 * static_cast<double>(touches));
  const double call_sites = 20 * static_cast<double>(trace.header.call_sites.size());
  CHECK(without <= 1.15 * format_1 + call_sites);
  CHECK(with_sites <= 1.4 * format_1 + call_sites);
}
