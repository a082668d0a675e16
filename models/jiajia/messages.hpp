/// JIAJIA's messages and what they carry. Each has a header of 32 bytes on top, and each is acknowledged.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/diff.hpp"
#include "models/units.hpp"

namespace sdsm::jiajia {

/// GRANT answers the one before. WTNT and INVLD precede a message with too many notices. FORK: [HY]'s region begins.
enum class MessageKind : std::uint8_t {
  GETP,
  GETPGRANT,
  DIFF,
  DIFFGRANT,
  ACQ,
  ACQGRANT,
  REL,
  BARR,
  BARRGRANT,
  WTNT,
  INVLD,
  FORK,
};
inline constexpr std::array<std::string_view, 12> message_names = {
    "GETP", "GETPGRANT", "DIFF", "DIFFGRANT", "ACQ", "ACQGRANT", "REL", "BARR", "BARRGRANT", "WTNT", "INVLD", "FORK"};
inline constexpr std::size_t message_kinds = message_names.size();

inline constexpr Bytes header{32};
inline constexpr Bytes page_request_data{8};
/// Data of a page reply beside the page.
inline constexpr Bytes page_reply_data{12};
inline constexpr Bytes lock_request_data{4};

/// Largest data of a DIFF: a message of 40,960 bytes without its header.
inline constexpr Bytes most_diff_data{40928};

/// Data of one page in a DIFF, beside its changes.
inline constexpr Bytes page_head{12};
constexpr Bytes diff_data(Change change) {
  return page_head + change.runs * run_header + change.words * diff_word;
}

/// The DIFF messages of one interval to one home. Pages go in one after another, while there is room. A larger page's
/// diff may be longer than a message, and goes on in the next one.
struct DiffMessages {
  std::vector<Bytes> data;  ///< of each

  void add(Bytes diff) {
    add(diff, [](Bytes) {});
  }
  /// Calls `put` with how many bytes of it go into the last of the messages, for each that it goes into.
  template <typename Put>
  void add(Bytes diff, Put put) {
    if (data.empty() || data.back() + diff > most_diff_data) data.emplace_back();
    while (diff.count > 0) {
      if (data.back() == most_diff_data) data.emplace_back();
      const Bytes part = std::min(diff, most_diff_data - data.back());
      data.back() += part;
      diff = diff - part;
      put(part);
    }
  }
};

/// A notice of the sender's own write takes 12 bytes (REL, BARR, WTNT). One with the page's writer takes 16: in grants
/// and INVLD, and when a process sends notices of others' writes.
inline constexpr Bytes own_notice{12};
inline constexpr Bytes handed_notice{16};
inline constexpr std::uint64_t most_own = 511 * 6;
inline constexpr std::uint64_t most_handed = 511 * 5;

/// How many messages go before the last one, for so many notices.
constexpr std::uint64_t further_messages(std::uint64_t notices, std::uint64_t most) {
  return notices > most ? (notices - 1) / most : 0;
}

/// Data of a message with notices.
constexpr Bytes notice_data(std::uint64_t notices, Bytes each) {
  constexpr Bytes count{4};
  return count + static_cast<std::int64_t>(notices) * each;
}

/// Data of a request for a lock; with notices where it hands on, too, as at a library's barrier.
constexpr Bytes lock_request(std::uint64_t notices = 0) {
  return lock_request_data + static_cast<std::int64_t>(notices) * handed_notice;
}

struct Message {
  MessageKind kind;
  Bytes data;
};

/// A region's address and arguments. Assumed: [HY] does not say how long they are.
inline constexpr Bytes region_data{64};

/// The messages of a fork, with pages that no process faults on.
inline std::vector<Message> fork_messages(std::uint64_t notices, Bytes pages) {
  std::vector<Message> messages;
  for (Bytes left = region_data + notice_data(notices, own_notice) + pages; left.count > 0;) {
    const Bytes part = std::min(left, most_diff_data);
    messages.push_back({MessageKind::FORK, part});
    left = left - part;
  }
  return messages;
}

/// A message with so many notices, and those that go before it where they do not fit into one.
inline std::vector<Message> with_notices(MessageKind last, std::uint64_t notices, bool of_others = false) {
  const bool to_manager = last == MessageKind::REL || last == MessageKind::BARR;
  const bool is_short = to_manager && !of_others;
  const Bytes each = is_short ? own_notice : handed_notice;
  const std::uint64_t most = is_short ? most_own : most_handed;
  std::vector<Message> messages;
  for (std::uint64_t i = further_messages(notices, most); i > 0; --i, notices -= most) {
    messages.push_back({to_manager ? MessageKind::WTNT : MessageKind::INVLD, notice_data(most, each)});
  }
  messages.push_back({last, notice_data(notices, each)});
  return messages;
}

}  // namespace sdsm::jiajia
