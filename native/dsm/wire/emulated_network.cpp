#include "native/dsm/wire/emulated_network.hpp"

#include <algorithm>

#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

using program::end_run;

struct Emulated {
  EmulatedNetwork network;
  EmulatedWires* wires = nullptr;
};
constinit Emulated emulated_at_start GUARDED_BY(starting);
constexpr const EmulatedNetwork& network = emulated_at_start.network;
constexpr EmulatedWires* const& wires = emulated_at_start.wires;

std::uint64_t time_on_link(Bytes bytes) {
  return static_cast<std::uint64_t>(static_cast<double>(bytes.count) / network.link.bandwidth.bytes_per_second * 1e9);
}

/// Processes of one have one cable, whether or not they share memory.
NodeId node_here() {
  return self.machines.node_of(self.process);
}

std::uint64_t latency() {
  return static_cast<std::uint64_t>(network.link.latency.count() / 1000);
}

/// The messages from `first` on leave one after another.
void schedule(EmulatedCable& cable, std::uint32_t first) {
  std::uint64_t free = cable.free;
  if (first > 0) free = std::max(free, cable.underway[first - 1].done - latency());
  for (std::uint32_t i = first; i < cable.count; ++i) {
    MessageUnderway& message = cable.underway[i];
    free = std::max(std::max(message.at_switch, free) + message.duration, message.earliest);
    message.done = free + latency();
  }
}

EmulatedCable& own_cable() REQUIRES(wires->mutex) {
  return wires->down[index_of(node_here())];
}

MessageUnderway& find(EmulatedCable& cable, Ticket ticket) {
  MessageUnderway* const end = cable.underway + cable.count;
  MessageUnderway* const found =
      std::find_if(cable.underway, end, [&](const MessageUnderway& message) { return message.ticket == ticket; });
  if (found == end) end_run({"a message has come by no emulated cable"});
  return *found;
}

}  // namespace

void start_emulated_network(const EmulatedNetwork& wanted, EmulatedWires& shared) {
  emulated_at_start = {wanted, &shared};
}

bool is_emulating() {
  return wires != nullptr && wires->is_measuring.load() != 0;
}

void begin_emulating() {
  if (wires != nullptr) wires->is_measuring.store(1);
}

Ticket put_on_wire(ProcessId to, Bytes payload) {
  if (!is_emulating() || payload.count == 0 || is_on_own_node(to)) return 0;
  const std::uint64_t whole = time_on_link(wire_bytes(network.framing, payload));
  const std::uint64_t frame = time_on_link(first_frame_bytes(network.framing, payload));
  const program::MutexLock lock(wires->mutex);
  std::uint64_t& up_free = wires->up_free[index_of(node_here())];
  const std::uint64_t sent = std::max(up_free, now_ns());
  up_free = sent + whole;

  EmulatedCable& cable = wires->down[index_of(self.machines.node_of(to))];
  if (cable.count == most_messages_underway) {
    end_run({"more than ", program::Decimal(most_messages_underway),
             " messages are underway to one emulated node. Emulate fewer nodes or a faster network, or leave out "
             "--emulate"});
  }
  const MessageUnderway message{++cable.last_ticket, sent + frame + latency(), whole, sent + whole + latency() + frame,
                                0};
  MessageUnderway* const end = cable.underway + cable.count;
  MessageUnderway* const place =
      std::upper_bound(cable.underway, end, message,
                       [](const MessageUnderway& a, const MessageUnderway& b) { return a.at_switch < b.at_switch; });
  std::move_backward(place, end, end + 1);
  *place = message;
  ++cable.count;
  schedule(cable, static_cast<std::uint32_t>(place - cable.underway));
  return message.ticket;
}

void await_room_on_wire(ProcessId to) {
  if (!is_emulating() || is_on_own_node(to)) return;
  // The rest is for messages that somebody waits for.
  constexpr std::uint32_t most = most_messages_underway / 2;
  constexpr std::uint64_t check_again_ns = 100'000;
  const auto count = [&] {
    const program::MutexLock lock(wires->mutex);
    return wires->down[index_of(self.machines.node_of(to))].count;
  };
  while (count() >= most) wait_until(now_ns() + check_again_ns);
}

std::uint64_t arrival_of(Ticket ticket) {
  if (ticket == 0) return 0;
  const program::MutexLock lock(wires->mutex);
  return find(own_cable(), ticket).done;
}

void take_from_wire(Ticket ticket) {
  if (ticket == 0) return;
  const program::MutexLock lock(wires->mutex);
  EmulatedCable& cable = own_cable();
  MessageUnderway& message = find(cable, ticket);
  cable.free = std::max(cable.free, message.done - latency());
  std::move(&message + 1, cable.underway + cable.count, &message);
  --cable.count;
}

void wait_for_arrival(Ticket ticket) {
  if (ticket == 0) return;
  // Again, as a message that was sent later may have come to the switch before it.
  for (std::uint64_t due = arrival_of(ticket); due > now_ns(); due = arrival_of(ticket)) wait_until(due);
  take_from_wire(ticket);
}

}  // namespace sdsm::dsm
