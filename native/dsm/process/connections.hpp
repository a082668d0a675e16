/// The connections of this process to all others: one on which it asks, one on which it answers.
#pragma once

#include <cstdint>
#include <vector>

#include "native/dsm/wire/control.hpp"
#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

/// Sockets by process; -1 for this one. Empty where the program runs alone.
struct Connections {
  std::vector<int> asking;
  std::vector<int> answering;
};

/// Lets others connect from here on, and sends the launcher the address.
void listen_for_others(const Welcome& welcome) REQUIRES(starting);
/// Connects to all other processes, and waits until everybody is ready. `fingerprint` is equal in all processes that
/// have the program and its libraries at the same addresses.
Connections meet_others(std::uint64_t fingerprint) REQUIRES(starting);

}  // namespace sdsm::dsm
