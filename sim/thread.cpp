#include "sim/thread.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace sdsm::sim {
namespace {
constexpr char beyond_last_date[] =
    "the run lasts longer than 104 simulated days, which is more than can be simulated. Scale its compute down "
    "(--sequential-time, --compute-factor), or trace a smaller problem";
}

void Thread::throw_beyond_last_date() {
  throw std::invalid_argument(beyond_last_date);
}

void Thread::catch_up(std::function<void()> then) {
  since_ = clock_.now();
  if (ahead_ == Time{} && charges_.empty()) return then();
  then_ = std::move(then);
  computing_ = true;
  ++processors_.computing;
  clock_.at(clock_.now() + ahead_, [this] { arrive(); });
}

void Thread::catch_up_and_wait() {
  bool waits = true;
  catch_up([this, &waits] {
    waits = false;
    bell.ring();
  });
  bell.wait();
}

void Thread::wait_for(const std::function<void(std::function<void()>)>& action) {
  catch_up([this, action] { action([this] { bell.ring(); }); });
  bell.wait();
}

void Thread::arrive() {
  if (stolen_ > Time{}) {
    const Time stolen = std::exchange(stolen_, Time{});
    charges_.push_back({Spent::stolen, 0, stolen});
    clock_.at(clock_.now() + stolen, [this] { arrive(); });
    return;
  }
  computing_ = false;
  --processors_.computing;
  Time at = since_;
  for (const Charge& charge : charges_) {
    account.charge(charge.item, at, at + charge.duration);
    if (charge.faults > 0) {
      const std::size_t kind = static_cast<std::size_t>(charge.item) - static_cast<std::size_t>(Spent::fault);
      account.count(at, [&](Tally& tally) { tally.faults[kind] += charge.faults; });
    }
    if (charge.item == Spent::stolen) note_stolen(at, charge.duration);
    at += charge.duration;
  }
  charges_.clear();
  ahead_ = Time{};
  const std::function<void()> then = std::move(then_);
  then();
}

void Thread::note_stolen(Time at, Time duration) {
  Time done{}, noted{};
  for (const Charge& work : charges_) {
    if (work.item == Spent::stolen || work.duration == Time{}) continue;
    done += work.duration;
    const double part = static_cast<double>(done.count()) / static_cast<double>(ahead_.count());
    const Time so_far = done < ahead_ ? Time{std::llround(static_cast<double>(duration.count()) * part)} : duration;
    account.note_stolen(work.item, at + noted, at + so_far);
    noted = so_far;
  }
}

}  // namespace sdsm::sim
