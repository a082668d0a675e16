/// Random programs without data races, on JIAJIA's rules with real words: every read must find what was last written.
#include <optional>
#include <random>
#include <sstream>
#include <vector>

#include "tests/campaign.hpp"
#include "tests/catch.hpp"
#include "tests/models/jiajia/played_cluster.hpp"

using namespace sdsm;
using namespace sdsm::test;

namespace {

/// A word is guarded by a lock for the whole program, or belongs to a process for a phase between barriers, or to
/// nobody: then all may read it. `hands_over`: a process that gives a lock back, or posts a flag, may leave its words
/// to the thread that takes that lock next, or waits for the flag, as OpenMP allows; and barriers of a part of the
/// processes are points where their words may change hands.
class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, jiajia::Scope scope, bool hands_over)
      : random_(seed), hands_over_(hands_over), cluster_(pick(2, 5), rules(scope), requests()) {
    const std::uint32_t pages = pick(1, 8);
    for (std::uint32_t page = 0; page < pages; ++page) cluster_.allocate(1, pick(0, cluster_.processes() - 1));
    words_.resize(pages * PlayedCluster::words);
    holders_.resize(pick(1, 3));
    offers_.resize(holders_.size());
    left_at_flags_.resize(2);
    for (Word& word : words_) {
      if (pick(0, 2) == 0) word.guard = pick(0, static_cast<std::uint32_t>(holders_.size()) - 1);
    }
  }

  /// What went wrong first; empty if nothing did.
  std::string run() {
    const std::uint32_t phases = pick(1, 6), steps = pick(5, 80) * cluster_.processes();
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
      for (Word& word : words_) word.owner = pick(0, cluster_.processes());  // one more: nobody
      for (std::uint32_t step = 0; step < steps; ++step) {
        if (std::string wrong = do_something(pick(0, cluster_.processes() - 1)); !wrong.empty()) return wrong;
      }
      for (std::uint32_t lock = 0; lock < holders_.size(); ++lock) {
        if (holders_[lock]) give_back(*holders_[lock], lock);
        offers_[lock].clear();
      }
      for (auto& left : left_at_flags_) left.clear();
      cluster_.barrier();
    }
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (cluster_.at_home(i / PlayedCluster::words, i % PlayedCluster::words) != words_[i].value)
        return "an update was lost";
    }
    return {};
  }

  std::uint64_t reads = 0;
  const PlayedCluster& cluster() const { return cluster_; }

 private:
  struct Word {
    std::optional<std::uint32_t> guard;
    std::uint32_t owner = 0;
    std::uint64_t value = 0;
  };

  std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
  }
  jiajia::Rules rules(jiajia::Scope scope) {
    const bool moves = pick(0, 1) == 1, is_by_touch = pick(0, 3) == 0;
    jiajia::Rules rules{
        .adaptive_write_detection = pick(0, 1) == 1, .home_migration = moves && !is_by_touch, .scope = scope};
    if (moves && is_by_touch) rules.first_touch_moves = pick(0, 4);
    return rules;
  }
  Requests requests() { return pick(0, 1) == 1 ? Requests::before_the_home_ends : Requests::after_the_home_ends; }

  std::string do_something(std::uint32_t process) {
    if (hands_over_ && pick(0, 12) == 0) {
      pass_on(process);
      return {};
    }
    if (pick(0, 5) == 0) {
      take_or_give(process, pick(0, static_cast<std::uint32_t>(holders_.size()) - 1));
      return {};
    }
    const std::size_t which = random_() % words_.size();
    Word& word = words_[which];
    const bool may_write = word.guard ? holders_[*word.guard] == process : word.owner == process;
    const bool may_read = may_write || (!word.guard && word.owner == cluster_.processes());
    const std::uint64_t page = which / PlayedCluster::words;
    const std::size_t place = which % PlayedCluster::words;
    if (may_write && pick(0, 1) == 0) {
      word.value = ++last_value_;
      cluster_.write(process, page, word.value, place);
    } else if (may_read) {
      ++reads;
      if (const std::uint64_t found = cluster_.read(process, page, place); found != word.value) {
        std::ostringstream text;
        text << "process " << process << " reads " << found << ", last written was " << word.value;
        return text.str();
      }
    }
    return {};
  }

  void take_or_give(std::uint32_t process, std::uint32_t lock) {
    if (holders_[lock] == process) return give_back(process, lock);
    if (holders_[lock]) return;
    cluster_.lock(process, lock);
    holders_[lock] = process;
    for (const std::size_t word : std::exchange(offers_[lock], {})) words_[word].owner = process;
  }

  void give_back(std::uint32_t process, std::uint32_t lock) {
    if (hands_over_) leave(process, offers_[lock]);
    cluster_.unlock(process, lock);
    holders_[lock].reset();
  }

  void leave(std::uint32_t process, std::vector<std::size_t>& offers) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i].guard || words_[i].owner != process || pick(0, 1) == 0) continue;
      words_[i].owner = cluster_.processes() + 1;  // neither anybody's nor to read
      offers.push_back(i);
    }
  }

  void pass_on(std::uint32_t process) {
    const std::uint32_t flag = pick(0, 1), team = pick(1, cluster_.processes());
    switch (pick(0, 2)) {
      case 0: leave(process, left_at_flags_[flag]); return cluster_.post(process, flag);
      case 1:
        cluster_.wait(process, flag);
        for (const std::size_t word : std::exchange(left_at_flags_[flag], {})) words_[word].owner = process;
        return;
      default:
        if (team == 1 || team == cluster_.processes()) return;
        cluster_.barrier_of(team);
        for (Word& word : words_) {
          if (word.owner < team) word.owner = pick(0, team - 1);
        }
    }
  }

  std::mt19937_64 random_;
  bool hands_over_;
  PlayedCluster cluster_;
  std::vector<Word> words_;
  std::vector<std::optional<std::uint32_t>> holders_;  ///< by lock
  std::vector<std::vector<std::size_t>> offers_;       ///< by lock: words left to its next holder
  std::vector<std::vector<std::size_t>> left_at_flags_;
  std::uint64_t last_value_ = 0;
};

void run_campaign(jiajia::Scope scope, bool hands_over) {
  const std::uint64_t programs = rounds(500);
  std::uint64_t reads = 0, invalidations = 0, migrations = 0;
  for (std::uint64_t i = 0; i < programs; ++i) {
    const std::uint64_t number = seed(1) + i;
    RandomProgram program(number, scope, hands_over);
    const std::string wrong = program.run();
    if (!wrong.empty()) FAIL("program of seed " << number << ": " << wrong);
    reads += program.reads;
    for (std::uint32_t process = 0; process < program.cluster().processes(); ++process) {
      invalidations += program.cluster().counts(process).invalidations;
      migrations += program.cluster().counts(process).migrated_in;
    }
  }
  CHECK(reads > 50 * programs);
  CHECK(invalidations > 5 * programs);
  CHECK(migrations > programs / 2);
}

}  // namespace

TEST_CASE("JIAJIA without quirks keeps scope consistency in random programs") {
  run_campaign(jiajia::Scope::lock, false);
}

TEST_CASE("JIAJIA with openmp scopes hands over what locks do not guard") {
  run_campaign(jiajia::Scope::openmp, false);
  run_campaign(jiajia::Scope::openmp, true);
}
