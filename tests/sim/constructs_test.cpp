/// To which construct each part of a thread's time belongs.
#include <map>
#include <utility>

#include "sim/constructs.hpp"
#include "tests/catch.hpp"

using namespace sdsm;
using namespace sdsm::sim;

namespace {

constexpr std::uint64_t lock_number = 7;

/// A thread that does things one after the other, in microseconds.
class OneThread {
 public:
  void works(int us) { charge(Spent::compute, us); }
  void comes_to(EventKind kind, std::uint32_t call_site, int wait_us = 0, std::uint8_t detail = 0) {
    const sdsm::Event event{.kind = kind, .detail = detail, .object = lock_number};
    account_.come_to(event, call_site);
    charge(Spent::barrier, wait_us);
    account_.pass(event, call_site);
  }
  /// Microseconds of work and of waiting, by construct.
  using Sums = std::map<std::pair<std::string_view, std::uint32_t>, std::pair<int, int>>;
  Sums sums() {
    Sums found;
    for (const ConstructTally& one : account_.finish()) {
      const auto us = [&](Spent item) {
        return static_cast<int>(one.tally.time[static_cast<std::size_t>(item)].count() / 1'000'000);
      };
      if (one.tally.total() == Time{}) continue;
      found[{name_of(one.construct.kind), one.construct.call_site}] = {us(Spent::compute), us(Spent::barrier)};
    }
    return found;
  }

 private:
  void charge(Spent item, int us) {
    account_.tally_of(account_.here()).time[static_cast<std::size_t>(item)] += Time{std::int64_t{us} * 1'000'000};
  }
  ConstructAccount account_;
};

}  // namespace

TEST_CASE("work belongs to the barrier, region or fork that ends it") {
  OneThread thread;
  using enum EventKind;
  thread.works(1);
  thread.comes_to(fork, 10, 2);
  thread.works(4);
  thread.comes_to(barrier, 11, 8);
  thread.works(16);
  thread.comes_to(join, 10, 32);
  thread.works(64);
  thread.comes_to(end, 0);
  CHECK(thread.sums() ==
        OneThread::Sums{
            {{"serial", 10}, {1, 0}}, {{"region", 10}, {16, 34}}, {{"barrier", 11}, {4, 8}}, {{"serial", 0}, {64, 0}}});
}

TEST_CASE("a lock has its wait and all until it is given back") {
  OneThread thread;
  using enum EventKind;
  const auto critical = static_cast<std::uint8_t>(LockClass::critical);
  thread.comes_to(fork, 1);
  thread.works(1);
  thread.comes_to(acquire, 2, 2, critical);
  thread.works(4);
  thread.comes_to(atomic, 3, 8);
  thread.works(16);
  thread.comes_to(release, 4, 32, critical);
  thread.works(64);
  thread.comes_to(barrier, 5, 128);
  CHECK(thread.sums() ==
        OneThread::Sums{{{"critical", 2}, {20, 34}}, {{"atomic", 3}, {0, 8}}, {{"barrier", 5}, {65, 128}}});
}

TEST_CASE("a loop has its chunks and the barrier at its end") {
  OneThread thread;
  using enum EventKind;
  thread.comes_to(fork, 1);
  thread.works(1);
  thread.comes_to(loop_begin, 2);
  thread.comes_to(chunk, 3, 2);
  thread.works(4);
  thread.comes_to(chunk, 4, 8);
  thread.comes_to(loop_end, 5);
  thread.comes_to(barrier, 5, 16);
  thread.works(32);
  thread.comes_to(barrier, 5, 64);
  CHECK(thread.sums() == OneThread::Sums{{{"region", 1}, {1, 0}}, {{"loop", 2}, {4, 26}}, {{"barrier", 5}, {32, 64}}});
}

TEST_CASE("a barrier at the end of a single is its own") {
  ConstructAccount account(ConstructAccount::SinglesOfBarriers{{8, 7}});  // the barrier at 8 ends the single at 7
  const auto comes_to = [&](EventKind kind, std::uint32_t call_site) {
    const sdsm::Event event{.kind = kind};
    account.come_to(event, call_site);
    account.count_time(kind);
    account.pass(event, call_site);
  };
  using enum EventKind;
  for (const auto& [kind, call_site] : {std::pair{single, 7}, {barrier, 8}, {barrier, 9}, {single, 7}, {barrier, 8}})
    comes_to(kind, static_cast<std::uint32_t>(call_site));
  for (const ConstructTally& one : account.finish()) {
    if (one.construct == Construct{ConstructKind::single, 7}) CHECK(one.times == 2);
    if (one.construct == Construct{ConstructKind::barrier, 9}) CHECK(one.times == 1);
    CHECK_FALSE(one.construct == Construct{ConstructKind::barrier, 8});
  }
}

TEST_CASE("charges that come late go where they belong") {
  ConstructAccount account;
  const sdsm::Event barrier{.kind = EventKind::barrier};
  const ConstructAccount::Part before = account.here();
  for (const std::uint32_t site : {1, 2}) {
    account.come_to(barrier, site);
    account.pass(barrier, site);
  }
  account.tally_of(before).faults[0] = 3;
  account.settle();
  for (const ConstructTally& one : account.finish())
    CHECK(one.tally.faults[0] == (one.construct == Construct{ConstructKind::barrier, 1} ? 3 : 0));
}
