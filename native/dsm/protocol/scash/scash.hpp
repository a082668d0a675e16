/// The part of SCASH behind the door (native/dsm/protocol/protocol.hpp) that does not depend on when pages move. That
/// is decided in native/dsm/protocol/single_writer/.
#pragma once

#include <bit>
#include <optional>

#include "models/prefetch.hpp"
#include "models/scash/courses.hpp"
#include "models/scash/messages.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/protocol/scash/write_notices.hpp"
#include "native/dsm/requests/answering.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/wire/counting.hpp"

namespace sdsm::dsm {

/// A lock that this process has just got, and how often it was granted before.
struct Grant {
  LockId lock{};
  std::uint64_t number = 0;
};

class Scash : public Protocol {
 public:
  const ModelOfMessages& messages() const override { return model_of_messages; }

  void start() REQUIRES(starting) override {}

  void count_page_request(ProcessId home, std::uint64_t further) REQUIRES(application) override {
    const Bytes payload = control_payload + bytes_of_names(further);
    count_message(home, MessageKind::page_request, static_cast<std::uint64_t>(payload.count));
  }

  Head ask_at(const SyncPoint& point, Head question, const void* payload, Wait wait, std::uint64_t until_ns)
      REQUIRES(application) override {
    return ask(point.manager, question, payload, nullptr, wait, until_ns);
  }

  void take_grant(const SyncPoint& point, const Head& grant) REQUIRES(application) override {
    count_message(point.manager, MessageKind::lock_request, control_payload.count);
    granted_ = {point.lock, grant.value};
  }

  Head hand_on(const SyncPoint& point, Head message, bool is_answered) REQUIRES(application) override {
    Head answer;
    if (is_answered) {
      answer = ask(point.manager, message);
    } else {
      tell(point.manager, message);
    }
    count_message(point.manager, MessageKind::lock_release, control_payload.count);
    return answer;
  }

  Release arrive(Head arrival, bool has_flushed, Wait wait) REQUIRES(application) override {
    if (!has_flushed) return {ask(barrier_master, arrival, nullptr, nullptr, wait)};
    if (has_notices()) return {exchange_notices(arrival), false};
    arrival.value = changes_are_home;
    return {ask(barrier_master, arrival, nullptr, nullptr, wait)};
  }

  void count_arrival(ProcessId master) REQUIRES(application) override {
    count_message(master, courses::meet.message, control_payload.count);
  }

  void gather_notices(ProcessId, const Head& head, const std::byte* notices) REQUIRES(handling) override {
    dsm::gather_notices(head, notices);
  }
  void tell_more_notices(ProcessId from, const Head& head) REQUIRES(handling) override {
    dsm::tell_more_notices(from, head);
  }

  void count_page_reply(ProcessId to, std::uint32_t bytes) REQUIRES(handling) override { count_served(to, bytes); }

  void grant(ProcessId to, const Head& head) REQUIRES(handling) override {
    count_served(to, MessageKind::lock_grant, control_payload.count);
    answer(to, head);
  }

  void note_arrival(ProcessId, const Head& head, const std::byte* notices) REQUIRES(handling) override {
    note_arrival_with(head, notices);
  }
  bool are_changes_home() REQUIRES(handling) override { return take_changes_home(); }
  void release_team(std::uint32_t size, Head release) REQUIRES(handling) override {
    release_with_notices(size, release);
  }

 protected:
  constexpr Scash() = default;
  ~Scash() = default;

  std::optional<Grant> granted_;  ///< after which no interval has begun yet

 private:
  static constexpr ModelOfMessages model_of_messages{
      [](WireKind kind) -> std::optional<std::size_t> {
        if (kind == WireKind::page_reply) return unnumbered;
        if (kind == WireKind::flag_post) kind = WireKind::lock_release;
        if (kind == WireKind::flag_wait) kind = WireKind::lock_request;
        return kind <= WireKind::lock_release ? std::optional(static_cast<std::size_t>(kind)) : std::nullopt;
      },
      [](const Head& head) -> Bytes {
        if (head.kind == WireKind::page_reply) return {head.bytes};
        // In single-writer mode it has copies' hashes beside, for which the model has no room.
        if (head.kind == WireKind::page_request && head.value == 0) return control_payload + Bytes{head.bytes};
        if (head.kind == WireKind::diff) return {std::bit_cast<DiffPiece>(head.value).bytes};
        return control_payload;
      }};
};

}  // namespace sdsm::dsm
