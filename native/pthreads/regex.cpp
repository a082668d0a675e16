/// Compiled regular expressions. The C library keeps a lock and cached states in them. So each thread has its own copy
/// of POSIX's. A match of GNU's uses its memory by one thread at a time, and allocates for the program.
#include <regex.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "native/gomp/entry.hpp"
#include "native/program/library_memory.hpp"
#include "native/program/next_function.hpp"
#include "native/program/program_image.hpp"
#include "native/program/shared_memory.hpp"
#include "native/pthreads/engine.hpp"

using namespace sdsm;
using program::AllocatesForProgram;
using program::NextFunction;

namespace {

/// While one lives, no other thread uses the pattern. Event: a mutex's.
class HeldPattern {
 public:
  explicit HeldPattern(const re_pattern_buffer* pattern) : pattern_(engine::has_object(pattern) ? pattern : nullptr) {
    if (pattern_ != nullptr) engine::take(pattern_, engine::mutex_demand);
  }
  ~HeldPattern() {
    if (pattern_ != nullptr) engine::give(pattern_, engine::mutex_demand);
  }
  HeldPattern& operator=(HeldPattern&&) = delete;

 private:
  const re_pattern_buffer* pattern_;
};

using Compile = int(regex_t*, const char*, int);
using Forget = void(regex_t*);
SDSM_NEXT_FUNCTION NextFunction<Compile> compile{"regcomp"};
SDSM_NEXT_FUNCTION NextFunction<Forget> forget{"regfree"};

/// What a pattern of regcomp's is made of, in the program's heap. Each thread compiles its own from it, as the C
/// library writes to a compiled one whenever it matches.
struct Recipe {
  static constexpr std::uint64_t is_recipe = 0x5d5d7265636970e5;
  std::uint64_t mark = is_recipe;
  std::uint64_t number = 0;  ///< no other has it, where memory is used again
  int flags = 0;
  char* text() { return reinterpret_cast<char*>(this + 1); }
};

Recipe* recipe_of(const re_pattern_buffer* pattern) {
  auto* const recipe = reinterpret_cast<Recipe*>(pattern->__REPB_PREFIX(buffer));
  if (recipe == nullptr || !program::shared_heap::holds(recipe)) return nullptr;
  return recipe->mark == Recipe::is_recipe ? recipe : nullptr;
}

struct Compiled {
  const Recipe* recipe;
  std::uint64_t number;
  regex_t own;
  Compiled* next;
};
/// The thread's, the last used first.
constinit thread_local Compiled* compiled = nullptr;
constexpr unsigned most_compiled = 256;  ///< others are compiled again

void keep(const Recipe& recipe, const regex_t& own) {
  auto* const kept = static_cast<Compiled*>(std::malloc(sizeof(Compiled)));
  if (kept == nullptr) return;
  *kept = {&recipe, recipe.number, own, compiled};
  compiled = kept;
}

void drop(Compiled** place) {
  Compiled* const dropped = *place;
  *place = dropped->next;
  forget(&dropped->own);
  std::free(dropped);
}

/// The place of what the thread has compiled by `recipe`; of null if it has not. Drops what is too much.
Compiled** find(const Recipe& recipe) {
  Compiled** place = &compiled;
  for (unsigned i = 0; *place != nullptr; ++i) {
    if ((*place)->recipe == &recipe && (*place)->number == recipe.number) return place;
    if (i < most_compiled) {
      place = &(*place)->next;
    } else {
      drop(place);
    }
  }
  return place;
}

/// The thread's own of the program's pattern; `pattern` if it is no recipe. Null if there is no memory.
regex_t* own_of(re_pattern_buffer* pattern) {
  Recipe* const recipe = recipe_of(pattern);
  if (recipe == nullptr) return pattern;
  Compiled** const place = find(*recipe);
  if (Compiled* const found = *place; found != nullptr) {
    *place = found->next;
    found->next = compiled;
    compiled = found;
    return &found->own;
  }
  regex_t own{};
  if (compile(&own, recipe->text(), recipe->flags) != 0) return nullptr;
  keep(*recipe, own);
  return compiled != nullptr && compiled->recipe == recipe ? &compiled->own : nullptr;
}

}  // namespace

SDSM_ENTRY int regcomp(regex_t* pattern, const char* text, int flags) {
  const std::uintptr_t caller = SDSM_CALLER;
  regex_t own{};
  const int answer = compile(&own, text, flags);
  *pattern = own;
  if (answer != 0 || !program::program_image.is_program(caller)) return answer;
  const std::size_t bytes = std::strlen(text) + 1;
  auto* const recipe = reinterpret_cast<Recipe*>(program::room_for(sizeof(Recipe) + bytes, caller));
  if (recipe == nullptr) {
    forget(pattern);
    return REG_ESPACE;
  }
  if (!program::shared_heap::holds(recipe)) {  // before main
    program::give_back(recipe);
    return 0;
  }
  static std::uint32_t count = 0;
  const std::uint64_t process = static_cast<std::uint32_t>(getpid());
  *recipe = {.number = process << 32 | __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED), .flags = flags};
  std::memcpy(recipe->text(), text, bytes);
  keep(*recipe, own);
  pattern->__REPB_PREFIX(buffer) = reinterpret_cast<re_dfa_t*>(recipe);
  pattern->__REPB_PREFIX(fastmap) = nullptr;
  pattern->__REPB_PREFIX(translate) = nullptr;
  return 0;
}
SDSM_ENTRY int regexec(const regex_t* pattern, const char* text, std::size_t count, regmatch_t* matches, int flags) {
  SDSM_NEXT_FUNCTION NextFunction<int(const regex_t*, const char*, std::size_t, regmatch_t*, int)> real{"regexec"};
  const regex_t* const own = own_of(const_cast<regex_t*>(pattern));
  return own == nullptr ? REG_ESPACE : real(own, text, count, matches, flags);
}
SDSM_ENTRY void regfree(regex_t* pattern) {
  Recipe* const recipe = recipe_of(pattern);
  if (recipe == nullptr) return forget(pattern);
  if (Compiled** const place = find(*recipe); *place != nullptr) drop(place);
  recipe->mark = 0;
  program::give_back(recipe);
  pattern->__REPB_PREFIX(buffer) = nullptr;
}

SDSM_ENTRY const char* re_compile_pattern(const char* text, std::size_t bytes, re_pattern_buffer* pattern) {
  SDSM_NEXT_FUNCTION NextFunction<const char*(const char*, std::size_t, re_pattern_buffer*)> real{"re_compile_pattern"};
  const AllocatesForProgram marked(SDSM_CALLER);
  return real(text, bytes, pattern);
}

#define SDSM_MATCHING(result, name, parameters, ...)                \
  SDSM_ENTRY result name parameters {                               \
    SDSM_NEXT_FUNCTION NextFunction<result parameters> real{#name}; \
    if (recipe_of(pattern) != nullptr) {                            \
      pattern = own_of(pattern);                                    \
      return pattern == nullptr ? -2 : real(__VA_ARGS__);           \
    }                                                               \
    const HeldPattern held(pattern);                                \
    const AllocatesForProgram marked(SDSM_CALLER);                  \
    return real(__VA_ARGS__);                                       \
  }
SDSM_MATCHING(regoff_t, re_match,
              (re_pattern_buffer * pattern, const char* text, regoff_t bytes, regoff_t begin, re_registers* found),
              pattern, text, bytes, begin, found)
SDSM_MATCHING(regoff_t, re_search,
              (re_pattern_buffer * pattern, const char* text, regoff_t bytes, regoff_t begin, regoff_t range,
               re_registers* found),
              pattern, text, bytes, begin, range, found)
SDSM_MATCHING(regoff_t, re_match_2,
              (re_pattern_buffer * pattern, const char* one, regoff_t one_bytes, const char* two, regoff_t two_bytes,
               regoff_t begin, re_registers* found, regoff_t stop),
              pattern, one, one_bytes, two, two_bytes, begin, found, stop)
SDSM_MATCHING(regoff_t, re_search_2,
              (re_pattern_buffer * pattern, const char* one, regoff_t one_bytes, const char* two, regoff_t two_bytes,
               regoff_t begin, regoff_t range, re_registers* found, regoff_t stop),
              pattern, one, one_bytes, two, two_bytes, begin, range, found, stop)
