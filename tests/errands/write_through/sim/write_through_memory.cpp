#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/cluster.hpp"
#include "sim/memory.hpp"
#include "sim/page_faults.hpp"

namespace sdsm::sim {
namespace {

constexpr Bytes head{16};
constexpr std::size_t words_message = 2, come = 3, go = 4;

/// Only barriers of all: process 0 waits for a message of each, and sends one back.
class WriteThroughRoom final : public Room {
 public:
  explicit WriteThroughRoom(Cluster& cluster) : cluster_(cluster) {}
  std::unique_ptr<Memory> memory_of(Thread& thread) override;

  void send(ProcessId from, ProcessId to, std::size_t kind, Bytes payload, std::function<void()> arrived) {
    if (from == to) return arrived();
    cluster_.thread(from).account.count_message(cluster_.clock.now(), kind, payload);
    const Time local = cluster_.costs.message_local(payload);
    cluster_.network.send(
        cluster_.layout.node_of(from), cluster_.layout.node_of(to), payload,
        [this, to, local, arrived = std::move(arrived)] { cluster_.service.serve(to, local, arrived); });
  }
  void arrive(ProcessId process, std::function<void()> through) {
    waiting_.emplace(process, std::move(through));
    if (waiting_.size() < cluster_.layout.processes()) return;
    for (auto& [who, go_on] : std::exchange(waiting_, {})) send(ProcessId{0}, who, go, head, std::move(go_on));
  }

 private:
  Cluster& cluster_;
  std::map<ProcessId, std::function<void()>> waiting_;
};

class WriteThroughMemory final : public Memory {
 public:
  WriteThroughMemory(Cluster& cluster, WriteThroughRoom& room, Thread& thread)
      : cluster_(cluster), room_(room), thread_(thread), faults_(cluster, thread) {}

  void begin(const trace::Interval&, std::uint64_t) override {}
  void finish_interval(std::uint64_t) override {}
  void end(std::uint64_t) override {}
  std::string position() const override { return {}; }

  void touch(const Touch& touch) override {
    if (touch.home == thread_.id()) return;
    for (std::uint64_t i = 0; i < touch.pages; ++i) {
      const PageId page{touch.first.region, touch.first.index + i};
      if (copies_.insert(page).second) faults_.fetch(page, 0, touch.home);
      if (touch.change) written_[{page, touch.home}] = merge(written_[{page, touch.home}], touch.change);
    }
  }

  void barrier(std::uint32_t team, Arrival) override {
    if (team != cluster_.layout.processes()) throw std::invalid_argument("a barrier of a part of the threads");
    thread_.wait_for([this](auto done) {
      const Time since = cluster_.clock.now();
      const auto open = std::make_shared<std::size_t>(written_.size() + 1);
      const auto arrived = [=, this] {
        if (--*open > 0) return;
        copies_.clear();
        const auto through = [this, since, done] {
          thread_.waited(Spent::barrier, since);
          thread_.account.count(cluster_.clock.now(), [](Tally& tally) { ++tally.barriers; });
          done();
        };
        room_.send(thread_.id(), ProcessId{0}, come, head, [this, through] { room_.arrive(thread_.id(), through); });
      };
      for (const auto& [page, change] : std::exchange(written_, {})) {
        const Bytes bytes = diff_bytes(change);
        thread_.account.count(since, [bytes](Tally& tally) {
          ++tally.diffs;
          tally.diff_bytes += static_cast<std::uint64_t>(bytes.count);
        });
        room_.send(thread_.id(), page.second, words_message, head + bytes, arrived);
      }
      arrived();
    });
  }

  void flush() override { none(); }
  void fence() override { none(); }
  void acquire(LockId, std::optional<std::uint64_t>) override { none(); }
  void release(LockId) override { none(); }
  void post(std::uint64_t, FlagPost) override { none(); }
  void wait(std::uint64_t, FlagWait) override { none(); }
  std::optional<Moment> operate(const WordOperation&, ProcessId, bool) override {
    none();
    return {};
  }
  void spin(ProcessId, std::uint64_t) override { none(); }

 private:
  [[noreturn]] static void none() { throw std::invalid_argument("write_through has barriers alone"); }

  Cluster& cluster_;
  WriteThroughRoom& room_;
  Thread& thread_;
  PageFaults faults_;
  std::set<PageId> copies_;
  std::map<std::pair<PageId, ProcessId>, Change> written_;
};

std::unique_ptr<Memory> WriteThroughRoom::memory_of(Thread& thread) {
  return std::make_unique<WriteThroughMemory>(cluster_, *this, thread);
}

}  // namespace

std::unique_ptr<Room> make_write_through_room(Cluster& cluster) {
  return std::make_unique<WriteThroughRoom>(cluster);
}

}  // namespace sdsm::sim
