/// State of work-sharing constructs that threads of the team have reached and not all have left.
#include <cstring>

#include "native/gomp/engine.hpp"
#include "native/program/raw_memory.hpp"
#include "native/tracer/threads.hpp"

namespace sdsm::tracer {
using namespace program;
namespace {

struct Numbered {
  std::uint64_t number = 0;
  gomp::ConstructState state{};
};

/// A ring: constructs are numbered in sequence, and threads are rarely far apart. It grows where `nowait` lets them be.
class ConstructRing {
 public:
  gomp::ConstructState& open(std::uint64_t number) {
    if (capacity_ == 0) grow();
    while (place(number) != nullptr && place(number)->number != number) grow();
    Numbered*& at = place(number);
    if (at == nullptr) at = make(number);
    return at->state;
  }

  void free(std::uint64_t number) {
    Numbered*& at = place(number);
    free_.push_back(at);
    at = nullptr;
  }

 private:
  Numbered*& place(std::uint64_t number) { return ring_[number & (capacity_ - 1)]; }

  Numbered* make(std::uint64_t number) {
    if (free_.is_empty()) {
      constexpr std::size_t batch = 256;
      auto* fresh = reserve_array<Numbered>(batch);
      for (std::size_t i = 0; i < batch; ++i) free_.push_back(fresh + i);
    }
    Numbered* made = free_.back();
    free_.pop_back();
    *made = {number, {}};
    return made;
  }

  void grow() {
    Numbered** old = ring_;
    const std::size_t old_capacity = capacity_;
    capacity_ = old_capacity == 0 ? 512 : 2 * old_capacity;
    ring_ = reserve_array<Numbered*>(capacity_);
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i] != nullptr) place(old[i]->number) = old[i];
    }
  }

  Numbered** ring_ = nullptr;
  std::size_t capacity_ = 0;
  GrowingArray<Numbered*> free_;
};

ConstructRing constructs;

}  // namespace
}  // namespace sdsm::tracer

namespace sdsm::engine {

/// One thread runs at a time: it only must not be interrupted.
gomp::ConstructState& open_construct(std::uint64_t number) {
  tracer::is_inside = true;
  return tracer::constructs.open(number);
}

void close_construct(std::uint64_t /*number*/) {
  tracer::is_inside = false;
}

void leave_construct(std::uint64_t number, std::uint32_t team_size) {
  const tracer::Uninterrupted guard;
  gomp::ConstructState& state = tracer::constructs.open(number);
  if (++state.left < team_size) return;
  if (state.memory != nullptr) free_shared(state.memory);
  tracer::constructs.free(number);
}

}  // namespace sdsm::engine
