/// A protocol's kinds of faults and messages as rows, for back ends, costs and results.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "models/ids.hpp"
#include "models/page_size.hpp"
#include "models/protocol/course.hpp"
#include "models/protocol/kinds.hpp"
#include "models/protocol/pages.hpp"
#include "models/protocol/registry.hpp"
#include "models/units.hpp"

namespace sdsm {

struct FaultRow {
  std::string_view name;
  Access access;
  bool fetches_page;  ///< request and reply
  bool twins_copy;    ///< of a page of another node
};

struct MessageRow {
  std::string_view name;
  bool is_usual;  ///< results always have it, and others only where such messages were sent
};

/// A time that a platform gives, as NAME.cost; a family of times by number of threads as NAME.cost.T.
struct CostRow {
  std::string_view name;
  std::string_view meaning;
  bool is_required;  ///< a platform must give it; of a family at least one
};

/// How a protocol reaches into what a run does besides touching pages.
struct Traits {
  bool opens_home_pages = false;          ///< home pages stay writable on their home's node
  bool has_scopes = false;                ///< locks hand write notices on (models/jiajia/rules.hpp)
  bool shares_copies = true;              ///< the processes of a node have one copy of a page; else each has its own
  bool sees_plain_stores = true;          ///< a thread may wait for another's plain store (models/single_writer/)
  bool has_gang_barriers = true;          ///< parts of a team meet at barriers of their own
  bool keeps_locks = true;                ///< a thread that runs alone does (models/locks.hpp)
  bool operates_in_lock = false;          ///< an atomic operation takes a lock
  std::optional<LockId> flush_lock = {};  ///< a flush takes this lock, and gives it back; none: it needs no lock
};

struct Tables {
  std::span<const FaultRow> faults = {};
  std::span<const MessageRow> messages = {};
  std::span<const std::string_view> further_counts = {};  ///< of a thread, beside those that all protocols have
  std::size_t request = {};                               ///< the kind of a fetch's request
  std::optional<std::size_t> reply = {};                  ///< and of its reply, where results count it by kind
  Bytes request_payload = {};
  Bytes reply_beside_page = {};  ///< payload that is no page
  Bytes least_payload = {};      ///< payload of the shortest message whose cost is its own, not part of a fault's
  Bytes most_payload = {};       ///< and of the longest
  std::span<const CostRow> further_costs = {};     ///< beside those of faults and messages
  std::span<const CostRow> costs_by_threads = {};  ///< families
  bool has_datagrams = false;  ///< a platform may say how long messages are on the wire, and what acknowledges them
  Traits traits = {};
  protocol::Courses courses = {};  ///< empty where `sdsm run` does not play the protocol

  /// Without kinds of faults memory is simply there.
  bool has_pages() const { return !faults.empty(); }
  /// Without kinds of messages all threads are on one node.
  bool has_messages() const { return !messages.empty(); }
};

/// Each protocol's folder defines its own.
#define SDSM_PROTOCOL_TABLES(name, why_not_run, meaning) \
  namespace name {                                       \
  const Tables& tables();                                \
  }
SDSM_PROTOCOLS(SDSM_PROTOCOL_TABLES)
#undef SDSM_PROTOCOL_TABLES

const Tables& tables_of(ProtocolKind kind);

}  // namespace sdsm
