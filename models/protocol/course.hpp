/// A course: the steps of a process at a synchronisation, as data. A protocol's folder says which steps; a back end
/// says how a step is done.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

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

/// What a process does at its synchronisations. A thread that runs alone keeps locks (models/locks.hpp).
struct Courses {
  std::span<const Action> acquire = {};        ///< of a lock, a flag, or an atomic operation that orders memory
  std::span<const Action> release = {};        ///< of a lock or a flag
  std::span<const Action> barrier = {};        ///< of a team, or a gang
  std::span<const Action> acquire_alone = {};  ///< of a lock that the thread does not keep yet
  std::span<const Action> give_back = {};      ///< of a lock that it kept
};

/// The actions of a course's steps.
template <const auto& course>
inline constexpr auto actions_of = [] {
  std::array<Action, course.size()> actions{};
  for (std::size_t i = 0; i < course.size(); ++i) actions[i] = course[i].action;
  return actions;
}();

}  // namespace sdsm::protocol
