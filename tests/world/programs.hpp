/// Random programs, whose every load has one right value: that of a flat memory at this moment.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/world/world.hpp"

namespace sdsm::world {

struct Step {
  enum class Kind : std::uint8_t {
    load,
    store,
    add,  ///< atomically
    acquire,
    release,
    barrier,
    await,       ///< loads the word again and again until it has at least this value
    post,        ///< adds to the word, after which it has this value
    await_post,  ///< adds nothing, again and again, until the word has at least this value
  };
  Kind kind{};
  std::uint8_t thread = 0;
  std::uint8_t page = 0;
  std::uint8_t word = 0;
  std::uint32_t value = 0;  ///< or the lock

  bool operator==(const Step&) const = default;
};
std::string name_of_page(std::uint32_t page);
std::string text_of(const Step& step);

/// The word of a page that a thread posts to.
inline constexpr std::uint32_t posted = words - 3;

/// How threads hand memory on.
enum class Kind : std::uint8_t {
  locks,    ///< by locks and barriers
  plain,    ///< by plain stores that others wait for, too: in single-writer mode
  atomics,  ///< by atomic operations, too: in single-writer mode up to a barrier
  jiajia,   ///< by locks and barriers, under JIAJIA
};
inline constexpr const char* kind_names[] = {"locks", "plain", "atomics", "jiajia"};

struct Program {
  Setup setup;
  std::vector<Step> steps;  ///< in an order in which no thread would ever wait
};
Program random_program(Kind kind, std::uint64_t seed, std::uint32_t processes_per_node);
/// The program without some of its steps; none if a load would have more than one right value then, or a thread might
/// wait for ever.
std::optional<Program> without(const Program& program, std::size_t first, std::size_t count);

}  // namespace sdsm::world
