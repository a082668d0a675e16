#include "tests/world/programs.hpp"

#include <bit>
#include <utility>

namespace sdsm::world {
namespace {

using Made = Step::Kind;

/// The last word of a page holds a number that is added to. The one before is a flag, which one thread stores and
/// others wait for.
constexpr std::uint32_t counter = words - 1;
constexpr std::uint32_t flag = words - 2;
constexpr std::uint32_t locks = 2;

/// What a program may do, so that each of its loads has one right value and none of its threads waits for ever. Steps
/// come in an order in which one processor could execute them. A thread that has waited for a plain store, or that has
/// done an atomic operation since the last barrier, sees all: every process is in single-writer mode when it goes on,
/// and all loads find the last store. For other threads the words of a phase are each one thread's, or a lock's, or
/// only read.
class Rules {
 public:
  explicit Rules(const Program& program) : threads_(program.setup.layout.processes()) {}

  bool take(const Step& step) {
    const std::uint32_t self = std::uint32_t{1} << step.thread;
    if (step.kind == Made::barrier) return come(self);
    if (at_barrier_ != 0) return false;
    Word& word = words_[step.page][step.word];
    switch (step.kind) {
      case Made::acquire:
        if ((held_by_[0] | held_by_[1]) & self || held_by_[step.value] != 0) return false;
        held_by_[step.value] = self;
        return true;
      case Made::release: return std::exchange(held_by_[step.value], 0) == self;
      case Made::add:
        ++word.value;
        met_ |= self;
        return true;
      case Made::await: waited_ |= self; return word.value >= step.value;
      case Made::post: met_ |= self; return ++word.value == step.value;
      case Made::await_post: met_ |= self; return word.value >= step.value;
      case Made::store:
        word.value = step.value;
        are_stores_shown_ = false;
        [[fallthrough]];
      default: return step.word == flag || touch(word, self, step.kind == Made::store);
    }
  }
  bool was_stored(std::uint32_t page, std::uint32_t word) const { return words_[page][word].value != 0; }
  /// A thread that has come to its end shows no stores any more, for which others may wait.
  bool is_through() const { return are_stores_shown_ && at_barrier_ == 0 && held_by_[0] == 0 && held_by_[1] == 0; }

 private:
  struct Word {
    std::uint32_t value = 0;
    std::uint32_t threads = 0;
    std::uint32_t held = ~std::uint32_t{0};  ///< locks, by all that touched it
    bool is_stored = false;
  };

  bool come(std::uint32_t self) {
    if ((held_by_[0] | held_by_[1]) & self || at_barrier_ & self) return false;
    at_barrier_ |= self;
    if (at_barrier_ + 1 < std::uint32_t{1} << threads_) return true;
    at_barrier_ = met_ = 0;
    are_stores_shown_ = true;
    for (auto& page : words_) {
      for (Word& word : page) word = {word.value};
    }
    return true;
  }
  bool touch(Word& word, std::uint32_t self, bool stores) {
    if ((met_ | waited_) & self) return true;
    Word after = word;
    after.threads |= self;
    after.held &= (held_by_[0] & self ? 1U : 0) | (held_by_[1] & self ? 2U : 0);
    after.is_stored |= stores;
    if (after.is_stored && std::popcount(after.threads) > 1 && after.held == 0) return false;
    word = after;
    return true;
  }

  std::uint32_t threads_;
  Word words_[pages][words];
  // Sets of threads, by bits.
  std::uint32_t held_by_[locks] = {};
  std::uint32_t at_barrier_ = 0;
  bool are_stores_shown_ = true;
  std::uint32_t met_ = 0;     ///< since the last barrier
  std::uint32_t waited_ = 0;  ///< ever
};

class Maker {
 public:
  Maker(Kind kind, std::uint64_t seed, std::uint32_t per_node)
      : kind_(kind), random_(seed), program_{setup(per_node), {}}, rules_(program_) {
    pages_ = 1 + below(shared_pages);
    uses_stacks_ = below(2) == 0;
    for (std::uint32_t& writer : flag_writers_) writer = below(threads());
  }

  Program make() {
    for (std::uint32_t phases = 1 + below(3); phases > 0; --phases) {
      for (std::uint32_t left = 4 + below(12); left > 0; --left) add_some();
      for (std::uint32_t thread = 0; thread < threads(); ++thread) add({.kind = Made::barrier}, thread);
    }
    // Everybody reads everything that was stored.
    for (std::uint32_t i = 0; i < threads() * pages * words; ++i) {
      const std::uint32_t page = i / words % pages, word = i % words;
      if (rules_.was_stored(page, word))
        add({.kind = Made::load, .page = static_cast<std::uint8_t>(page), .word = static_cast<std::uint8_t>(word)},
            i / words / pages);
    }
    return std::move(program_);
  }

 private:
  std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  std::uint8_t byte_below(std::uint64_t bound) { return static_cast<std::uint8_t>(random_() % bound); }
  std::uint32_t threads() const { return program_.setup.layout.processes(); }

  Setup setup(std::uint32_t per_node) {
    Setup setup;
    setup.layout = {per_node == 1 ? 2 + below(2) : 2, per_node};
    setup.prefetch = below(4) == 0 ? 2 : 0;
    if (kind_ == Kind::jiajia) {
      setup.protocol = *protocol_named("jiajia");
      setup.jiajia.scope = jiajia::Scope::openmp;
      setup.jiajia.home_migration = below(2) == 0;
      setup.jiajia.adaptive_write_detection = below(2) == 0;
      return setup;
    }
    const bool is_open = below(8) == 0;
    setup.protocol = *protocol_named(is_open ? "home-open" : "scash");
    setup.home_pages = is_open ? HomePages::open : HomePages::read_only;
    setup.invalidation = is_open || below(4) > 0 ? Invalidation::all : Invalidation::changed;
    return setup;
  }

  void add(Step step, std::uint32_t thread) {
    step.thread = static_cast<std::uint8_t>(thread);
    const Rules before = rules_;
    if (rules_.take(step)) {
      program_.steps.push_back(step);
    } else {
      rules_ = before;
    }
  }
  std::uint8_t some_page() {
    const bool is_on_stack = uses_stacks_ && below(3) == 0;
    return is_on_stack ? static_cast<std::uint8_t>(shared_pages + below(threads())) : byte_below(pages_);
  }
  Step store() { return {.kind = Made::store, .page = some_page(), .word = byte_below(posted), .value = ++stored_}; }
  void access(std::uint32_t thread) {
    if (below(2) == 0) return add(store(), thread);
    add({.kind = Made::load, .page = some_page(), .word = byte_below(posted)}, thread);
  }
  /// A thread stores data and then hands it on by a flag that it stores, or by an operation. Some threads wait for that
  /// before they load the data.
  void hand_over(std::uint8_t page, Step by, Made await) {
    const std::uint32_t writer = flag_writers_[page];
    const Step data = store();
    add(data, writer);
    by.page = page;
    by.value = ++flags_[page];
    add(by, writer);
    by.kind = await;
    for (std::uint32_t thread = 0; thread < threads(); ++thread) {
      if ((thread == writer && await == Made::await_post) || below(2) == 0) continue;
      add(by, thread);
      add({.kind = Made::load, .page = data.page, .word = data.word}, thread);
    }
  }
  void add_some() {
    const std::uint32_t thread = below(threads());
    const std::uint8_t page = byte_below(pages_);
    const std::uint32_t choice = below(6);
    if (choice == 0) {
      const std::uint32_t lock = below(locks);
      add({.kind = Made::acquire, .value = lock}, thread);
      for (std::uint32_t left = 1 + below(3); left > 0; --left) access(thread);
      add({.kind = Made::release, .value = lock}, thread);
    } else if (choice == 1 && kind_ == Kind::atomics) {
      add({.kind = Made::add, .page = some_page(), .word = counter, .value = 1 + below(9)}, thread);
    } else if (choice == 2 && kind_ == Kind::atomics) {
      hand_over(page, {.kind = Made::post, .word = posted}, Made::await_post);
    } else if (choice == 1 && kind_ == Kind::plain) {
      hand_over(some_page(), {.kind = Made::store, .word = flag}, Made::await);
    } else {
      access(thread);
    }
  }

  Kind kind_;
  std::mt19937_64 random_;
  Program program_;
  Rules rules_;
  std::uint32_t pages_ = 0;  ///< shared
  bool uses_stacks_ = false;
  std::uint32_t stored_ = 100;
  std::uint32_t flags_[world::pages] = {};
  std::uint32_t flag_writers_[world::pages] = {};
};

}  // namespace

std::string name_of_page(std::uint32_t page) {
  if (page < shared_pages) return "page " + std::to_string(page);
  return "stack " + std::to_string(page - shared_pages);
}

namespace {

std::string place_of(const Step& step) {
  return "word " + std::to_string(step.word) + " of " + name_of_page(step.page);
}

}  // namespace

std::string text_of(const Step& step) {
  const std::string thread = "thread " + std::to_string(step.thread) + " ";
  const std::string value = std::to_string(step.value);
  switch (step.kind) {
    case Made::load: return thread + "loads " + place_of(step);
    case Made::store: return thread + "stores " + value + " to " + place_of(step);
    case Made::add: return thread + "adds " + value + " atomically to " + place_of(step);
    case Made::acquire: return thread + "takes lock " + value;
    case Made::release: return thread + "gives lock " + value + " back";
    case Made::barrier: return thread + "comes to the barrier";
    case Made::await: return thread + "waits until " + place_of(step) + " is at least " + value;
    case Made::post: return thread + "posts " + value + " to " + place_of(step);
    case Made::await_post: return thread + "waits by operations until " + place_of(step) + " is at least " + value;
  }
  return thread;
}

Program random_program(Kind kind, std::uint64_t seed, std::uint32_t processes_per_node) {
  return Maker(kind, seed, processes_per_node).make();
}

std::optional<Program> without(const Program& program, std::size_t first, std::size_t count) {
  Program rest{program.setup, {}};
  Rules rules(program);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (i >= first && i < first + count) continue;
    if (!rules.take(program.steps[i])) return {};
    rest.steps.push_back(program.steps[i]);
  }
  return rules.is_through() ? std::optional(std::move(rest)) : std::nullopt;
}

}  // namespace sdsm::world
