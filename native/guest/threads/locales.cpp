/// libstdc++'s state of locales and streams, as far as it concerns objects that the program's threads share: the
/// numbers of facets and of streams' words, which it counts, and the lock under which it caches a locale's facets.
#include "native/guest/threads/locales.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/threads/engine.hpp"
#include "native/guest/threads/seen_done.hpp"

using namespace sdsm;
using program::NextFunction;

namespace {

/// The first number that facets get which threads number: above those of libstdc++'s own (47 in GCC 14's, which count
/// twice where they come for both kinds of strings) and of facets that constructors number before main begins. The
/// table of a locale that has the facet is as long as the number.
constexpr std::size_t first_of_threads = 128;

// As libstdc++ has them (bits/locale_classes.h): what std::locale points to, and the begin of a facet.
struct Facet {
  const void* functions;
  std::int32_t owners;
};
struct LocaleState {
  std::int32_t owners;
  Facet** facets;
  std::size_t facet_count;
  Facet** caches;  ///< as many
};

/// The standard facets are each process's own. A locale that one process makes and another ends takes more owners from
/// those of the one than it has given them: they must not come to an end.
void keep(Facet* facet) {
  constexpr std::int32_t many = 1 << 29;
  if (facet != nullptr) facet->owners += many;
}

}  // namespace

namespace sdsm::pthreads {

void make_standard_facets() {
  const auto classic = reinterpret_cast<LocaleState* const& (*)()>(dlsym(RTLD_DEFAULT, "_ZNSt6locale7classicEv"));
  if (classic == nullptr) return;
  const LocaleState& state = *classic();
  for (std::size_t i = 0; i < state.facet_count; ++i) {
    keep(state.facets[i]);
    keep(state.caches[i]);
  }
}

}  // namespace sdsm::pthreads

/// std::locale::id::_M_id: the facet's index. `number`: the object's only member, 0 until it has one.
SDSM_ENTRY std::size_t sdsm_locale_id(volatile std::size_t* number) asm("_ZNKSt6locale2id5_M_idEv");
std::size_t sdsm_locale_id(volatile std::size_t* number) {
  SDSM_NEXT_FUNCTION NextFunction<std::size_t(volatile std::size_t*)> real{"_ZNKSt6locale2id5_M_idEv"};
  // A thread that finds the number, and has not acquired it, may find it in one pass of a trace and not in another.
  constexpr int has_number = 1;
  const bool is_private = !engine::has_object(number);
  const std::size_t known = *number;
  if (known != 0 && (is_private || program::seen_done.holds(number, has_number))) return known - 1;
  if (is_private) {
    const std::size_t index = real(number);
    if (index + 1 >= first_of_threads) {
      program::end_run(
          {"the program's libraries or constructors have too many facets of locales: with those of libstdc++, ",
           program::Decimal(first_of_threads - 1), " are possible"});
    }
    return index;
  }
  engine::take(number, engine::mutex_demand);
  if (*number == 0) *number = first_of_threads + engine::next_own_number();
  const std::size_t index = *number - 1;
  engine::give(number, engine::mutex_demand);
  program::seen_done.add(number, has_number);
  return index;
}

/// std::locale::_Impl::_M_install_cache, which leaves what another has installed.
SDSM_ENTRY void sdsm_install_cache(void* locale, const void* cache,
                                   std::size_t index) asm("_ZNSt6locale5_Impl16_M_install_cacheEPKNS_5facetEm");
void sdsm_install_cache(void* locale, const void* cache, std::size_t index) {
  SDSM_NEXT_FUNCTION NextFunction<void(void*, const void*, std::size_t)> real{
      "_ZNSt6locale5_Impl16_M_install_cacheEPKNS_5facetEm"};
  if (!engine::has_object(locale)) return real(locale, cache, index);
  engine::need_all_memory("a stream's first use of a std::locale in shared memory");
  engine::take(locale, engine::mutex_demand);
  real(locale, cache, index);
  engine::give(locale, engine::mutex_demand);
}

/// std::ios_base::xalloc(): the first numbers are libstdc++'s own.
SDSM_ENTRY int sdsm_xalloc() asm("_ZNSt8ios_base6xallocEv");
int sdsm_xalloc() {
  constexpr int first = 4;
  return first + static_cast<int>(engine::next_own_number());
}
