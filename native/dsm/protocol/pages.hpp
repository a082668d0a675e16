/// Pages as every protocol knows them: where they lie, how their content comes here.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "models/prefetch.hpp"
#include "native/dsm/books/regions.hpp"
#include "native/dsm/memory/node.hpp"
#include "native/dsm/wire/diff.hpp"
#include "native/dsm/wire/wire.hpp"
#include "native/guest/runtime/program_image.hpp"

namespace sdsm::dsm {

/// Finds the page of `address` and its home. False if the address is not in shared memory, or not allocated there.
bool find_place(std::uintptr_t address, Place& place) REQUIRES(application);

void make_twin(const Place& place);

/// A page, and those that come beside it (models/prefetch.hpp).
struct Fetched {
  std::array<Place, 1 + most_prefetch> places;
  std::size_t count = 1;
};
/// The page, and those of the following ones for which `wants`, called with a page and its address, is true.
template <typename Wants>
Fetched with_following(const Place& place, Wants wants) REQUIRES(application, node().mutex) {
  Fetched fetched{{place}};
  const RegionInfo& info = region(index_of(place.id.region));
  if (self.prefetch == 0 || !has_prefetch(info.kind)) return fetched;
  const auto home_now = [&](std::uint64_t index, ProcessId placed) {
    application.check();
    return home_after_moves({place.id.region, index}, placed);
  };
  for (const std::uint64_t index : following(homes_of(info), place.id.index, self.prefetch, processes(), home_now)) {
    const PageId id{place.id.region, index};
    const WholePage page = page_of(info, id);
    if (page.parts == 0 || !wants(id, page.address)) continue;
    fetched.places[fetched.count++] = {id, page.address, place.home, Owner::remote, page.parts};
  }
  return fetched;
}
/// Fetches them. Returns the reply.
Head ask_for_pages(const Fetched& fetched, std::uint64_t wish, std::span<const HeldCopy> held = {})
    REQUIRES(application);

/// Sends a diff with its twin's words, and returns when it is applied.
void send_diff(const Place& place, const std::byte* diff, const std::byte* twin_words, const EncodedDiff& encoded)
    REQUIRES(application);

/// Sends `pages` pages from `begin` on to their homes. Zeros::are_there: pages of zeros need not go.
enum class Zeros : bool { are_there, must_go };
void move_home(std::uintptr_t begin, std::uint64_t pages, Zeros zero_pages) REQUIRES(application);
/// Takes such a page.
void receive_page(ProcessId from, const Head& head, const std::byte* page) REQUIRES(handling);

}  // namespace sdsm::dsm
