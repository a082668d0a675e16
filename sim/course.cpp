#include "sim/course.hpp"

#include <memory>
#include <utility>

namespace sdsm::sim {
namespace {

void play_on(Course course, const std::shared_ptr<const StepDoers>& doers, Then done) {
  if (course.empty()) return done();
  const courses::Step& step = course.front();
  Then then = [rest = course.subspan(1), doers, done = std::move(done)] { play_on(rest, doers, done); };
  switch (step.deed) {
    case protocol::Deed::flush: return doers->flush(std::move(then));
    case protocol::Deed::ask:
    case protocol::Deed::tell: return doers->exchange(step, std::move(then));
    case protocol::Deed::heed: return then();  // SCASH's answers carry no notices
    case protocol::Deed::settle: return doers->settle(std::move(then));
  }
}

}  // namespace

void play(Course course, StepDoers doers, Then done) {
  play_on(course, std::make_shared<const StepDoers>(std::move(doers)), std::move(done));
}

}  // namespace sdsm::sim
