#include "tests/sim/runs.hpp"

#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "commands/forked_call.hpp"

namespace sdsm::test {
namespace {

static_assert(std::is_trivially_copyable_v<sim::ThreadResult>);

std::string bytes_of(const sim::Result& result) {
  std::string bytes;
  const auto add = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(result.makespan);
  add(result.whole_makespan);
  add(result.remote_faults);
  add(result.baselines);
  add(result.has_unknown_turns);
  add(result.threads.size());
  for (const sim::ThreadResult& thread : result.threads) add(thread);
  for (const std::string& name : result.extrapolated) bytes += name + '\n';
  return bytes;
}

sim::Result result_from(const std::string& bytes) {
  sim::Result result;
  std::size_t at = 0;
  const auto take = [&](auto& value) {
    if (bytes.size() - at < sizeof value) throw std::runtime_error("a child process sent half a result");
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
  };
  std::size_t threads = 0;
  take(result.makespan);
  take(result.whole_makespan);
  take(result.remote_faults);
  take(result.baselines);
  take(result.has_unknown_turns);
  take(threads);
  result.threads.resize(threads);
  for (sim::ThreadResult& thread : result.threads) take(thread);
  for (std::size_t end; (end = bytes.find('\n', at)) != std::string::npos; at = end + 1) {
    result.extrapolated.push_back(bytes.substr(at, end - at));
  }
  return result;
}

}  // namespace

TestProgram::TestProgram(Layout layout) : threads(layout.processes()), layout_(layout) {
  for (std::uint32_t t = 0; t < layout.processes(); ++t) {
    threads[t].push_back({0, {}, {t == 0 ? EventKind::fork : EventKind::team_begin, 0, 0, layout.processes()}});
  }
}

void TestProgram::interval(std::uint32_t thread, double compute_us, std::vector<trace::TouchRun> touches, Event end) {
  threads[thread].push_back({static_cast<std::uint64_t>(std::llround(compute_us * 1000)), std::move(touches), end});
}

void TestProgram::barrier(std::uint32_t thread, double compute_us, std::vector<trace::TouchRun> touches) {
  interval(thread, compute_us, std::move(touches), {EventKind::barrier, 0, 0, layout_.processes()});
}

void TestProgram::acquire(std::uint32_t thread, std::uint64_t lock, double compute_us,
                          std::vector<trace::TouchRun> touches) {
  interval(thread, compute_us, std::move(touches), {EventKind::acquire, 0, lock, 0});
}

void TestProgram::acquire_at_a_try(std::uint32_t thread, std::uint64_t lock, double compute_us) {
  interval(thread, compute_us, {}, {EventKind::acquire, 0, lock, 1});
}

void TestProgram::ordered(std::uint32_t thread, std::uint64_t turn, double before_us, double inside_us) {
  constexpr auto ordered = static_cast<std::uint8_t>(LockClass::ordered);
  interval(thread, before_us, {}, {EventKind::acquire, ordered, 2, turn});
  interval(thread, inside_us, {}, {EventKind::release, ordered, 2});
}

void TestProgram::release(std::uint32_t thread, std::uint64_t lock, double compute_us,
                          std::vector<trace::TouchRun> touches) {
  interval(thread, compute_us, std::move(touches), {EventKind::release, 0, lock, 0});
}

void TestProgram::clock(std::uint32_t thread, double compute_us, std::vector<trace::TouchRun> touches) {
  interval(thread, compute_us, std::move(touches), {EventKind::clock, 0, 0, 0});
}

void TestProgram::barrier_of_all(double compute_us) {
  for (std::uint32_t t = 0; t < layout_.processes(); ++t) barrier(t, compute_us);
}

void TestProgram::barrier_of_all(const std::vector<Work>& by_thread) {
  for (std::uint32_t t = 0; t < by_thread.size(); ++t) barrier(t, by_thread[t].compute_us, by_thread[t].touches);
}

sim::Program TestProgram::finished() const {
  sim::Program program;
  program.ended_by = ended_by;
  program.regions.push_back(
      {{RegionKind::heap_block, Placement::round_robin, 0, pages}, RegionId{0}, 0, false, "block"});
  for (std::uint32_t t = 0; t < layout_.processes(); ++t) {
    std::vector<trace::Interval> intervals = threads[t];
    if (joins) intervals.push_back({0, {}, {EventKind::join, 0, 0, layout_.processes()}});
    intervals.push_back({0, {}, {EventKind::end, 0, 0, 0}});
    if (t == 0) {
      for (const trace::Interval& interval : intervals) program.clock_calls += interval.end.kind == EventKind::clock;
    }
    program.sources.push_back(std::make_unique<sim::MemorySource>(std::move(intervals)));
  }
  return program;
}

trace::TouchRun reads(std::uint64_t page, std::uint8_t position, std::uint32_t pages) {
  return {RegionId{0}, pages, page, Access::read, position, {}};
}

trace::TouchRun writes(std::uint64_t page, std::uint8_t position, std::uint32_t pages, Change change) {
  return {RegionId{0}, pages, page, Access::write, position, change};
}

sim::Result run(const std::filesystem::path& platform, Layout layout, sim::NetworkKind network,
                const std::function<sim::Program()>& program, const sim::RunOptions& options) {
  return result_from(commands::in_child(
      [&] { return bytes_of(sim::simulate(read_platform(platform), layout, network, program(), options)); }));
}

sim::Result run(const std::filesystem::path& platform, sim::NetworkKind network, const TestProgram& program,
                const sim::RunOptions& options) {
  return run(
      platform, program.layout(), network, [&] { return program.finished(); }, options);
}

sim::Result run(const TestProgram& program, const sim::RunOptions& options) {
  return run(p3_score(), sim::NetworkKind::queue, program, options);
}

}  // namespace sdsm::test
