#include "native/dsm/managers.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/first_touch.hpp"
#include "models/openmp.hpp"
#include "native/dsm/cluster.hpp"
#include "native/dsm/coherence.hpp"
#include "native/dsm/diff.hpp"
#include "native/dsm/heap_books.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/regions.hpp"
#include "native/dsm/start.hpp"
#include "native/dsm/synchronisation.hpp"
#include "native/gomp/construct.hpp"
#include "native/program/ending.hpp"

namespace sdsm::dsm {
namespace {

/// Newest generation that anybody who passed a lock or a barrier here knew of.
std::uint32_t passed_generation = 0;

std::uint32_t newest_generation() {
  return std::max(passed_generation, generation());
}

// The barrier's master.

std::uint32_t team = 1;
std::vector<bool> arrived;
bool is_dismissed = false;
std::atomic<std::uint32_t> dismissed = 0;

void release_team() {
  for (std::uint32_t i = 0; i < team; ++i) {
    if (i >= arrived.size() || !arrived[i]) return;
  }
  end_waiting_of_blocks();
  const ClockCalls clock = clock_calls();
  for (std::uint32_t i = 0; i < team; ++i) {
    arrived[i] = false;
    count_served(ProcessId{i}, MessageKind::barrier_release, control_payload.count);
  }
  // This process goes on last, when all is counted that it may look at.
  for (std::uint32_t i = team; i-- > 0;) {
    answer(ProcessId{i}, {.kind = WireKind::barrier_release,
                          .generation = newest_generation(),
                          .address = clock.last_ns,
                          .value = clock.count});
  }
}

void dismiss(ProcessId member) {
  const ClockCalls clock = clock_calls();
  answer(member, {.kind = WireKind::quit, .address = clock.last_ns, .value = clock.count});
  ++dismissed;
}

/// Another thread than the initial one ends the program, which the initial thread does for it when it comes by.
bool is_ending = false;
Head wanted_end;

void end_program() {
  arrived[index_of(self.process)] = false;
  answer(self.process, wanted_end);
}

void want_end(const Head& head) {
  if (is_ending) return;
  is_ending = true;
  wanted_end = {.kind = WireKind::exit_run, .address = head.address, .value = head.value};
  if (arrived.size() < processes()) arrived.resize(processes());
  if (arrived[index_of(self.process)]) return end_program();
  end_without_initial_thread(static_cast<int>(head.value));
}

void arrive(ProcessId from) {
  if (arrived.size() < processes()) arrived.resize(processes());
  if (is_ending && from == self.process) return end_program();
  if (is_dismissed && from != self.process) return dismiss(from);
  arrived[index_of(from)] = true;
  release_team();
}

// Managers of locks.

void answer_value(ProcessId from, std::uint64_t value) {
  answer(from, {.kind = WireKind::done, .generation = newest_generation(), .value = value});
}

struct Waiter {
  ProcessId process{};
  OrderedTurn turn;
  bool has_turn = false;
};
struct Lock {
  bool held = false;
  ProcessId holder{};
  std::uint64_t grants = 0;
  std::deque<Waiter> queue;
};
std::unordered_map<std::uint64_t, Lock> locks;
std::unordered_map<std::uint64_t, std::uint64_t> turns;  ///< of ordered loops, by construct

bool may_go(const Waiter& waiter) {
  return !waiter.has_turn || turns[waiter.turn.construct] == waiter.turn.first_iteration;
}

void grant(Lock& lock, ProcessId to) {
  lock.held = true;
  lock.holder = to;
  count_served(to, MessageKind::lock_grant, control_payload.count);
  answer(to, {.kind = WireKind::lock_grant, .generation = newest_generation(), .value = lock.grants++});
}

/// First come, first served, among those whose turn it is.
void grant_next(Lock& lock) {
  if (lock.held) return;
  for (auto waiter = lock.queue.begin(); waiter != lock.queue.end(); ++waiter) {
    if (!may_go(*waiter)) continue;
    const ProcessId next = waiter->process;
    lock.queue.erase(waiter);
    return grant(lock, next);
  }
}

void request_lock(ProcessId from, const Head& head, const std::byte* payload) {
  Lock& lock = locks[head.address];
  if (head.kind == WireKind::lock_try) {
    if (lock.held) return answer_value(from, index_of(lock.holder));
    return grant(lock, from);
  }
  Waiter waiter{from, {}, head.bytes == sizeof(OrderedTurn)};
  if (waiter.has_turn) std::memcpy(&waiter.turn, payload, sizeof waiter.turn);
  lock.queue.push_back(waiter);
  grant_next(lock);
}

void release_lock(const Head& head) {
  Lock& lock = locks[head.address];
  lock.held = false;
  grant_next(lock);
}

/// Chunks that are through, and pass their turn on when they have it.
struct Passing {
  ProcessId process{};
  OrderedTurn turn;
  std::uint64_t next = 0;
};
std::vector<Passing> passing;

void pass_turn(ProcessId from, const Head& head, const std::byte* payload) {
  Passing asked{from, {}, head.value};
  std::memcpy(&asked.turn, payload, sizeof asked.turn);
  passing.push_back(asked);
  const auto has_turn = [](const Passing& one) { return turns[one.turn.construct] == one.turn.first_iteration; };
  for (auto one = std::find_if(passing.begin(), passing.end(), has_turn); one != passing.end();
       one = std::find_if(passing.begin(), passing.end(), has_turn)) {
    const Passing passed = *one;
    passing.erase(one);
    turns[passed.turn.construct] = passed.next;
    answer(passed.process, {.kind = WireKind::done});
  }
  for (auto& [id, lock] : locks) grant_next(lock);
}

// Process 0's books.

std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> lock_names;

std::uint64_t name_lock(std::uint64_t lock_class, std::uint64_t address) {
  const auto [place, is_new] = lock_names.try_emplace({lock_class, address}, first_named_lock + lock_names.size());
  return place->second;
}

struct SharedState {
  gomp::ConstructState state{};
  bool is_open = false;
  std::deque<ProcessId> queue;
};
std::unordered_map<std::uint64_t, SharedState> states;

void open_next(SharedState& shared) {
  if (shared.is_open || shared.queue.empty()) return;
  shared.is_open = true;
  const ProcessId next = shared.queue.front();
  shared.queue.pop_front();
  answer(next, {.kind = WireKind::done, .bytes = sizeof shared.state, .generation = newest_generation()},
         &shared.state);
}

// The home of a page.

std::byte* view_of_page(ProcessId from, std::uint64_t address) {
  const Range* range = find_range(address);
  if (range == nullptr || address % page_bytes != 0) {
    end_run({"process ", Decimal(index_of(from)), " asks for a page that does not exist"});
  }
  return range->view_of(address);
}

/// Pieces of a diff come one after another on one connection.
struct Incoming {
  std::uint32_t bytes = 0;
  std::uint32_t twin_bytes = 0;
  std::byte diff[most_diff_bytes];
  std::byte twin_words[most_twin_bytes];
};
std::vector<Incoming> incoming;

void receive_diff(ProcessId from, const Head& head, const std::byte* payload) {
  if (incoming.size() < processes()) incoming.resize(processes());
  Incoming& diff = incoming[index_of(from)];
  if (head.address == 0) diff.bytes = diff.twin_bytes = 0;
  const auto sizes = std::bit_cast<DiffPiece>(head.value);
  const std::uint32_t twin_piece = head.bytes - std::min(head.bytes, sizes.bytes);
  if (head.address != diff.bytes || sizes.bytes > head.bytes || sizes.diff_bytes > most_diff_bytes ||
      sizes.twin_bytes > most_twin_bytes || diff.bytes + sizes.bytes > sizes.diff_bytes ||
      diff.twin_bytes + twin_piece > sizes.twin_bytes) {
    end_run({"process ", Decimal(index_of(from)), " sent a diff whose pieces do not fit"});
  }
  std::memcpy(diff.diff + diff.bytes, payload, sizes.bytes);
  std::memcpy(diff.twin_words + diff.twin_bytes, payload + sizes.bytes, twin_piece);
  diff.bytes += sizes.bytes;
  diff.twin_bytes += twin_piece;
  if (diff.bytes == sizes.diff_bytes && !apply_diff(diff.diff, diff.bytes, diff.twin_words, diff.twin_bytes,
                                                    view_of_page(from, address_of_diff(diff.diff)))) {
    end_run({"process ", Decimal(index_of(from)), " sent a diff that contradicts itself"});
  }
  answer(from, {.kind = WireKind::done});
}

void send_page(ProcessId from, const Head& head) {
  count_served(from, static_cast<std::uint64_t>(page_payload.count));
  answer(from, {.kind = WireKind::page_reply, .bytes = page_bytes}, view_of_page(from, head.address));
}

FirstTouchHomes first_touches;

void keep_books(ProcessId from, const Head& head, const std::byte* payload) {
  switch (head.kind) {
    case WireKind::lock_name: return answer_value(from, name_lock(head.value, head.address));
    case WireKind::region_of: {
      const KnownRegion known = known_region(head.address);
      return answer(from, {.kind = WireKind::done, .bytes = sizeof known}, &known);
    }
    case WireKind::touch_first: {
      const PageId page{RegionId{static_cast<std::uint32_t>(head.value)}, head.address};
      return answer_value(from, index_of(first_touches.touched(page, from)));
    }
    case WireKind::allocate: {
      heap::Request request;
      std::memcpy(&request, payload, sizeof request);
      return answer_value(from, reinterpret_cast<std::uint64_t>(allocate_for(from, request)));
    }
    case WireKind::free_block: free_for(from, reinterpret_cast<void*>(head.address)); return answer_value(from, 0);
    case WireKind::room_of: return answer_value(from, heap::room(reinterpret_cast<const void*>(head.address)));
    case WireKind::open_state: {
      SharedState& shared = states[head.address];
      shared.queue.push_back(from);
      return open_next(shared);
    }
    case WireKind::close_state: {
      SharedState& shared = states[head.address];
      std::memcpy(&shared.state, payload, sizeof shared.state);
      shared.is_open = false;
      return open_next(shared);
    }
    default: end_run({"process ", Decimal(index_of(from)), " asked for something that does not exist"});
  }
}

}  // namespace

void handle(ProcessId from, const Head& head, const std::byte* payload) {
  passed_generation = std::max(passed_generation, head.generation);
  switch (head.kind) {
    case WireKind::page_request: return send_page(from, head);
    case WireKind::write_request: return;
    case WireKind::diff: return receive_diff(from, head, payload);
    case WireKind::put_page:
      std::memcpy(view_of_page(from, head.address), payload, page_bytes);
      return answer(from, {.kind = WireKind::done});
    case WireKind::shut_copies: shut_copies(); return answer(from, {.kind = WireKind::done});
    case WireKind::barrier_arrive: return arrive(from);
    case WireKind::lock_request:
    case WireKind::lock_try: return request_lock(from, head, payload);
    case WireKind::lock_release: return release_lock(head);
    case WireKind::lock_held:
      return answer_value(from, holds_lock(LockId{static_cast<std::uint32_t>(head.address)}) ? 1 : 0);
    case WireKind::ordered_pass: return pass_turn(from, head, payload);
    case WireKind::exit_run: return want_end(head);
    default: return keep_books(from, head, payload);
  }
}

void set_team(std::uint32_t size) {
  team = size;
}

void dismiss_all(std::uint32_t /*unused*/) {
  is_dismissed = true;
  for (std::uint32_t i = 1; i < processes(); ++i) {
    if (i < arrived.size() && arrived[i]) dismiss(ProcessId{i});
  }
}

std::uint32_t dismissed_processes() {
  return dismissed;
}

}  // namespace sdsm::dsm
