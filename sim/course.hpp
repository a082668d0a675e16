/// Plays courses: what a thread does at a synchronisation, as the protocol's folder says (models/scash/courses.hpp).
#pragma once

#include <functional>
#include <span>

#include "models/scash/courses.hpp"

namespace sdsm::sim {

using Then = std::function<void()>;
using Course = std::span<const courses::Step>;

/// Sends the message of a step, and calls `then` when the thread may go on: of `ask` when it has the answer.
using Exchange = std::function<void(const courses::Step& step, Then then)>;

/// How steps are done. Each calls `then` when its step is done.
struct StepDoers {
  std::function<void(Then then)> flush;
  std::function<void(Then then)> settle;
  Exchange exchange;
};

/// Does the steps one after another, then `done`.
void play(Course course, StepDoers doers, Then done);

}  // namespace sdsm::sim
