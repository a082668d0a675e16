#include "sim/account.hpp"

#include "commands/timelines/timeline.hpp"

namespace sdsm::sim {

static_assert(static_cast<std::size_t>(Spent::fault) == 1);
static_assert(static_cast<std::size_t>(Spent::diff) == timelines::after_faults);

void Account::show(Spent item, Time from, Time to) {
  timeline_->state(id_, static_cast<std::size_t>(item), from, to);
}

}  // namespace sdsm::sim
