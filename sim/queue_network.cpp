#include <algorithm>
#include <memory>
#include <vector>

#include "commands/timelines/timeline.hpp"
#include "sim/network.hpp"

namespace sdsm::sim {
namespace {

/// Store and forward: each link is a FIFO port, reserved when a message's first frame reaches it.
class QueueNetwork final : public Network {
 public:
  QueueNetwork(Clock& clock, const Topology& topology, const Framing& framing)
      : clock_(clock), topology_(topology), framing_(framing), free_at_(topology.link_count()) {}

  void send(NodeId from, NodeId to, Bytes payload, std::function<void()> arrived) override {
    if (from == to) return arrived();
    Message* const message = take();
    message->from = from;
    message->to = to;
    message->hop = 0;
    message->payload = payload;
    message->whole = wire_bytes(framing_, payload);
    message->frame = first_frame_bytes(framing_, payload);
    message->tail = clock_.now();
    message->arrived = std::move(arrived);
    reach_link(message);
  }

 private:
  struct Message {
    NodeId from{}, to{};
    std::size_t hop = 0;
    Bytes payload, whole, frame;
    Time tail{};  ///< when the last bit reached this hop's port
    std::function<void()> arrived;
  };

  /// The first frame reaches the port of link `hop` and waits its turn; then the message occupies the link.
  void reach_link(Message* message) {
    const auto route = topology_.route(message->from, message->to);
    const std::uint32_t index = route[message->hop];
    const LinkSpec& link = topology_.link(index).spec;
    if (free_at_.size() <= index) free_at_.resize(topology_.link_count());
    const Time frame_time = link.bandwidth.time_of(message->frame);
    const Time start = topology_.link(index).exclusive ? std::max(clock_.now(), free_at_[index]) : clock_.now();
    // Ends one whole message after its start, but not before the last frame could be passed on.
    Time done = start + link.bandwidth.time_of(message->whole);
    if (message->hop > 0) done = std::max(done, message->tail + frame_time);
    free_at_[index] = done;
    if (timeline != nullptr) timeline->wait_for_link(index, clock_.now(), start);
    message->tail = done + link.latency;
    if (++message->hop < route.size()) {
      clock_.at(start + frame_time + link.latency, [this, message] { reach_link(message); });
    } else {
      clock_.at(message->tail, std::move(message->arrived));
      idle_.push_back(message);
    }
  }

  Message* take() {
    if (idle_.empty()) {
      messages_.push_back(std::make_unique<Message>());
      return messages_.back().get();
    }
    Message* const message = idle_.back();
    idle_.pop_back();
    return message;
  }

  Clock& clock_;
  const Topology& topology_;
  Framing framing_;
  std::vector<Time> free_at_;
  std::vector<std::unique_ptr<Message>> messages_;
  std::vector<Message*> idle_;
};

}  // namespace

std::unique_ptr<Network> make_queue_network(Clock& clock, const Topology& topology, const Framing& framing) {
  return std::make_unique<QueueNetwork>(clock, topology, framing);
}

}  // namespace sdsm::sim
