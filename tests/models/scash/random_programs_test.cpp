/// Random programs without data races, run on the protocol with real bytes: every read must find what was last written.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <vector>

#include "tests/campaign.hpp"
#include "tests/catch.hpp"
#include "tests/models/scash/shared_memory.hpp"

using namespace sdsm;
using namespace sdsm::test;

namespace {

/// A program of phases between barriers. A word is either guarded by a lock for the whole program, or belongs, phase by
/// phase, to one process or to nobody (all may read it). Words of both sorts share pages.
class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, HomePages home_pages, Invalidation invalidation) : random_(seed) {
    cluster_.layout = {pick(1, 4), pick(1, 3)};
    cluster_.pages = pick(1, 12);
    cluster_.drops_changed_only = invalidation == Invalidation::changed;
    cluster_.home_pages_are_open = home_pages == HomePages::open;
    locks_ = pick(0, 3);
    phases_ = pick(1, 6);
    steps_ = pick(5, 120);
    const std::uint64_t count = cluster_.pages * words;
    flat_.assign(count, 0);
    guard_.resize(count);
    for (auto& guard : guard_) {
      if (locks_ > 0 && pick(0, 2) == 0) guard = pick(0, locks_ - 1);
    }
    owner_.resize(count);
    holder_.resize(locks_);
  }

  /// Throws Wrong if the protocol fails the program.
  void run() {
    SharedMemory memory(cluster_);
    for (std::uint32_t phase = 0; phase < phases_; ++phase) {
      for (auto& owner : owner_) owner = pick(0, cluster_.layout.processes());  // P: shared, for reading
      for (std::uint32_t step = 0; step < steps_ * cluster_.layout.processes(); ++step) {
        do_something(memory, pick(0, cluster_.layout.processes() - 1));
      }
      for (std::uint32_t lock = 0; lock < locks_; ++lock) {
        if (holder_[lock]) give_back(memory, lock);
      }
      memory.barrier();
    }
    for (std::uint64_t word = 0; word < flat_.size(); ++word) {
      if (memory.at_home(word) != flat_[word]) throw Wrong("an update of word " + std::to_string(word) + " was lost");
    }
    for (std::size_t kind = 0; kind < fault_kinds; ++kind) faults[kind] += memory.faults(static_cast<FaultKind>(kind));
    diffs += memory.diffs();
  }

  std::uint64_t reads = 0, lock_hand_overs = 0, diffs = 0;
  std::array<std::uint64_t, fault_kinds> faults{};

 private:
  std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
  }

  void do_something(SharedMemory& memory, std::uint32_t process) {
    if (locks_ > 0 && pick(0, 5) == 0) {
      const std::uint32_t lock = pick(0, locks_ - 1);
      if (holder_[lock] == process) {
        give_back(memory, lock);
      } else if (!holder_[lock]) {
        memory.acquire(process);
        holder_[lock] = process;
        ++lock_hand_overs;
      }
      return;
    }
    const auto word = static_cast<std::uint64_t>(random_() % flat_.size());
    const bool may_write = guard_[word] ? holder_[*guard_[word]] == process : owner_[word] == process;
    const bool may_read = may_write || (!guard_[word] && owner_[word] == cluster_.layout.processes());
    if (may_write && pick(0, 1) == 0) {
      flat_[word] = ++last_value_;
      memory.write(process, word, last_value_);
    } else if (may_read) {
      ++reads;
      const std::uint64_t found = memory.read(process, word);
      if (found != flat_[word]) {
        throw Wrong("process " + std::to_string(process) + " reads " + std::to_string(found) + " from word " +
                    std::to_string(word) + ", last written was " + std::to_string(flat_[word]));
      }
    }
  }

  void give_back(SharedMemory& memory, std::uint32_t lock) {
    memory.release(*holder_[lock]);
    holder_[lock].reset();
  }

  std::mt19937_64 random_;
  Cluster cluster_;
  std::uint32_t locks_ = 0, phases_ = 0, steps_ = 0;
  std::vector<std::uint64_t> flat_;
  std::vector<std::optional<std::uint32_t>> guard_;   ///< by word: its lock
  std::vector<std::uint32_t> owner_;                  ///< by word: the process that may write it in this phase
  std::vector<std::optional<std::uint32_t>> holder_;  ///< by lock
  std::uint64_t last_value_ = 0;
};

void run_campaign(HomePages home_pages, Invalidation invalidation) {
  // Fewer have some kind of fault too seldom.
  const std::uint64_t programs = std::max<std::uint64_t>(test::rounds(1000), 1000);
  std::uint64_t reads = 0, hand_overs = 0, diffs = 0;
  std::array<std::uint64_t, fault_kinds> faults{};
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    RandomProgram program(seed, home_pages, invalidation);
    try {
      program.run();
    } catch (const Wrong& wrong) {
      FAIL("program of seed " << seed << ": " << wrong.what());
    }
    reads += program.reads;
    hand_overs += program.lock_hand_overs;
    diffs += program.diffs;
    for (std::size_t kind = 0; kind < fault_kinds; ++kind) faults[kind] += program.faults[kind];
  }
  // The programs are such that everything happens, often.
  CHECK(reads > 100 * programs);
  CHECK(hand_overs > 10 * programs);
  CHECK(diffs > 10 * programs);
  for (const FaultRule& rule : fault_rules) {
    CAPTURE(rule.name);
    const std::uint64_t count = faults[static_cast<std::size_t>(rule.kind)];
    if (home_pages == HomePages::open && rule.owner != Owner::remote) {
      CHECK(count == 0);
    } else {
      CHECK(count > programs);
    }
  }
}

}  // namespace

TEST_CASE("race-free random programs read no stale byte and lose nothing") {
  run_campaign(HomePages::read_only, Invalidation::all);
}

TEST_CASE("the same if barriers drop only the copies of changed pages") {
  run_campaign(HomePages::read_only, Invalidation::changed);
}

TEST_CASE("race-free programs stay right when home pages stay writable") {
  run_campaign(HomePages::open, Invalidation::all);
}
