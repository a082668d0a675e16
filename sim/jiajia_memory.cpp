/// JIAJIA in simulated time: each process has its own copies; the answers of lock and barrier managers carry notices of
/// others' writes. A message costs both processors as jiajia.message.* say; one to the process itself is free.

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
#include "models/prefetch.hpp"
#include "models/protocol/queues.hpp"
#include "sim/cluster.hpp"
#include "sim/course.hpp"
#include "sim/memory.hpp"
#include "sim/page_faults.hpp"

namespace sdsm::sim {
namespace {

using jiajia::Message;
using jiajia::MessageKind;
using jiajia::Notice;
using jiajia::object_of;
using jiajia::Scope;
using jiajia::SyncObject;
using jiajia::with_notices;
using Step = jiajia::courses::Step;

/// What a barrier's answer, or a fork by broadcast, carries to all processes.
struct News {
  std::vector<jiajia::BarrierNotice> notices;
  std::optional<Time> forked;  ///< when the master arrived, if this is a fork
  bool meets = false;          ///< a barrier follows the fork's message
  Time path{};                 ///< the master's path in the baselines before it sends a fork
};

/// State that all processes of a cluster share, and the messages between them.
class JiajiaRoom final : public Room {
 public:
  explicit JiajiaRoom(Cluster& cluster)
      : cluster_(cluster),
        rules_(cluster.options.jiajia),
        resting_(cluster.layout.processes()),
        met_(rules_),
        forks_(cluster.layout.processes()) {
    for (std::uint32_t process = 0; process < cluster.layout.processes(); ++process) {
      pages_.emplace_back(ProcessId{process}, rules_);
      for (const RegionId region : cluster.unnoticed_regions) pages_.back().add_unnoticed(region);
      notices_.emplace_back(rules_);
    }
    for (const RegionId region : cluster.unnoticed_regions) met_.add_unnoticed(region);
  }

  std::unique_ptr<Memory> memory_of(Thread& thread) override;

  const jiajia::Rules& rules() const { return rules_; }
  jiajia::ProcessPages& pages(ProcessId process) { return pages_[index_of(process)]; }

  ProcessId home(PageId page, ProcessId placed) const { return homes_.home(page, placed); }
  /// Returns how many of `pages` adjacent pages, all placed at one home, now have the first one's home.
  std::uint64_t alike(PageId first, std::uint64_t pages, ProcessId placed) const {
    if (homes_.epoch() == 0) return pages;
    const ProcessId one = home(first, placed);
    std::uint64_t alike = 1;
    while (alike < pages && home({first.region, first.index + alike}, placed) == one) ++alike;
    return alike;
  }
  ProcessId home(PageId page) const {
    // Only a touched page has notices.
    const bool is_first_touch = cluster_.homes[index_of(page.region)].placement == Placement::first_touch;
    return home(page, is_first_touch ? *cluster_.first_touches.home(page) : cluster_.home_of_page(page));
  }

  /// Sends messages one after another; the sender's processor does nothing else. Calls `sent` at its end, and `arrived`
  /// when the receiver has processed all of them.
  void send(ProcessId from, ProcessId to, const std::vector<Message>& messages, const Then& sent, const Then& arrived) {
    if (from == to) {
      arrived();
      return sent();
    }
    Time leaves = cluster_.clock.now();
    const auto open = std::make_shared<std::size_t>(messages.size());
    for (const Message& message : messages) {
      const Bytes payload = payload_of(message);
      leaves += sending(message);
      const bool is_last = &message == &messages.back();
      cluster_.clock.at(leaves, [=, this, received_in = receiving(message), kind = message.kind] {
        if (are_apart(from, to)) cluster_.thread(from).account.count_message(cluster_.clock.now(), kind, payload);
        cluster_.send({from, to, static_cast<std::size_t>(kind), payload}, [=, this] {
          cluster_.service.serve(to, received_in, [=] {
            if (--*open == 0) arrived();
          });
        });
        if (is_last) sent();
      });
    }
  }

  /// Sends an answer from a process that serves others, whatever its thread does, to one that waits for it.
  void answer(ProcessId from, ProcessId to, const std::vector<Message>& messages, const Then& arrived) {
    if (from == to) return arrived();
    const auto open = std::make_shared<std::size_t>(messages.size());
    for (const Message& message : messages) {
      const Bytes payload = payload_of(message);
      cluster_.service.serve(from, sending(message), [=, this, received_in = receiving(message), kind = message.kind] {
        if (are_apart(from, to)) cluster_.thread(from).account.count_served(cluster_.clock.now(), kind, payload);
        cluster_.send({from, to, static_cast<std::size_t>(kind), payload}, [=, this] {
          cluster_.clock.at(cluster_.clock.now() + received_in, [=] {
            if (--*open == 0) arrived();
          });
        });
      });
    }
  }

  /// Time in the baselines until the receiver has processed all messages, on an idle network. The receiver of an answer
  /// waits, and processes each message while others arrive.
  Time undelayed(ProcessId from, ProcessId to, const std::vector<Message>& messages, bool is_answer = false) {
    if (from == to) return {};
    Time leaves{}, taken{};
    for (const Message& message : messages) {
      leaves += sending(message);
      const Time arrives = leaves + idle(from, to, message);
      taken = is_answer ? std::max(taken, arrives + receiving(message)) : std::max(taken, arrives) + receiving(message);
    }
    return taken;
  }
  /// Processor time of the sender for messages to another process.
  Time sending(ProcessId from, ProcessId to, const std::vector<Message>& messages) const {
    Time all{};
    for (const Message& message : messages) all += from == to ? Time{} : sending(message);
    return all;
  }
  /// Time in the baselines until all homes have acknowledged the diffs.
  Time undelayed_diffs(ProcessId from, const std::vector<std::pair<ProcessId, Message>>& diffs) {
    static constexpr Message answer{MessageKind::DIFFGRANT, Bytes{0}};
    Time leaves{}, done{};
    std::map<ProcessId, Time> busy;  // each home's processor is busy until then
    for (const auto& [home, message] : diffs) {
      if (home == from) continue;
      leaves += sending(message);
      Time& free = busy[home];
      free = std::max(free, leaves + idle(from, home, message)) + receiving(message) + sending(answer);
      done = std::max(done, free + idle(home, from, answer) + receiving(answer));
    }
    return done;
  }
  template <typename Waiting>
  void meet_undelayed(const Waiting& waiting) {
    meet_all(waiting, [this](const auto& one) -> Uncontended& { return cluster_.thread(one.first).uncontended; });
  }

  using Through = std::function<void(const News&)>;
  using Granted = std::function<void(const std::vector<Notice>&)>;
  using Turn = std::optional<std::uint64_t>;
  /// At the lock's manager: `by` asks for the lock.
  void ask(LockId lock, ProcessId by, Turn turn, Granted granted) {
    locks_[lock].ask({by, turn, std::move(granted)});
    grant_next(lock);
  }
  auto& queue_of(LockId lock) { return locks_[lock]; }
  void give_back(LockId lock, ProcessId by, const std::vector<Notice>& handed) {
    notices_[index_of(manager(lock))].release(object_of(lock), by, handed);
    locks_[lock].give_back();
    grant_next(lock);
  }
  /// Number of barriers of all processes so far.
  std::uint64_t barriers() const { return barriers_; }
  ProcessId manager(LockId lock) const { return manager_of(lock, cluster_.layout.processes()); }

  /// At the flag's manager: `by` posts to the flag.
  void post(std::uint64_t flag, ProcessId by, const FlagPost& posted, const std::vector<Notice>& handed) {
    notices_[index_of(manager_of_flag(flag))].release({SyncObject::Kind::flag, flag}, by, handed);
    let_go_on(flag, flags_[flag].post(posted));
  }
  /// At the flag's manager: `by` waits, and hands its notices on if others wait for it too, as at a library's barrier.
  void wait(std::uint64_t flag, ProcessId by, FlagWait wait, const std::vector<Notice>& handed, Granted granted) {
    if (wait.comes) notices_[index_of(manager_of_flag(flag))].release({SyncObject::Kind::flag, flag}, by, handed);
    let_go_on(flag, flags_[flag].ask({by, wait, std::move(granted)}));
  }
  ProcessId manager_of_flag(std::uint64_t flag) const {
    return sdsm::manager_of_flag(flag, cluster_.layout.processes());
  }

  /// At the barrier's manager: a thread arrives at a barrier of a part of the threads, with all notices that it knows.
  void arrive_in_part(std::uint32_t team, ProcessId by, std::optional<Time> forks, const std::vector<Notice>& handed,
                      std::function<void(const std::vector<Notice>&, std::optional<Time>)> through) {
    const SyncObject object{SyncObject::Kind::team, team};
    notices_[index_of(manager_of_barrier())].release(object, by, handed);
    met_in_part_ = true;
    Part& part = parts_[team];
    if (forks) part.forked = forks;
    part.waiting.emplace(by, std::move(through));
    if (part.waiting.size() < team) return;
    const Part met = std::exchange(part, {});
    meet_undelayed(met.waiting);
    for (const auto& [process, go_on] : met.waiting) {
      hand(manager_of_barrier(), object, process, MessageKind::BARRGRANT,
           [go_on = go_on, forked = met.forked](const std::vector<Notice>& notices) { go_on(notices, forked); });
    }
  }

  /// Whether a broadcast message begins a region of so many threads.
  bool forks_by_broadcast(std::uint32_t team) const {
    return rules_.fork_by_broadcast && team == cluster_.layout.processes();
  }
  /// Whether other threads than the master may have changed memory since the last barrier of all.
  bool met_in_part() const { return met_in_part_; }

  /// The master announces a region and its writes to all others, and pays its processor's part once. Then calls `sent`.
  void fork(ProcessId master, Time came, const std::vector<PageId>& notes, const Then& sent) {
    const auto news = std::make_shared<News>();
    news->forked = came;
    news->meets = met_in_part_;
    for (const PageId page : notes) {
      const ProcessId at = home(page);
      news->notices.push_back({{page, master}, true, at, at});
    }
    pass_barrier();
    const std::vector<Message> messages = jiajia::fork_messages(notes.size(), cluster_.options.privatized_pages);
    if (forks_.size() > 1) {
      Uncontended& masters = cluster_.thread(master).uncontended;
      news->path = masters.path();
      for (const Message& message : messages) masters.spend(sending(message));
    }
    Time leaves = cluster_.clock.now();
    const auto open = std::make_shared<std::vector<std::size_t>>(forks_.size(), messages.size());
    for (const Message& message : messages) {
      const Bytes payload = payload_of(message);
      leaves += sending(message);
      const bool is_last = &message == &messages.back();
      cluster_.clock.at(leaves, [=, this, received_in = receiving(message)] {
        if (cluster_.layout.nodes > 1) {
          cluster_.thread(master).account.count_message(cluster_.clock.now(), MessageKind::FORK, payload);
        }
        for (std::uint32_t to = 0; to < forks_.size(); ++to) {
          if (ProcessId{to} == master) continue;
          cluster_.network.send(cluster_.layout.node_of(master), cluster_.layout.node_of(ProcessId{to}),
                                cluster_.costs.on_wire(payload), [=, this] {
                                  cluster_.clock.at(cluster_.clock.now() + received_in, [=, this] {
                                    if (--(*open)[to] > 0) return;
                                    take_undelayed(ProcessId{to}, master, *news, messages);
                                    arrive_fork(to, news);
                                  });
                                });
        }
        if (is_last) sent();
      });
    }
  }
  /// In the baselines, a worker begins a region when the fork's message arrives.
  void take_undelayed(ProcessId worker, ProcessId master, const News& news, const std::vector<Message>& messages) {
    cluster_.thread(worker).uncontended.receive(news.path, undelayed(master, worker, messages, true));
  }
  void await_fork(ProcessId process, Through through) {
    Fork& fork = forks_[index_of(process)];
    fork.through = std::move(through);
    if (fork.news) begin_region(fork);
  }

  /// At thread `by`: `asker` waits in a loop of its own for its stores. The answer follows when its changes are at
  /// home; during an interval, that is only after the interval's end.
  void ask_for_stores(ProcessId by, std::uint64_t events, ProcessId asker, const Granted& granted) {
    const bool is_amid = cluster_.spins->begun(by) >= events && !resting_[index_of(by)];
    cluster_.spins->ask(by, is_amid ? cluster_.spins->begun(by) + 1 : events, [=, this] {
      const SyncObject object{SyncObject::Kind::thread, index_of(by)};
      notices_[index_of(by)].release(object, by, pages(by).hand_on(object));
      hand(by, object, asker, MessageKind::ACQGRANT, granted);
    });
  }
  /// Records whether all of the thread's changes are on their way home.
  void rests(ProcessId process, bool rests) { resting_[index_of(process)] = rests; }

  /// At the barrier's manager: a process arrives. `forks` is its arrival time if it is the master of a fork.
  void arrive(ProcessId process, const std::vector<PageId>& notes, const std::vector<PageId>& fetched,
              std::optional<Time> forks, Through through) {
    met_.arrive(process, notes, fetched);
    if (forks) forked_ = forks;
    waiting_.emplace(process, std::move(through));
    if (waiting_.size() == cluster_.layout.processes()) meet();
  }
  ProcessId manager_of_barrier() const {
    return jiajia::manager_of_barrier(cluster_.layout.processes(), rules_.quirks);
  }

 private:
  struct LockWaiter {
    ProcessId by;
    Turn turn;
    Granted granted;
  };

  struct FlagWaiter {
    ProcessId by;
    FlagWait wait;
    Granted granted;
  };
  struct Part {
    std::optional<Time> forked;
    std::map<ProcessId, std::function<void(const std::vector<Notice>&, std::optional<Time>)>> waiting;
  };

  /// The next region of a process.
  struct Fork {
    std::shared_ptr<const News> news;  ///< empty until the message arrives
    Through through;                   ///< empty until the process waits for it
  };
  void arrive_fork(std::uint32_t to, const std::shared_ptr<const News>& news) {
    forks_[to].news = news;
    if (forks_[to].through) begin_region(forks_[to]);
  }
  static void begin_region(Fork& fork) {
    const Fork now = std::exchange(fork, {});
    now.through(*now.news);
  }

  bool are_apart(ProcessId one, ProcessId other) const {
    return cluster_.layout.node_of(one) != cluster_.layout.node_of(other);
  }
  static Bytes payload_of(const Message& message) { return jiajia::header + message.data; }
  /// Processor time of the sender and of the receiver.
  Time sending(const Message& message) const {
    return cluster_.costs.message_local(payload_of(message)) - receiving(message) + logged();
  }
  Time receiving(const Message& message) const {
    return cluster_.costs.home_part(cluster_.costs.message_local(payload_of(message)));
  }
  Time idle(ProcessId from, ProcessId to, const Message& message) {
    return cluster_.idle->time(cluster_.layout.node_of(from), cluster_.layout.node_of(to), payload_of(message));
  }

  /// Extra time for each fault, and for each message that a process sends.
  Time logged() const { return cluster_.costs.costs().further(jiajia::Cost::log); }

  void grant_next(LockId lock) {
    const std::optional<LockWaiter> next = locks_[lock].grant_next();
    if (next) hand(manager(lock), object_of(lock), next->by, MessageKind::ACQGRANT, next->granted);
  }

  void let_go_on(std::uint64_t flag, const std::vector<FlagWaiter>& waiters) {
    for (const FlagWaiter& waiter : waiters) {
      hand(manager_of_flag(flag), {SyncObject::Kind::flag, flag}, waiter.by, MessageKind::ACQGRANT, waiter.granted);
    }
  }

  /// Answers with the object's notices that `to` has not received.
  void hand(ProcessId manager, SyncObject object, ProcessId to, MessageKind message, const Granted& granted) {
    std::vector<Notice> notices = notices_[index_of(manager)].grant(object, to);
    std::erase_if(notices, [&](const Notice& notice) { return !is_handed(rules_, home(notice.page), to); });
    const std::vector<Message> messages = with_notices(message, notices.size());
    cluster_.thread(to).uncontended.spend(undelayed(manager, to, messages, true));
    answer(manager, to, messages, [granted, notices] { granted(notices); });
  }

  void meet() {
    const auto news = std::make_shared<News>();
    news->forked = std::exchange(forked_, std::nullopt);
    news->notices = met_.take([this](PageId page) { return home(page); }, news->forked.has_value());
    for (const auto& [notice, is_written, before, next] : news->notices) {
      if (next != before) homes_.move(notice.page, next);
    }
    pass_barrier();
    met_in_part_ = false;
    const std::vector<Message> messages = with_notices(MessageKind::BARRGRANT, news->notices.size());
    meet_undelayed(waiting_);
    for (const auto& [process, through] : std::exchange(waiting_, {})) {
      cluster_.thread(process).uncontended.spend(undelayed(manager_of_barrier(), process, messages, true));
      answer(manager_of_barrier(), process, messages, [news, through = through] { through(*news); });
    }
  }

  Cluster& cluster_;
  jiajia::Rules rules_;
  Homes homes_;
  std::deque<jiajia::ProcessPages> pages_;
  void pass_barrier() {
    ++barriers_;
    for (jiajia::LockNotices& locks : notices_) locks.barrier();
  }

  std::uint64_t barriers_ = 0;
  std::deque<jiajia::LockNotices> notices_;  ///< by manager
  std::map<LockId, LockQueue<LockWaiter>> locks_;
  std::map<std::uint64_t, Flag<FlagWaiter>> flags_;
  std::map<std::uint32_t, Part> parts_;  ///< barriers of a part of the threads, by team size
  std::vector<bool> resting_;            ///< by process
  jiajia::BarrierNotices met_;
  bool met_in_part_ = false;  ///< threads met at a barrier of a part since the last one of all
  std::optional<Time> forked_;
  std::vector<Fork> forks_;               ///< by process
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
        costs_(cluster.costs.costs()) {}

  void begin(const trace::Interval& interval, std::uint64_t before) override {
    if (before == 0) learn_region();
    if (is_in_parallel_region_) thread_.account.follow_region();
    joins_ = interval.end.kind == EventKind::join;
  }
  /// After an interval whose stores others wait for, sends the changes home and lets them go on.
  void finish_interval(std::uint64_t event) override {
    if (joins_) {
      is_in_parallel_region_ = false;
      learn_region();
    }
    if (!cluster_.spins || !takes_faults(cluster_.layout)) return;
    thread_.catch_up_and_wait();
    if (cluster_.spins->is_awaited(thread_.id(), event)) {
      static constexpr std::array course{Step{protocol::Action::flush}, Step{protocol::Action::begin_interval}};
      perform(course, Sync::release, {});
    }
    cluster_.spins->begin_event(thread_.id());
  }
  void end(std::uint64_t) override { room_.rests(thread_.id(), true); }

  void touch(const Touch& touch) override {
    if (is_sent_with_the_fork(touch)) return;
    PageId page = touch.first;
    for (std::uint64_t left = touch.pages; left > 0;) {
      const ProcessId home = room_.home(page, touch.home);
      const auto [pages, kind] = pages_.access_run(page, room_.alike(page, left, touch.home), home, touch.access);
      if (kind) fault(page, pages, *kind, home);
      if (home != thread_.id()) {
        if (kind) continue;  // the access is repeated
        for (std::uint64_t i = 0; touch.change && i < pages; ++i) {
          pages_.changed({page.region, page.index + i}, touch.change, cluster_.page_words);
        }
      }
      page.index += pages;
      left -= pages;
    }
  }

  void barrier(std::uint32_t team, Arrival why) override {
    const Time came = thread_.local_now();
    if (why != Arrival::inside && room_.forks_by_broadcast(team)) {
      fork(why, came);
      if (!meets_) return;
      why = Arrival::inside;
    }
    if (team != cluster_.layout.processes()) return barrier_of_a_part(team, why, came);
    perform(jiajia::courses::barrier, Sync::barrier,
            {.apply = [this](Then then) { apply_barrier_notices(std::move(then)); },
             .exchange = [=, this](const Step& step, Then then) { meet(step, why, came, std::move(then)); }});
  }

  void flush() override {
    acquire(jiajia::flush_lock, std::nullopt);
    release(jiajia::flush_lock);
  }
  void fence() override { flush(); }

  bool claim(LockId lock) override { return room_.queue_of(lock).claim(thread_.id()); }
  void disclaim(LockId lock) override { room_.queue_of(lock).disclaim(); }
  bool has(LockId lock) override { return room_.queue_of(lock).is_held_by(thread_.id()); }
  void acquire(LockId lock, std::optional<std::uint64_t> turn) override {
    if (!takes_faults(cluster_.layout)) return count_lock();
    const auto exchange = [this, lock, turn](const Step& step, Then then) {
      const auto at_manager = [this, lock, turn](const auto& granted) { room_.ask(lock, thread_.id(), turn, granted); };
      ask(step, room_.manager(lock), at_manager, std::move(then));
    };
    take(object_of(lock), exchange, [this, lock] { pages_.enter_scope(lock); });
  }

  void release(LockId lock) override {
    if (!takes_faults(cluster_.layout)) return;
    give(
        room_.manager(lock), [this, lock] { return pages_.leave_scope(lock); },
        [this, lock](const std::vector<Notice>& news) { room_.give_back(lock, thread_.id(), news); });
  }

  void post(std::uint64_t flag, FlagPost posted) override {
    if (!takes_faults(cluster_.layout)) return;
    refuse_lock_scope("a flag");
    give(
        room_.manager_of_flag(flag),
        [this, flag] {
          return pages_.hand_on({SyncObject::Kind::flag, flag});
        },
        [=, this](const std::vector<Notice>& news) { room_.post(flag, thread_.id(), posted, news); });
  }

  void wait(std::uint64_t flag, FlagWait wait) override {
    if (!takes_faults(cluster_.layout)) return count_lock();
    refuse_lock_scope("a wait for a flag");
    const SyncObject object{SyncObject::Kind::flag, flag};
    take(object, [=, this](const Step& step, Then then) {
      const std::uint64_t passed = room_.barriers();
      const std::vector<Notice> handed = wait.comes ? pages_.hand_on(object) : std::vector<Notice>{};
      count(jiajia::FurtherCount::notices, handed.size());
      const auto at_manager = [=, this](const auto& granted) {
        room_.wait(flag, thread_.id(), wait, jiajia::still_news(handed, passed, room_.barriers()), granted);
      };
      ask(step, room_.manager_of_flag(flag), at_manager, std::move(then), handed.size());
    });
  }

  void spin(ProcessId by, std::uint64_t events) override {
    refuse_lock_scope("a loop that waits for another thread's store");
    take({SyncObject::Kind::thread, index_of(by)}, [=, this](const Step& step, Then then) {
      const auto at_thread = [=, this](const auto& granted) {
        room_.ask_for_stores(by, events, thread_.id(), granted);
      };
      ask(step, by, at_thread, std::move(then));
    });
  }

  std::optional<Moment> operate(const WordOperation&, ProcessId, bool) override {
    throw std::logic_error("broken invariant: under JIAJIA an atomic operation takes a lock");
  }

 private:
  /// How one synchronisation exchanges messages and applies notices.
  struct Carried {
    std::function<void(Then then)> apply;
    ExchangeOf<Step> exchange;
  };

  /// Takes what `exchange` asks for, and then calls `taken` when the notices of its answer are applied.
  void take(
      SyncObject object, ExchangeOf<Step> exchange, std::function<void()> taken = [] {}) {
    const auto apply = [=, this](Then then) {
      apply_grant_notices(object, [taken, then = std::move(then)] {
        taken();
        then();
      });
    };
    perform(jiajia::courses::lock, Sync::acquire, {.apply = apply, .exchange = std::move(exchange)});
  }

  /// Sends the notices that `hand_on` returns to the manager, which calls `given` with those that are still news.
  void give(ProcessId manager, const std::function<std::vector<Notice>()>& hand_on,
            const std::function<void(const std::vector<Notice>&)>& given) {
    const auto exchange = [=, this](const Step& step, Then then) {
      const std::vector<Notice> handed = hand_on();
      const auto arrived = [=, this, passed = room_.barriers()] {
        given(jiajia::still_news(handed, passed, room_.barriers()));
      };
      tell(step, manager, handed, arrived, std::move(then));
    };
    perform(jiajia::courses::unlock, Sync::release, {.apply = {}, .exchange = exchange});
  }

  /// Whether the fork's message carries the page, so that no process faults on it.
  bool is_sent_with_the_fork(const Touch& touch) const {
    if (!room_.rules().fork_by_broadcast || is_forked_in_part_) return false;
    const auto& privatized = cluster_.options.privatized;
    return touch.first == cluster_.page_of(AdministrativePage::region) ||
           std::find(privatized.begin(), privatized.end(), touch.first.region) != privatized.end();
  }

  void fork(Arrival why, Time came) {
    is_forked_in_part_ = false;
    if (why == Arrival::fork_master) {
      meets_ = room_.met_in_part();
      return perform(jiajia::courses::fork_master, Sync::barrier,
                     {.apply = {}, .exchange = [=, this](const Step&, Then then) {
                        const Time since = cluster_.clock.now();
                        const std::vector<PageId> notes = pages_.take_notes();
                        pages_.take_fetched(notes);
                        count(jiajia::FurtherCount::notices, notes.size());
                        room_.fork(thread_.id(), came, notes, [this, since, then = std::move(then)] {
                          thread_.waited(Spent::barrier, since);
                          then();
                        });
                      }});
    }
    perform(jiajia::courses::fork_worker, Sync::barrier,
            {.apply = [this](Then then) { apply_barrier_notices(std::move(then)); },
             .exchange =
                 [=, this](const Step&, Then then) {
                   const Time since = cluster_.clock.now();
                   room_.await_fork(thread_.id(), [=, this, then = std::move(then)](const News& news) {
                     wait_until_forked(since, why, news.forked);
                     news_ = &news;
                     meets_ = news.meets;
                     then();
                   });
                 }});
  }

  /// JIAJIA's own scopes are those of its locks and of the barrier of all.
  void refuse_lock_scope(const std::string& what) const {
    if (room_.rules().scope == Scope::openmp) return;
    throw std::invalid_argument(
        fmt::format("thread {} has {}, which JIAJIA's own scopes do not know. Leave out --scope lock",
                    index_of(thread_.id()), what));
  }

  void barrier_of_a_part(std::uint32_t team, Arrival why, Time came) {
    is_forked_in_part_ |= why != Arrival::inside;
    refuse_lock_scope(fmt::format("a barrier of {} of {} threads", team, cluster_.layout.processes()));
    const SyncObject object{SyncObject::Kind::team, team};
    perform(jiajia::courses::barrier, Sync::acquire,
            {.apply = [=, this](Then then) { apply_grant_notices(object, std::move(then)); },
             .exchange =
                 [=, this](const Step& step, Then then) {
                   const Time since = cluster_.clock.now();
                   const std::vector<Notice> handed = pages_.hand_on(object);
                   count(jiajia::FurtherCount::notices, handed.size());
                   const auto through = [=, this, then = std::move(then)](const auto& notices,
                                                                          std::optional<Time> forked) {
                     granted_ = notices;
                     leave_barrier(since, why, forked);
                     then();
                   };
                   send_and_wait(
                       room_.manager_of_barrier(),
                       with_notices(step.message, handed.size(), jiajia::tells_of_others(room_.rules().scope, false)),
                       [=, this] { room_.arrive_in_part(team, thread_.id(), forked_at(why, came), handed, through); });
                 }});
  }

  static std::optional<Time> forked_at(Arrival why, Time came) {
    return why == Arrival::fork_master ? std::optional(came) : std::nullopt;
  }

  /// Leaves a barrier after a wait that began at `since`. A worker is idle until the master forks.
  void leave_barrier(Time since, Arrival why, std::optional<Time> forked) {
    wait_until_forked(since, why, forked);
    thread_.account.count_barrier(cluster_.clock.now());
  }
  void wait_until_forked(Time since, Arrival why, std::optional<Time> forked) {
    if (why == Arrival::fork_worker) {
      is_in_parallel_region_ = true;
      learn_region();
    }
    thread_.waited(Spent::barrier, why == Arrival::fork_worker ? thread_.idle_until(forked, since) : since);
  }

  /// The initial thread reads the clocks that bound the measured region. Between parallel regions, other threads may
  /// then still apply the last barrier's notices or approach the next barrier. So from a join to the next fork a
  /// thread's counts ignore such a reading; it takes effect at that fork.
  void learn_region() {
    if (thread_.id() != ProcessId{0}) thread_.account.learn_region(cluster_.clock.now());
  }
  void count_lock() { thread_.account.count_lock(cluster_.clock.now()); }
  void count(jiajia::FurtherCount which, std::uint64_t more) {
    thread_.account.count(cluster_.clock.now(),
                          [=](Tally& tally) { tally.further[static_cast<std::size_t>(which)] += more; });
  }

  void fault(PageId page, std::uint64_t pages, jiajia::FaultKind kind, ProcessId home) {
    const auto number = static_cast<std::size_t>(kind);
    cluster_.note_faults(thread_, number, page, pages);
    if (!jiajia::rule_of(kind).fetches_page) {
      const Time each = cluster_.costs.fault_local(kind) + costs_.further(jiajia::Cost::log);
      return thread_.spend_faults(spent_on(kind), pages, times(pages, each));
    }
    const std::vector<PageId> beside = prefetched(page);
    const auto served = [this, page, home, beside] {
      room_.pages(home).give(page);
      for (const PageId one : beside) room_.pages(home).give(one);
    };
    faults_.fetch(page, number, home, served, costs_.further(jiajia::Cost::log), beside.size());
  }

  /// Returns the pages that come with `page`.
  std::vector<PageId> prefetched(PageId page) {
    std::vector<PageId> beside;
    const std::uint32_t region = index_of(page.region);
    if (cluster_.options.prefetch == 0 || !cluster_.has_prefetch[region]) return beside;
    const auto home_now = [&](std::uint64_t index, ProcessId placed) {
      return room_.home({page.region, index}, placed);
    };
    for (const std::uint64_t index : following(cluster_.homes[region], page.index, cluster_.options.prefetch,
                                               cluster_.layout.processes(), home_now)) {
      if (pages_.prefetch({page.region, index})) beside.push_back({page.region, index});
    }
    return beside;
  }

  void perform(std::span<const Step> course, Sync sync, const Carried& carried) {
    thread_.wait_for([=, this](Then done) {
      play<Step>(course,
                 {.flush =
                      [this, sync](Then then) {
                        room_.rests(thread_.id(), true);
                        send_diffs(sync, std::move(then));
                      },
                  .begin_interval =
                      [this, sync](Then then) {
                        const std::uint64_t pages = pages_.begin_interval(sync);
                        protect(times(pages, costs_.further(jiajia::Cost::protect)), std::move(then));
                      },
                  .exchange = carried.exchange,
                  .apply = carried.apply},
                 [this, done = std::move(done)] {
                   room_.rests(thread_.id(), false);
                   done();
                 });
    });
  }

  void protect(Time duration, Then then) {
    const Time since = cluster_.clock.now();
    thread_.uncontended.spend(duration);
    cluster_.clock.at(since + duration, [this, since, then = std::move(then)] {
      thread_.waited(Spent::protect, since);
      then();
    });
  }

  struct Diffs {
    std::vector<std::pair<ProcessId, Message>> messages;
    std::size_t sent = 0;
    std::size_t answered = 0;
    Time since{};
    Then done;
  };

  void send_diffs(Sync sync, Then done) {
    const std::uint64_t twinned = pages_.twinned_pages();
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
      for (const Bytes data : messages[home].data) diffs->messages.push_back({home, {MessageKind::DIFF, data}});
    }
    const Time making = times(twinned, costs_.further(jiajia::Cost::diff));
    thread_.uncontended.spend(making + room_.undelayed_diffs(thread_.id(), diffs->messages));
    cluster_.clock.at(diffs->since + making, [this, diffs] {
      if (!diffs->messages.empty()) return send_next(diffs);
      thread_.waited(Spent::diff, diffs->since);
      diffs->done();
    });
  }

  void count_diff(const jiajia::Diff& diff, std::uint64_t bytes) {
    thread_.account.count_diff(cluster_.clock.now(), bytes);
    if (cluster_.owner_of(thread_.id(), diff.home) == Owner::remote) {
      cluster_.note(thread_.id(), diff.page, trace::figures_of_diff(bytes));
    }
  }

  /// Sends the next diff; the thread waits until the homes have acknowledged all.
  void send_next(const std::shared_ptr<Diffs>& diffs) {
    const auto& [home, message] = diffs->messages[diffs->sent++];
    const auto acknowledged = [this, diffs] {
      if (++diffs->answered < diffs->messages.size()) return;
      thread_.waited(Spent::diff, diffs->since);
      diffs->done();
    };
    room_.send(
        thread_.id(), home, {message},
        [this, diffs] {
          if (diffs->sent < diffs->messages.size()) send_next(diffs);
        },
        [this, home = home, acknowledged] {
          room_.answer(home, thread_.id(), {{MessageKind::DIFFGRANT, Bytes{0}}}, acknowledged);
        });
  }

  /// Asks the manager: `ask` runs there. `handed_on` counts the notices that go with the question.
  void ask(const Step& step, ProcessId manager, std::function<void(const JiajiaRoom::Granted&)> ask, Then then,
           std::uint64_t handed_on = 0) {
    const Time since = cluster_.clock.now();
    const auto granted = [this, since, then = std::move(then)](const std::vector<Notice>& notices) {
      granted_ = notices;
      thread_.waited(Spent::lock, since);
      count_lock();
      then();
    };
    send_and_wait(manager, {{step.message, jiajia::lock_request(handed_on)}},
                  [ask = std::move(ask), granted] { ask(granted); });
  }

  /// Sends messages from a thread that only waits for the answer.
  void send_and_wait(ProcessId to, const std::vector<Message>& messages, const Then& arrived) {
    thread_.uncontended.spend(room_.undelayed(thread_.id(), to, messages));
    room_.send(
        thread_.id(), to, messages, [] {}, arrived);
  }

  void apply_grant_notices(SyncObject object, Then then) {
    std::uint64_t invalid = pages_.expire_unnoticed();
    for (const Notice& notice : granted_) {
      invalid += pages_.apply_grant_notice(notice, room_.home(notice.page), object) ? 1 : 0;
    }
    lose(invalid, std::move(then));
  }

  /// Sends notices to the manager, without waiting until it has them. `told` runs at the manager.
  void tell(const Step& step, ProcessId manager, const std::vector<Notice>& handed, Then arrived, Then then) {
    const Time since = cluster_.clock.now();
    count(jiajia::FurtherCount::notices, handed.size());
    const std::vector<Message> messages =
        with_notices(step.message, handed.size(), jiajia::tells_of_others(room_.rules().scope, false));
    thread_.uncontended.spend(room_.sending(thread_.id(), manager, messages));
    room_.send(
        thread_.id(), manager, messages,
        [this, since, then = std::move(then)] {
          thread_.waited(Spent::lock, since);
          then();
        },
        arrived);
  }

  /// `came` is the time of arrival at the barrier, before the thread's changes went home.
  void meet(const Step& step, Arrival why, Time came, Then then) {
    const Time since = cluster_.clock.now();
    const std::vector<PageId> notes = pages_.take_notes(), fetched = pages_.take_fetched(notes);
    count(jiajia::FurtherCount::notices, notes.size() + fetched.size());
    const auto through = [this, since, why, then = std::move(then)](const News& news) {
      leave_barrier(since, why, news.forked);
      news_ = &news;
      then();
    };
    send_and_wait(room_.manager_of_barrier(), with_notices(step.message, notes.size() + fetched.size()),
                  [=, this] { room_.arrive(thread_.id(), notes, fetched, forked_at(why, came), through); });
  }

  void apply_barrier_notices(Then then) {
    std::uint64_t invalid = pages_.expire_unnoticed(), in = 0, out = 0;
    for (const jiajia::BarrierNotice& one : news_->notices) {
      invalid += pages_.apply_barrier_notice(one) ? 1 : 0;
      in += one.next != one.home && one.next == thread_.id() ? 1 : 0;
      out += one.next != one.home && one.home == thread_.id() ? 1 : 0;
    }
    count(jiajia::FurtherCount::migrated_in, in);
    count(jiajia::FurtherCount::migrated_out, out);
    lose(invalid, std::move(then));
  }

  /// Charges the invalidation of `copies` copies.
  void lose(std::uint64_t copies, Then then) {
    count(jiajia::FurtherCount::invalidations, copies);
    protect(times(copies, costs_.further(jiajia::Cost::invalidate)), std::move(then));
  }

  Cluster& cluster_;
  JiajiaRoom& room_;
  Thread& thread_;
  jiajia::ProcessPages& pages_;
  PageFaults faults_;
  const ProtocolCosts& costs_;
  std::vector<Notice> granted_;         ///< notices that came with the latest lock
  const News* news_ = nullptr;          ///< the latest barrier's news, while its notices are applied
  bool meets_ = false;                  ///< a barrier follows the latest fork by broadcast
  bool is_forked_in_part_ = false;      ///< the latest fork was of a part of the threads, and sends no pages
  bool is_in_parallel_region_ = false;  ///< always false for the initial thread, which never needs it
  bool joins_ = false;                  ///< the current interval ends with a join
};

std::unique_ptr<Memory> JiajiaRoom::memory_of(Thread& thread) {
  return std::make_unique<JiajiaMemory>(cluster_, *this, thread);
}

}  // namespace

std::unique_ptr<Room> make_jiajia_room(Cluster& cluster) {
  return std::make_unique<JiajiaRoom>(cluster);
}

}  // namespace sdsm::sim
