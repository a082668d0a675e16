#include "native/dsm/protocol/jiajia/scopes.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "models/jiajia/counts.hpp"
#include "models/locks.hpp"
#include "native/dsm/books/regions.hpp"
#include "native/dsm/protocol/jiajia/notice_wire.hpp"
#include "native/dsm/protocol/jiajia/process_copies.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

using jiajia::Notice;
using jiajia::Scope;
using jiajia::SyncObject;

constinit std::uint32_t passed_barriers GUARDED_BY(application) = 0;
/// The notices of the last answer.
std::vector<NoticedPages> received_notices GUARDED_BY(application);
std::uint32_t team_of_answer GUARDED_BY(application) = 0;  ///< of so many threads, if it was a barrier's
std::size_t own_notes GUARDED_BY(application) = 0;         ///< that this process sent to its last barrier

/// A home that is not this process. A process never drops its own pages, so it does not matter which other one.
ProcessId somebody_else() {
  return ProcessId{index_of(self.process) + 1};
}

void count_further(jiajia::FurtherCount which, std::uint64_t more) REQUIRES(application) {
  asked.further[static_cast<std::size_t>(which)] += more;
}

Scoped handed(const SyncObject& object, std::vector<Notice> notices) REQUIRES(application) {
  count_further(jiajia::FurtherCount::notices, notices.size());
  return {object, true, std::move(notices)};
}

/// Under Scope::lock the manager has to know where a page is at home.
std::uint16_t home_for_notice(PageId page) REQUIRES(application) {
  if (self.jiajia.scope != Scope::lock) return no_process;
  return static_cast<std::uint16_t>(index_of(home_of(page)));
}

std::vector<NoticedPages> runs_of(const std::vector<Notice>& notices) REQUIRES(application) {
  std::vector<NoticedPages> runs;
  for (const Notice& notice : notices) {
    add_notice(runs, notice, home_for_notice(notice.page));
  }
  return runs;
}

/// The notices, which go before the question's own payload.
std::vector<std::byte> with_notices(const Scoped& scoped, const void* payload, std::size_t bytes, ProcessId to)
    REQUIRES(application) {
  if (is_in_long_wait()) {
    // The manager knows one object by which the process waits, and the barrier the notices before.
    program::end_run(
        {"a handler of a signal gives back a lock or a semaphore while its thread waits for one, which JIAJIA does not "
         "know. Let the thread itself do it, or give --protocol scash"});
  }
  const std::vector<NoticedPages> runs = runs_of(scoped.handed);
  const std::size_t room = (most_payload - sizeof(NoticeHead) - bytes) / sizeof(NoticedPages);
  std::span<const NoticedPages> rest = runs;
  while (rest.size() > room) {
    const auto now = rest.first(std::min(most_noticed, rest.size()));
    tell(to, {.kind = WireKind::write_notices, .bytes = static_cast<std::uint16_t>(now.size_bytes())}, now.data());
    rest = rest.subspan(now.size());
  }
  const NoticeHead head{scoped.object.number, passed_barriers, static_cast<std::uint16_t>(rest.size()),
                        scoped.object.kind, scoped.hands};
  std::vector<std::byte> all(sizeof head + rest.size_bytes() + bytes);
  std::memcpy(all.data(), &head, sizeof head);
  if (!rest.empty()) std::memcpy(all.data() + sizeof head, rest.data(), rest.size_bytes());
  if (bytes > 0) std::memcpy(all.data() + all.size() - bytes, payload, bytes);
  return all;
}

/// Whether the model sends the message as a lock's release.
bool is_release(WireKind kind) {
  return kind == WireKind::lock_release || kind == WireKind::flag_post;
}

/// The question's length in the model. It assumes the largest team, as a waiting worker does not know the next.
std::uint64_t modelled_length(WireKind kind, const Scoped& scoped) {
  if (kind != WireKind::barrier_arrive) {
    if (is_release(kind)) {
      return modelled_notices(jiajia::MessageKind::REL, scoped.handed.size(),
                              jiajia::tells_of_others(self.jiajia.scope, false));
    }
    return static_cast<std::uint64_t>((jiajia::header + jiajia::lock_request(scoped.handed.size())).count);
  }
  const auto own = std::count_if(scoped.handed.begin(), scoped.handed.end(),
                                 [](const Notice& notice) { return notice.writer == self.process; });
  return modelled_notices(jiajia::MessageKind::BARR, static_cast<std::uint64_t>(own));
}

/// The answer has the first ones; its manager has the rest.
void receive(ProcessId manager, const std::byte* answer, std::size_t bytes) REQUIRES(application) {
  received_notices.clear();
  if (bytes == 0) return;
  AnswerHead head;
  std::memcpy(&head, answer, sizeof head);
  const std::size_t total = head.runs;
  team_of_answer = head.team;
  received_notices.resize(total + most_noticed);
  std::size_t have = (bytes - sizeof head) / sizeof(NoticedPages);
  std::memcpy(received_notices.data(), answer + sizeof head, have * sizeof(NoticedPages));
  while (have < total) {
    const Head more =
        ask(manager, {.kind = WireKind::more_notices, .value = have}, nullptr, received_notices.data() + have);
    have += more.bytes / sizeof(NoticedPages);
  }
  received_notices.resize(total);
}

std::vector<Notice> notices_of(const std::vector<PageId>& pages) {
  std::vector<Notice> notices;
  notices.reserve(pages.size());
  for (const PageId page : pages) notices.push_back({page, self.process});
  return notices;
}

/// The barrier's notices of pages with another home from now on.
std::vector<jiajia::BarrierNotice> received_moves() REQUIRES(application) {
  std::vector<jiajia::BarrierNotice> moves;
  for (const NoticedPages& run : received_notices) {
    for (std::uint64_t i = 0; run.next != run.home && i < run.pages; ++i) moves.push_back(barrier_notice_of(run, i));
  }
  return moves;
}

template <typename Apply>
void apply_all(Apply apply) REQUIRES(application) {
  std::uint64_t invalid = own_copies().expire_unnoticed();
  for (const NoticedPages& run : received_notices) {
    for (std::uint64_t i = 0; i < run.pages; ++i) invalid += apply(run, i) ? 1 : 0;
  }
  received_notices.clear();
  count_further(jiajia::FurtherCount::invalidations, invalid);
  if (invalid > 0) shut_invalid_copies();
}

}  // namespace

Scoped handed_by(LockId lock) {
  return handed(jiajia::object_of(lock), own_copies().leave_scope(lock));
}

Scoped handed_at(const SyncObject& object) {
  return handed(object, own_copies().hand_on(object));
}

Scoped handed_at_barrier() {
  Scoped scoped{{SyncObject::Kind::team, processes()}, true};
  if (self.jiajia.scope == Scope::openmp) {
    scoped.handed = own_copies().all_known();
  } else {
    scoped.handed = notices_of(own_copies().take_notes());
  }
  own_notes = scoped.handed.size();
  return scoped;
}

void count_sync_messages(ProcessId to, jiajia::MessageKind kind, const SyncObject& object, std::size_t notices) {
  const bool is_of_all = kind == jiajia::MessageKind::BARR && object.number == processes();
  const bool is_of_others = jiajia::tells_of_others(self.jiajia.scope, is_of_all);
  for (const jiajia::Message& message : jiajia::with_notices(kind, notices, is_of_others)) {
    count_message(to, message.kind, jiajia::header + message.data);
  }
}

Head ask_in_scope(ProcessId to, Head head, const Scoped& scoped, const void* payload, Wait wait,
                  std::uint64_t until_ns) {
  static std::byte answer[most_payload];
  const std::vector<std::byte> all = with_notices(scoped, payload, head.bytes, to);
  head.bytes = static_cast<std::uint16_t>(all.size());
  head.ticket = modelled_length(head.kind, scoped);
  const Head reply = ask(to, head, all.data(), answer, wait, until_ns);
  receive(to, answer, reply.bytes);
  return reply;
}

void tell_in_scope(ProcessId to, Head head, const Scoped& scoped) {
  const std::vector<std::byte> all = with_notices(scoped, nullptr, 0, to);
  head.bytes = static_cast<std::uint16_t>(all.size());
  head.ticket = modelled_length(head.kind, scoped);
  tell(to, head, all.data());
}

void apply_notices(const SyncObject& object) {
  // What handlers of signals have stored since this process asked goes home before copies die.
  change_interval(Sync::acquire);
  apply_all([&](const NoticedPages& run, std::uint64_t page) REQUIRES(application) {
    return own_copies().apply_grant_notice(notice_of(run, page), somebody_else(), object);
  });
}

void count_arrival() {
  const SyncObject team{SyncObject::Kind::team, team_of_answer};
  if (team_of_answer != processes()) {
    own_notes = own_copies().hand_on(team).size();
  } else if (self.jiajia.scope == Scope::openmp) {
    own_notes = own_copies().take_notes().size();
  }
  count_further(jiajia::FurtherCount::notices, own_notes);
  count_sync_messages(barrier_master, jiajia::MessageKind::BARR, team, own_notes);
}

void apply_barrier_notices() {
  if (team_of_answer != processes()) return apply_notices({SyncObject::Kind::team, team_of_answer});
  const bool with_homes = homes_matter_at_barriers(self.jiajia);
  const std::vector<jiajia::BarrierNotice> moves = with_homes ? received_moves() : std::vector<jiajia::BarrierNotice>{};
  follow_moves(moves);
  change_interval(Sync::acquire);
  ++passed_barriers;
  apply_all([&](const NoticedPages& run, std::uint64_t page) REQUIRES(application) {
    if (with_homes) return own_copies().apply_barrier_notice(barrier_notice_of(run, page));
    return own_copies().apply_barrier_notice({notice_of(run, page), true, somebody_else(), somebody_else()});
  });
  for (const jiajia::BarrierNotice& move : moves) {
    count_further(jiajia::FurtherCount::migrated_in, move.next == self.process ? 1 : 0);
    count_further(jiajia::FurtherCount::migrated_out, move.home == self.process ? 1 : 0);
  }
  if (with_homes) move_homes(moves);
}

}  // namespace sdsm::dsm
