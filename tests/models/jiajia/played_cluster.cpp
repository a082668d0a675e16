#include "tests/models/jiajia/played_cluster.hpp"

#include <algorithm>
#include <stdexcept>

namespace sdsm::test {
namespace {

using namespace jiajia;
using protocol::Action;

}  // namespace

PlayedCluster::PlayedCluster(std::uint32_t processes, const Rules& rules, Requests requests)
    : processes_(processes),
      rules_(rules),
      requests_(requests),
      met_(rules),
      counts_(processes),
      copies_(processes),
      twins_(processes) {
  for (std::uint32_t process = 0; process < processes; ++process) {
    pages_.emplace_back(ProcessId{process}, rules);
    locks_.emplace_back(rules);
  }
}

std::uint64_t PlayedCluster::allocate(std::uint64_t pages, std::uint32_t home) {
  const std::uint64_t first = placed_.size();
  placed_.resize(first + pages, home);
  for (std::uint64_t page = first; page < placed_.size(); ++page) copies_[home][page] = {};
  return first;
}

void PlayedCluster::set_rules(const Rules& rules) {
  rules_ = rules;
  met_.set_rules(rules);
  for (ProcessPages& pages : pages_) pages.set_rules(rules);
}

void PlayedCluster::send(std::uint32_t from, std::uint32_t to, MessageKind message, std::uint64_t times) {
  if (from != to) counts_[from].sent[static_cast<std::size_t>(message)] += times;
}

void PlayedCluster::fetch(std::uint32_t process, std::uint64_t page) {
  const std::uint32_t home = this->home(page);
  send(process, home, MessageKind::GETP);
  send(home, process, MessageKind::GETPGRANT);
  if (requests_ == Requests::before_the_home_ends) {
    pages_[home].give(id_of(page));
  } else {
    unserved_.push_back(page);
  }
  copies_[process][page] = copies_[home].at(page);
}

void PlayedCluster::touch(std::uint32_t process, std::uint64_t page, Access access) {
  if (processes_ == 1) return;
  while (const auto kind = pages_[process].access(id_of(page), home_of(page), access)) {
    ++counts_[process].faults[static_cast<std::size_t>(*kind)];
    if (rule_of(*kind).fetches_page) fetch(process, page);
    if (rule_of(*kind).makes_twin) twins_[process][page] = copies_[process].at(page);
  }
}

std::uint64_t PlayedCluster::read(std::uint32_t process, std::uint64_t page, std::size_t word) {
  touch(process, page, Access::read);
  return copies_[process].at(page)[word];
}

void PlayedCluster::write(std::uint32_t process, std::uint64_t page, std::uint64_t value, std::size_t word) {
  touch(process, page, Access::write);
  copies_[process][page][word] = value;
  if (processes_ > 1) pages_[process].changed(id_of(page), whole_page);
}

void PlayedCluster::flush(std::uint32_t process, Sync sync) {
  std::map<std::uint32_t, DiffMessages> messages;
  for (const Diff& diff : pages_[process].end_interval(sync)) {
    const std::uint32_t home = index_of(diff.home);
    const std::uint64_t page = diff.page.index;
    messages[home].add(diff_data(diff.change));
    ++counts_[process].diffs;
    ++counts_[home].diffs_served;
    if (!diff.change) ++counts_[process].empty_diffs;
    const Words& own = copies_[process].at(page);
    Words& twin = twins_[process].at(page);
    for (std::size_t word = 0; word < words; ++word) {
      if (own[word] != twin[word]) copies_[home].at(page)[word] = own[word];
    }
    twin = own;
  }
  for (const auto& [home, sent] : messages) {
    counts_[home].diff_messages_served += sent.data.size();
    send(process, home, MessageKind::DIFF, sent.data.size());
    send(home, process, MessageKind::DIFFGRANT, sent.data.size());
  }
}

std::uint32_t PlayedCluster::manager(SyncObject object) const {
  const bool is_team = object.kind == SyncObject::Kind::team;
  return is_team ? index_of(manager_of_barrier(processes_, rules_.quirks))
                 : static_cast<std::uint32_t>(object.number % processes_);
}

void PlayedCluster::perform(std::uint32_t process, const courses::Step& step, Sync sync, SyncObject object) {
  const std::uint32_t manager = this->manager(object);
  const bool is_lock = object.kind == SyncObject::Kind::lock;
  const LockId lock{static_cast<std::uint32_t>(object.number)};
  ProcessPages& pages = pages_[process];
  switch (step.action) {
    case Action::flush: return flush(process, sync);
    case Action::ask:
      send(process, manager, step.message);
      send(manager, process, step.answer);
      granted_ = locks_[manager].grant(object, ProcessId{process});
      return;
    case Action::apply:
      for (const Notice& notice : granted_) {
        counts_[process].invalidations += pages.apply_grant_notice(notice, home_of(notice.page.index), object) ? 1 : 0;
      }
      if (is_lock) pages.enter_scope(lock);
      return;
    case Action::send: {
      const std::vector<Notice> handed = is_lock ? pages.leave_scope(lock) : pages.hand_on(object);
      counts_[process].notices += handed.size();
      send(process, manager, step.message);
      return locks_[manager].release(object, ProcessId{process}, handed);
    }
    case Action::begin_interval: pages.begin_interval(sync); return;
  }
}

void PlayedCluster::lock(std::uint32_t process, std::uint32_t lock) {
  ++counts_[process].locks;
  if (processes_ == 1) return;
  for (const courses::Step& step : courses::lock) perform(process, step, Sync::acquire, object_of(LockId{lock}));
}

void PlayedCluster::unlock(std::uint32_t process, std::uint32_t lock) {
  if (processes_ == 1) return;
  for (const courses::Step& step : courses::unlock) perform(process, step, Sync::release, object_of(LockId{lock}));
}

void PlayedCluster::post(std::uint32_t process, std::uint32_t flag) {
  if (processes_ == 1) return;
  for (const courses::Step& step : courses::unlock) {
    perform(process, step, Sync::release, {SyncObject::Kind::flag, flag});
  }
}

void PlayedCluster::wait(std::uint32_t process, std::uint32_t flag) {
  ++counts_[process].locks;
  if (processes_ == 1) return;
  for (const courses::Step& step : courses::lock) {
    perform(process, step, Sync::acquire, {SyncObject::Kind::flag, flag});
  }
}

void PlayedCluster::barrier_of(std::uint32_t team) {
  const SyncObject object{SyncObject::Kind::team, team};
  for (std::uint32_t process = 0; process < team; ++process) {
    ++counts_[process].barriers;
    flush(process, Sync::acquire);
    const std::vector<Notice> handed = pages_[process].hand_on(object);
    counts_[process].notices += handed.size();
    send(process, manager(object), MessageKind::BARR);
    locks_[manager(object)].release(object, ProcessId{process}, handed);
  }
  for (std::uint32_t process = 0; process < team; ++process) {
    send(manager(object), process, MessageKind::BARRGRANT);
    granted_ = locks_[manager(object)].grant(object, ProcessId{process});
    perform(process, {Action::apply}, Sync::acquire, object);
    perform(process, {Action::begin_interval}, Sync::acquire, object);
  }
}

void PlayedCluster::meet(bool is_fork) {
  const std::uint32_t manager = index_of(manager_of_barrier(processes_, rules_.quirks));
  for (std::uint32_t process = 0; process < processes_; ++process) {
    const std::vector<PageId> notes = pages_[process].take_notes();
    const std::vector<PageId> fetched = pages_[process].take_fetched(notes);
    counts_[process].notices += notes.size() + fetched.size();
    met_.arrive(ProcessId{process}, notes, fetched);
    send(process, manager, MessageKind::BARR);
    send(manager, process, MessageKind::BARRGRANT);
  }
  for (LockNotices& locks : locks_) locks.barrier();
  barrier_notices_ = met_.take([&](PageId page) { return home_of(page.index); }, is_fork);
}

void PlayedCluster::apply_barrier_notice(std::uint32_t process) {
  for (const BarrierNotice& move : barrier_notices_) {
    Counts& counts = counts_[process];
    counts.invalidations += pages_[process].apply_barrier_notice(move) ? 1 : 0;
    if (move.next == move.home) continue;
    counts.migrated_in += index_of(move.next) == process ? 1 : 0;
    counts.migrated_out += index_of(move.home) == process ? 1 : 0;
  }
}

void PlayedCluster::barrier(bool is_fork) {
  for (Counts& counts : counts_) ++counts.barriers;
  if (processes_ == 1) return;
  const auto all = [&](auto act) {
    for (std::uint32_t process = 0; process < processes_; ++process) act(process);
  };
  for (const courses::Step& step : courses::barrier) {
    switch (step.action) {
      case Action::flush:
        all([&](std::uint32_t process) { flush(process, Sync::barrier); });
        for (const std::uint64_t page : unserved_) pages_[home(page)].give(id_of(page));
        unserved_.clear();
        break;
      case Action::ask: meet(is_fork); break;
      case Action::apply:
        all([&](std::uint32_t process) { apply_barrier_notice(process); });
        for (const BarrierNotice& move : barrier_notices_) {
          if (move.next != move.home) homes_.move(move.notice.page, move.next);
        }
        break;
      case Action::begin_interval:
        all([&](std::uint32_t process) { pages_[process].begin_interval(Sync::barrier); });
        break;
      case Action::send: throw std::logic_error("a barrier tells nobody anything");
    }
  }
}

}  // namespace sdsm::test
