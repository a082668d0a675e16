/// JIAJIA's notices as they travel: in front of the payload of each question to a manager, and as the payload of its
/// answer. Their lengths are this run-time's own; what is counted are the model's (models/jiajia/messages.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "models/jiajia/rules.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

struct NoticeHead {
  std::uint64_t number = 0;    ///< of the object
  std::uint32_t barriers = 0;  ///< of all processes: how many the sender has passed
  std::uint16_t runs = 0;      ///< of notices, that follow. More may have come by write_notices
  jiajia::SyncObject::Kind kind{};
  bool hands = false;  ///< whether it hands the notices on; else it only asks
};
static_assert(sizeof(NoticeHead) == 16);

inline constexpr std::uint16_t no_process = 0xffff;

/// Equal notices of adjacent pages.
struct NoticedPages {
  std::uint64_t first = 0;  ///< page of the region
  std::uint32_t pages = 0;
  std::uint32_t region = 0;
  std::uint32_t interval = 0;
  std::uint16_t writer = no_process;  ///< no_process: several
  std::uint16_t home = no_process;    ///< where manager or process has to know it
  std::uint16_t next = no_process;    ///< the home after the barrier
};
static_assert(sizeof(NoticedPages) == 32);

struct AnswerHead {
  std::uint32_t runs = 0;  ///< of notices, in all
  std::uint32_t team = 0;  ///< of a barrier: its threads
};
inline constexpr std::size_t most_noticed = (most_payload - sizeof(AnswerHead)) / sizeof(NoticedPages);

inline void add_notice(std::vector<NoticedPages>& runs, const jiajia::Notice& notice, std::uint16_t home,
                       std::uint16_t next = no_process) {
  const auto writer = notice.writer ? static_cast<std::uint16_t>(index_of(*notice.writer)) : no_process;
  const NoticedPages one{notice.page.index, 1, index_of(notice.page.region), notice.interval, writer, home, next};
  if (!runs.empty()) {
    NoticedPages& last = runs.back();
    const bool is_alike = last.region == one.region && last.interval == one.interval && last.writer == writer &&
                          last.home == home && last.next == next;
    if (is_alike && last.first + last.pages == one.first) {
      ++last.pages;
      return;
    }
  }
  runs.push_back(one);
}

inline jiajia::Notice notice_of(const NoticedPages& run, std::uint64_t page) {
  jiajia::Notice notice{{RegionId{run.region}, run.first + page}, {}, run.interval};
  if (run.writer != no_process) notice.writer = ProcessId{run.writer};
  return notice;
}

/// A barrier's notice of the page, where homes matter.
inline jiajia::BarrierNotice barrier_notice_of(const NoticedPages& run, std::uint64_t page) {
  return {notice_of(run, page), true, ProcessId{run.home}, ProcessId{run.next}};
}

/// Head::ticket of a message with so many notices before it leaves: its length in the model.
inline std::uint64_t modelled_notices(jiajia::MessageKind kind, std::uint64_t notices, bool of_others = false) {
  Bytes payload{0};
  for (const jiajia::Message& message : jiajia::with_notices(kind, notices, of_others)) {
    payload = payload + jiajia::header + message.data;
  }
  return static_cast<std::uint64_t>(payload.count);
}

}  // namespace sdsm::dsm
