#include "native/dsm/requests/request_handlers.hpp"
#include "native/dsm/books/book_requests.hpp"
#include "native/dsm/openmp/barrier_requests.hpp"
#include "native/dsm/openmp/gang_requests.hpp"
#include "native/dsm/openmp/lock_requests.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/protocol.hpp"

#include "native/dsm/files/open_files.hpp"
#include "native/dsm/openmp/synchronisation.hpp"
#include "native/dsm/traps/blind_waits.hpp"

namespace sdsm::dsm {
void handle(ProcessId from, const Head& asked, const std::byte* payload) {
  Head head = asked;
  note_passing(head.generation);
  payload = the_protocol().take_front(from, head, payload);
  switch (head.kind) {
    case WireKind::seen_values: return tell_of_changes(from, head, payload);
    case WireKind::put_page: return receive_page(from, head, payload);
    case WireKind::barrier_arrive: return head.address == 0 ? arrive(from, head, payload) : arrive_in_gang(from, head);
    case WireKind::write_notices: return the_protocol().gather_notices(from, head, payload);
    case WireKind::more_notices: return the_protocol().tell_more_notices(from, head);
    case WireKind::gang_divided: return note_division(from, head, payload);
    case WireKind::gang_left: return leave_gang(head);
    case WireKind::lock_request: return request_lock(from, head, payload);
    case WireKind::lock_try: return try_lock(from, head);
    case WireKind::lock_release: return give_lock_back(head);
    case WireKind::lock_held:
      return answer_value(from, holds_lock(LockId{static_cast<std::uint32_t>(head.address)}) ? 1 : 0);
    case WireKind::object_give:
    case WireKind::object_set:
    case WireKind::object_number:
    case WireKind::object_meet:
    case WireKind::object_enlist:
    case WireKind::object_await:
    case WireKind::object_wake:
    case WireKind::object_leave: return serve_object(from, head);
    case WireKind::ordered_pass: return pass_turn(from, head, payload);
    case WireKind::flag_post: return post_flag(head);
    case WireKind::flag_wait: return await_flag(from, head);
    case WireKind::file_closed: return receive_file_closed();
    case WireKind::has_file: return tell_of_file(from, head);
    case WireKind::exit_run: return want_end(head);
    case WireKind::exit_functions: return note_exit_functions();
    case WireKind::end_turn: return await_end_turn(from);
    case WireKind::end_done: return pass_end_turn(head);
    default:
      if (!the_protocol().serve(from, head, payload)) keep_books(from, head, payload);
  }
}

}  // namespace sdsm::dsm
