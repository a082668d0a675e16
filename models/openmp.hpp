/// How Omni's run-time on SCASH turns a directive into protocol events (docs/protocol.md, "Directives"). Its
/// state in global memory lies on administrative pages, one for each kind of state; process 0 is their home.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/ids.hpp"
#include "models/placement.hpp"

namespace sdsm {

enum class AdministrativePage : std::uint8_t {
  region,       ///< function and arguments of the parallel region
  single,       ///< counter of `single` constructs
  copyprivate,  ///< what a `single copyprivate` hands on
  loop,         ///< state of dynamic and guided loops
};
inline constexpr std::size_t administrative_pages = 4;

enum class Primitive : std::uint8_t {
  read,     ///< of the administrative page
  write,    ///< of the administrative page
  acquire,  ///< the run-time's lock that guards the administrative page
  release,  ///< that lock
  barrier,  ///< of the team
  flush,    ///< own changes go home and copies are dropped, without a lock
};

struct ProtocolStep {
  Primitive what;
  AdministrativePage page = AdministrativePage::region;
};

enum class Directive : std::uint8_t {
  fork_master,        ///< the initial thread starts a team
  fork_worker,        ///< another member begins the region
  barrier,            ///< also the end of a region
  single_executes,    ///< the first thread at a `single`: finds the counter not yet advanced, and advances it
  single_passes,      ///< the other threads: find it advanced
  copyprivate_gives,  ///< the thread that executed the `single`
  copyprivate_takes,  ///< the others
  chunk,              ///< takes iterations of a dynamic or guided loop
  flush,
};

namespace steps {
using enum Primitive;
using Page = AdministrativePage;
inline constexpr std::array fork_master{ProtocolStep{write, Page::region}, ProtocolStep{barrier}};
inline constexpr std::array fork_worker{ProtocolStep{barrier}, ProtocolStep{read, Page::region}};
inline constexpr std::array team_barrier{ProtocolStep{barrier}};
inline constexpr std::array single_executes{ProtocolStep{acquire, Page::single}, ProtocolStep{read, Page::single},
                                            ProtocolStep{write, Page::single}, ProtocolStep{release, Page::single}};
inline constexpr std::array single_passes{ProtocolStep{acquire, Page::single}, ProtocolStep{read, Page::single},
                                          ProtocolStep{release, Page::single}};
inline constexpr std::array copyprivate_gives{ProtocolStep{write, Page::copyprivate}, ProtocolStep{barrier}};
inline constexpr std::array copyprivate_takes{ProtocolStep{barrier}, ProtocolStep{read, Page::copyprivate}};
inline constexpr std::array chunk{ProtocolStep{acquire, Page::loop}, ProtocolStep{read, Page::loop},
                                  ProtocolStep{write, Page::loop}, ProtocolStep{release, Page::loop}};
inline constexpr std::array explicit_flush{ProtocolStep{flush}};
}  // namespace steps

/// The steps, in order.
constexpr std::span<const ProtocolStep> steps_of(Directive directive) {
  switch (directive) {
    case Directive::fork_master: return steps::fork_master;
    case Directive::fork_worker: return steps::fork_worker;
    case Directive::barrier: return steps::team_barrier;
    case Directive::single_executes: return steps::single_executes;
    case Directive::single_passes: return steps::single_passes;
    case Directive::copyprivate_gives: return steps::copyprivate_gives;
    case Directive::copyprivate_takes: return steps::copyprivate_takes;
    case Directive::chunk: return steps::chunk;
    case Directive::flush: return steps::explicit_flush;
  }
  return {};
}

/// The run-time's own lock that guards an administrative page. Its number is above those of the program's locks.
constexpr LockId lock_of(AdministrativePage page) {
  return LockId{0xffffff00U + static_cast<std::uint32_t>(page)};
}

/// Homes of the administrative pages.
inline constexpr RegionHomes administrative_homes{Placement::initial, administrative_pages, std::nullopt};

/// What every process of a team does at a barrier.
enum class BarrierPhase : std::uint8_t {
  meet,   ///< sends the master a message, and gets one when all have come
  flush,  ///< sends its changes home
  drop,   ///< drops copies, and makes written home pages read-only
};
/// In this order ([WR-env]'s phases 1 to 5).
inline constexpr std::array barrier_phases{BarrierPhase::meet, BarrierPhase::flush, BarrierPhase::meet,
                                           BarrierPhase::drop, BarrierPhase::meet};
inline constexpr ProcessId barrier_master{0};
inline constexpr auto barrier_synchronisations =
    static_cast<std::size_t>(std::ranges::count(barrier_phases, BarrierPhase::meet));

/// A flag of a doacross loop: the construct's number in the upper half, in the lower one the part of the loop's
/// iterations that it counts. In a static schedule a part is a thread's share, and its own process keeps the flag.
constexpr std::uint64_t flag_number(std::uint64_t construct, std::uint64_t part) {
  return construct << 32 | part;
}
/// A library's object counts like a flag. No construct has so high a number.
constexpr std::uint64_t flag_of(LockId object) {
  return std::uint64_t{1} << 63 | index_of(object);
}
constexpr ProcessId manager_of_flag(std::uint64_t flag, std::uint32_t processes) {
  return ProcessId{static_cast<std::uint32_t>(flag & 0xffffffffU) % processes};
}

/// Process that keeps a lock's queue (docs/protocol.md).
constexpr ProcessId manager_of(LockId lock, std::uint32_t processes) {
  return ProcessId{index_of(lock) % processes};
}

}  // namespace sdsm
