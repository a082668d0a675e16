/// Random programs: every picosecond is charged, every fault follows the protocol's rules, and the same run gives the
/// same result.

#include <cstdlib>
#include <numeric>
#include <random>

#include "tests/campaign.hpp"
#include "tests/catch.hpp"
#include "tests/models/scash/protocol_in_words.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

/// How the threads of a random program share time between two barriers.
enum class Threads : std::uint8_t {
  together,
  in_turn,  ///< thread t begins t x 200 ms after the barrier, when those before it have ended
};

/// Phases between barriers; in each, threads compute, touch pages and take locks, one lock at a time.
TestProgram random_program(std::uint64_t seed, Layout layout, Threads threads = Threads::together) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t high) { return random() % (high + 1); };
  TestProgram program(layout);
  program.pages = 1 + pick(40);
  const std::uint64_t phases = 1 + pick(4);
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
    const bool with_locks = threads == Threads::together || pick(1) == 0;
    for (std::uint32_t t = 0; t < layout.processes(); ++t) {
      const auto touches = [&] {
        std::vector<trace::TouchRun> found;
        for (std::uint64_t place = 0; place < 256 && pick(3) > 0; place += 1 + pick(80)) {
          const std::uint64_t page = pick(program.pages - 1);
          const auto pages = static_cast<std::uint32_t>(1 + pick(std::min<std::uint64_t>(3, program.pages - 1 - page)));
          const auto at = static_cast<std::uint8_t>(place);
          const auto words = static_cast<std::uint16_t>(pick(2) == 0 ? 0 : 1 + pick(500));
          if (pick(1) == 0) {
            found.push_back(reads(page, at, pages));
          } else {
            found.push_back(writes(page, at, pages, {words, static_cast<std::uint16_t>(words > 0)}));
          }
        }
        return found;
      };
      if (threads == Threads::in_turn && with_locks) {
        // A lock of its own per thread: the simulator reads a thread's page protections at the latest at its last
        // event. A lock of another process on the node may remove them between.
        program.acquire(t, 100 + t, 200'000.0 * t);
        program.release(t, 100 + t);
      } else if (threads == Threads::in_turn) {
        program.interval(t, 200'000.0 * t, {}, {EventKind::loop_end, 0, 0, 0});
      }
      for (std::uint64_t lock = with_locks ? pick(3) : 0; lock > 0; --lock) {
        const std::uint64_t id = pick(2);
        program.acquire(t, id, static_cast<double>(pick(3000)), touches());
        program.release(t, id, static_cast<double>(pick(300)), touches());
      }
      program.barrier(t, static_cast<double>(pick(5000)), touches());
    }
  }
  return program;
}

struct Variant {
  ProtocolKind protocol;
  Invalidation invalidation;
};
constexpr Variant variants[] = {{ProtocolKind::scash, Invalidation::all},
                                {ProtocolKind::scash, Invalidation::changed},
                                {ProtocolKind::home_open, Invalidation::all}};
RunOptions options_of(const Variant& variant) {
  return {.protocol = variant.protocol};
}

struct Counts {
  std::map<std::string, std::uint64_t> faults;
  std::uint64_t diffs = 0;
};

/// Each thread's counts by the protocol's rules, with the threads in turn between two barriers. (With one process per
/// node the order between threads does not matter.) At the fork, one thread of each other node fetches the region's
/// page, and the others find it there.
std::vector<Counts> in_words(const TestProgram& program, const Variant& variant) {
  const test::Cluster cluster{program.layout(), program.pages, variant.invalidation == Invalidation::changed,
                              variant.protocol == ProtocolKind::home_open};
  ProtocolInWords words(cluster);
  std::vector<Counts> counts(program.threads.size());
  const auto note = [&](const std::vector<Sent>& sent) {
    for (const Sent& diff : sent) ++counts[diff.process].diffs;
  };
  std::vector<std::size_t> next(program.threads.size(), 1);        // after fork and team_begin
  if (!cluster.home_pages_are_open) counts[0].faults["WROH"] = 1;  // the region's page
  const std::uint32_t per_node = program.layout().threads_per_node;
  for (std::size_t t = per_node; t < counts.size(); ++t) counts[t].faults[t % per_node == 0 ? "RUMR" : "RROR"] = 1;
  for (;;) {
    bool more = false;
    for (std::uint32_t t = 0; t < counts.size(); ++t) {
      while (next[t] < program.threads[t].size()) {
        more = true;
        const trace::Interval& interval = program.threads[t][next[t]++];
        for (const trace::TouchRun& run : interval.touches) {
          for (std::uint64_t page = run.first; page < run.first + run.pages; ++page) {
            if (const auto fault = words.access(t, page, run.access == Access::write)) ++counts[t].faults[*fault];
            if (run.change) words.changed(t, page);
          }
        }
        if (interval.end.kind == EventKind::acquire) note(words.acquire(t));
        if (interval.end.kind == EventKind::release) note(words.release(t));
        if (interval.end.kind == EventKind::barrier) break;
      }
    }
    note(words.barrier());
    if (!more) return counts;
  }
}

std::string text_of(const Result& result) {
  std::string text = std::to_string(result.makespan.count());
  for (const ThreadResult& thread : result.threads) {
    for (const Time time : thread.whole.time) text.append(" ").append(std::to_string(time.count()));
    text.append(" ").append(std::to_string(thread.whole.bytes));
  }
  return text;
}

}  // namespace

TEST_CASE("every picosecond of every thread is charged, whatever the program") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const Layout layouts[] = {{1, 1}, {2, 1}, {1, 2}, {4, 1}, {2, 2}, {4, 2}, {8, 1}};
  for (std::uint64_t seed = 1; seed <= test::rounds(42); ++seed) {
    const Layout layout = layouts[seed % std::size(layouts)];
    CAPTURE(seed, name_of(network), layout.nodes, layout.threads_per_node);
    const Result result = run(p3_score(), network, random_program(seed, layout));
    CHECK(result.makespan == result.whole_makespan);
    // By construct, too, or the simulation fails; and that changes nothing.
    CHECK(run(p3_score(), network, random_program(seed, layout), {.constructs = true}).makespan == result.makespan);
    for (const ThreadResult& thread : result.threads) {
      CHECK(thread.whole.total() == result.makespan);
      CHECK(thread.region.total() == result.makespan);
      for (const Tally* tally : {&thread.whole, &thread.region}) {
        const Time expected_sum = std::accumulate(tally->stolen_from.begin(), tally->stolen_from.end(), Time{});
        CHECK(expected_sum == spent(*tally, Spent::stolen));
      }
      for (const Time item : thread.whole.time) CHECK(item >= Time{});
    }
  }
}

TEST_CASE("one process per node: faults and diffs match the protocol's rules") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const Variant variant = variants[GENERATE(0, 1, 2)];
  PlatformText text{{"protocol.invalidation", variant.invalidation == Invalidation::changed ? "changed" : "all"}};
  text.hosts = 8;
  const TemporaryFile file(text.text());
  for (std::uint64_t seed = 1; seed <= test::rounds(25); ++seed) {
    const Layout layout{2 + static_cast<std::uint32_t>(seed % 5), 1};
    const TestProgram program = random_program(seed, layout);
    const Result result = run(file.path(), network, program, options_of(variant));
    const std::vector<Counts> expected = in_words(program, variant);
    for (std::uint32_t t = 0; t < layout.processes(); ++t) {
      const Tally& tally = result.threads[t].whole;
      CAPTURE(seed, t, name_of(network), name_of(variant.protocol), variant.invalidation);
      for (const FaultRule& rule : fault_rules) {
        CAPTURE(rule.name);
        const auto found = expected[t].faults.find(std::string(rule.name));
        CHECK(faults(tally, rule.kind) == (found == expected[t].faults.end() ? 0 : found->second));
      }
      CHECK(tally.diffs == expected[t].diffs);
      // Each fetch is a request, each WROR a notice to the home.
      const auto sent = [&](MessageKind kind) { return tally.messages_by_kind[static_cast<std::size_t>(kind)]; };
      CHECK(sent(MessageKind::page_request) == faults(tally, FaultKind::RUMR) + faults(tally, FaultKind::WUMR));
      CHECK(sent(MessageKind::write_request) == faults(tally, FaultKind::WROR));
    }
  }
}

TEST_CASE("processes sharing a node: all ten fault kinds match the protocol's rules") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const Variant variant = variants[GENERATE(0, 1, 2)];
  PlatformText text{{"protocol.invalidation", variant.invalidation == Invalidation::changed ? "changed" : "all"}};
  text.cores = 3;
  const TemporaryFile file(text.text());
  const Layout layouts[] = {{1, 2}, {2, 2}, {2, 3}, {3, 2}};
  std::map<std::string, std::uint64_t> seen;
  for (std::uint64_t seed = 1; seed <= test::rounds(40); ++seed) {
    const Layout layout = layouts[seed % std::size(layouts)];
    const TestProgram program = random_program(seed, layout, Threads::in_turn);
    const Result result = run(file.path(), network, program, options_of(variant));
    const std::vector<Counts> expected = in_words(program, variant);
    for (std::uint32_t node = 0; node < layout.nodes; ++node) {
      // By node, as chance decides which of its threads fetches the region's page.
      std::map<std::string, std::uint64_t> found, expected_sum;
      for (std::uint32_t t = node * layout.threads_per_node; t < (node + 1) * layout.threads_per_node; ++t) {
        for (const FaultRule& rule : fault_rules)
          found[std::string(rule.name)] += faults(result.threads[t].whole, rule.kind);
        for (const auto& [kind, count] : expected[t].faults) expected_sum[kind] += count;
        found["diffs"] += result.threads[t].whole.diffs;
        expected_sum["diffs"] += expected[t].diffs;
      }
      for (const auto& [what, count] : found) {
        CAPTURE(seed, node, name_of(network), name_of(variant.protocol), variant.invalidation, what);
        CHECK(count == expected_sum[what]);
        seen[what] += count;
      }
    }
  }
  for (const FaultRule& rule : fault_rules) {
    const bool is_open = variant.protocol == ProtocolKind::home_open && rule.owner != Owner::remote;
    CAPTURE(rule.name, name_of(variant.protocol));
    CHECK((seen[std::string(rule.name)] > 5) == !is_open);
  }
}

TEST_CASE("served requests match sent ones: each fetch has one reply") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Result result = run(random_program(seed, {4, 2}));
    std::uint64_t asked = 0, served_bytes = 0, control = 0;
    for (const ThreadResult& thread : result.threads) {
      asked += faults(thread.whole, FaultKind::RUMR) + faults(thread.whole, FaultKind::WUMR);
      served_bytes += thread.whole.served_bytes;
      for (const MessageKind kind : {MessageKind::lock_grant, MessageKind::barrier_release}) {
        control += thread.whole.messages_by_kind[static_cast<std::size_t>(kind)];
      }
    }
    CHECK(served_bytes == 4096 * asked + 32 * control);
  }
}

TEST_CASE("a run repeats to the picosecond") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const TestProgram program = random_program(seed, {4, 2});
    const RunOptions options{.jitter = 0.05};
    CHECK(text_of(run(p3_score(), network, program, options)) == text_of(run(p3_score(), network, program, options)));
  }
}

TEST_CASE("full-page diffs: each diff is 4108 bytes, and no fault changes") {
  const TestProgram program = random_program(7, {4, 1});
  const Result usual = run(program);
  const Result full = run(program, {.full_page_diffs = true});
  std::uint64_t diffs = 0;
  for (std::uint32_t t = 0; t < 4; ++t) {
    diffs += full.threads[t].whole.diffs;
    CHECK(full.threads[t].whole.diff_bytes == 4108 * full.threads[t].whole.diffs);
    CHECK(full.threads[t].whole.faults == usual.threads[t].whole.faults);
  }
  CHECK(diffs > 0);
}

TEST_CASE("the compute factor scales computing and nothing else") {
  TestProgram program({2, 1});
  program.barrier_of_all(1000);
  const Result result = run(program, {.compute_factor = 2.5});
  CHECK(spent(result.threads[0].whole, Spent::compute) == us(2500));
  CHECK(result.makespan == us(2500 + 3 * 661 + 8 + 18.95 + 587));
}

TEST_CASE("compute time beyond the simulation's range is refused, not wrapped") {
  TestProgram program({2, 1});
  program.barrier_of_all(1e9);  // 1000 s
  CHECK_THROWS(run(program, {.compute_factor = GENERATE(1e5, 1e30)}));
}
