/// JIAJIA's rules: home-based scope consistency with single-writer notices, as the real system of that name (M-JIAJIA,
/// github.com/Youpen-y/jiajia at 38a93f5) intends them. Its departures from them are Quirks.
///
/// Each process is a host: processes share no copies. A page's home writes in place; any other process works on a copy,
/// and on a twin beside it once it has written.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/ids.hpp"
#include "models/protocol/pages.hpp"

namespace sdsm::jiajia {

/// State of a page in a process.
enum class State : std::uint8_t {
  unmapped,    ///< no copy                                              (native: no mapping)
  invalid,     ///< a copy that somebody has written since               (PROT_NONE)
  read_only,   ///< clean copy; at home: not written in this interval    (PROT_READ)
  read_write,  ///< twinned copy; at home: written in this interval      (PROT_READ | PROT_WRITE)
};

enum class Place : std::uint8_t { home, elsewhere };

/// Access (Read, Write), state before (UnMapped, InValid, Read-Only), Home or Remote.
enum class FaultKind : std::uint8_t { WROH, RUMR, RIVR, WUMR, WIVR, WROR };
inline constexpr std::size_t fault_kinds = 6;

struct FaultRule {
  FaultKind kind;
  std::string_view name;
  Access access;
  State before;
  Place place;
  bool fetches_page;  ///< request and reply
  bool makes_twin;
  State after;
};

// clang-format off
inline constexpr std::array<FaultRule, fault_kinds> fault_rules = {{
    // kind             name    access         before             place             fetch  twin   after
    {FaultKind::WROH, "WROH", Access::write, State::read_only, Place::home,      false, false, State::read_write},
    {FaultKind::RUMR, "RUMR", Access::read,  State::unmapped,  Place::elsewhere, true,  false, State::read_only},
    {FaultKind::RIVR, "RIVR", Access::read,  State::invalid,   Place::elsewhere, true,  false, State::read_only},
    {FaultKind::WUMR, "WUMR", Access::write, State::unmapped,  Place::elsewhere, true,  true,  State::read_write},
    {FaultKind::WIVR, "WIVR", Access::write, State::invalid,   Place::elsewhere, true,  true,  State::read_write},
    {FaultKind::WROR, "WROR", Access::write, State::read_only, Place::elsewhere, false, true,  State::read_write},
}};
// clang-format on

constexpr const FaultRule& rule_of(FaultKind kind) {
  return fault_rules[static_cast<std::size_t>(kind)];
}

/// Departures of the real system from its intent, by default off: then a page that nobody wrote has no notice.
struct Quirks {
  bool reads_of_invalid_copies_write = false;        ///< the handler takes a trap on a mapped page for a write
  bool writes_of_unmapped_pages_trap_twice = false;  ///< ... and one on an unmapped page for a read
  bool empty_diffs_travel = false;                   ///< a twinned page without a change: a diff, and a notice
  bool unread_homes_keep_silent = false;       ///< no notice of a home's write, if nobody has got a copy since its last
  bool lock_notices_outlive_barriers = false;  ///< a manager may keep its locks' lists for one barrier too long
  bool first_page_stays = false;               ///< the shared space's first page never migrates
  bool barrier_is_lock_64 = false;             ///< and so process 64 mod P manages it, not process 0

  static constexpr Quirks all() { return {true, true, true, true, true, true, true}; }
};

struct QuirkRow {
  std::string_view name;
  bool Quirks::*quirk;
};
inline constexpr std::array<QuirkRow, 7> quirk_rows{{
    {"reads-of-invalid-copies-write", &Quirks::reads_of_invalid_copies_write},
    {"writes-of-unmapped-pages-trap-twice", &Quirks::writes_of_unmapped_pages_trap_twice},
    {"empty-diffs-travel", &Quirks::empty_diffs_travel},
    {"unread-homes-keep-silent", &Quirks::unread_homes_keep_silent},
    {"lock-notices-outlive-barriers", &Quirks::lock_notices_outlive_barriers},
    {"first-page-stays", &Quirks::first_page_stays},
    {"barrier-is-lock-64", &Quirks::barrier_is_lock_64},
}};

/// The notices that an unlock hands on.
enum class Scope : std::uint8_t {
  lock,    ///< those of the pages written since the lock was taken: JIAJIA's own
  openmp,  ///< all that the process knows since the last barrier, as an OpenMP program may expect
};

/// Whether a process sends notices of others' writes, too, each with its writer. At a barrier of all, and under
/// JIAJIA's own scopes, it sends those of its own writes alone.
constexpr bool tells_of_others(Scope scope, bool at_barrier_of_all) {
  return scope == Scope::openmp && !at_barrier_of_all;
}

struct Rules {
  bool adaptive_write_detection = false;  ///< a home page that its home alone writes stays writable over barriers
  bool home_migration = false;            ///< a page that one process alone wrote moves there at a barrier
  Scope scope = Scope::lock;
  Quirks quirks = {};
  /// [HY]: a page that one process alone wrote or fetched moves there at a barrier that is no fork, and again at most
  /// so many times. A home's reads do not trap, so they do not count.
  std::optional<std::uint32_t> first_touch_moves = std::nullopt;
  bool fork_by_broadcast = false;  ///< [HY]: a message, not a barrier, begins a region of all processes
};

/// Whether a process's work at a barrier depends on the homes of the pages in its notices.
constexpr bool homes_matter_at_barriers(const Rules& rules) {
  return rules.home_migration || rules.adaptive_write_detection || rules.first_touch_moves.has_value();
}

/// The trap of an access to a page in that state; empty if it takes none. After a trap the access is made again.
constexpr std::optional<FaultKind> fault_of(Access access, State before, Place place, const Quirks& quirks) {
  if (quirks.reads_of_invalid_copies_write && before == State::invalid) access = Access::write;
  if (quirks.writes_of_unmapped_pages_trap_twice && before == State::unmapped) access = Access::read;
  for (const FaultRule& rule : fault_rules) {
    if (rule.access == access && rule.before == before && rule.place == place) return rule.kind;
  }
  return std::nullopt;
}

/// A write notice: a page was written, by that process or (empty) by several.
struct Notice {
  PageId page;
  std::optional<ProcessId> writer;
  /// The writer's interval, numbered by what it hands on: a process ignores a notice that it has had before. Under
  /// Scope::openmp, but not at a barrier.
  std::uint32_t interval = 0;

  constexpr auto operator<=>(const Notice&) const = default;
};

/// An object where a process hands on its notices to the next one. JIAJIA itself has locks alone.
struct SyncObject {
  enum class Kind : std::uint8_t { lock, flag, team, thread } kind = Kind::lock;
  std::uint64_t number = 0;  ///< of a team: its threads

  constexpr auto operator<=>(const SyncObject&) const = default;
};
constexpr SyncObject object_of(LockId lock) {
  return {SyncObject::Kind::lock, index_of(lock)};
}

/// The page's home after a barrier with that notice.
constexpr ProcessId next_home(const Notice& notice, ProcessId home, const Rules& rules) {
  if (!rules.home_migration || !notice.writer) return home;
  if (rules.quirks.first_page_stays && notice.page == PageId{}) return home;
  return *notice.writer;
}

/// A barrier's notice of a page.
struct BarrierNotice {
  Notice notice;           ///< if it was written
  bool is_written = true;  ///< else it only moves
  ProcessId home{};        ///< before the barrier
  ProcessId next{};        ///< and after it
};

constexpr ProcessId manager_of_barrier(std::uint32_t processes, const Quirks& quirks) {
  constexpr std::uint32_t its_lock = 64;
  return ProcessId{quirks.barrier_is_lock_64 ? its_lock % processes : 0};
}

}  // namespace sdsm::jiajia
