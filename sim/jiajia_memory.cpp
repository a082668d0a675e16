/// JIAJIA in simulated time: each process has copies of its own, and what it hears of others' writes comes with the
/// answers of locks' and the barrier's managers. A message costs its sender's and its receiver's processor as
/// jiajia.message.* say; one to the process itself costs nothing.

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/homes.hpp"
#include "models/jiajia/counts.hpp"
#include "models/jiajia/courses.hpp"
#include "models/jiajia/notices.hpp"
#include "models/jiajia/process_pages.hpp"
#include "models/locks.hpp"
#include "sim/cluster.hpp"
#include "sim/course.hpp"
#include "sim/memory.hpp"
#include "sim/page_faults.hpp"

namespace sdsm::sim {
namespace {

using jiajia::Letter;
using jiajia::Message;
using jiajia::Notice;
using jiajia::with_notices;
using Step = jiajia::courses::Step;

/// What a barrier tells everybody.
struct News {
  std::vector<std::pair<Notice, ProcessId>> notices;  ///< with the page's home before the barrier
  std::optional<Time> forked;                         ///< when the master came to it, if it is a fork
};

/// What all processes of a cluster share, and the messages between them.
class JiajiaRoom final : public Room {
 public:
  explicit JiajiaRoom(Cluster& cluster) : cluster_(cluster), rules_(cluster.options.jiajia) {
    for (std::uint32_t process = 0; process < cluster.layout.processes(); ++process) {
      pages_.emplace_back(ProcessId{process}, rules_);
      notices_.emplace_back(rules_.quirks);
    }
  }

  std::unique_ptr<Memory> memory_of(Thread& thread) override;

  const jiajia::Rules& rules() const { return rules_; }
  jiajia::ProcessPages& pages(ProcessId process) { return pages_[index_of(process)]; }

  ProcessId home(PageId page, ProcessId placed) const { return homes_.home(page, placed); }
  ProcessId home(PageId page) const {
    // Only a page that was touched has notices.
    const bool is_first_touch = cluster_.homes[index_of(page.region)].placement == Placement::first_touch;
    return home(page, is_first_touch ? *cluster_.first_touches.home(page) : cluster_.home_of_page(page));
  }

  /// One message after another, as the sender's processor, which does nothing else, gets to them. Calls `sent` when it
  /// is done, and `arrived` when the receiver has taken in all of them.
  void send(ProcessId from, ProcessId to, const std::vector<Letter>& letters, const Then& sent, const Then& arrived) {
    if (from == to) {
      arrived();
      return sent();
    }
    Time leaves = cluster_.clock.now();
    const auto open = std::make_shared<std::size_t>(letters.size());
    for (const Letter& letter : letters) {
      const Bytes payload = jiajia::header + letter.data;
      const Time local = cluster_.costs.message_local(payload), receiving = cluster_.costs.home_part(local);
      leaves += local - receiving;
      const bool is_last = &letter == &letters.back();
      cluster_.clock.at(leaves, [=, this, kind = letter.kind] {
        const NodeId here = cluster_.layout.node_of(from), there = cluster_.layout.node_of(to);
        if (here != there) cluster_.thread(from).account.count_message(cluster_.clock.now(), kind, payload);
        cluster_.network.send(here, there, payload, [=, this] {
          cluster_.service.serve(to, receiving, [=] {
            if (--*open == 0) arrived();
          });
        });
        if (is_last) sent();
      });
    }
  }

  /// The same by a process that serves others, whatever its thread does, to one that waits for it.
  void answer(ProcessId from, ProcessId to, const std::vector<Letter>& letters, const Then& arrived) {
    if (from == to) return arrived();
    const auto open = std::make_shared<std::size_t>(letters.size());
    for (const Letter& letter : letters) {
      const Bytes payload = jiajia::header + letter.data;
      const Time local = cluster_.costs.message_local(payload), receiving = cluster_.costs.home_part(local);
      cluster_.service.serve(from, local - receiving, [=, this, kind = letter.kind] {
        const NodeId here = cluster_.layout.node_of(from), there = cluster_.layout.node_of(to);
        if (here != there) cluster_.thread(from).account.count_served(cluster_.clock.now(), kind, payload);
        cluster_.network.send(here, there, payload, [=, this] {
          cluster_.clock.at(cluster_.clock.now() + receiving, [=] {
            if (--*open == 0) arrived();
          });
        });
      });
    }
  }

  using Granted = std::function<void(const std::vector<Notice>&)>;
  /// At the lock's manager: `by` asks for the lock. First come, first served.
  void ask(LockId lock, ProcessId by, Granted granted) {
    locks_[lock].queue.emplace_back(by, std::move(granted));
    grant_next(lock);
  }
  void give_back(LockId lock, ProcessId by, const std::vector<Notice>& handed) {
    notices_[index_of(manager(lock))].release(lock, by, handed);
    locks_[lock].held = false;
    grant_next(lock);
  }
  ProcessId manager(LockId lock) const { return manager_of(lock, cluster_.layout.processes()); }

  using Through = std::function<void(const News&)>;
  /// At the barrier's manager: a process has come. `forks`: when it came, if it is the master of a fork.
  void arrive(ProcessId process, const std::vector<PageId>& notes, std::optional<Time> forks, Through through) {
    met_.arrive(process, notes);
    if (forks) forked_ = forks;
    waiting_.emplace(process, std::move(through));
    if (waiting_.size() == cluster_.layout.processes()) meet();
  }
  ProcessId manager_of_barrier() const {
    return jiajia::manager_of_barrier(cluster_.layout.processes(), rules_.quirks);
  }

 private:
  struct Lock {
    bool held = false;
    std::deque<std::pair<ProcessId, Granted>> queue;
  };

  void grant_next(LockId lock) {
    Lock& state = locks_[lock];
    if (state.held || state.queue.empty()) return;
    state.held = true;
    const auto [to, granted] = std::move(state.queue.front());
    state.queue.pop_front();
    std::vector<Notice> notices = notices_[index_of(manager(lock))].grant(lock, to);
    std::erase_if(notices, [&, to = to](const Notice& notice) { return !is_handed(rules_, home(notice.page), to); });
    answer(manager(lock), to, with_notices(Message::ACQGRANT, notices.size()),
           [granted = granted, notices] { granted(notices); });
  }

  void meet() {
    const auto news = std::make_shared<News>();
    news->forked = std::exchange(forked_, std::nullopt);
    for (const Notice& notice : met_.take()) {
      const ProcessId before = home(notice.page), next = next_home(notice, before, rules_);
      news->notices.emplace_back(notice, before);
      if (next != before) homes_.move(notice.page, next);
    }
    for (jiajia::LockNotices& locks : notices_) locks.barrier();
    const std::vector<Letter> letters = with_notices(Message::BARRGRANT, news->notices.size());
    for (const auto& [process, through] : std::exchange(waiting_, {})) {
      answer(manager_of_barrier(), process, letters, [news, through = through] { through(*news); });
    }
  }

  Cluster& cluster_;
  jiajia::Rules rules_;
  Homes homes_;
  std::deque<jiajia::ProcessPages> pages_;
  std::deque<jiajia::LockNotices> notices_;  ///< by manager
  std::map<LockId, Lock> locks_;
  jiajia::BarrierNotices met_;
  std::optional<Time> forked_;
  std::map<ProcessId, Through> waiting_;  ///< at the barrier
};

class JiajiaMemory final : public Memory {
 public:
  JiajiaMemory(Cluster& cluster, JiajiaRoom& room, Thread& thread)
      : cluster_(cluster),
        room_(room),
        thread_(thread),
        pages_(room.pages(thread.id())),
        faults_(cluster, thread),
        costs_(cluster.costs.costs().jiajia) {}

  void begin(const trace::Interval&, std::uint64_t) override {}
  void finish_interval(std::uint64_t) override {}
  void end(std::uint64_t) override {}
  std::string position() const override { return {}; }

  void touch(const Touch& touch) override {
    for (std::uint64_t i = 0; i < touch.pages; ++i) {
      const PageId page{touch.first.region, touch.first.index + i};
      const ProcessId home = room_.home(page, touch.home);
      while (const auto kind = pages_.access(page, home, touch.access)) fault(page, *kind, home);
      if (touch.change && home != thread_.id()) pages_.changed(page, touch.change);
    }
  }

  void barrier(std::uint32_t team, Arrival why) override {
    if (team != cluster_.layout.processes()) {
      throw std::invalid_argument(fmt::format(
          "a barrier of {} of {} threads: JIAJIA's is of all processes, and that of a part is not simulated. "
          "Simulate with --protocol scash",
          team, cluster_.layout.processes()));
    }
    const Time came = thread_.local_now();
    perform(jiajia::courses::barrier, Sync::barrier,
            {.heed = [this](Then then) { heed_barrier(std::move(then)); },
             .exchange = [=, this](const Step& step, Then then) { meet(step, why, came, std::move(then)); }});
  }

  void flush() override {
    acquire(jiajia::flush_lock);
    release(jiajia::flush_lock);
  }
  void fence() override { flush(); }

  void acquire(LockId lock) override {
    if (!takes_faults(cluster_.layout)) return count_lock();
    perform(jiajia::courses::lock, Sync::acquire,
            {.heed = [this, lock](Then then) { heed_grant(lock, std::move(then)); },
             .exchange = [this, lock](const Step& step, Then then) { ask(step, lock, std::move(then)); }});
  }

  void release(LockId lock) override {
    if (!takes_faults(cluster_.layout)) return;
    perform(jiajia::courses::unlock, Sync::release,
            {.heed = {}, .exchange = [this, lock](const Step& step, Then then) { tell(step, lock, std::move(then)); }});
  }

  void post(std::uint64_t, Count) override { not_simulated("a flag"); }
  void wait(std::uint64_t, FlagWait) override { not_simulated("a wait for a flag"); }
  void operate(ProcessId, bool) override { not_simulated("an atomic operation at the page's home"); }
  void spin(ProcessId, std::uint64_t) override { not_simulated("a loop that waits for another thread's store"); }

 private:
  /// What one synchronisation sends and takes in.
  struct Carried {
    std::function<void(Then then)> heed;
    ExchangeOf<Step> exchange;
  };

  [[noreturn]] void not_simulated(const char* what) const {
    throw std::invalid_argument(
        fmt::format("thread {} has {}, which is not simulated under JIAJIA. Simulate with "
                    "--protocol scash",
                    index_of(thread_.id()), what));
  }

  void count_lock() {
    thread_.account.count(cluster_.clock.now(), [](Tally& tally) { ++tally.locks; });
  }
  void count(jiajia::FurtherCount which, std::uint64_t more) {
    thread_.account.count(cluster_.clock.now(),
                          [=](Tally& tally) { tally.further[static_cast<std::size_t>(which)] += more; });
  }

  void fault(PageId page, jiajia::FaultKind kind, ProcessId home) {
    const auto number = static_cast<std::size_t>(kind);
    cluster_.note(thread_.id(), page, trace::figures_of(cluster_.tables.faults[number]));
    if (!jiajia::rule_of(kind).fetches_page) {
      return thread_.spend_faults(spent_on(kind), 1, cluster_.costs.fault_local(kind));
    }
    faults_.fetch(number, home, [this, page, home] { room_.pages(home).give(page); });
  }

  void perform(std::span<const Step> course, Sync sync, const Carried& carried) {
    thread_.wait_for([=, this](Then done) {
      play<Step>(course,
                 {.flush = [this, sync](Then then) { send_diffs(sync, std::move(then)); },
                  .settle =
                      [this, sync](Then then) {
                        const auto pages = static_cast<std::int64_t>(pages_.begin_interval(sync));
                        protect(pages * costs_.protect, std::move(then));
                      },
                  .exchange = carried.exchange,
                  .heed = carried.heed},
                 std::move(done));
    });
  }

  void protect(Time duration, Then then) {
    const Time since = cluster_.clock.now();
    cluster_.clock.at(since + duration, [this, since, then = std::move(then)] {
      thread_.waited(Spent::protect, since);
      then();
    });
  }

  /// Diffs on their way to their homes.
  struct Diffs {
    std::vector<std::pair<ProcessId, Letter>> letters;
    std::size_t sent = 0;
    std::size_t answered = 0;
    Time since{};
    Then done;
  };

  void send_diffs(Sync sync, Then done) {
    const auto twinned = static_cast<std::int64_t>(pages_.twinned_pages());
    std::vector<ProcessId> order;
    std::map<ProcessId, jiajia::DiffMessages> messages;
    for (const jiajia::Diff& diff : pages_.end_interval(sync)) {
      const Bytes data = jiajia::diff_data(diff.change);
      if (!messages.contains(diff.home)) order.push_back(diff.home);
      messages[diff.home].add(data);
      count_diff(diff, static_cast<std::uint64_t>(data.count));
    }
    const auto diffs = std::make_shared<Diffs>();
    diffs->since = cluster_.clock.now();
    diffs->done = std::move(done);
    for (const ProcessId home : order) {
      for (const Bytes data : messages[home].data) diffs->letters.push_back({home, {Message::DIFF, data}});
    }
    cluster_.clock.at(diffs->since + twinned * costs_.diff, [this, diffs] {
      if (!diffs->letters.empty()) return send_next(diffs);
      thread_.waited(Spent::diff, diffs->since);
      diffs->done();
    });
  }

  void count_diff(const jiajia::Diff& diff, std::uint64_t bytes) {
    thread_.account.count(cluster_.clock.now(), [bytes](Tally& tally) {
      ++tally.diffs;
      tally.diff_bytes += bytes;
      tally.largest_diff = std::max(tally.largest_diff, bytes);
    });
    if (cluster_.owner_of(thread_.id(), diff.home) == Owner::remote) {
      cluster_.note(thread_.id(), diff.page, trace::figures_of_diff(bytes));
    }
  }

  /// The thread waits until the homes have acknowledged all.
  void send_next(const std::shared_ptr<Diffs>& diffs) {
    const auto& [home, letter] = diffs->letters[diffs->sent++];
    const auto acknowledged = [this, diffs] {
      if (++diffs->answered < diffs->letters.size()) return;
      thread_.waited(Spent::diff, diffs->since);
      diffs->done();
    };
    room_.send(
        thread_.id(), home, {letter},
        [this, diffs] {
          if (diffs->sent < diffs->letters.size()) send_next(diffs);
        },
        [this, home = home, acknowledged] {
          room_.answer(home, thread_.id(), {{Message::DIFFGRANT, Bytes{0}}}, acknowledged);
        });
  }

  void ask(const Step& step, LockId lock, Then then) {
    const Time since = cluster_.clock.now();
    const auto granted = [this, since, then = std::move(then)](const std::vector<Notice>& notices) {
      granted_ = notices;
      thread_.waited(Spent::lock, since);
      count_lock();
      then();
    };
    room_.send(
        thread_.id(), room_.manager(lock), {{step.message, jiajia::lock_request_data}}, [] {},
        [this, lock, granted] { room_.ask(lock, thread_.id(), granted); });
  }

  void heed_grant(LockId lock, Then then) {
    std::uint64_t invalid = 0;
    for (const Notice& notice : granted_) invalid += pages_.heed_grant(notice, room_.home(notice.page)) ? 1 : 0;
    pages_.enter_scope(lock);
    lose(invalid, std::move(then));
  }

  /// Nobody waits until the manager has it.
  void tell(const Step& step, LockId lock, Then then) {
    const Time since = cluster_.clock.now();
    const std::vector<Notice> handed = pages_.leave_scope(lock);
    count(jiajia::FurtherCount::notices, handed.size());
    room_.send(
        thread_.id(), room_.manager(lock), with_notices(step.message, handed.size()),
        [this, since, then = std::move(then)] {
          thread_.waited(Spent::lock, since);
          then();
        },
        [this, lock, handed] { room_.give_back(lock, thread_.id(), handed); });
  }

  /// `came`: to the barrier, before the thread's changes went home.
  void meet(const Step& step, Arrival why, Time came, Then then) {
    const Time since = cluster_.clock.now();
    const std::vector<PageId> notes = pages_.take_notes();
    count(jiajia::FurtherCount::notices, notes.size());
    const auto through = [this, since, why, then = std::move(then)](const News& news) {
      Time from = since;
      if (why == Arrival::fork_worker && news.forked && *news.forked > from) {
        thread_.account.charge(Spent::idle, from, *news.forked);
        from = *news.forked;
      }
      thread_.waited(Spent::barrier, from);
      thread_.account.count(cluster_.clock.now(), [](Tally& tally) { ++tally.barriers; });
      news_ = &news;
      then();
    };
    const std::optional<Time> forks = why == Arrival::fork_master ? std::optional(came) : std::nullopt;
    room_.send(
        thread_.id(), room_.manager_of_barrier(), with_notices(step.message, notes.size()), [] {},
        [this, notes, forks, through] { room_.arrive(thread_.id(), notes, forks, through); });
  }

  void heed_barrier(Then then) {
    std::uint64_t invalid = 0, in = 0, out = 0;
    for (const auto& [notice, home] : news_->notices) {
      invalid += pages_.heed_barrier(notice, home) ? 1 : 0;
      const ProcessId next = next_home(notice, home, room_.rules());
      in += next != home && next == thread_.id() ? 1 : 0;
      out += next != home && home == thread_.id() ? 1 : 0;
    }
    count(jiajia::FurtherCount::migrated_in, in);
    count(jiajia::FurtherCount::migrated_out, out);
    lose(invalid, std::move(then));
  }

  /// So many copies became invalid.
  void lose(std::uint64_t copies, Then then) {
    count(jiajia::FurtherCount::invalidations, copies);
    protect(static_cast<std::int64_t>(copies) * costs_.invalidate, std::move(then));
  }

  Cluster& cluster_;
  JiajiaRoom& room_;
  Thread& thread_;
  jiajia::ProcessPages& pages_;
  PageFaults faults_;
  const JiajiaCosts& costs_;
  std::vector<Notice> granted_;  ///< with the latest lock
  const News* news_ = nullptr;   ///< of the latest barrier, while it is heeded
};

std::unique_ptr<Memory> JiajiaRoom::memory_of(Thread& thread) {
  return std::make_unique<JiajiaMemory>(cluster_, *this, thread);
}

}  // namespace

std::unique_ptr<Room> make_jiajia_room(Cluster& cluster) {
  return std::make_unique<JiajiaRoom>(cluster);
}

}  // namespace sdsm::sim
