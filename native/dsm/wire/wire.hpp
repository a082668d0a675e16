/// Messages between processes. Every ordered pair of processes has a connection: the first one's application thread
/// asks, the second one's service thread answers, and at most one question is open at a time. So a fault waits on one
/// socket, and only the home's service thread stands between it and its page.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "models/jiajia/messages.hpp"
#include "models/program/demand.hpp"
#include "models/scash/messages.hpp"
#include "models/single_writer/page_sharing.hpp"
#include "native/guest/code/atomic_operation.hpp"

namespace sdsm::dsm {

/// Numbers up to `lock_release` are those of MessageKind: messages that the protocol counts. The others are replies,
/// and messages of this run-time that SCASH's sources do not mention.
enum class WireKind : std::uint8_t {
  page_request,   ///< address: page; value: PageWish; payload: for each further page wanted, how many pages
                  ///< behind the first it lies (std::uint32_t), or in single-writer mode HeldCopy. Answer: page_reply
  write_request,  ///< address: page; value: PageWish. Answer in single-writer mode: done (when nobody else has the
                  ///< page)
  diff,           ///< a piece of a diff; address: bytes of the diff before it; value: DiffPiece; payload: the piece,
                  ///< then a piece of the twin's words. Answer: done, when the piece is here. Under JIAJIA a whole
  ///< DIFF message; address: number of answers that the home adds to its counts; value: bytes of data by the
  ///< model; payload: PartOfDiff, piece and words of each part. Answer: diff_grant
  barrier_arrive,   ///< at a gang's barrier, address: its key; value: its size. At the team's, address: 0; value: 0,
                    ///< changes_are_home or notices_are_here; payload: NoticeRuns. Answer: barrier_release (when all
                    ///< have come), or quit
  barrier_release,  ///< value: calls of the clock so far, for the measured region. Where notices are here: address: the
                    ///< epoch that ends; value: how many NoticeRuns it has; payload: the first ones
  lock_request,     ///< address: LockId; value: engine::Demand (0 for a mutex); payload: in ordered loops, OrderedTurn.
                    ///< Answer: lock_grant (when it is free)
  lock_grant,       ///< address: GrantSays; value: how often it was granted before
  lock_release,     ///< address: LockId; value: as lock_request. No answer

  page_reply,    ///< address: how many atomic operations the home has done for others; value: bit i: page i was changed
                 ///< since the last barrier by an atomic operation, or in single-writer mode; payload: the pages' slots
                 ///< (larger_pages.hpp)
  diff_grant,    ///< JIAJIA's: all changes of a message are at home
  done,          ///< value: what was asked for, if it is a number
  quit,          ///< the program has ended. generation: when, the last 32 bits of process 0's clock
  quit_in_turn,  ///< as quit, but this process first asks for its turn to run exit functions
  exit_functions,  ///< this process has some. No answer
  hello,           ///< the first message on a connection; payload: Hello
  lock_try,        ///< as lock_request, but the answer comes at once: lock_grant, or done; value: who has it
  lock_held,  ///< to the process that has it according to its manager. address: LockId. Answer: done; value: 1 if so
  lock_name,  ///< address of the lock object; value: LockClass. Answer: done; value: LockId
  // Other synchronisation objects of the C library (native/guest/threads/engine.hpp). address: LockId of the object.
  object_give,    ///< as lock_release. Answer: done
  object_set,     ///< value: ObjectNumber. Answer: done
  object_number,  ///< value: ObjectNumber, asked for. Answer: done; value: the number
  object_meet,    ///< Answer: lock_grant (when all have come)
  object_enlist,  ///< Answer: done
  object_await,   ///< value: as of object_leave. Answer: lock_grant (when it is no longer enlisted)
  object_wake,    ///< value: how many at most. Answer: done; value: how many
  object_leave,   ///< waits no longer. value: 1 if it stays enlisted. Answer, if it waited: lock_grant: too_late
  make_key,       ///< Answer: done; value: a number that no key has
  ordered_pass,   ///< payload: OrderedTurn; value: whose turn is next. Answer (when the turn has come): done
  flag_post,      ///< address: flag; value: what it counts now. No answer
  flag_wait,      ///< address: flag; value: what it has to count. Answer (when it does): lock_grant
  region_of,      ///< address: page. Answer: done; payload: KnownRegion (of no pages if it is in none)
  touch_first,    ///< address: the page's index in region `value`. Answer: done; value: the page's home
  allocate,       ///< payload: heap::Request. Answer: done; value: the block, or 0
  free_block,     ///< address. Answer: done
  unmap_pages,    ///< address, value: begin and end in large blocks. Answer: done
  map_again,      ///< address, value: as unmap_pages. Answer: done; value: 1 if all belong to blocks
  room_of,        ///< address. Answer: done; value: bytes
  used_pages,     ///< address, value: begin and end in a large block. Answer: done; address, value: of the first used
                  ///< pages
  put_page,       ///< address: part of a page; payload: its bytes, for its new home. Answer: done
  shut_copies,    ///< to a local peer (scash/flushes.cpp). Answer: done
  open_state,     ///< address: construct. Answer (when nobody else has it): done; payload: ConstructState
  close_state,    ///< address: construct; payload: ConstructState. No answer
  single_writer_mode,  ///< from now on pages are shared as models/single_writer/page_sharing.hpp says. Answer: done
                       ///< (when they are)
  end_turn,            ///< Answer (when it is this process's turn to run exit functions): done
  end_done,    ///< its exit functions have run. address: 1 if one has ended the program; value: the status then. Answer
               ///< (when the program has ended): done
  late_diff,   ///< as diff, between service threads. Answer for the last piece: late_done
  late_done,   ///< no answer
  stack_news,  ///< single-writer mode, between service threads of a node: another process will change the sender's
               ///< stack. Answer: stack_news_seen
  stack_news_seen,  ///< no answer
  home_request,  ///< single-writer mode: address: page of the own node; value: PageWish. Answer: done; value: OwnPage
  downgrade_request,  ///< single-writer mode, between service threads: address: page; value: PageWish, of what may be
                      ///< kept; payload: how often the home has granted pages so far, by process of the node. Answer:
                      ///< downgraded
  downgraded,         ///< address: page; value: Downgraded; payload: the page's slot, if it comes home. No answer
  turn_ask,       ///< single-writer mode: to process 0: value: ns (models/single_writer/page_turns.hpp). Answer: done;
                  ///< value: ns to wait
  turn_end,       ///< no answer
  atomic,         ///< address: page; value: PageWish; payload: OperationAt. Answer: done; address: how many
                  ///< the home has done for others; payload: program::AtomicOutcome
  gang_divided,   ///< address: key of the division; payload: GangDivision. No answer
  gang_left,      ///< address, value: as in barrier_arrive. No answer
  write_notices,  ///< payload: NoticeRuns, as far as barrier_arrive has no room for them. No answer
  more_notices,   ///< value: how many of the ended epoch's are known. Answer: done; payload: the next ones
  seen_values,    ///< payload: SeenValues (blind_waits.cpp). Answer: done; value: 1 if some have been changed here
  file_closed,    ///< a pipe or socket, between processes of a host. No answer
  has_file,  ///< address: descriptor. Answer: done; value: the process of the asked one's host that opened it, plus
             ///< 1; 0: none
  exit_run,  ///< to process 0: address: ExitKind; value: status. No answer; quit answers the sender's barrier_arrive
};

/// How a thread ends the program.
enum class ExitKind : std::uint64_t { normal, quick, immediate };

enum class GrantSays : std::uint64_t { yours, too_late, last_to_meet };

/// One of an object's numbers, as a message's value.
struct ObjectNumber {
  Counted what{};
  std::uint8_t unused[3]{};
  std::int32_t number = 0;
};
static_assert(sizeof(ObjectNumber) == sizeof(std::uint64_t));

/// A turn in an ordered loop: the loop's number, and the first iteration of the chunk that wants to go on.
struct OrderedTurn {
  std::uint64_t construct = 0;
  std::uint64_t first_iteration = 0;
};

/// How a gang is divided, or the team.
struct GangDivision {
  std::uint64_t whole = 0;      ///< the gang's key; 0: the team
  std::uint64_t size = 0;       ///< of the whole
  std::uint64_t arguments = 0;  ///< alike for all
};

/// A number below 2^24, in three bytes: pages of 64 KiB that come together are longer than 2^16.
class ThreeBytes {
 public:
  constexpr ThreeBytes() = default;
  constexpr ThreeBytes(std::uint32_t number)  // NOLINT(google-explicit-constructor)
      : bytes_{static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8),
               static_cast<std::uint8_t>(number >> 16)} {}
  constexpr operator std::uint32_t() const {  // NOLINT(google-explicit-constructor)
    return bytes_[0] | std::uint32_t{bytes_[1]} << 8 | std::uint32_t{bytes_[2]} << 16;
  }

 private:
  std::uint8_t bytes_[3] = {};
};

struct Head {
  WireKind kind{};
  ThreeBytes bytes = 0;          ///< of the payload that follows
  std::uint32_t generation = 0;  ///< of the regions, as far as the sender knows (regions.hpp)
  std::uint64_t ticket = 0;  ///< on an emulated network: when the receiver may take it (emulated_network.hpp). Before
                             ///< the message is sent: its payload by the model, where that depends on notices
  std::uint64_t address = 0;
  std::uint64_t value = 0;
};
static_assert(sizeof(Head) == control_payload.count, "what the simulator counts for a control message");

/// The right that a process wants to a page in single-writer mode, and the page's id, by which others find their
/// copies. 0 outside of single-writer mode.
struct PageWish {
  static constexpr unsigned right_bits = 2;
  static constexpr unsigned region_bits = 24;

  std::uint64_t number = 0;

  static constexpr PageWish of(PageId page, Right right) {
    return {(page.index << region_bits | index_of(page.region)) << right_bits | static_cast<std::uint64_t>(right)};
  }
  constexpr Right right() const { return static_cast<Right>(number & ((1U << right_bits) - 1)); }
  constexpr PageId page() const {
    const std::uint64_t page = number >> right_bits;
    return {RegionId{static_cast<std::uint32_t>(page & ((1U << region_bits) - 1))}, page >> region_bits};
  }
};

constexpr std::uint64_t hash_with(std::uint64_t hash, std::uint64_t word) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio: spreads every bit upwards
  const std::uint64_t spread = (hash ^ word ^ odd) * odd;
  return spread ^ spread >> 32;
}

/// A copy that the asking node has of another page of the same stack, in single-writer mode. It stays if it is still
/// what its home has: bit 1 + i of the answer's value says so of the i-th.
struct HeldCopy {
  static constexpr std::size_t most = 32;

  std::uint64_t address = 0;
  std::uint64_t hash = 0;  ///< of the page, without what its node has changed since the copy came

  static std::uint64_t hash_of(const std::byte* page) {
    std::uint64_t hash = 0;
    for (std::size_t at = 0; at < static_cast<std::size_t>(page_payload.count); at += sizeof hash) {
      std::uint64_t word = 0;
      std::memcpy(&word, page + at, sizeof word);
      hash = hash_with(hash, word);
    }
    return hash;
  }
};

/// The right that a node has to its own page in single-writer mode.
struct OwnPage {
  Right right{};
  bool is_changed = false;  ///< since the last barrier, by some process

  constexpr std::uint64_t number() const { return static_cast<std::uint64_t>(right) << 1 | (is_changed ? 1U : 0U); }
  static constexpr OwnPage of(std::uint64_t number) { return {static_cast<Right>(number >> 1), (number & 1) != 0}; }
};

/// The state of a page that a process downgrades.
struct Downgraded {
  bool was_written = false;
  std::uint16_t parts = 0;  ///< the base pages whose content comes with the message

  constexpr std::uint64_t number() const { return std::uint64_t{parts} << 1 | (was_written ? 1U : 0U); }
  static constexpr Downgraded of(std::uint64_t number) {
    return {(number & 1) != 0, static_cast<std::uint16_t>(number >> 1)};
  }
};

/// An atomic operation, at so many bytes behind the begin of a page.
struct OperationAt {
  program::AtomicOperation operation;
  std::uint64_t offset = 0;
};

/// Sizes that go with a piece of a diff, in bytes.
struct DiffPiece {
  ThreeBytes diff_bytes;    ///< of the whole diff
  ThreeBytes twin_bytes;    ///< of all words of the twin
  std::uint16_t bytes = 0;  ///< of the diff in this message
};

/// Sizes in bytes that precede each part of a diff in one of JIAJIA's messages.
struct PartOfDiff {
  std::uint32_t diff_bytes = 0;  ///< of the whole diff
  std::uint32_t twin_bytes = 0;  ///< of all words of the twin
  std::uint32_t bytes = 0;       ///< of the diff in this message
  std::uint32_t twin_piece = 0;  ///< of the twin's words
};

/// Pages that a node wrote in an epoch (models/scash/node_pages.hpp).
struct NoticeRun {
  std::uint64_t first = 0;  ///< page of the region
  std::uint64_t pages = 0;
  std::uint32_t region = 0;
  std::uint32_t writer = 0;  ///< a node
};

/// The value that a member of the team sends with the message after its flush.
inline constexpr std::uint64_t changes_are_home = 1;
inline constexpr std::uint64_t notices_are_here = 2;  ///< changes too

/// Whether this answers a question that the program's signal handlers may interrupt. Questions that a signal handler
/// asks never get such an answer.
constexpr bool answers_long_question(WireKind kind) {
  return kind == WireKind::barrier_release || kind == WireKind::quit || kind == WireKind::quit_in_turn ||
         kind == WireKind::exit_run || kind == WireKind::lock_grant;
}

/// Largest payload of a message that carries no page.
inline constexpr std::uint32_t most_payload = static_cast<std::uint32_t>(page_payload.count);
inline constexpr std::size_t most_notices = most_payload / sizeof(NoticeRun);

}  // namespace sdsm::dsm
