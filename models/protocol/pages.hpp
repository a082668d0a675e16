/// Pages, accesses, owners and synchronisations, as all protocols define them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/ids.hpp"

namespace sdsm {

/// The machine's pages, and a trace's. Simulated pages may consist of several (models/page_size.hpp).
inline constexpr std::size_t page_bytes = 4096;
/// Diffs compare words of this size (docs/protocol.md).
inline constexpr std::size_t word_bytes = 4;

enum class Access : std::uint8_t { read, write };

constexpr std::string_view name_of(Access access) {
  return name_in(std::array<std::string_view, 2>{"read", "write"}, access);
}

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
