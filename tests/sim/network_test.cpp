/// Messages that meet: completion times by hand, and against a network simulated frame by frame.

#include <fmt/core.h>

#include <random>
#include <sstream>

#include "commands/forked_call.hpp"
#include "models/scash/messages.hpp"
#include "sim/network_table.hpp"
#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/frame_reference.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

/// Runs `body` on a network over the platform until it says that it is finished.
template <typename Body>
std::string on_network(const PlatformText& text, NetworkKind kind, Body body) {
  const TemporaryFile file(text.text());
  return commands::in_child([&] {
    static char name[] = "test";
    static char quiet[] = "--log=root.thres:error";
    static char* arguments[] = {name, quiet, nullptr};
    int count = 2;
    simgrid::s4u::Engine engine(&count, arguments);
    configure_engine();
    engine.load_platform(file.path().string());
    const Topology topology(engine, text.hosts, 1);
    const NetworkRow& row = row_of(kind);
    Clock clock(row.alone);
    const Framing framing;
    const auto network = row.make(clock, topology, framing);
    std::string said;
    Doorbell finished(clock);
    start_actor("observer", topology.host(NodeId{0}), [&] {
      body(clock, *network, [&](std::string text_of_body) {
        said = std::move(text_of_body);
        finished.ring();
      });
      finished.wait();
    });
    engine.run();
    return said;
  });
}

struct Sending {
  double at_us;
  std::uint32_t from, to;
  Bytes payload;
};

/// When each message arrives, in microseconds.
std::vector<double> arrivals(NetworkKind kind, const std::vector<Sending>& sendings, const PlatformText& text = {}) {
  const std::string said = on_network(text, kind, [&](Clock& clock, Network& network, auto finished) {
    const auto times = std::make_shared<std::vector<Time>>(sendings.size());
    const auto open = std::make_shared<std::size_t>(sendings.size());
    for (std::size_t i = 0; i < sendings.size(); ++i) {
      const Sending& sending = sendings[i];
      clock.at(us(sending.at_us), [&clock, &network, sending, times, open, i, finished] {
        network.send(NodeId{sending.from}, NodeId{sending.to}, sending.payload, [&clock, times, open, i, finished] {
          (*times)[i] = clock.now();
          if (--*open > 0) return;
          std::string text_of_times;
          for (const Time time : *times) text_of_times += fmt::format("{} ", time.count());
          finished(text_of_times);
        });
      });
    }
  });
  std::istringstream stream(said);
  std::vector<double> found;
  for (std::int64_t ps; stream >> ps;) found.push_back(static_cast<double>(ps) * 1e-6);
  return found;
}

bool close(const std::vector<double>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::abs(found[i] - expected[i]) > 0.001) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a message alone takes the idle time of its route") {
  CHECK(close(arrivals(NetworkKind::queue, {{0, 1, 0, page_payload}}), {479.44}));
  CHECK(close(arrivals(NetworkKind::queue, {{100, 1, 0, control_payload}}), {127.6}));
  CHECK(close(arrivals(NetworkKind::simgrid, {{0, 1, 0, page_payload}}), {356.4}));
  CHECK(close(arrivals(NetworkKind::simgrid, {{100, 1, 0, control_payload}}), {118.8}));
}

TEST_CASE("the slower of two cables sets the pace") {
  PlatformText text;
  text.other_bandwidth[0] = "1Gbps";
  // Slow, then fast: the fast cable passes on the last frame, counted as a full one, when it has it.
  CHECK(close(arrivals(NetworkKind::queue, {{0, 1, 0, page_payload}}, text), {346.4 + 5 + 12.304 + 5}));
  // Fast, then slow: the slow cable begins with the first frame.
  CHECK(close(arrivals(NetworkKind::queue, {{0, 0, 1, page_payload}}, text), {12.304 + 5 + 346.4 + 5}));
  CHECK(close(arrivals(NetworkKind::simgrid, {{0, 1, 0, page_payload}}, text), {346.4 + 10}));
}

TEST_CASE("within a node there is no network") {
  CHECK(close(arrivals(NetworkKind::queue, {{3, 2, 2, page_payload}}), {3}));
  CHECK(close(arrivals(NetworkKind::simgrid, {{3, 2, 2, page_payload}}), {3}));
}

TEST_CASE("two pages that meet at a port leave in turn") {
  // Both first frames are at the switch after 128.04 us. One page has the port until 474.44 us, the other until 820.84
  // us.
  CHECK(close(arrivals(NetworkKind::queue, {{0, 1, 0, page_payload}, {0, 2, 0, page_payload}}), {479.44, 825.84}));
}

TEST_CASE("three pages that one node sends leave it one after the other") {
  // Cable up: until 346.4, 692.8 and 1039.2 us. The switch's ports are different ones.
  CHECK(close(arrivals(NetworkKind::queue, {{0, 0, 1, page_payload}, {0, 0, 2, page_payload}, {0, 0, 3, page_payload}}),
              {479.44, 825.84, 1172.24}));
}

TEST_CASE("pages up and down one cable do not hinder each other") {
  CHECK(close(arrivals(NetworkKind::queue, {{0, 0, 1, page_payload}, {0, 1, 0, page_payload}}), {479.44, 479.44}));
  CHECK(close(arrivals(NetworkKind::simgrid, {{0, 0, 1, page_payload}, {0, 1, 0, page_payload}}), {356.4, 356.4}));
}

TEST_CASE("messages between different nodes do not disturb each other") {
  CHECK(close(arrivals(NetworkKind::queue, {{0, 0, 1, page_payload}, {0, 2, 3, page_payload}}), {479.44, 479.44}));
  CHECK(close(arrivals(NetworkKind::simgrid, {{0, 0, 1, page_payload}, {0, 2, 3, page_payload}}), {356.4, 356.4}));
}

TEST_CASE("a port serves messages in the order of arrival") {
  // The page has the port to node 0 from 128.04 to 474.44 us. The short message is there at 200 + 13.8 us.
  CHECK(close(arrivals(NetworkKind::queue, {{0, 1, 0, page_payload}, {200, 2, 0, control_payload}}),
              {479.44, 474.44 + 8.8 + 5}));
  // Sent at 100 us it is there first, at 113.8 us, and has the port until 122.6 us.
  CHECK(close(arrivals(NetworkKind::queue, {{0, 1, 0, page_payload}, {100, 2, 0, control_payload}}), {479.44, 127.6}));
}

TEST_CASE("a port that is free again serves at once") {
  CHECK(close(arrivals(NetworkKind::queue, {{0, 1, 0, page_payload}, {1000, 2, 0, page_payload}}), {479.44, 1479.44}));
}

TEST_CASE("simgrid: two pages that meet at a port leave in turn") {
  const auto found = arrivals(NetworkKind::simgrid, {{0, 1, 0, page_payload}, {0, 2, 0, page_payload}});
  // A page takes 356.4 us, of which the port is busy 346.4. SimGrid counts the second's latency after the first's end
  // or not, by its version.
  REQUIRE(found.size() == 2);
  CHECK(found[0] == Approx(356.4).margin(0.01));
  CHECK(found[1] >= 2 * 346.4);
  CHECK(found[1] <= 2 * 356.4 + 0.01);
}

TEST_CASE("a link that nobody has to himself carries messages side by side") {
  PlatformText text;
  std::string shared = text.text();
  for (std::size_t at; (at = shared.find("SPLITDUPLEX")) != std::string::npos;) shared.replace(at, 11, "FATPIPE");
  for (const char* direction : {" direction=\"UP\"", " direction=\"DOWN\""}) {
    for (std::size_t at; (at = shared.find(direction)) != std::string::npos;)
      shared.erase(at, std::string(direction).size());
  }
  const TemporaryFile file(shared);
  TestProgram program({4, 1});
  program.barrier_of_all(0);
  program.barrier(0, 10'000);
  for (std::uint32_t t = 1; t < 4; ++t) program.barrier(t, 10'000, {reads(4 * t)});
  const Result result = run(file.path(), NetworkKind::queue, program);
  // Only the home's processor is shared now: 39.98 us for each.
  CHECK(spent(result.threads[1].whole, FaultKind::RUMR) == us(2 * 587));
  CHECK(spent(result.threads[3].whole, FaultKind::RUMR) == us(2 * (587 + 2 * 39.98)));
}

namespace {

/// Every node fetches pages from random others, thinking between; a home takes 40 us for each, one after another. The
/// same choices for every network. Calls `finished` with the mean fetch time in picoseconds.
template <typename Net>
class ClosedLoop {
 public:
  ClosedLoop(Net& network, std::uint32_t nodes, std::uint32_t threads, std::uint32_t fetches, double think_us,
             std::function<void(Time)> finished)
      : network_(network), nodes_(nodes), think_us_(think_us), finished_(std::move(finished)), service_free_(nodes) {
    for (std::uint32_t i = 0; i < nodes * threads; ++i) {
      threads_.push_back({i / threads, fetches, std::mt19937(i + 1), {}});
    }
    left_ = threads_.size();
    for (Thread& thread : threads_) think(thread);
  }

 private:
  struct Thread {
    std::uint32_t node;
    std::uint32_t left;
    std::mt19937 random;
    Time since;
  };

  void think(Thread& thread) {
    const double pause = think_us_ * static_cast<double>(thread.random() % 1024) / 1024;
    network_.at(network_.now() + us(pause), [this, &thread] { fetch(thread); });
  }

  void fetch(Thread& thread) {
    thread.since = network_.now();
    const auto other = static_cast<std::uint32_t>(thread.random() % (nodes_ - 1));
    const std::uint32_t home = other >= thread.node ? other + 1 : other;
    network_.send(thread.node, home, control_payload, [this, &thread, home] {
      service_free_[home] = std::max(service_free_[home], network_.now()) + us(40);
      network_.at(service_free_[home], [this, &thread, home] {
        network_.send(home, thread.node, page_payload, [this, &thread] {
          total_ += network_.now() - thread.since;
          ++fetches_;
          if (--thread.left > 0) return think(thread);
          if (--left_ == 0) finished_(total_ / fetches_);
        });
      });
    });
  }

  Net& network_;
  std::uint32_t nodes_;
  double think_us_;
  std::function<void(Time)> finished_;
  std::vector<Time> service_free_;
  std::vector<Thread> threads_;
  std::size_t left_ = 0;
  Time total_{};
  std::int64_t fetches_ = 0;
};

/// The simulator's network with the interface of FrameNetwork.
struct SimulatedNetwork {
  Clock& clock;
  Network& network;
  Time now() const { return clock.now(); }
  void at(Time date, std::function<void()> action) { clock.at(date, std::move(action)); }
  void send(std::uint32_t from, std::uint32_t to, Bytes payload, std::function<void()> arrived) {
    network.send(NodeId{from}, NodeId{to}, payload, std::move(arrived));
  }
};

double mean_fetch_us(NetworkKind kind, std::uint32_t nodes, std::uint32_t threads, double think_us) {
  PlatformText text;
  text.hosts = nodes;
  const std::string said = on_network(text, kind, [&](Clock& clock, Network& network, auto finished) {
    // Lives until the child process ends.
    auto* const adapter = new SimulatedNetwork{clock, network};
    new ClosedLoop<SimulatedNetwork>(*adapter, nodes, threads, 300, think_us,
                                     [finished](Time mean) { finished(fmt::format("{}", mean.count())); });
  });
  return std::stod(said) * 1e-6;
}

double mean_fetch_us_by_frames(std::uint32_t nodes, std::uint32_t threads, double think_us) {
  FrameNetwork network(nodes, {{12.5e6}, us(5)}, {});
  Time result{};
  const ClosedLoop<FrameNetwork> loop(network, nodes, threads, 300, think_us, [&](Time mean) { result = mean; });
  network.run();
  return in_us(result);
}

}  // namespace

TEST_CASE("a page alone takes the frame-level reference 479.44 us") {
  FrameNetwork network(2, {{12.5e6}, us(5)}, {});
  Time page{}, request{};
  network.send(0, 1, control_payload, [&] { request = network.now(); });
  network.run();
  CHECK(request == us(27.6));
  FrameNetwork other(2, {{12.5e6}, us(5)}, {});
  other.send(0, 1, page_payload, [&] { page = other.now(); });
  other.run();
  // Frames of 1538, 1538 and 1254 bytes. The last leaves the node after 346.4 us; the port has passed on the one before
  // it by then, 5 us after... the last follows at once and takes its own 100.32 us and the latencies.
  CHECK(page == us(123.04 + 346.4 + 10));
}

TEST_CASE("fetches behind whole messages differ by at most 7 percent") {
  const auto nodes = GENERATE(4U, 8U, 16U);
  const auto threads = GENERATE(1U, 2U);
  const auto think_us = GENERATE(200.0, 1000.0);
  const double reference = mean_fetch_us_by_frames(nodes, threads, think_us);
  const double queue = mean_fetch_us(NetworkKind::queue, nodes, threads, think_us);
  CAPTURE(nodes, threads, think_us, reference, queue, queue / reference);
  CHECK(reference > 1.05 * (27.6 + 40 + 479.44));  // there is contention to be told apart
  CHECK(queue / reference > 0.93);
  CHECK(queue / reference < 1.07);
}

TEST_CASE("both networks see the same contention without idle times") {
  const auto nodes = GENERATE(4U, 8U);
  const double queue = mean_fetch_us(NetworkKind::queue, nodes, 1, 1000) - 547.04;
  const double simgrid = mean_fetch_us(NetworkKind::simgrid, nodes, 1, 1000) - 415.2;
  CAPTURE(nodes, queue, simgrid);
  CHECK(queue > 0);
  CHECK(simgrid > 0);
  CHECK(simgrid / queue == Approx(1).margin(0.5));
}
