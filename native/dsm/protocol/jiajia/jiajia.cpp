/// JIAJIA behind the door (native/dsm/protocol/protocol.hpp).
#include <cstring>
#include <optional>

#include "models/jiajia/courses.hpp"
#include "models/locks.hpp"
#include "models/prefetch.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/protocol/incoming_diffs.hpp"
#include "native/dsm/protocol/jiajia/notice_requests.hpp"
#include "native/dsm/protocol/jiajia/process_copies.hpp"
#include "native/dsm/protocol/jiajia/scopes.hpp"
#include "native/dsm/protocol/page_replies.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

bool is_flag(const SyncPoint& point) {
  return point.kind == SyncPoint::Kind::flag;
}
/// JIAJIA's own locks have one holder; whatever else hands memory on counts like a flag.
jiajia::SyncObject object_of(const SyncPoint& point) {
  if (is_flag(point)) return {jiajia::SyncObject::Kind::flag, point.flag};
  return jiajia::object_of(point.lock);
}

const TwinsAtHome twins_at_home{own_twins, own_twin_of};

void receive_diffs(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling) {
  Incoming& diff = incoming_of(from, head);
  for (std::size_t at = 0; at < head.bytes;) {
    PartOfDiff sizes;
    if (head.bytes - at >= sizeof sizes) std::memcpy(&sizes, payload + at, sizeof sizes);
    at += sizeof sizes;
    if (sizes.bytes == 0 || sizes.diff_bytes < diff.bytes || sizes.twin_bytes < diff.twin_bytes) {
      end_run({"process ", Decimal(index_of(from)), " sent a message of changes that is cut off"});
    }
    take_part(from, diff, sizes, payload + at, head.bytes - at);
    at += std::size_t{sizes.bytes} + sizes.twin_piece;
    if (diff.bytes < sizes.diff_bytes) continue;
    store(from, diff, &twins_at_home);
    diff.bytes = diff.twin_bytes = 0;
  }
  for (auto answers = head.address; answers > 0; --answers) {
    count_served(from, jiajia::MessageKind::DIFFGRANT, jiajia::header);
  }
  answer(from, {.kind = WireKind::diff_grant});
}

constexpr std::optional<jiajia::MessageKind> message_of(WireKind kind) {
  using jiajia::MessageKind;
  switch (kind) {
    case WireKind::page_request: return MessageKind::GETP;
    case WireKind::page_reply: return MessageKind::GETPGRANT;
    case WireKind::diff: return MessageKind::DIFF;
    case WireKind::diff_grant: return MessageKind::DIFFGRANT;
    case WireKind::lock_request:
    case WireKind::flag_wait: return MessageKind::ACQ;
    case WireKind::lock_grant: return MessageKind::ACQGRANT;
    case WireKind::lock_release:
    case WireKind::flag_post: return MessageKind::REL;
    case WireKind::barrier_arrive: return MessageKind::BARR;
    case WireKind::barrier_release: return MessageKind::BARRGRANT;
    default: return std::nullopt;
  }
}

constexpr Bytes payload_of(const Head& head) {
  const auto bytes = [](std::uint64_t count) { return Bytes{static_cast<std::int64_t>(count)}; };
  switch (head.kind) {
    case WireKind::page_request: return jiajia::header + jiajia::page_request_data + bytes(head.bytes);
    case WireKind::page_reply: return jiajia::header + jiajia::page_reply_data + bytes(head.bytes);
    case WireKind::diff: return jiajia::header + bytes(head.value);
    case WireKind::diff_grant: return jiajia::header;
    default: return bytes(head.ticket);
  }
}
constexpr ModelOfMessages model_of_jiajia{[](WireKind kind) -> std::optional<std::size_t> {
                                            const auto message = message_of(kind);
                                            return message ? std::optional(static_cast<std::size_t>(*message))
                                                           : std::nullopt;
                                          },
                                          payload_of};

class Jiajia final : public Protocol {
 public:
  const ModelOfMessages& messages() const override { return model_of_jiajia; }

  void start() REQUIRES(starting) override { start_copies(); }

  std::optional<std::size_t> take_fault(const Place& place, Access access, const At&) REQUIRES(application)
      EXCLUDES(node().mutex) override {
    const auto kind = take_copy_fault(place, access);
    return kind ? std::optional(static_cast<std::size_t>(*kind)) : std::nullopt;
  }

  void count_page_request(ProcessId home, std::uint64_t further) REQUIRES(application) override {
    count_message(home, jiajia::MessageKind::GETP,
                  jiajia::header + jiajia::page_request_data + bytes_of_names(further));
  }

  void flush(Sync sync) REQUIRES(application) EXCLUDES(node().mutex) override { change_interval(sync); }
  void flush_pages(const AddressRange& pages) REQUIRES(application, node().mutex) override { send_copies_home(pages); }
  /// The next interval begins with the flush, so that what handlers store meanwhile belongs to it; and write notices
  /// say which copies to drop.
  void begin_interval(Sync) REQUIRES(application) EXCLUDES(node().mutex) override {}

  Head ask_at(const SyncPoint& point, Head question, const void* payload, Wait wait, std::uint64_t until_ns)
      REQUIRES(application) override {
    Scoped scoped{object_of(point)};
    if (is_flag(point)) need_openmp_scope("flags, or a barrier, condition, semaphore or shared lock of the C library");
    // A thread at a library's barrier hands on as well.
    if (question.kind == WireKind::object_meet) scoped = handed_at(scoped.object);
    handed_with_question_ = scoped.handed.size();
    return ask_in_scope(point.manager, question, scoped, payload, wait, until_ns);
  }

  void take_grant(const SyncPoint& point, const Head&) REQUIRES(application) override {
    count_message(point.manager, jiajia::MessageKind::ACQ,
                  jiajia::header + jiajia::lock_request(handed_with_question_));
  }

  Head hand_on(const SyncPoint& point, Head message, bool is_answered) REQUIRES(application) override {
    if (is_flag(point)) need_openmp_scope("a flag, or a condition or semaphore of the C library");
    if (!is_flag(point) && !point.is_held) {
      program::end_run(
          {"a thread gives back a lock that another one has taken: under JIAJIA a lock's scope is its "
           "holder's. Give --protocol scash"});
    }
    const Scoped scoped = is_flag(point) ? handed_at(object_of(point)) : handed_by(point.lock);
    Head answer;
    if (is_answered) {
      answer = ask_in_scope(point.manager, message, scoped);
    } else {
      tell_in_scope(point.manager, message, scoped);
    }
    count_sync_messages(point.manager, jiajia::MessageKind::REL, scoped.object, scoped.handed.size());
    return answer;
  }

  Release arrive(Head arrival, bool, Wait wait) REQUIRES(application) override {
    return {ask_in_scope(barrier_master, arrival, handed_at_barrier(), nullptr, wait)};
  }
  void note_release() REQUIRES(application) override { dsm::count_arrival(); }
  void apply(const SyncPoint& point) REQUIRES(application) EXCLUDES(node().mutex) override {
    if (point.kind == SyncPoint::Kind::barrier) return apply_barrier_notices();
    apply_notices(object_of(point));
    if (!is_flag(point)) own_copies().enter_scope(point.lock);
  }

  void need_openmp_scope(const char* what) const override {
    if (self.jiajia.scope == jiajia::Scope::openmp) return;
    program::end_run({"the program has ", what, ", which JIAJIA's own scopes do not know. Leave out --scope lock"});
  }

  bool sees_all_stores() const REQUIRES(application) override { return false; }

  const std::byte* take_front(ProcessId from, Head& head, const std::byte* payload) REQUIRES(handling) override {
    return take_notices(from, head, payload);
  }
  void gather_notices(ProcessId from, const Head& head, const std::byte* notices) REQUIRES(handling) override {
    gather_scope_notices(from, head, notices);
  }
  void tell_more_notices(ProcessId from, const Head& head) REQUIRES(handling) override {
    tell_more_of_scope(from, head);
  }
  bool serve(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling) override {
    switch (head.kind) {
      case WireKind::page_request: send_pages(from, head, payload, 0, [](std::uint64_t) { return false; }); break;
      case WireKind::diff: receive_diffs(from, head, payload); break;
      default: return false;
    }
    return true;
  }
  void count_page_reply(ProcessId to, std::uint32_t page_bytes) REQUIRES(handling) override {
    count_served(to, jiajia::MessageKind::GETPGRANT, jiajia::header + jiajia::page_reply_data + Bytes{page_bytes});
  }
  void grant(ProcessId to, const Head& head) REQUIRES(handling) override { answer_grant(to, head); }
  bool are_changes_home() REQUIRES(handling) override { return true; }
  void release_team(std::uint32_t size, Head release) REQUIRES(handling) override { answer_team(size, release); }

 private:
  void take_plain_wait() REQUIRES(application) override {
    program::end_run(
        {"the program waits in a loop for another thread's plain store, which JIAJIA hands on at locks and barriers "
         "alone (omp atomic read is a plain load). Wait by a lock, a barrier, or an atomic operation that also writes "
         "(omp atomic capture, fetch_add), or give --protocol scash"});
  }

  std::size_t handed_with_question_ = 0;
};
constinit Jiajia jiajia_of_run;

}  // namespace

Protocol* jiajia_protocol() {
  return &jiajia_of_run;
}

}  // namespace sdsm::dsm
