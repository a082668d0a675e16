/// State of work-sharing constructs that threads of the team have reached and not all have left.
#include <cstring>

#include "models/locks.hpp"
#include "native/guest/openmp/engine.hpp"
#include "native/guest/runtime/raw_memory.hpp"
#include "native/tracer/execution/locks.hpp"
#include "native/tracer/execution/team.hpp"
#include "native/tracer/execution/threads.hpp"

namespace sdsm::tracer {
using namespace program;
namespace {

struct Construct {
  std::uint64_t number = 0;
  std::uint64_t iterations_taken = 0;  ///< dynamic and guided loops, sections
  bool single_taken = false;           ///< a thread executes the `single`
  const void* copied = nullptr;        ///< what that thread hands on (copyprivate)
  std::uint64_t ordered_turn = 0;      ///< first iteration of the chunk whose ordered regions may run
  std::uint64_t* flags = nullptr;      ///< of a doacross loop, by part; null before the first use
  std::uint32_t left = 0;              ///< threads that are through
  gomp::ConstructState state{};
};

/// A ring: constructs are numbered in sequence, and threads are rarely far apart. It grows where `nowait` lets them be.
class ConstructRing {
 public:
  Construct& open(std::uint64_t number) {
    if (capacity_ == 0) grow();
    while (place(number) != nullptr && place(number)->number != number) grow();
    Construct*& at = place(number);
    if (at == nullptr) at = make(number);
    return *at;
  }

  void free(std::uint64_t number) {
    Construct*& at = place(number);
    free_.push_back(at);
    at = nullptr;
  }

 private:
  Construct*& place(std::uint64_t number) { return ring_[number & (capacity_ - 1)]; }

  Construct* make(std::uint64_t number) {
    if (free_.is_empty()) {
      constexpr std::size_t batch = 256;
      auto* fresh = reserve_array<Construct>(batch);
      for (std::size_t i = 0; i < batch; ++i) free_.push_back(fresh + i);
    }
    Construct* made = free_.back();
    free_.pop_back();
    *made = {};
    made->number = number;
    return made;
  }

  void grow() {
    Construct** old = ring_;
    const std::size_t old_capacity = capacity_;
    capacity_ = old_capacity == 0 ? 512 : 2 * old_capacity;
    ring_ = reserve_array<Construct*>(capacity_);
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i] != nullptr) place(old[i]->number) = old[i];
    }
  }

  Construct** ring_ = nullptr;
  std::size_t capacity_ = 0;
  GrowingArray<Construct*> free_;
};

constinit ConstructRing constructs GUARDED_BY(turn);

/// A flag of tasks' events: few, as each is used again.
struct EventFlag {
  std::uint64_t number = 0;
  std::uint64_t count = 0;
};
constinit GrowingArray<EventFlag> event_flags GUARDED_BY(turn);

}  // namespace

std::uint64_t& ordered_turn(std::uint64_t number) {
  return constructs.open(number).ordered_turn;
}

std::uint64_t& progress_of(const gomp::Flag& flag) {
  const Uninterrupted guard;
  if (flag.parts == 0) {
    const std::uint64_t number = flag_number(flag.construct, flag.part);
    for (EventFlag& event : event_flags) {
      if (event.number == number) return event.count;
    }
    event_flags.push_back({number, 0});
    return event_flags.back().count;
  }
  Construct& construct = constructs.open(flag.construct);
  if (construct.flags == nullptr) {
    const std::size_t bytes = flag.parts * sizeof(std::uint64_t);
    construct.flags = static_cast<std::uint64_t*>(engine::allocate_private(bytes));
    std::memset(construct.flags, 0, bytes);
  }
  return construct.flags[flag.part];
}

}  // namespace sdsm::tracer

namespace sdsm::engine {

using tracer::constructs;
using tracer::Uninterrupted;

bool take_single(std::uint64_t number) {
  tracer::enter();
  bool is_first = false;
  {
    const Uninterrupted guard;
    bool& is_taken = constructs.open(number).single_taken;
    is_first = !is_taken;
    is_taken = true;
  }
  note({EventKind::single, static_cast<std::uint8_t>(is_first ? 1 : 0), number, 0});
  return is_first;
}

void give_copied(std::uint64_t number, const void* data, std::uint32_t team_size) {
  tracer::enter();
  {
    const Uninterrupted guard;
    constructs.open(number).copied = data;
  }
  tracer::wait_for_team({EventKind::copyprivate, 0, number, team_size});
}

const void* take_copied(std::uint64_t number, std::uint32_t team_size) {
  tracer::enter();
  tracer::wait_for_team({EventKind::copyprivate, 0, number, team_size});
  const Uninterrupted guard;
  return constructs.open(number).copied;
}

gomp::Chunk take_chunk(std::uint64_t number, const gomp::LoopBounds& loop, std::uint32_t team_size) {
  // Chunks go to the thread that is first by the virtual clocks. The interval ends after the chunk is known.
  tracer::yield(tracer::running_thread(), 0);
  gomp::Chunk chunk;
  {
    const Uninterrupted guard;
    std::uint64_t& taken = constructs.open(number).iterations_taken;
    chunk = gomp::shared_chunk(loop, taken, team_size);
    taken += chunk.count;
  }
  note({EventKind::chunk, 0, number, chunk.count});
  return chunk;
}

/// One thread runs at a time: it only must not be interrupted.
gomp::ConstructState& open_construct(std::uint64_t number) {
  tracer::enter();
  program::HeldSignals::hold();
  tracer::set_inside(true);
  return constructs.open(number).state;
}

void close_construct(std::uint64_t /*number*/) {
  tracer::set_inside(false);
  program::HeldSignals::release();
}

void leave_construct(std::uint64_t number, std::uint32_t team_size) {
  tracer::enter();
  const Uninterrupted guard;
  tracer::Construct& construct = constructs.open(number);
  if (++construct.left < team_size) return;
  if (construct.state.memory != nullptr) free_shared(construct.state.memory);
  if (construct.flags != nullptr) free_private(construct.flags);
  constructs.free(number);
}

}  // namespace sdsm::engine
