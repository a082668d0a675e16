#include "sim/account.hpp"

#include "commands/timelines/timeline.hpp"
#include "models/account.hpp"

namespace sdsm::sim {

/// What the terms mean, models/account.hpp says, for runs as well: both number them alike.
constexpr bool is_same(Spent ours, sdsm::Spent of_all) {
  return static_cast<std::uint8_t>(ours) == static_cast<std::uint8_t>(of_all);
}
static_assert(is_same(Spent::compute, sdsm::Spent::compute) && is_same(Spent::fault, sdsm::Spent::fault));
static_assert(is_same(Spent::diff, sdsm::Spent::diff) && is_same(Spent::protect, sdsm::Spent::protect));
static_assert(is_same(Spent::barrier, sdsm::Spent::barrier) && is_same(Spent::lock, sdsm::Spent::lock));
static_assert(is_same(Spent::stolen, sdsm::Spent::stolen) && is_same(Spent::idle, sdsm::Spent::idle));
static_assert(spent_items == spent_terms);
static_assert(static_cast<std::size_t>(Spent::diff) == timelines::after_faults);

void Account::show(Spent item, Time from, Time to) {
  timeline_->state(id_, static_cast<std::size_t>(item), from, to);
}

}  // namespace sdsm::sim
