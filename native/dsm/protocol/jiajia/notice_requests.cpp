/// JIAJIA's write notices at the managers of locks, flags and barriers: who wrote which pages, and who needs to know.
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "models/homes.hpp"
#include "models/jiajia/messages.hpp"
#include "models/jiajia/notices.hpp"
#include "native/dsm/books/book_requests.hpp"
#include "native/dsm/books/regions.hpp"
#include "native/dsm/protocol/jiajia/notice_requests.hpp"
#include "native/dsm/protocol/jiajia/notice_wire.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

using jiajia::Notice;
using jiajia::SyncObject;

struct NoticeHandler {
  NoticeHandler() NO_THREAD_SAFETY_ANALYSIS : locks(self.jiajia), met(self.jiajia) {
    asking.resize(processes());
    for (const RegionId region : unnoticed_regions()) met.add_unnoticed(region);
  }

  struct Asker {
    SyncObject object;                   ///< of its last question
    std::vector<NoticedPages> gathered;  ///< of the message that is under way
    std::vector<Notice> arrived;         ///< with which it came to the barrier
    std::vector<NoticedPages> answered;  ///< with the last answer
  };
  jiajia::LockNotices locks;
  jiajia::BarrierNotices met;
  std::vector<Asker> asking;          ///< by process
  std::map<PageId, ProcessId> homes;  ///< of pages, under Scope::lock, as the senders of notices give them
  Homes moved;                        ///< of all pages, at the barrier's manager
  std::uint32_t barriers = 0;         ///< that have ended, as far as this process knows
};
NoticeHandler& notice_handler() REQUIRES(handling) {
  static NoticeHandler handler;
  return handler;
}

[[noreturn]] void end_at_nonsense(ProcessId from) {
  program::end_run({"process ", program::Decimal(index_of(from)), " sent notices that contradict themselves"});
}

void gather(ProcessId from, const std::byte* runs, std::size_t count) REQUIRES(handling) {
  std::vector<NoticedPages>& gathered = notice_handler().asking[index_of(from)].gathered;
  const std::size_t before = gathered.size();
  gathered.resize(before + count);
  if (count > 0) std::memcpy(gathered.data() + before, runs, count * sizeof(NoticedPages));
}

std::vector<Notice> take_gathered(ProcessId from) REQUIRES(handling) {
  std::vector<Notice> notices;
  for (const NoticedPages& run : std::exchange(notice_handler().asking[index_of(from)].gathered, {})) {
    for (std::uint64_t i = 0; i < run.pages; ++i) {
      notices.push_back(notice_of(run, i));
      if (run.home != no_process) notice_handler().homes[notices.back().page] = ProcessId{run.home};
    }
  }
  return notices;
}

/// A sender that has passed more barriers than this process knows brings the news. One that has passed fewer sent its
/// notices before the last barrier, which has sent them to all.
void hand_on(ProcessId from, const NoticeHead& head, const std::vector<Notice>& notices) REQUIRES(handling) {
  NoticeHandler& own = notice_handler();
  NoticeHandler::Asker& asker = own.asking[index_of(from)];
  if (head.barriers > own.barriers) {
    own.locks.barrier();
    own.homes.clear();
    own.barriers = head.barriers;
  }
  if (!head.hands) return;
  if (asker.object.kind == SyncObject::Kind::team) {
    asker.arrived = notices;
    return;
  }
  own.locks.release(asker.object, from, jiajia::still_news(notices, head.barriers, own.barriers));
}

std::uint16_t bytes_of(std::size_t runs) {
  return static_cast<std::uint16_t>(runs * sizeof(NoticedPages));
}

/// So many notices, in runs.
struct Notices {
  std::vector<NoticedPages> runs;
  std::size_t count = 0;
};

Notices notices_of(const std::vector<Notice>& notices) {
  Notices of{{}, notices.size()};
  for (const Notice& notice : notices) add_notice(of.runs, notice, no_process);
  return of;
}

/// Answers with the first of these notices; the process asks for the rest.
void answer_with(ProcessId to, Head head, jiajia::MessageKind kind, const Notices& notices, std::uint32_t team = 0)
    REQUIRES(handling) {
  for (const jiajia::Message& message : jiajia::with_notices(kind, notices.count)) {
    count_served(to, message.kind, jiajia::header + message.data);
  }
  std::vector<NoticedPages>& answered = notice_handler().asking[index_of(to)].answered;
  answered = notices.runs;
  const AnswerHead in_front{static_cast<std::uint32_t>(answered.size()), team};
  const std::size_t first = std::min(answered.size(), most_noticed);
  std::byte payload[most_payload];
  std::memcpy(payload, &in_front, sizeof in_front);
  std::memcpy(payload + sizeof in_front, answered.data(), bytes_of(first));
  head.bytes = static_cast<std::uint16_t>(sizeof in_front + bytes_of(first));
  head.ticket = modelled_notices(kind, notices.count);
  answer(to, head, payload);
}

/// Takes the notices for all, when all processes are at a barrier. Pages move now; a process that receives a move has
/// the page there before its thread goes on.
Notices end_scope_of_all() REQUIRES(handling) {
  NoticeHandler& own = notice_handler();
  for (std::uint32_t i = 0; i < processes(); ++i) {
    std::vector<PageId> pages;
    for (const Notice& notice : std::exchange(own.asking[i].arrived, {})) {
      if (notice.writer == ProcessId{i}) pages.push_back(notice.page);
    }
    own.met.arrive(ProcessId{i}, pages, {});
  }
  const bool with_homes = homes_matter_at_barriers(self.jiajia);
  const auto home = [&](PageId page) {
    handling.is_held_by_asker();  // this function, for which the lambda is called
    return with_homes ? own.moved.home(page, placed_home(page)) : ProcessId{};
  };
  const std::vector<jiajia::BarrierNotice> all = own.met.take(home, false);
  Notices notices{{}, all.size()};
  for (const jiajia::BarrierNotice& one : all) {
    if (one.next != one.home) own.moved.move(one.notice.page, one.next);
    const auto number = [&](ProcessId process) {
      return with_homes ? static_cast<std::uint16_t>(index_of(process)) : no_process;
    };
    add_notice(notices.runs, one.notice, number(one.home), number(one.next));
  }
  return notices;
}

bool has_notices_in_front(WireKind kind) {
  switch (kind) {
    case WireKind::barrier_arrive:
    case WireKind::lock_request:
    case WireKind::lock_release:
    case WireKind::lock_try:
    case WireKind::object_give:
    case WireKind::object_meet:
    case WireKind::object_await:
    case WireKind::object_wake:
    case WireKind::flag_post:
    case WireKind::flag_wait: return true;
    default: return false;
  }
}

}  // namespace

const std::byte* take_notices(ProcessId from, Head& head, const std::byte* payload) {
  if (!has_notices_in_front(head.kind)) return payload;
  NoticeHead notices;
  if (head.bytes < sizeof notices) end_at_nonsense(from);
  std::memcpy(&notices, payload, sizeof notices);
  const std::size_t bytes = sizeof notices + bytes_of(notices.runs);
  if (head.bytes < bytes) end_at_nonsense(from);
  gather(from, payload + sizeof notices, notices.runs);
  notice_handler().asking[index_of(from)].object = {notices.kind, notices.number};
  hand_on(from, notices, take_gathered(from));
  head.bytes = static_cast<std::uint16_t>(head.bytes - bytes);
  return payload + bytes;
}

void gather_scope_notices(ProcessId from, const Head& head, const std::byte* payload) {
  gather(from, payload, head.bytes / sizeof(NoticedPages));
}

void tell_more_of_scope(ProcessId from, const Head& head) {
  const std::vector<NoticedPages>& answered = notice_handler().asking[index_of(from)].answered;
  if (head.value >= answered.size()) end_at_nonsense(from);
  const std::size_t more = std::min<std::size_t>(most_noticed, answered.size() - head.value);
  answer(from, {.kind = WireKind::done, .bytes = bytes_of(more)}, answered.data() + head.value);
}

void answer_grant(ProcessId to, const Head& head) {
  std::vector<Notice> notices = notice_handler().locks.grant(notice_handler().asking[index_of(to)].object, to);
  std::erase_if(notices, [&](const Notice& notice) REQUIRES(handling) {
    const auto home = notice_handler().homes.find(notice.page);
    return home != notice_handler().homes.end() && !is_handed(self.jiajia, home->second, to);
  });
  answer_with(to, head, jiajia::MessageKind::ACQGRANT, notices_of(notices));
}

void answer_team(std::uint32_t size, const Head& head) {
  NoticeHandler& own = notice_handler();
  const SyncObject team{SyncObject::Kind::team, size};
  const bool is_of_all = size == processes();
  const Notices of_all = is_of_all ? end_scope_of_all() : Notices{};
  if (!is_of_all) {
    for (std::uint32_t i = 0; i < size; ++i) {
      own.locks.release(team, ProcessId{i}, std::exchange(own.asking[i].arrived, {}));
    }
  }
  // This process goes on last: by then everything is counted that it may read.
  for (std::uint32_t i = size; i-- > 0;) {
    answer_with(ProcessId{i}, head, jiajia::MessageKind::BARRGRANT,
                is_of_all ? of_all : notices_of(own.locks.grant(team, ProcessId{i})), size);
  }
}

}  // namespace sdsm::dsm
