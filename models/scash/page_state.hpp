/// SCASH's protocol of a page, as tables that can be compared with [WR-env] (docs/protocol.md).
///
/// The simulator and the real DSM both take every decision about a page from here. Three parties matter:
///  - the *home* process owns the page; its node's memory is the page.
///  - a process on the home's node finds the page *local*: it works on the same memory through a shared segment.
///  - for every other process the page is *remote*: its node holds a copy, or none.
/// The processes of one node share the node's state of a page; each has a protection of its own, never wider than that.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/protocol/pages.hpp"
#include "models/protocol/registry.hpp"

namespace sdsm {

/// State of a page on a node, and protection of a page in a process.
enum class Permission : std::uint8_t {
  unmapped,    ///< no copy here                            (native: PROT_NONE)
  read_only,   ///< clean copy, or home page not written    (native: PROT_READ)
  read_write,  ///< written since the last barrier; on a node that is not the home's: twinned (PROT_READ | PROT_WRITE)
};

/// The ten kinds of faults of [WR-env]: access (Read, Write), the node's permission before (Read-Only, read-Write,
/// UnMapped), owner (Home, Local, Remote).
enum class FaultKind : std::uint8_t { WROH, WROL, WROR, WRWH, WRWL, WRWR, WUMR, RRWR, RROR, RUMR };
inline constexpr std::size_t fault_kinds = 10;

/// One row of [WR-env]'s table of faults.
struct FaultRule {
  FaultKind kind;
  std::string_view name;
  Access access;
  Permission before;  ///< of the node
  Owner owner;
  bool sends_request;  ///< a message goes to the home
  bool fetches_page;   ///< ... and the page comes back; else nobody waits for an answer
  bool makes_twin;
  Permission node_after;
  Permission process_after;
};

// clang-format off
inline constexpr std::array<FaultRule, fault_kinds> fault_rules = {{
    // kind             name    access         node before             owner          request fetch  twin   node after              process after
    {FaultKind::WROH, "WROH", Access::write, Permission::read_only,  Owner::home,   false,  false, false, Permission::read_write, Permission::read_write},
    {FaultKind::WROL, "WROL", Access::write, Permission::read_only,  Owner::local,  true,   false, true,  Permission::read_write, Permission::read_write},
    {FaultKind::WROR, "WROR", Access::write, Permission::read_only,  Owner::remote, true,   false, true,  Permission::read_write, Permission::read_write},
    {FaultKind::WRWH, "WRWH", Access::write, Permission::read_write, Owner::home,   false,  false, false, Permission::read_write, Permission::read_write},
    {FaultKind::WRWL, "WRWL", Access::write, Permission::read_write, Owner::local,  false,  false, false, Permission::read_write, Permission::read_write},
    {FaultKind::WRWR, "WRWR", Access::write, Permission::read_write, Owner::remote, false,  false, false, Permission::read_write, Permission::read_write},
    {FaultKind::WUMR, "WUMR", Access::write, Permission::unmapped,   Owner::remote, true,   true,  true,  Permission::read_write, Permission::read_write},
    {FaultKind::RRWR, "RRWR", Access::read,  Permission::read_write, Owner::remote, true,   false, false, Permission::read_write, Permission::read_only},
    {FaultKind::RROR, "RROR", Access::read,  Permission::read_only,  Owner::remote, true,   false, false, Permission::read_only,  Permission::read_only},
    {FaultKind::RUMR, "RUMR", Access::read,  Permission::unmapped,   Owner::remote, true,   true,  false, Permission::read_only,  Permission::read_only},
}};
// clang-format on

constexpr const FaultRule& rule_of(FaultKind kind) {
  return fault_rules[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name_of(FaultKind kind) {
  return rule_of(kind).name;
}

/// Whether a process with this protection traps.
constexpr bool traps(Access access, Permission own) {
  return own == Permission::unmapped || (access == Access::write && own == Permission::read_only);
}

namespace detail {
/// Index of fault_rules by access, permission and owner, for the look-up at every fault.
inline constexpr auto fault_index = [] {
  std::array<std::array<std::array<std::optional<FaultKind>, 3>, 3>, 2> index{};
  for (const FaultRule& rule : fault_rules) {
    index[static_cast<std::size_t>(rule.access)][static_cast<std::size_t>(rule.before)]
         [static_cast<std::size_t>(rule.owner)] = rule.kind;
  }
  return index;
}();
}  // namespace detail

/// The row for a process that traps. Empty where no row exists: home and local pages are never unmapped and so never
/// trap on a read; a caller that gets it has found a bug.
constexpr std::optional<FaultKind> fault_of(Access access, Permission node, Owner owner) {
  return detail::fault_index[static_cast<std::size_t>(access)][static_cast<std::size_t>(node)]
                            [static_cast<std::size_t>(owner)];
}

/// Permission of a home's node to its own pages at the begin of an interval.
enum class HomePages : std::uint8_t {
  read_only,  ///< the first write traps
  open,       ///< no write traps or is noticed, so every copy on another node has to die at the next barrier
};
HomePages home_pages_of(ProtocolKind protocol);

/// A page's state before anyone touches it, and a copy's after it is dropped.
constexpr Permission resting(Owner owner, HomePages home_pages) {
  if (owner == Owner::remote) return Permission::unmapped;
  return home_pages == HomePages::open ? Permission::read_write : Permission::read_only;
}

/// Which diffs a process sends home, renewing their twins, of remote pages that other processes of its node twinned. It
/// always sends those of pages that it twinned itself, and never those of local pages that others twinned: their home
/// is this memory.
enum class Flushes : std::uint8_t {
  own,      ///< none: the others come to the same barrier and send their own
  written,  ///< those that it wrote too: the next holder of the lock must find at home what it wrote under the lock
  node,     ///< all: a copy dies only when all of the node's changes to it are home
};

struct SyncRule {
  Flushes flushes;
  bool drop_copies;      ///< every remote copy of the node, clean or dirty, becomes unmapped; its twin goes
  bool rest_home_pages;  ///< written home and local pages become read-only; each home page that its owner wrote costs
                         ///< the owner Costs::dirty_home_page; twins of local pages go
};

constexpr SyncRule rule_of(Sync sync) {
  switch (sync) {
    case Sync::release: return {.flushes = Flushes::written, .drop_copies = false, .rest_home_pages = false};
    case Sync::acquire: return {.flushes = Flushes::node, .drop_copies = true, .rest_home_pages = false};
    case Sync::barrier: return {.flushes = Flushes::own, .drop_copies = true, .rest_home_pages = true};
    case Sync::gang: return {.flushes = Flushes::own, .drop_copies = true, .rest_home_pages = false};
  }
  return {};
}

/// The synchronisation that a gang's barrier is on a node with some or all of its processes in the gang. Among the
/// members it is a release and an acquire. Others receive no notices, so home pages stay writable, as at a lock: the
/// next barrier of the whole team sends notices of what was written since the last one. The node's processes outside of
/// the gang go on writing what it drops, so their changes go home first.
constexpr Sync sync_of_gang(std::uint32_t members_on_node, std::uint32_t processes_on_node) {
  return members_on_node == processes_on_node ? Sync::gang : Sync::acquire;
}

/// A gang's barrier on a node that has some of its members.
struct GangOnNode {
  Sync sync{};
  ProcessId drops{};  ///< the member that drops the node's copies, for all
};
/// `process_of(i)`: process of member i of `size`.
template <typename ProcessOf, typename IsOnNode>
constexpr GangOnNode gang_on_node(std::uint32_t size, ProcessOf process_of, IsOnNode is_on_node,
                                  std::uint32_t processes_on_node) {
  std::uint32_t members = 0;
  ProcessId first{};
  for (std::uint32_t i = 0; i < size; ++i) {
    if (is_on_node(process_of(i)) && members++ == 0) first = process_of(i);
  }
  return {sync_of_gang(members, processes_on_node), first};
}

/// Which copies a barrier drops. SCASH's published times fit only `all`.
enum class Invalidation : std::uint8_t {
  all,      ///< every copy
  changed,  ///< copies of pages for which another node sent a write notice
};
/// Whether every write that needs a notice is noticed.
constexpr bool go_together(HomePages home_pages, Invalidation invalidation) {
  return home_pages == HomePages::read_only || invalidation == Invalidation::all;
}

}  // namespace sdsm
