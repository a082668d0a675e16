/// Plays courses: the steps of a thread at a synchronisation, which the protocol defines (models/protocol/course.hpp).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "models/protocol/course.hpp"

namespace sdsm::sim {

using Then = std::function<void()>;

/// Sends the message of a step and calls `then` when the thread may go on; after `ask` that is when it has the answer.
template <typename Step>
using ExchangeOf = std::function<void(const Step& step, Then then)>;

/// Functions that do the steps. Each calls `then` at its end.
template <typename Step>
struct StepDoers {
  std::function<void(Then then)> flush;
  std::function<void(Then then)> begin_interval;
  ExchangeOf<Step> exchange;
  std::function<void(Then then)> apply = {};  ///< empty: answers carry no notices
};

/// Does the steps in order, then calls `done`.
template <typename Step>
void play_on(std::span<const Step> course, const std::shared_ptr<const StepDoers<Step>>& doers, Then done) {
  if (course.empty()) return done();
  const Step& step = course.front();
  Then then = [rest = course.subspan(1), doers, done = std::move(done)] { play_on(rest, doers, done); };
  switch (step.action) {
    case protocol::Action::flush: return doers->flush(std::move(then));
    case protocol::Action::ask:
    case protocol::Action::send: return doers->exchange(step, std::move(then));
    case protocol::Action::apply: return doers->apply ? doers->apply(std::move(then)) : then();
    case protocol::Action::begin_interval: return doers->begin_interval(std::move(then));
  }
}
template <typename Step>
void play(std::span<const Step> course, StepDoers<Step> doers, Then done) {
  play_on(course, std::make_shared<const StepDoers<Step>>(std::move(doers)), std::move(done));
}

}  // namespace sdsm::sim
