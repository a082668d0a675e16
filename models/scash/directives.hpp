/// How Omni's run-time on SCASH turns a directive into protocol events (docs/protocol.md, "Directives"). Its
/// state in global memory lies on administrative pages, one for each kind of state; process 0 is their home.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/ids.hpp"
#include "models/program/placement.hpp"

namespace sdsm {

enum class AdministrativePage : std::uint8_t {
  region,       ///< function and arguments of the parallel region
  single,       ///< counter of `single` constructs
  copyprivate,  ///< what a `single copyprivate` hands on
  loop,         ///< state of dynamic and guided loops
  reduction,    ///< a slot for each thread, and the result
};
inline constexpr std::size_t administrative_pages = 5;

enum class Primitive : std::uint8_t {
  read,     ///< of the administrative page
  write,    ///< of the administrative page
  acquire,  ///< the run-time's lock that guards the administrative page
  release,  ///< that lock
  barrier,  ///< of the team
  flush,    ///< own changes go home and copies are dropped, without a lock
};

/// The threads that do a step.
enum class By : std::uint8_t { all, executing };

struct ProtocolStep {
  Primitive what;
  AdministrativePage page = AdministrativePage::region;
  By by = By::all;
};

enum class Directive : std::uint8_t {
  fork_master,        ///< the initial thread starts a team
  fork_worker,        ///< another member begins the region
  barrier,            ///< also the end of a region
  single,             ///< the first thread finds the counter not yet advanced, advances it, and executes; others pass
  copyprivate_gives,  ///< the thread that executed the `single`
  copyprivate_takes,  ///< the others
  chunk,              ///< takes iterations of a dynamic or guided loop
  flush,
  reduction_combines,  ///< thread 0, which combines what is in the slots
  reduction_gives,     ///< the others
};

namespace steps {
using enum Primitive;
using Page = AdministrativePage;
inline constexpr std::array fork_master{ProtocolStep{write, Page::region}, ProtocolStep{barrier}};
inline constexpr std::array fork_worker{ProtocolStep{barrier}, ProtocolStep{read, Page::region}};
inline constexpr std::array team_barrier{ProtocolStep{barrier}};
inline constexpr std::array single{ProtocolStep{acquire, Page::single}, ProtocolStep{read, Page::single},
                                   ProtocolStep{write, Page::single, By::executing},
                                   ProtocolStep{release, Page::single}};
inline constexpr std::array copyprivate_gives{ProtocolStep{write, Page::copyprivate}, ProtocolStep{barrier}};
inline constexpr std::array copyprivate_takes{ProtocolStep{barrier}, ProtocolStep{read, Page::copyprivate}};
inline constexpr std::array chunk{ProtocolStep{acquire, Page::loop}, ProtocolStep{read, Page::loop},
                                  ProtocolStep{write, Page::loop}, ProtocolStep{release, Page::loop}};
inline constexpr std::array explicit_flush{ProtocolStep{flush}};
inline constexpr std::array reduction_combines{ProtocolStep{write, Page::reduction}, ProtocolStep{barrier},
                                               ProtocolStep{read, Page::reduction},
                                               ProtocolStep{write, Page::reduction}, ProtocolStep{barrier}};
inline constexpr std::array reduction_gives{ProtocolStep{write, Page::reduction}, ProtocolStep{barrier},
                                            ProtocolStep{barrier}, ProtocolStep{read, Page::reduction}};
}  // namespace steps

/// The steps, in order.
constexpr std::span<const ProtocolStep> steps_of(Directive directive) {
  switch (directive) {
    case Directive::fork_master: return steps::fork_master;
    case Directive::fork_worker: return steps::fork_worker;
    case Directive::barrier: return steps::team_barrier;
    case Directive::single: return steps::single;
    case Directive::copyprivate_gives: return steps::copyprivate_gives;
    case Directive::copyprivate_takes: return steps::copyprivate_takes;
    case Directive::chunk: return steps::chunk;
    case Directive::flush: return steps::explicit_flush;
    case Directive::reduction_combines: return steps::reduction_combines;
    case Directive::reduction_gives: return steps::reduction_gives;
  }
  return {};
}

/// The run-time's own lock that guards an administrative page. Its number is above those of the program's locks.
constexpr LockId lock_of(AdministrativePage page) {
  return LockId{0xffffff00U + static_cast<std::uint32_t>(page)};
}

/// Homes of the administrative pages.
inline constexpr RegionHomes administrative_homes{Placement::initial, administrative_pages, std::nullopt};

}  // namespace sdsm
