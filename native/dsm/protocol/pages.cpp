#include "native/dsm/protocol/pages.hpp"

#include <cstring>

#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/protocol/incoming_diffs.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/requests/answering.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/dsm/wire/diff_pieces.hpp"
#include "native/guest/memory/shared_memory.hpp"

namespace sdsm::dsm {

void make_twin(const Place& place) {
  for_each_piece_of(place.address, place.parts, [](std::uintptr_t begin, std::size_t bytes) {
    std::memcpy(twin_of(begin), view_of(begin), bytes);
  });
}

Head ask_for_pages(const Fetched& fetched, std::uint64_t wish, std::span<const HeldCopy> held) {
  const Place& first = fetched.places.front();
  std::array<std::uint32_t, most_prefetch> names;
  for (std::size_t i = 1; i < fetched.count; ++i)
    names[i - 1] = static_cast<std::uint32_t>(fetched.places[i].id.index - first.id.index);
  const auto bytes = static_cast<std::uint32_t>((fetched.count - 1) * sizeof names[0] + held.size_bytes());
  const Head question{.kind = WireKind::page_request, .bytes = bytes, .address = first.address, .value = wish};
  the_protocol().count_page_request(first.home, fetched.count - 1);
  asked.prefetched += fetched.count - 1;
  const std::size_t each = shared_page_bytes();
  if (fetched.count == 1 && first.parts == all_parts())
    return ask_soon(first.home, question, held.data(), view_of(first.address), each);
  static std::byte* const pages = reserve_array<std::byte>((1 + most_prefetch) * each);
  const Head reply = ask_soon(first.home, question, names.data(), pages, fetched.count * each);
  for (std::size_t i = 0; i < fetched.count; ++i)
    take_content(fetched.places[i].address, fetched.places[i].parts, pages + i * each);
  return reply;
}

bool find_place(std::uintptr_t address, Place& place) REQUIRES(application) {
  const Range* range = find_range(address);
  if (range == nullptr) return false;
  std::uint32_t id = no_region;
  const RegionInfo* region = region_at(*range, page_down(address), id);
  if (region == nullptr) return false;
  const WholePage page = page_at(*range, page_down(address), id);
  place.address = page.address;
  place.parts = page.parts;
  place.id = {RegionId{id}, page_index(*region, address)};
  place.home = home_of_page(*range, place.address, *region, place.id);
  place.owner = owner_of(self.layout, self.process, place.home);
  return true;
}

void send_diff(const Place& place, const std::byte* diff, const std::byte* twin_words, const EncodedDiff& encoded) {
  // The home of a local page is the same memory.
  if (place.owner == Owner::local) return;
  const auto send = [&](const Head& head, const std::byte* payload)
                        REQUIRES(application) { ask(place.home, head, payload); };
  for_each_piece(diff, twin_words, encoded, send);
}

void receive_page(ProcessId from, const Head& head, const std::byte* page) {
  std::memcpy(asked_view_of(from, head.address), page, page_bytes);
  answer(from, {.kind = WireKind::done});
}

void move_home(std::uintptr_t begin, std::uint64_t count, Zeros zero_pages) {
  static constexpr std::byte zeros[page_bytes] = {};
  for (std::uintptr_t at = begin; at < begin + count * page_bytes; at += page_bytes) {
    const std::byte* view = view_of(at);
    if (zero_pages == Zeros::are_there && std::memcmp(view, zeros, page_bytes) == 0) continue;
    Place place;
    if (!find_place(at, place) || place.owner != Owner::remote) continue;
    ask(place.home, {.kind = WireKind::put_page, .bytes = page_bytes, .address = at}, view);
  }
}

}  // namespace sdsm::dsm

namespace sdsm::program {

using namespace dsm;

/// Pages shut when the protocol says so.
void shut_after_use() {}
std::uint64_t times_shut_by_touches() {
  return 0;
}

void touch_for_kernel(const void* buffer, std::uint64_t bytes, KernelUse use) {
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
  const Range* const range = find_range(begin);
  if (range == nullptr || !application.is_taken()) return;
  application.check();
  // A buffer may be said to be larger than it is: what is behind it belongs to nobody, or at least stays as it is.
  const std::uintptr_t end = bytes < range->end - begin ? begin + bytes : range->end;
  Place place;
  for (std::uintptr_t at = begin; at < end && find_place(at, place); at = page_down(at) + page_bytes) {
    auto* const byte = reinterpret_cast<volatile unsigned char*>(at);
    static_cast<void>(*byte);
    if (use == KernelUse::writes) __atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);
  }
}

}  // namespace sdsm::program
