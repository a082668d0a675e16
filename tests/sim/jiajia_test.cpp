/// JIAJIA in simulated time: its counts against the rules played without time, and its times by hand.

#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "models/jiajia/counts.hpp"
#include "tests/catch.hpp"
#include "tests/models/jiajia/played_cluster.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

using jiajia::FurtherCount;
using Kind = jiajia::MessageKind;
using jiajia::Quirks;
using jiajia::Rules;
using jiajia::Scope;
using Fault = jiajia::FaultKind;

std::filesystem::path p3_jiajia() {
  return p3_score().parent_path() / "p3-jiajia.xml";
}

RunOptions under(const Rules& rules) {
  return {.protocol = ProtocolKind::jiajia, .jiajia = rules};
}

Result simulated(const TestProgram& program, const Rules& rules = {.scope = Scope::openmp}) {
  return run(p3_jiajia(), NetworkKind::queue, program, under(rules));
}

Time fault_time(const Result& result, std::uint32_t thread, Fault kind) {
  return spent(result.threads[thread].whole, spent_on(kind));
}
std::uint64_t fault_count(const Result& result, std::uint32_t thread, Fault kind) {
  return result.threads[thread].whole.faults[static_cast<std::size_t>(kind)];
}
std::uint64_t messages(const Result& result, std::uint32_t thread, Kind kind) {
  return result.threads[thread].whole.messages_by_kind[static_cast<std::size_t>(kind)];
}
std::uint64_t further(const Tally& tally, FurtherCount which) {
  return tally.further[static_cast<std::size_t>(which)];
}

/// A thread's touches between two barriers, perhaps repeated under a lock.
struct Part {
  std::vector<trace::TouchRun> before, under_lock;
  std::optional<std::uint32_t> lock;
};

/// Parts by barrier, then thread.
using Drawn = std::vector<std::vector<Part>>;

constexpr std::uint64_t drawn_pages = 10;

std::vector<trace::TouchRun> draw_touches(std::mt19937& random) {
  std::vector<trace::TouchRun> touches;
  for (std::uint32_t i = random() % 4; i > 0; --i) {
    const std::uint64_t page = random() % drawn_pages;
    touches.push_back(random() % 2 == 0 ? reads(page) : writes(page, 0, 1, whole_page));
  }
  return touches;
}

Drawn draw(std::uint32_t processes, bool has_locks, std::uint32_t seed) {
  std::mt19937 random(seed);
  Drawn drawn(8, std::vector<Part>(processes));
  for (auto& parts : drawn) {
    for (Part& part : parts) {
      part.before = draw_touches(random);
      if (!has_locks || random() % 2 == 0) continue;
      part.lock = random() % 3;
      part.under_lock = draw_touches(random);
    }
  }
  return drawn;
}

/// Threads take their locks one after another, and come to the barrier when all requests are served.
TestProgram traced(const Drawn& drawn, Layout layout) {
  TestProgram program(layout);
  program.pages = drawn_pages;
  for (const auto& parts : drawn) {
    for (std::uint32_t t = 0; t < parts.size(); ++t) {
      const double slot_us = 100'000;
      if (!parts[t].lock) {
        program.barrier(t, (layout.processes() + 1) * slot_us, parts[t].before);
        continue;
      }
      program.acquire(t, *parts[t].lock, (t + 1) * slot_us, parts[t].before);
      program.release(t, *parts[t].lock, 100, parts[t].under_lock);
      program.barrier(t, (layout.processes() - t) * slot_us);
    }
  }
  return program;
}

void touch(PlayedCluster& cluster, std::uint32_t process, const std::vector<trace::TouchRun>& touches) {
  for (const trace::TouchRun& run : touches) {
    if (run.access == Access::read) {
      cluster.read(process, run.first);
    } else {
      cluster.write(process, run.first);
    }
  }
}

std::unique_ptr<PlayedCluster> played(const Drawn& drawn, std::uint32_t processes, const Rules& rules) {
  auto owned = std::make_unique<PlayedCluster>(processes, rules);
  PlayedCluster& cluster = *owned;
  for (std::uint32_t page = 0; page < drawn_pages; ++page) cluster.allocate(1, page % processes);
  const std::uint64_t region = cluster.allocate(1, 0);  // the run-time's page of the region's function and arguments
  cluster.write(0, region);
  cluster.barrier();
  for (std::uint32_t t = 1; t < processes; ++t) cluster.read(t, region);
  for (const auto& parts : drawn) {
    for (std::uint32_t t = 0; t < processes; ++t) {
      touch(cluster, t, parts[t].before);
      if (!parts[t].lock) continue;
      cluster.lock(t, *parts[t].lock);
      touch(cluster, t, parts[t].under_lock);
      cluster.unlock(t, *parts[t].lock);
    }
    cluster.barrier();
  }
  cluster.barrier();
  return owned;
}

void check_counts(const Result& result, const PlayedCluster& cluster, bool with_messages) {
  for (std::uint32_t t = 0; t < cluster.processes(); ++t) {
    CAPTURE(t);
    const Tally& tally = result.threads[t].whole;
    const jiajia::Counts& counts = cluster.counts(t);
    for (const jiajia::FaultRule& rule : jiajia::fault_rules) {
      CAPTURE(rule.name);
      CHECK(fault_count(result, t, rule.kind) == counts.faults[static_cast<std::size_t>(rule.kind)]);
    }
    for (std::size_t kind = 0; with_messages && kind < jiajia::message_kinds; ++kind) {
      CAPTURE(jiajia::message_names[kind]);
      CHECK(tally.messages_by_kind[kind] == counts.sent[kind]);
    }
    CHECK(tally.diffs == counts.diffs);
    CHECK(tally.locks == counts.locks);
    CHECK(tally.barriers == counts.barriers);
    CHECK(further(tally, FurtherCount::invalidations) == counts.invalidations);
    CHECK(further(tally, FurtherCount::notices) == counts.notices);
    CHECK(further(tally, FurtherCount::migrated_in) == counts.migrated_in);
    CHECK(further(tally, FurtherCount::migrated_out) == counts.migrated_out);
  }
}

}  // namespace

TEST_CASE("faults between clock readings inside a region count for the measured region") {
  TestProgram program({2, 1});
  program.clock(0, 20'000);
  program.clock(0, 20'000);
  program.barrier(0, 20'000);
  const Event none{EventKind::loop_end, 0, 0, 0};
  program.interval(1, 30'000, {reads(0)}, none);  // before the first reading
  program.interval(1, 20'000, {reads(2)}, none);  // between both
  program.barrier(1, 5'000, {reads(4)});          // behind the second
  const Result result = simulated(program);
  const auto faults_in = [](const Tally& tally) {
    return std::accumulate(tally.faults.begin(), tally.faults.end(), std::uint64_t{0});
  };
  const ThreadResult& other = result.threads[1];
  CHECK(result.makespan == us(20'000));
  CHECK(faults_in(other.region) == 1);
  CHECK(faults_in(other.whole) == 4);  // the region's page, too
  CHECK(other.region.messages == 1);
  CHECK(other.region.barriers == 0);
}

TEST_CASE("JIAJIA barriers count as in the untimed model, with all quirks") {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    for (const bool moves : {false, true}) {
      for (const bool detects : {false, true}) {
        for (const Quirks& quirks : {Quirks{}, Quirks::all()}) {
          const Rules rules{detects, moves, Scope::openmp, quirks};
          const std::uint32_t processes = 2 + seed % 3;
          CAPTURE(seed);
          CAPTURE(moves);
          CAPTURE(detects);
          const Drawn drawn = draw(processes, false, seed);
          const auto cluster = played(drawn, processes, rules);
          check_counts(simulated(traced(drawn, {processes, 1}), rules), *cluster, true);
        }
      }
    }
  }
}

TEST_CASE("JIAJIA locks count as in the untimed model, in both scopes") {
  for (std::uint32_t seed = 11; seed <= 18; ++seed) {
    for (const Scope scope : {Scope::openmp, Scope::lock}) {
      const Rules rules{.home_migration = seed % 2 == 0, .scope = scope};
      const std::uint32_t processes = 2 + seed % 3;
      CAPTURE(seed);
      CAPTURE(static_cast<int>(scope));
      const Drawn drawn = draw(processes, true, seed);
      check_counts(simulated(traced(drawn, {processes, 1}), rules), *played(drawn, processes, rules), true);
    }
  }
}

TEST_CASE("JIAJIA homes that move by first touch match the untimed model") {
  for (std::uint32_t seed = 31; seed <= 34; ++seed) {
    Rules rules{.adaptive_write_detection = seed % 2 == 0, .scope = Scope::openmp};
    rules.first_touch_moves = seed % 3;
    CAPTURE(seed);
    const Drawn drawn = draw(3, seed > 32, seed);
    check_counts(simulated(traced(drawn, {3, 1}), rules), *played(drawn, 3, rules), true);
  }
}

TEST_CASE("a broadcast fork sends one message each, with the master's writes") {
  Rules rules{.scope = Scope::openmp};
  rules.fork_by_broadcast = true;
  const Event fork{EventKind::fork, 0, 0, 3}, begin{EventKind::team_begin, 0, 0, 3};
  TestProgram program({3, 1});
  for (const std::uint32_t t : {0U, 1U, 2U}) {
    program.interval(t, 1000, {reads(0), reads(1)}, {EventKind::join, 0, 0, 3});
  }
  program.interval(0, 20'000, {writes(0), writes(1)}, fork);
  for (const std::uint32_t t : {1U, 2U}) program.interval(t, 0, {}, begin);
  for (const std::uint32_t t : {0U, 1U, 2U}) program.barrier(t, 1000, {reads(0), reads(1)});
  const Result with = simulated(program, rules), without = simulated(program);
  // Two regions, and so two barriers less; the page of their arguments is not there.
  CHECK(with.threads[1].whole.barriers + 2 == without.threads[1].whole.barriers);
  CHECK(messages(with, 0, Kind::FORK) == 2);
  CHECK(messages(with, 1, Kind::BARR) == 3);
  CHECK(fault_count(with, 2, Fault::RIVR) == 2);
  CHECK(fault_count(without, 2, Fault::RIVR) == 2 + 1);
  CHECK(fault_count(with, 2, Fault::RUMR) + 1 == fault_count(without, 2, Fault::RUMR));
  // Thread 1 is idle until the master forks, and waits for its message: 32 of header, 64 and 4 bytes, two notices.
  CHECK(spent(with.threads[1].whole, Spent::idle) > us(19'000));
  const double message = 61.66 + (32 + 64 + 4 + 2 * 12) * 0.181919;
  CHECK(with.makespan < without.makespan);
  CHECK(spent(with.threads[1].whole, Spent::barrier) > us(message));

  RunOptions privatizes = under(rules);
  privatizes.privatized = {RegionId{0}};
  privatizes.privatized_pages = Bytes{2 * 4096};
  const Result privatized = run(p3_jiajia(), NetworkKind::queue, program, privatizes);
  for (const std::uint32_t t : {1U, 2U}) {
    for (const Fault kind : {Fault::RUMR, Fault::RIVR}) CHECK(fault_count(privatized, t, kind) == 0);
  }
  const auto bytes = [](const Result& result) { return result.threads[0].whole.bytes; };
  // Nobody notes the master's writes of them.
  CHECK(privatized.threads[0].whole.messages_by_kind[static_cast<std::size_t>(Kind::FORK)] == 2);
  CHECK(bytes(privatized) > bytes(with) + 2 * 2 * 4096 - 500);
}

TEST_CASE("forks by broadcast do not hide writes of partial teams") {
  Rules rules{.scope = Scope::openmp};
  rules.fork_by_broadcast = true;
  TestProgram program({3, 1});
  for (const std::uint32_t t : {0U, 1U, 2U}) {
    program.interval(t, 1000, {reads(4)}, {EventKind::join, 0, 0, 3});
  }
  program.interval(0, 100, {}, {EventKind::fork, 0, 0, 2});
  program.interval(1, 100, {}, {EventKind::team_begin, 0, 0, 2});
  for (const std::uint32_t t : {0U, 1U}) {
    program.interval(t, 1000, t == 1 ? std::vector{writes(4)} : std::vector<trace::TouchRun>{},
                     {EventKind::join, 0, 0, 2});
  }
  program.interval(0, 100, {}, {EventKind::fork, 0, 0, 3});
  for (const std::uint32_t t : {1U, 2U}) program.interval(t, 100, {}, {EventKind::team_begin, 0, 0, 3});
  for (const std::uint32_t t : {0U, 1U, 2U}) program.barrier(t, 1000, {reads(4)});
  const Result result = simulated(program, rules);
  // The first region's and the last one's messages; a barrier follows the latter, as thread 1 wrote a page.
  CHECK(messages(result, 0, Kind::FORK) == 2);
  CHECK(fault_count(result, 2, Fault::RIVR) == 1);
  CHECK(result.threads[2].whole.barriers == 4);
}

TEST_CASE("under JIAJIA processes of one node have copies of their own") {
  const Rules rules{.home_migration = true, .scope = Scope::openmp};
  const Drawn drawn = draw(4, true, 21);
  const Result result = simulated(traced(drawn, {2, 2}), rules);
  check_counts(result, *played(drawn, 4, rules), false);
  // Within a node nothing travels.
  const Result apart = simulated(traced(drawn, {4, 1}), rules);
  CHECK(result.threads[1].whole.messages < apart.threads[1].whole.messages);
}

TEST_CASE("JIAJIA faults cost 8 us at home and 587 us remotely") {
  TestProgram program({2, 1});
  program.barrier_of_all({{5000, {writes(0)}}, {5000}});
  program.barrier_of_all({{5000}, {5000, {reads(0, 128)}}});
  const Result result = simulated(program);
  // Each also of the page of the region's function and arguments.
  CHECK(fault_time(result, 0, Fault::WROH) == us(8 + 8));
  CHECK(fault_time(result, 1, Fault::RUMR) == us(587 + 587));
  CHECK(fault_count(result, 1, Fault::RUMR) == 2);
  // The home's two written pages lose their write permission at the barriers.
  CHECK(spent(result.threads[0].whole, Spent::protect) == us(2 * 4));
  CHECK(messages(result, 1, Kind::GETP) == 2);
  CHECK(messages(result, 0, Kind::GETPGRANT) == 2);
}

TEST_CASE("an empty barrier of two JIAJIA processes takes a message each way") {
  const auto waited = [](int barriers) {
    TestProgram program({2, 1});
    for (int i = 0; i < barriers; ++i) program.barrier_of_all(1000);
    const Result result = simulated(program);
    return std::array{spent(result.threads[0].whole, Spent::barrier), spent(result.threads[1].whole, Spent::barrier)};
  };
  const auto few = waited(10), many = waited(20);
  // 32 bytes of header and 4 of data, from process 1 to process 0 and back. Process 0 goes on by one message earlier,
  // and so waits for both.
  for (const std::size_t thread : {0, 1}) CHECK((many[thread] - few[thread]) / 10 == us(2 * (61.66 + 36 * 0.181919)));
}

TEST_CASE("JIAJIA lock messages grow with their write notices") {
  const auto program = [](bool writes_under_it) {
    TestProgram made({2, 1});
    made.barrier_of_all(5000);
    made.acquire(1, 0, 1000);  // lock 0 is managed by process 0
    made.release(1, 0, 100, writes_under_it ? std::vector{writes(1)} : std::vector<trace::TouchRun>{});
    made.barrier(1, 9000);
    made.acquire(0, 0, 5000);
    made.release(0, 0, 100);
    made.barrier(0, 5000);
    return made;
  };
  const Result quiet = simulated(program(false)), noticed = simulated(program(true));
  // 36 bytes travel 28.24 us: 114 on each cable, 5 us behind each. The rest of 68.209084 us is the processors', half of
  // it the sender's, which alone an unlock waits for.
  const double message = 61.66 + 36 * 0.181919;
  CHECK(spent(quiet.threads[1].whole, Spent::lock) == us(2 * message + (message - 28.24) / 2));
  CHECK(spent(quiet.threads[0].whole, Spent::lock) == us(0));
  // A page of its own, so that no diff travels. One notice in the REL: 16 bytes on two cables, and per byte.
  CHECK(further(noticed.threads[1].whole, FurtherCount::notices) == 1 + 1);
  CHECK(spent(noticed.threads[1].whole, Spent::lock) ==
        us(2 * message + (message + 16 * 0.181919 - 28.24 - 2 * 16 * 0.08) / 2));
  const auto bytes = [](const Result& result) { return result.threads[1].whole.bytes; };
  CHECK(bytes(noticed) == bytes(quiet) + 16 + 12);  // the REL's and the next barrier's
}

TEST_CASE("a JIAJIA lock passes its scope's notices on, openmp earlier ones, too") {
  const auto program = [] {
    TestProgram made({3, 1});
    made.barrier(0, 90'000);
    for (const std::uint32_t t : {1U, 2U}) made.barrier(t, 90'000, {reads(0, 0, 4)});
    made.barrier(0, 90'000);
    made.acquire(1, 5, 1000, {writes(0)});
    made.release(1, 5, 100, {writes(3)});
    made.barrier(1, 90'000);
    made.acquire(2, 5, 30'000);
    made.release(2, 5, 100, {reads(0), reads(3)});
    made.barrier(2, 50'000);
    return made;
  }();
  const Result openmp = simulated(program, {.scope = Scope::openmp}), lock = simulated(program, {.scope = Scope::lock});
  CHECK(fault_count(openmp, 2, Fault::RIVR) == 2);
  CHECK(fault_count(lock, 2, Fault::RIVR) == 1);
}

TEST_CASE("a JIAJIA flush takes and releases a lock of its own") {
  TestProgram program({2, 1});
  const Event flush{EventKind::flush, 0, 0, 0};
  program.barrier_of_all({{50'000, {reads(1)}}, {50'000}});
  program.interval(1, 1000, {writes(1)}, flush);
  program.barrier(1, 50'000);
  program.interval(0, 30'000, {}, flush);
  program.barrier(0, 20'000, {reads(1)});
  const Result result = simulated(program);
  CHECK(fault_count(result, 0, Fault::RIVR) == 1);
  CHECK(result.threads[0].whole.locks == 1);
}

TEST_CASE("a JIAJIA flag passes notices to its waiters, as a lock does") {
  TestProgram program({3, 1});
  const Event post{EventKind::post, 0, 7, 1}, wait{EventKind::wait, 0, 7, 1};
  for (const std::uint32_t t : {0U, 1U, 2U}) program.barrier(t, 50'000, {reads(0)});
  program.interval(1, 10'000, {writes(0)}, post);
  program.interval(2, 1000, {}, wait);
  for (const std::uint32_t t : {0U, 1U}) program.barrier(t, 50'000);
  program.barrier(2, 50'000, {reads(0)});
  const Result result = simulated(program);
  CHECK(fault_count(result, 2, Fault::RIVR) == 1);
  CHECK(result.threads[2].whole.locks == 1);
  CHECK(result.threads[1].whole.locks == 0);
  // Process 1 manages flag 7. The wait ends with the grant after the post: 9 ms plus both messages.
  CHECK(spent(result.threads[2].whole, Spent::lock) > us(9'000));
  CHECK(spent(result.threads[2].whole, Spent::lock) < us(11'000));
  CHECK(messages(result, 1, Kind::ACQGRANT) == 1);
  CHECK_THROWS_WITH(simulated(program, {}), ContainsSubstring("thread 1 has a flag, which JIAJIA's own scopes do not"));
}

TEST_CASE("a partial JIAJIA barrier notifies its members, as in the model") {
  const Rules rules{.home_migration = true, .scope = Scope::openmp};
  TestProgram program({3, 1});
  program.pages = drawn_pages;
  const Event part{EventKind::barrier, 0, 0, 2};
  for (const std::uint32_t t : {0U, 1U, 2U}) program.barrier(t, 50'000, {reads(0)});
  program.interval(0, 90'000, {}, part);
  program.interval(1, 90'000, {writes(0, 0, 1, whole_page), writes(3, 0, 1, whole_page)}, part);
  program.barrier_of_all({{90'000, {reads(3), reads(0)}}, {90'000, {reads(0)}}, {10'000}});
  const Result result = simulated(program, rules);
  PlayedCluster cluster(3, rules);
  for (std::uint32_t page = 0; page < drawn_pages; ++page) cluster.allocate(1, page % 3);
  const std::uint64_t region = cluster.allocate(1, 0);
  cluster.write(0, region);
  cluster.barrier();
  for (std::uint32_t t = 1; t < 3; ++t) cluster.read(t, region);
  for (std::uint32_t t = 0; t < 3; ++t) cluster.read(t, 0);
  cluster.barrier();
  cluster.write(1, 0);
  cluster.write(1, 3);
  cluster.barrier_of(2);
  cluster.read(0, 3);
  cluster.read(0, 0);
  cluster.read(1, 0);
  cluster.barrier();
  cluster.barrier();
  check_counts(result, cluster, true);
  CHECK(result.threads[0].whole.barriers == result.threads[2].whole.barriers + 1);
  // Processes 0 and 1 met when 1 had come: 2 waits for both at the next barrier alone.
  CHECK(spent(result.threads[0].whole, Spent::barrier) < us(20'000));
  CHECK_THROWS_WITH(simulated(program, {}), ContainsSubstring("a barrier of 2 of 3 threads, which JIAJIA's own"));
}

TEST_CASE("JIAJIA: a spinning thread sees stores before the awaited event") {
  const auto program = [](double stores_at, double asks_at) {
    TestProgram made({2, 1});
    for (const std::uint32_t t : {0U, 1U}) made.barrier(t, 50'000, {reads(1)});
    const Event task{EventKind::task, 0, 0, 0};
    // The thread's third event, after those of the region and a barrier.
    made.interval(1, stores_at, {writes(1)}, task);
    made.interval(1, 30'000, {}, task);
    made.barrier(1, 50'000);
    made.interval(0, asks_at, {}, {EventKind::spin, 0, 1, 3});
    made.barrier(0, 50'000, {reads(1)});
    return made;
  };
  const auto simulated_with_spins = [](const TestProgram& made) {
    return run(
        p3_jiajia(), made.layout(), NetworkKind::queue,
        [&] {
          Program finished = made.finished();
          finished.has_spins = true;
          return finished;
        },
        under({.scope = Scope::openmp}));
  };
  // Asked before it stores: answered with that event. Asked amid the next interval: with the next event.
  const Result early = simulated_with_spins(program(20'000, 1000)), late = simulated_with_spins(program(1000, 20'000));
  CHECK(spent(early.threads[0].whole, Spent::lock) > us(18'000));
  CHECK(spent(early.threads[0].whole, Spent::lock) < us(22'000));
  CHECK(spent(late.threads[0].whole, Spent::lock) > us(10'000));
  CHECK(spent(late.threads[0].whole, Spent::lock) < us(14'000));
  for (const Result* result : {&early, &late}) CHECK(fault_count(*result, 0, Fault::RIVR) == 1);
}

namespace {

/// p3-jiajia with these properties in place of its own, or further ones.
TemporaryFile p3_jiajia_with(const std::map<std::string, std::string>& properties,
                             const std::string& bandwidth = "100Mbps") {
  std::string text = read_text(p3_jiajia());
  for (const auto& [id, value] : properties) {
    const std::string begin = "<prop id=\"" + id + "\" value=\"";
    const auto at = text.find(begin);
    if (at != std::string::npos) text.erase(at, text.find("/>", at) + 2 - at);
    const std::string zone = "routing=\"Full\">";
    text.insert(text.find(zone) + zone.size(), begin + value + "\"/>");
  }
  const std::string cable = "bw=\"";
  const auto at = text.find(cable) + cable.size();
  text.replace(at, text.find('"', at) - at, bandwidth);
  return TemporaryFile(text);
}

Result simulated_on(const TemporaryFile& platform, const TestProgram& program) {
  return run(platform.path(), NetworkKind::queue, program, under({.scope = Scope::openmp}));
}

/// Each thread's cost of one full barrier in that program.
std::vector<Time> barrier_times(const TemporaryFile& platform, std::uint32_t nodes) {
  const auto waited = [&](int barriers) {
    TestProgram program({nodes, 1});
    for (int i = 0; i < barriers; ++i) program.barrier_of_all(20'000);
    return simulated_on(platform, program);
  };
  const Result few = waited(10), many = waited(20);
  std::vector<Time> times;
  for (std::uint32_t t = 0; t < nodes; ++t) {
    times.push_back((spent(many.threads[t].whole, Spent::barrier) - spent(few.threads[t].whole, Spent::barrier)) / 10);
  }
  return times;
}

/// A page's first write at home, and another process's first read.
TestProgram two_faults() {
  TestProgram program({2, 1});
  program.barrier_of_all({{50'000, {writes(0)}}, {50'000}});
  program.barrier_of_all({{50'000}, {50'000, {reads(0, 128)}}});
  return program;
}

}  // namespace

TEST_CASE("JIAJIA datagrams have one wire size, but count their contents") {
  std::map<std::string, std::string> properties{{"jiajia.message.size", "40960B"}};
  for (const char* kind : {"RUMR", "RIVR", "WUMR", "WIVR"}) properties["jiajia.fault." + std::string(kind)] = "12000us";
  const TemporaryFile fast = p3_jiajia_with(properties), slow = p3_jiajia_with(properties, "50Mbps");
  // 40,960 bytes go in 29 frames of 1460 with 78 more each: 43,222 bytes, and the first frame's 1538 once more, as the
  // switch has to have it. On half the bandwidth a bit takes 10 ns longer.
  const double longer = (43'222 + 1538) * 8 * 0.01;
  const double message = 61.66 + 40'960 * 0.181919;
  for (const Time time : barrier_times(fast, 2)) CHECK(time == us(2 * message));
  for (const Time time : barrier_times(slow, 2)) CHECK(time == us(2 * (message + longer)));
  const Result result = simulated_on(slow, two_faults());
  CHECK(fault_count(result, 1, Fault::RUMR) == 2);
  CHECK(fault_time(result, 1, Fault::RUMR) == us(2 * (12'000 + 2 * longer)));
  CHECK(result.threads[1].whole.bytes == simulated(two_faults()).threads[1].whole.bytes);
}

TEST_CASE("JIAJIA with acknowledgements sends one message at a time") {
  const auto without = barrier_times(p3_jiajia_with({}), 3);
  const auto with = barrier_times(p3_jiajia_with({{"jiajia.message.acknowledgement", "8B"}}), 3);
  // 36 bytes travel 28.24 us, and the rest of the message's time is the processors', half of it the sender's. 8 bytes
  // are 86 on each of two cables, 5 us behind each.
  const double travels = 28.24, sender = (61.66 + 36 * 0.181919 - travels) / 2, answer = 2 * 86 * 8 * 0.01 + 10;
  // The manager's second grant is ready when its processor has done both, or when process 1 has answered the first.
  CHECK(with[2] - without[2] == us(sender + travels + answer - 2 * sender));
  // Where each sends one message and waits for the other's, nobody waits longer.
  CHECK(barrier_times(p3_jiajia_with({{"jiajia.message.acknowledgement", "8B"}}), 2) ==
        barrier_times(p3_jiajia_with({}), 2));
}

TEST_CASE("JIAJIA's log lengthens faults and sending") {
  const TemporaryFile logs = p3_jiajia_with({{"jiajia.log", "4us"}});
  const Result result = simulated_on(logs, two_faults());
  CHECK(fault_time(result, 0, Fault::WROH) == us(2 * (8 + 4)));
  // The fault, its request, and the home's answer.
  CHECK(fault_time(result, 1, Fault::RUMR) == us(2 * (587 + 3 * 4)));
  for (const Time time : barrier_times(logs, 2)) CHECK(time == us(2 * (61.66 + 36 * 0.181919 + 4)));
}

TEST_CASE("JIAJIA costs of many pages beyond a run's limit are refused") {
  TestProgram program({2, 1});
  program.pages = std::uint64_t{1} << 16;
  const auto made = [&](std::uint64_t first) {
    TestProgram writing = program;
    writing.barrier(0, 1000, {writes(first, 0, 1 << 15)});
    writing.barrier(1, 1000);
    Program finished = writing.finished();
    finished.regions[0].placement = Placement::block;
    return finished;
  };
  // 2^15 pages of 2^49 ps are 2^64 ps: own ones lose their permission to be written, of others diffs are made.
  for (const auto& [cost, first] : {std::pair{"jiajia.protect", 0}, std::pair{"jiajia.diff", 1 << 15}}) {
    const TemporaryFile costly = p3_jiajia_with({{cost, "562.949953421312s"}});
    CHECK_THROWS_WITH(
        run(
            costly.path(), program.layout(), NetworkKind::queue,
            [&, first = first] { return made(static_cast<std::uint64_t>(first)); }, under({.scope = Scope::openmp})),
        ContainsSubstring("longer than 104 simulated days"));
  }
}

TEST_CASE("JIAJIA's datagrams are no shorter than its longest message") {
  CHECK_THROWS_WITH(simulated_on(p3_jiajia_with({{"jiajia.message.size", "40959B"}}), two_faults()),
                    ContainsSubstring("'40959B' is less than the 40960 bytes that a message may carry"));
}

TEST_CASE("other protocols' costs do not replace JIAJIA's") {
  const TestProgram any({2, 1});
  CHECK_THROWS_WITH(run(any, under({})), ContainsSubstring("no costs for protocol jiajia (it has scash)"));
  CHECK_THROWS_WITH(run(p3_jiajia(), NetworkKind::queue, any),
                    ContainsSubstring("no costs for protocol scash (it has jiajia)"));
}

TEST_CASE("JIAJIA: ordered regions run in their turns") {
  const auto waits = [](bool tells_turns) {
    TestProgram program({2, 1});
    program.barrier_of_all(5000);
    for (const std::uint64_t turn : {1, 2}) program.ordered(0, tells_turns ? turn : 0, 5000, 1000);
    program.ordered(1, tells_turns ? 3 : 0, 1000, 1000);
    return spent(simulated(program).threads[1].whole, Spent::lock);
  };
  // It asked behind 1 ms, and thread 0 gives the lock back for the second time behind 12.
  CHECK(waits(true) > us(11'000));
  CHECK(waits(false) < us(1000));
}
