/// State that a team's threads share about one work-sharing construct, and the arithmetic of loop schedules.
#pragma once

#include <cstdint>

#include "models/program/events.hpp"

namespace sdsm::gomp {

/// A loop as the compiler passes it: `start`, `end` and `step` of the loop variable (wrapped to 64 bits), and its
/// schedule. Iterations are counted from 0.
struct LoopBounds {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t step = 1;
  std::uint64_t iterations = 0;
  Schedule schedule{};
  std::uint64_t chunk = 0;  ///< iterations; 0: none given
};

/// Number of iterations of a signed loop from `start` by `step` (not 0) to before `end`.
constexpr std::uint64_t iterations_of(std::int64_t start, std::int64_t end, std::int64_t step) {
  // Unsigned differences: end - start may be larger than a signed number holds.
  const auto from = static_cast<std::uint64_t>(start);
  const auto to = static_cast<std::uint64_t>(end);
  const auto by = static_cast<std::uint64_t>(step);
  if (step > 0) return start < end ? (to - from - 1) / by + 1 : 0;
  return start > end ? (from - to - 1) / (0 - by) + 1 : 0;
}

/// Number of iterations of an unsigned loop. `step` of a descending loop is a negative number wrapped to 64 bits.
constexpr std::uint64_t iterations_of(bool ascending, std::uint64_t start, std::uint64_t end, std::uint64_t step) {
  if (ascending) return start < end ? (end - start - 1) / step + 1 : 0;
  return start > end ? (start - end - 1) / (0 - step) + 1 : 0;
}

/// Adjacent iterations for one thread; none if count is 0.
struct Chunk {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// The `turn`-th chunk (from 0) of thread `thread` of `threads` in a static schedule. Without a chunk size each thread
/// gets one share; if they do not divide evenly, the first threads get one more, as in gcc's inlined loops.
constexpr Chunk static_chunk(const LoopBounds& loop, std::uint32_t thread, std::uint32_t threads, std::uint64_t turn) {
  if (loop.chunk == 0) {
    if (turn > 0) return {};
    const std::uint64_t share = loop.iterations / threads;
    const std::uint64_t rest = loop.iterations % threads;
    return {thread * share + (thread < rest ? thread : rest), share + (thread < rest ? 1 : 0)};
  }
  const std::uint64_t chunks = (loop.iterations - (loop.iterations > 0)) / loop.chunk + (loop.iterations > 0);
  if (turn > chunks / threads) return {};
  const std::uint64_t number = turn * threads + thread;
  if (number >= chunks) return {};
  const std::uint64_t first = number * loop.chunk;
  const std::uint64_t left = loop.iterations - first;
  return {first, loop.chunk < left ? loop.chunk : left};
}

/// The thread that has iteration `iteration` in a static schedule.
constexpr std::uint64_t static_owner(const LoopBounds& loop, std::uint64_t iteration, std::uint32_t threads) {
  if (loop.chunk > 0) return iteration / loop.chunk % threads;
  const std::uint64_t share = loop.iterations / threads;
  const std::uint64_t rest = loop.iterations % threads;
  const std::uint64_t in_larger_shares = rest * (share + 1);
  return iteration < in_larger_shares ? iteration / (share + 1) : rest + (iteration - in_larger_shares) / share;
}

/// The next chunk of a dynamic or guided schedule when `taken` iterations are gone. Guided: a thread's share of what is
/// left, rounded up, but at least the chunk size.
constexpr Chunk shared_chunk(const LoopBounds& loop, std::uint64_t taken, std::uint32_t threads) {
  const std::uint64_t left = loop.iterations - taken;
  std::uint64_t count = loop.chunk > 0 ? loop.chunk : 1;
  if (loop.schedule == Schedule::guided) {
    const std::uint64_t share = left / threads + (left % threads != 0);
    if (share > count) count = share;
  }
  return {taken, count < left ? count : left};
}

/// State that a construct's threads share in rare cases. An engine hands it out zeroed.
struct ConstructState {
  std::uintptr_t* reductions;  ///< registered by the first thread (task modifier)
  void* memory;                ///< scratch that the compiler asked for (inscan, conditional lastprivate)
};

}  // namespace sdsm::gomp
