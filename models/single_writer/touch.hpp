/// The order in which a thread that touches a page does what single-writer pages need (page_sharing.hpp).
#pragma once

#include <cstdint>

#include "models/single_writer/page_sharing.hpp"

namespace sdsm {

enum class TouchStep : std::uint8_t {
  wait,                ///< for other threads of the node, which fetch the page or lose it
  forget_grant,        ///< of a page that is gone again
  send_other_stacks,   ///< home, and drop the copies of them
  fault,               ///< do what the protocol's tables say
  ask_home,            ///< for the right to a page of the own node
  drop_copies,         ///< that may be older than what the page shows, and with them perhaps the page
  stop_at_next_touch,  ///< use the page, but stop then until all are in single-writer mode
  use_page,
};

/// The thread's next step. `Touched` answers for its page; each question is asked only if those before leave the step
/// open. The thread has to go on asking until it may use the page, as others may take it meanwhile.
template <typename Touched>
TouchStep next_step(Touched& touched) {
  if (!touched.is_granted() && touched.is_busy()) return TouchStep::wait;
  if (touched.traps()) {
    // Another thread of the node may have asked for another stack since.
    if (touched.is_granted() && touched.is_copy_of_stack()) return TouchStep::forget_grant;
    return touched.has_to_send_other_stacks() ? TouchStep::send_other_stacks : TouchStep::fault;
  }
  if (!touched.is_granted() && touched.has_to_ask_home()) return TouchStep::ask_home;
  switch (touched.meeting()) {
    case Meeting::none: break;
    case Meeting::drops_copies: return TouchStep::drop_copies;
    case Meeting::meets_others: return TouchStep::stop_at_next_touch;
  }
  return TouchStep::use_page;
}

}  // namespace sdsm
