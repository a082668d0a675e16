#include "sim/flush.hpp"

#include <algorithm>

#include "sim/cluster.hpp"

namespace sdsm::sim {

void Flush::start(std::vector<Twinned> diffs, std::function<void()> done) {
  if (diffs.empty()) return done();
  diffs_ = std::move(diffs);
  done_ = std::move(done);
  diff_ = 0;
  since_ = cluster_.clock.now();
  rest_ = diff_bytes(diffs_[0].change);
  next_piece();
}

void Flush::next_piece() {
  const Time now = cluster_.clock.now();
  if (rest_.count == 0) {
    const Twinned& sent = diffs_[diff_];
    const auto payload = static_cast<std::uint64_t>(diff_bytes(sent.change).count);
    thread_.account.count_diff(now, payload);
    cluster_.rights->note_diff(sent.page);
    if (!sent.local) cluster_.note(thread_.id(), sent.page, trace::figures_of_diff(payload));
    if (++diff_ == diffs_.size()) {
      thread_.waited(Spent::diff, since_);
      const std::function<void()> done = std::move(done_);
      return done();
    }
    rest_ = diff_bytes(diffs_[diff_].change);
  }
  const Bytes piece = std::min(rest_, max_payload);
  rest_ = rest_ - piece;
  const Twinned& diff = diffs_[diff_];
  const Time local = cluster_.costs.message_local(piece);
  const NodeId to = cluster_.layout.node_of(diff.home);
  thread_.uncontended.spend(local + (diff.local ? Time{} : cluster_.idle->time(thread_.node(), to, piece)));
  if (diff.local) {
    // The home uses the same memory: the work is charged, nothing crosses the network.
    cluster_.clock.at(now + cluster_.noisy(thread_.id(), local), [this] { next_piece(); });
    return;
  }
  thread_.account.count_message(now, MessageKind::diff, piece);
  const Time at_home = cluster_.costs.home_part(local);
  cluster_.clock.at(now + cluster_.noisy(thread_.id(), local - at_home), [this, piece, at_home] {
    const ProcessId home = diffs_[diff_].home;
    cluster_.send({thread_.id(), home, static_cast<std::size_t>(MessageKind::diff), piece},
                  [this, home, at_home] { cluster_.service.serve(home, at_home, [this] { next_piece(); }); });
  });
}

}  // namespace sdsm::sim
