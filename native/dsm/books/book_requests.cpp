#include <cstring>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "models/first_touch.hpp"
#include "native/dsm/books/book_requests.hpp"
#include "native/dsm/books/heap_books.hpp"
#include "native/dsm/books/lock_names.hpp"
#include "native/dsm/books/regions.hpp"
#include "native/guest/openmp/construct.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

struct SharedState {
  gomp::ConstructState state{};
  bool is_open = false;
  std::deque<ProcessId> queue;
};
struct BookHandler {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> lock_names;  ///< by class and address
  std::unordered_map<std::uint64_t, SharedState> constructs;
  FirstTouchHomes first_touches;
  std::uint64_t keys = 0;  ///< made so far
};
BookHandler book_handler GUARDED_BY(handling);

std::uint64_t name_lock(std::uint64_t lock_class, std::uint64_t address) REQUIRES(handling) {
  const auto next = first_named_lock + book_handler.lock_names.size();
  return book_handler.lock_names.try_emplace({lock_class, address}, next).first->second;
}

void open_next(SharedState& shared) REQUIRES(handling) {
  if (shared.is_open || shared.queue.empty()) return;
  shared.is_open = true;
  const ProcessId next = shared.queue.front();
  shared.queue.pop_front();
  answer(next, {.kind = WireKind::done, .bytes = sizeof shared.state, .generation = newest_generation()},
         &shared.state);
}

}  // namespace

ProcessId placed_home(PageId page) {
  const RegionInfo& info = region(index_of(page.region));
  if (info.placement != Placement::first_touch) return homes_of(info).home(page.index, processes());
  return book_handler.first_touches.home(page).value_or(ProcessId{0});
}

void keep_books(ProcessId from, const Head& head, const std::byte* payload) {
  switch (head.kind) {
    case WireKind::lock_name: return answer_value(from, name_lock(head.value, head.address));
    case WireKind::make_key: return answer_value(from, book_handler.keys++);
    case WireKind::region_of: {
      const KnownRegion known = known_region(head.address);
      return answer(from, {.kind = WireKind::done, .bytes = sizeof known}, &known);
    }
    case WireKind::touch_first: {
      const PageId page{RegionId{static_cast<std::uint32_t>(head.value)}, head.address};
      return answer_value(from, index_of(book_handler.first_touches.touched(page, from)));
    }
    case WireKind::allocate: {
      heap::Request request;
      std::memcpy(&request, payload, sizeof request);
      return answer_value(from, reinterpret_cast<std::uint64_t>(allocate_for(from, request)));
    }
    case WireKind::free_block: free_for(from, reinterpret_cast<void*>(head.address)); return answer_value(from, 0);
    case WireKind::unmap_pages: {
      for (AddressRange rest{head.address, head.value}; rest.begin < rest.end;) {
        void* const block = heap::unmap_first(rest);
        if (block != nullptr) free_for(from, block);
      }
      return answer_value(from, 0);
    }
    case WireKind::map_again: return answer_value(from, heap::map_again({head.address, head.value}) ? 1 : 0);
    case WireKind::room_of: return answer_value(from, heap::room(reinterpret_cast<const void*>(head.address)));
    case WireKind::used_pages: {
      const AddressRange used = heap::first_used_pages({head.address, head.value});
      return answer(from, {.kind = WireKind::done, .address = used.begin, .value = used.end});
    }
    case WireKind::open_state: {
      SharedState& shared = book_handler.constructs[head.address];
      shared.queue.push_back(from);
      return open_next(shared);
    }
    case WireKind::close_state: {
      SharedState& shared = book_handler.constructs[head.address];
      std::memcpy(&shared.state, payload, sizeof shared.state);
      shared.is_open = false;
      return open_next(shared);
    }
    default: end_run({"process ", Decimal(index_of(from)), " asked for something that does not exist"});
  }
}

}  // namespace sdsm::dsm
