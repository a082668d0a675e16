#include "native/dsm/memory/opened_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>

#include "native/dsm/memory/region_books.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

/// Pages opened since they were last protected, by address.
struct OpenedPages {
  std::vector<std::uintptr_t> own;  ///< whose home is on this node
  std::vector<std::uintptr_t> copies;
};
constinit OpenedPages opened GUARDED_BY(node().mutex);

/// 0 once it has been shut.
constinit std::atomic<std::uintptr_t> watched = 0;

/// Open for good.
struct OwnMemory {
  bool is_protected = false;  ///< all the rest is
  AddressRange stack;
  AddressRange variables;
};
constinit OwnMemory own_at_start GUARDED_BY(starting);
constexpr const OwnMemory& own = own_at_start;

/// Bits of Range::opened, by page.
enum OpenedBits : std::uint8_t { listed = 1, writable = 2, readable = 4, was_writable = 8 };
std::uint8_t& opened_bits(std::uintptr_t page) REQUIRES(node().mutex) {
  const Range* range = find_range(page);
  return range->opened[range->page_number(page)];
}

/// The parts of an opened page.
Parts opened_parts(std::uintptr_t page) REQUIRES(node().mutex) {
  if (shared_page_bytes() == page_bytes) return 1;
  const Range* range = find_range(page);
  return range->parts[range->page_number(page)];
}
void note_parts(const Place& place) REQUIRES(node().mutex) {
  if (shared_page_bytes() == page_bytes) return;
  const Range* range = find_range(place.address);
  range->parts[range->page_number(place.address)] = place.parts;
}

int protection_of(Permission permission) {
  switch (permission) {
    case Permission::unmapped: return PROT_NONE;
    case Permission::read_only: return PROT_READ;
    case Permission::read_write: break;
  }
  return PROT_READ | PROT_WRITE;
}

/// False if the kernel has no mappings for it.
bool protect_pieces(std::uintptr_t page, Parts parts, int protection) {
  bool is_done = true;
  for_each_piece_of(page, parts, [&](std::uintptr_t begin, std::size_t bytes) {
    is_done = is_done && set_protection(begin, begin + bytes, protection);
  });
  return is_done;
}

/// Shuts all pages, the resting ones too: what the protocol allows is opened again at the next access, uncounted. Every
/// page with another protection than its neighbours is a mapping of its own, and a process may have 65530.
void shut_everything() REQUIRES(node().mutex) {
  watched = 0;
  for (auto* pages : {&opened.own, &opened.copies}) {
    for (const std::uintptr_t page : *pages) opened_bits(page) = may_be_written(page) ? was_writable : 0;
    pages->clear();
  }
  protect_ranges(own.stack, own.variables);
}

/// False if the kernel has no mappings for it. Adjacent pages get it in one call: it costs more than the pages do.
bool protect(std::vector<std::uintptr_t>& pages, Permission permission) REQUIRES(node().mutex) {
  watched = 0;
  std::sort(pages.begin(), pages.end());
  AddressRange adjacent{0, 0};
  const auto protect_adjacent = [&] {
    return adjacent.begin == adjacent.end || set_protection(adjacent.begin, adjacent.end, protection_of(permission));
  };
  bool is_done = true;
  for (const std::uintptr_t page : pages) {
    for_each_piece_of(page, opened_parts(page), [&](std::uintptr_t begin, std::size_t bytes) {
      if (begin != adjacent.end) {
        is_done = is_done && protect_adjacent();
        adjacent.begin = begin;
      }
      adjacent.end = begin + bytes;
    });
  }
  return is_done && protect_adjacent();
}

/// Gives the pages their resting protection.
void rest_pages(std::vector<std::uintptr_t>& pages, Owner owner) REQUIRES(node().mutex) {
  for (const std::uintptr_t page : pages) opened_bits(page) = 0;
  if (!protect(pages, resting(owner, self.home_pages))) shut_everything();
  pages.clear();
}

/// Whether the process may still read this copy. The next access looks up forgotten regions.
bool has_copy(std::uintptr_t page, MayRead may_read) REQUIRES(application, node().mutex) {
  const std::uint32_t id = region_number(*find_range(page), page);
  if (id == no_region) return false;
  return may_read({RegionId{id}, page_index(region(id), page)});
}

void take_parts_away(Place& place, const AddressRange& from) {
  std::uint32_t left = 0;
  for_each_piece_of(place.address, place.parts, [&](std::uintptr_t begin, std::size_t bytes) {
    for (std::uintptr_t part = begin; part < begin + bytes; part += page_bytes) {
      if (!from.holds(part)) left |= std::uint32_t{1} << (part - place.address) / page_bytes;
    }
  });
  const auto first = static_cast<unsigned>(std::countr_zero(left));
  place.address = left == 0 ? 0 : place.address + first * page_bytes;
  place.parts = left == 0 ? Parts{0} : static_cast<Parts>(left >> first);
}

}  // namespace

void make_room_for_opened_pages() {
  opened.own.reserve(1 << 16);
  opened.copies.reserve(1 << 16);
}

void protect_pages(const AddressRange& stack, const AddressRange& variables) {
  protect_ranges(stack, variables);
  own_at_start = {true, stack, variables};
}

bool are_pages_protected() {
  return own.is_protected;
}

void end_without_mappings() {
  end_run(
      {"the kernel gives the process no more mappings, though shared memory has given its own back. Raise their "
       "number: "
       "sysctl -w vm.max_map_count=262144"});
}

void open_page(const Place& place, Permission permission) {
  note_parts(place);
  const auto open = [&, protection = protection_of(permission)] {
    return protect_pieces(place.address, place.parts, protection);
  };
  if (!open()) {
    shut_everything();
    if (!open()) end_without_mappings();
  }
  std::uint8_t& bits = opened_bits(place.address);
  if ((bits & listed) == 0) (place.owner == Owner::remote ? opened.copies : opened.own).push_back(place.address);
  bits = static_cast<std::uint8_t>((bits & was_writable) | listed | readable |
                                   (permission == Permission::read_write ? writable : 0));
}

bool rests(std::uintptr_t page) {
  return opened_bits(page) == 0 && !is_own_memory(page);
}

void open_at_rest(std::uintptr_t begin, std::uint64_t pages) {
  if (pages == 0) return;
  watched = 0;
  set_protection(begin, begin + pages * page_bytes, protection_of(resting(Owner::home, self.home_pages)));
}

/// Pages that the node had to downgrade stay shut: the page's home may be a local peer outside of the team, which still
/// lists who may write it.
void forget_what_is_shut() REQUIRES(node().mutex) {
  std::erase_if(opened.own, [](std::uintptr_t page) REQUIRES(node().mutex) {
    std::uint8_t& bits = opened_bits(page);
    const bool is_shut = (bits & readable) == 0;
    if (is_shut) bits = 0;
    return is_shut;
  });
}

void rest_own_pages() {
  if (self.home_pages == HomePages::open) return;
  if (self.layout.threads_per_node > 1) forget_what_is_shut();
  rest_pages(opened.own, Owner::home);
}

void shut_copies() {
  rest_pages(opened.copies, Owner::remote);
}

void shut_lost_copies(MayRead may_read) {
  std::vector<std::uintptr_t> lost, written;
  for (const std::uintptr_t page : opened.copies) {
    std::uint8_t& bits = opened_bits(page);
    if (!has_copy(page, may_read)) {
      lost.push_back(page);
      bits = 0;
    } else {
      if ((bits & writable) != 0) written.push_back(page);
      bits &= listed | readable;
    }
  }
  std::erase_if(opened.copies, [](std::uintptr_t page) REQUIRES(node().mutex) { return opened_bits(page) == 0; });
  if (!protect(lost, Permission::unmapped) || !protect(written, Permission::read_only)) shut_everything();
}

void close_pages(const std::vector<Place>& places) {
  std::vector<std::uintptr_t> closed;
  for (const Place& place : places) {
    note_parts(place);
    opened_bits(place.address) = 0;
    closed.push_back(place.address);
  }
  for (auto* pages : {&opened.own, &opened.copies}) {
    std::erase_if(*pages, [](std::uintptr_t page) REQUIRES(node().mutex) { return opened_bits(page) == 0; });
  }
  if (!protect(closed, Permission::unmapped)) shut_everything();
}

void open_own_pages(const std::vector<Place>& places) {
  std::vector<std::uintptr_t> writable_now;
  for (const Place& place : places) {
    note_parts(place);
    std::uint8_t& bits = opened_bits(place.address);
    if ((bits & listed) == 0) opened.own.push_back(place.address);
    bits = static_cast<std::uint8_t>((bits & was_writable) | listed | readable | writable);
    writable_now.push_back(place.address);
  }
  if (!protect(writable_now, Permission::read_write)) shut_everything();
}

void shut_page(std::uintptr_t page) {
  if (is_own_memory(page)) return;
  if (watched == page) watched = 0;
  opened_bits(page) &= listed;
  if (!protect_pieces(page, opened_parts(page), PROT_NONE)) shut_everything();
}

bool may_be_written(std::uintptr_t page) {
  return (opened_bits(page) & (writable | was_writable)) != 0;
}

bool is_open(std::uintptr_t page) {
  return (opened_bits(page) & readable) != 0;
}

void watch_page(std::uintptr_t page) {
  watched = page;
}
bool is_still_open(std::uintptr_t page) {
  return watched == page;
}

void shut_all_pages() {
  shut_everything();
}

void shut_stacks_of_others() {
  for (const AddressRange& kept : {own.stack, own.variables}) {
    const Range& range = *find_range(kept.begin);
    const bool is_done = (range.begin == kept.begin || set_protection(range.begin, kept.begin, PROT_NONE)) &&
                         (range.end == kept.end || set_protection(kept.end, range.end, PROT_NONE));
    if (!is_done) end_without_mappings();
  }
}

bool is_own_memory(std::uintptr_t page) {
  return own.stack.holds(page) || own.variables.holds(page);
}

void forget_pages(std::uintptr_t begin, std::uint64_t count) {
  if (!own.is_protected) return;
  const Range& range = *find_range(begin);
  const std::uintptr_t end = begin + count * page_bytes;
  const AddressRange forgotten{begin, range.is_heap ? slot_up(end) : end};
  // Pages that are left with parts there are opened anew, with those that they have then.
  const AddressRange shut{std::max(slot_of(begin), range.begin), std::min(slot_up(end), range.end)};
  const NodeGuard guard;
  for (auto* pages : {&opened.own, &opened.copies}) {
    std::erase_if(*pages, [&](std::uintptr_t page) REQUIRES(node().mutex) {
      if (!shut.holds(page)) return false;
      opened_bits(page) = !forgotten.holds(page) && may_be_written(page) ? was_writable : 0;
      return true;
    });
  }
  if (!set_protection(shut.begin, shut.end, PROT_NONE)) shut_everything();
  // Other pages may come to these addresses, and get twins of their own there.
  for (Place& place : node().twinned) take_parts_away(place, forgotten);
}

void shut_for_new_generation() {
  if (!own.is_protected) return;
  const NodeGuard guard;
  // Also the home pages that rest, which are readable and not among the opened ones: their home may be another now.
  shut_everything();
}

}  // namespace sdsm::dsm
