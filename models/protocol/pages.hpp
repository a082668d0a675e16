/// Accesses, owners and synchronisations, as all protocols define them.
#pragma once

#include <cstdint>

#include "models/ids.hpp"

namespace sdsm {

enum class Access : std::uint8_t { read, write };

/// A process's relation to a page. The page's *home* process owns it, and its home's memory is the page.
enum class Owner : std::uint8_t {
  home,    ///< it is the home
  local,   ///< the home is another process of the same node
  remote,  ///< the home is on another node
};

/// The relation of `accessor` to a page whose home is `home`.
constexpr Owner owner_of(const Layout& layout, ProcessId accessor, ProcessId home) {
  if (accessor == home) return Owner::home;
  return layout.node_of(accessor) == layout.node_of(home) ? Owner::local : Owner::remote;
}

/// Whether a run has faults: one process alone pays none [WR-env].
constexpr bool takes_faults(const Layout& layout) {
  return layout.processes() > 1;
}

/// The points at which changes travel and copies die (docs/protocol.md, "A page").
enum class Sync : std::uint8_t {
  release,  ///< a lock is given back
  acquire,  ///< a lock is taken
  barrier,  ///< fork and join are barriers too
  gang,     ///< a barrier of a part of the team, to which all of the node's processes come
};

}  // namespace sdsm
