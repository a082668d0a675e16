#include <deque>
#include <exception>
#include <memory>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/network.hpp"

namespace sdsm::sim {
namespace {

/// SimGrid's own communications, with links limited to one message at a time: the slower network, and the reference.
/// SimGrid 3.32 reports the end of a communication only to actors, but timers send messages too. So couriers carry
/// them: reusable actors that wait for one message at a time.
class SimgridNetwork final : public Network {
 public:
  SimgridNetwork(Clock& clock, const Topology& topology, const Framing& framing)
      : clock_(clock), topology_(topology), framing_(framing) {
    for (auto* link : simgrid::s4u::Engine::get_instance()->get_all_links()) {
      if (link->get_sharing_policy() != simgrid::s4u::Link::SharingPolicy::FATPIPE) link->set_concurrency_limit(1);
    }
  }

  void send(NodeId from, NodeId to, Bytes payload, std::function<void()> arrived) override {
    if (from == to) return arrived();
    Courier* courier = nullptr;
    if (idle_.empty()) {
      couriers_.push_back(std::make_unique<Courier>(clock_));
      courier = couriers_.back().get();
      start_actor("courier-" + std::to_string(couriers_.size()), topology_.host(NodeId{0}),
                  [this, courier] { run(*courier); });
    } else {
      courier = idle_.back();
      idle_.pop_back();
    }
    courier->from = from;
    courier->to = to;
    courier->bytes = wire_bytes(framing_, payload);
    courier->arrived = std::move(arrived);
    courier->bell.ring();
  }

 private:
  struct Courier {
    explicit Courier(Clock& clock) : bell(clock) {}
    NodeId from{}, to{};
    Bytes bytes;
    std::function<void()> arrived;
    Doorbell bell;
  };

  void run(Courier& courier) {
    simgrid::s4u::Actor::self()->daemonize();
    for (;;) {
      courier.bell.wait();
      simgrid::s4u::Comm::sendto_async(topology_.host(courier.from), topology_.host(courier.to),
                                       static_cast<std::uint64_t>(courier.bytes.count))
          ->wait();
      const std::function<void()> arrived = std::move(courier.arrived);
      idle_.push_back(&courier);
      try {
        clock_.catch_up();
        arrived();
      } catch (const simgrid::ForcefulKillException&) {
        throw;
      } catch (...) {
        // SimGrid ends the program if an exception leaves an actor. An exception of a timer's action reaches the caller
        // of the engine.
        clock_.at(clock_.now(), [failure = std::current_exception()] { std::rethrow_exception(failure); });
      }
    }
  }

  Clock& clock_;
  const Topology& topology_;
  Framing framing_;
  std::vector<std::unique_ptr<Courier>> couriers_;
  std::vector<Courier*> idle_;
};

}  // namespace

std::unique_ptr<Network> make_simgrid_network(Clock& clock, const Topology& topology, const Framing& framing) {
  return std::make_unique<SimgridNetwork>(clock, topology, framing);
}

}  // namespace sdsm::sim
