/// What a load may find: what each word was last given, and which stores a thread has to know.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tests/world/world.hpp"

namespace sdsm::world {

/// All stores to a shared page have one order: a load finds what a flat memory has at that moment. The owner of a stack
/// stores there unnoticed, so a load elsewhere may find an older value: but none of which the thread knows that it is
/// older. A thread knows its own stores, those whose values it has loaded, and what their threads knew then; and by
/// locks and barriers.
class Oracle {
 public:
  using Clock = std::array<std::uint32_t, most_processes>;  ///< by thread: how many of its stores

  void store(std::uint32_t thread, std::uint32_t page, std::uint32_t word, std::uint32_t value) {
    ++clocks_[thread][thread];
    if (page < shared_pages) places_[page][word].clear();
    places_[page][word].push_back({value, thread, clocks_[thread]});
  }
  /// An atomic operation. Which threads know of it is left open.
  void operate(std::uint32_t page, std::uint32_t word, std::uint32_t value) { places_[page][word] = {{value, 0, {}}}; }
  /// A thread is about to hand on all that it knows by an operation that makes a word this value; or it has found a
  /// value there. One thread changes the word.
  void post(std::uint32_t thread, std::uint32_t page, std::uint32_t value) {
    posts_[page].push_back({value, thread, clocks_[thread]});
  }
  void find(std::uint32_t thread, std::uint32_t page, std::uint32_t value) {
    for (const Stored& post : posts_[page]) {
      if (post.value <= value) learn(clocks_[thread], post.clock);
    }
  }
  bool may_load(std::uint32_t thread, std::uint32_t page, std::uint32_t word, std::uint32_t value) {
    Clock& known = clocks_[thread];
    const std::vector<Stored>& stores = places_[page][word];
    const Stored before{};
    const Stored* found = value == 0 && (page >= shared_pages || stores.empty()) ? &before : nullptr;
    for (const Stored& one : stores) {
      if (one.value == value) found = &one;
    }
    if (found == nullptr) return false;
    for (const Stored& later : stores) {
      const bool is_later = &later != found && later.clock[found->thread] >= found->clock[found->thread];
      if (is_later && known[later.thread] >= later.clock[later.thread]) return false;
    }
    learn(known, found->clock);
    return true;
  }
  /// The value that the last store gave.
  std::uint32_t last(std::uint32_t page, std::uint32_t word) const {
    return places_[page][word].empty() ? 0 : places_[page][word].back().value;
  }
  void release(std::uint32_t thread, std::uint32_t lock) { locks_[lock] = clocks_[thread]; }
  void acquire(std::uint32_t thread, std::uint32_t lock) { learn(clocks_[thread], locks_[lock]); }
  void arrive(std::uint32_t thread, std::uint32_t barrier) {
    if (barriers_.size() <= barrier) barriers_.resize(barrier + 1);
    learn(barriers_[barrier], clocks_[thread]);
  }
  void leave(std::uint32_t thread, std::uint32_t barrier) { learn(clocks_[thread], barriers_[barrier]); }

 private:
  struct Stored {
    std::uint32_t value = 0;
    std::uint32_t thread = 0;
    Clock clock{};
  };
  static void learn(Clock& known, const Clock& further) {
    for (std::uint32_t i = 0; i < most_processes; ++i) known[i] = std::max(known[i], further[i]);
  }

  std::vector<Stored> places_[pages][words];
  std::vector<Stored> posts_[pages];
  std::array<Clock, most_processes> clocks_{};
  std::array<Clock, 2> locks_{};
  std::vector<Clock> barriers_;
};

}  // namespace sdsm::world
