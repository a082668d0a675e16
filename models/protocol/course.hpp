/// A course: the steps of a process at a synchronisation, as data. A protocol's folder says which steps; a back end
/// says how a step is done.
#pragma once

#include <cstdint>

namespace sdsm::protocol {

enum class Action : std::uint8_t {
  flush,           ///< ends the interval: changes go home, and the process waits until they are there
  ask,             ///< sends the manager a message with the process's notices, and waits for its answer
  send,            ///< sends the manager a message with the process's notices; nobody waits
  apply,           ///< applies the write notices of the answer
  begin_interval,  ///< begins the next interval: protections and copies become as they are at its start
};

/// `Message`: the protocol's own kinds of messages.
template <typename Message>
struct Step {
  Action action;
  Message message{};  ///< that it sends; of ask and send
  Message answer{};   ///< that it gets; of ask
};

}  // namespace sdsm::protocol
