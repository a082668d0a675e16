#include "native/dsm/protocol/single_writer/page_turns.hpp"

#include <unistd.h>

#include <algorithm>

#include "models/single_writer/page_turns.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/requests/answering.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/counting.hpp"

namespace sdsm::dsm {
namespace {

constexpr ProcessId keeper{0};

PageTurns turns GUARDED_BY(handling);
LostPages lost GUARDED_BY(node().mutex);
/// Synchronisations that the thread had come to when it last wanted a page.
constinit std::uint64_t seen_synchronisations GUARDED_BY(application) = 0;
/// End of the thread's turn, by its clock; 0: it has none.
constinit std::uint64_t ends_ns GUARDED_BY(application) = 0;

std::uint64_t needed_turn_ns(std::uintptr_t page) REQUIRES(application) EXCLUDES(node().mutex) {
  const std::uint64_t synchronisations = asked.atomics + asked.locks + asked.barriers;
  const NodeGuard guard;
  if (seen_synchronisations != synchronisations) lost.forget();
  seen_synchronisations = synchronisations;
  return lost.want(page, now_ns());
}

}  // namespace

void note_lost_page(std::uintptr_t page) {
  if (ends_single_writer_mode_at_barrier()) lost.lose(page);
}

void take_turn_for(std::uintptr_t page) {
  if (!ends_single_writer_mode_at_barrier()) return;
  const std::uint64_t length_ns = needed_turn_ns(page);
  if (length_ns == 0 || now_ns() < ends_ns) return;
  constexpr std::uint64_t most_ns = 2'000'000;  // the one before may end earlier
  std::uint64_t begins_ns = no_end;
  // It waits once only, for the time of the first answer: where many share a processor, its turn may be over before it
  // runs again.
  for (std::uint64_t now = now_ns(); now < begins_ns && ends_single_writer_mode_at_barrier(); now = now_ns()) {
    const std::uint64_t wait_ns = ask(keeper, {.kind = WireKind::turn_ask, .value = length_ns}).value;
    begins_ns = std::min(begins_ns, now + wait_ns);
    if (wait_ns > 0) usleep(static_cast<useconds_t>(std::min(wait_ns, most_ns) / 1000 + 1));
  }
  ends_ns = now_ns() + length_ns;
}

void end_turn() {
  if (ends_ns == 0) return;
  if (now_ns() < ends_ns) tell(keeper, {.kind = WireKind::turn_end});
  ends_ns = 0;
}

void serve_turns(ProcessId from, const Head& head) {
  const NodeId node = self.layout.node_of(from);
  if (head.kind == WireKind::turn_end) return turns.end(node, now_ns());
  const std::uint64_t turn = turns.ask(node, head.value, now_ns());
  answer_value(from, turn);
}

}  // namespace sdsm::dsm
