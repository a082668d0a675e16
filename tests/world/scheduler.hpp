/// Runs one program in one order of its threads' steps and its messages' deliveries, which a seed decides.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/world/programs.hpp"
#include "tests/world/world.hpp"

namespace sdsm::world {

/// How the next step is chosen. With priorities the enabled step of the highest priority goes on, and at `changes`
/// moments the one that runs falls behind all others: every fault that needs so many untimely moments is found with a
/// known probability (Burckhardt et al., ASPLOS 2010).
struct Order {
  std::uint64_t seed = 0;
  bool is_uniform = false;  ///< each enabled step is as likely as the others
  std::uint32_t changes = 0;
};

struct Outcome {
  std::string failure;  ///< empty: all was well
  std::uint32_t steps = 0;
  std::uint64_t fingerprint = 0;  ///< of the steps and the messages
  std::vector<std::string> log;   ///< of the steps, if they are wanted
};

class World {
 public:
  /// Loads a copy of the library for each process. `fault`: the one of planted.py that it is to have; 0: none.
  explicit World(const std::string& library, int fault = 0);
  ~World();
  World& operator=(World&&) = delete;

  Outcome run(const Program& program, const Order& order, bool wants_log = false);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace sdsm::world
