#include "sim/account.hpp"

#include "commands/timelines/timeline.hpp"

namespace sdsm::sim {

void Account::show(Spent item, Time from, Time to) {
  timeline_->state(id_, static_cast<std::size_t>(item), from, to);
}

}  // namespace sdsm::sim
