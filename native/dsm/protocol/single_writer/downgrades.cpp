#include "native/dsm/protocol/single_writer/downgrades.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "native/dsm/memory/memory.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/protocol/scash/copies.hpp"
#include "native/dsm/protocol/single_writer/copies.hpp"
#include "native/dsm/protocol/single_writer/page_turns.hpp"
#include "native/dsm/protocol/single_writer/rights_requests.hpp"
#include "native/dsm/requests/answering.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/requests/events.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/dsm/wire/diff.hpp"
#include "native/dsm/wire/diff_pieces.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

struct DowngradeRequest {
  ProcessId home{};
  std::uintptr_t page = 0;
  PageWish kept;
  std::vector<std::uint64_t> grants{};  ///< that were sent before, by process of the node
  bool is_shut = false;
  bool was_written = false;
  bool takes_copy = false;  ///< from the node, as its last process that shut the page
};

struct Answer {
  ProcessId to{};
  std::function<LateAnswer()> take;
  std::optional<LateAnswer> taken = {};
};

/// The service thread's.
struct Downgrades {
  std::vector<DowngradeRequest> put_off;
  std::vector<Answer> answers;      ///< in their order
  std::vector<ProcessId> entering;  ///< that wait until this process is in single-writer mode
  SingleWriterMode entered{};       ///< in which they are
  bool enters = false;              ///< the process has yet to be counted among those of the node that are in it
  bool has_put_off = false;
  std::uint32_t late_diffs = 0;  ///< that are not at home yet
};
constinit Downgrades downgrades GUARDED_BY(handling);

/// Until then the application thread keeps its pages.
constinit std::uint64_t kept_until_ns GUARDED_BY(node().mutex) = 0;
/// The service thread has had its turn since. A loop that polls a page which local peers shut faults as often as an
/// instruction that needs several pages, and would keep the others for ever.
constinit bool has_given_way GUARDED_BY(node().mutex) = true;

/// The mode of all processes.
constinit SingleWriterMode common_mode GUARDED_BY(application) = SingleWriterMode::off;

bool is_asked_for(std::uintptr_t page) REQUIRES(node().mutex) {
  return std::any_of(node().arriving.begin(), node().arriving.end(),
                     [&](const Arriving& arriving) { return arriving.address == page; });
}

/// Sends home what the node has changed in copies, or in those of stacks alone.
void send_late_diffs(bool of_stacks_only) REQUIRES(handling, node().mutex);

auto find_downgrading(std::uintptr_t page) REQUIRES(node().mutex) {
  return std::find_if(node().downgrading.begin(), node().downgrading.end(),
                      [&](const Downgrading& downgrading) { return downgrading.address == page; });
}

/// Local peers have sent changes that are not at home yet. They go by other connections, so what has changed since in
/// the same places might come before them.
bool local_peers_send() REQUIRES(handling) {
  return node().late_diffs > downgrades.late_diffs;
}

/// False if the page cannot be shut now.
bool shut(DowngradeRequest& request) REQUIRES(handling, node().mutex) {
  // Local peers, too, leave a page that was granted to one of them until it is in use.
  const std::size_t each = request.grants.size();
  for (std::size_t i = 0; i < each; ++i) {
    if (node().grants[index_of(request.home) * each + i] < request.grants[i]) return false;
  }
  if (now_ns() < kept_until_ns) return false;
  has_given_way = true;
  if (local_peers_send()) return false;
  request.is_shut = true;
  request.was_written = may_be_written(request.page);
  if (is_on_own_node(request.home)) {
    if (!request.was_written && request.kept.right() == Right::read) return true;
    shut_page(request.page);
  } else {
    shut_page(request.page);
    auto downgrading = find_downgrading(request.page);
    if (downgrading == node().downgrading.end())
      downgrading = node().downgrading.insert(downgrading, {request.page, 0});
    request.takes_copy = ++downgrading->shut_by == self.layout.threads_per_node;
  }
  note_lost_page(request.page);
  // What the node stored in others' stacks before it stored here has to be seen first.
  if (is_in_single_writer_mode()) send_late_diffs(true);
  return true;
}

/// Whether the node has changed the page since it was twinned; all its parts are added to `parts`.
bool is_changed(std::uintptr_t page, Parts& parts) REQUIRES(node().mutex) {
  const auto twinned = std::find_if(node().twinned.begin(), node().twinned.end(),
                                    [&](const Place& place) { return place.address == page; });
  if (twinned == node().twinned.end()) return false;
  parts = twinned->parts;
  const Range& range = *find_range(page);
  bool is_same = true;
  for_each_piece_of(page, parts, [&](std::uintptr_t begin, std::size_t bytes) {
    is_same = is_same && std::memcmp(range.view_of(begin), range.twin_of(begin), bytes) == 0;
  });
  return !is_same;
}

/// Takes the copy from the node, all of whose processes have shut it. Returns its content if that was changed.
Parts take_copy(const DowngradeRequest& request) REQUIRES(node().mutex) {
  node().downgrading.erase(find_downgrading(request.page));
  pthread_cond_broadcast(&node().arrival);
  const PageId id = request.kept.page();
  const bool keeps_reading = request.kept.right() == Right::read;
  Parts parts = 0;
  if (is_asked_for(request.page)) {
    // The home comes to this node's request later: the node has no copy, or has not written it.
    const bool has_copy = std::any_of(node().arriving.begin(), node().arriving.end(), [&](const Arriving& arriving) {
      return arriving.address == request.page && arriving.has_copy;
    });
    if (!has_copy || keeps_reading) return 0;
  } else if (node().pages.node_permission(id, Owner::remote) == Permission::read_write) {
    if (!is_changed(request.page, parts)) parts = 0;
  }
  downgrade_copy(id, keeps_reading);
  return parts;
}

bool try_downgrade(DowngradeRequest& request) REQUIRES(handling) {
  if (!node().mutex.try_lock()) return false;
  const bool is_done = (request.is_shut || shut(request)) && downgrades.late_diffs == 0;
  const Parts parts = is_done && request.takes_copy ? take_copy(request) : Parts{0};
  // Nobody changes the page before its home grants it again.
  node().mutex.unlock();
  if (!is_done) return false;
  const auto bytes = static_cast<std::uint32_t>(parts == 0 ? 0 : shared_page_bytes());
  const Head head{.kind = WireKind::downgraded,
                  .bytes = bytes,
                  .address = request.page,
                  .value = Downgraded{request.was_written, parts}.number()};
  static std::byte* const room = reserve_array<std::byte>(shared_page_bytes());
  const std::byte* const content = parts == 0 ? nullptr : slot_content(request.page, room);
  if (parts != 0) count_late_diff(request.home, bytes);
  if (request.home == self.process) {
    receive_downgraded(head, content);
  } else {
    notify(request.home, head, content);
  }
  return true;
}

/// Nothing else may be done meanwhile: the stopped thread may hold any lock of this process, as for sending.
EncodedDiff encode_whole(const Place& place, const Range& range, bool is_open_stack, DiffBuffer& buffer)
    REQUIRES(node().mutex) {
  std::optional<StopTheWorld> nobody_stores;
  if (stops_the_world(single_writer_mode_here(), is_open_stack, false)) nobody_stores.emplace();
  return encode_diff(place.address, range.view_of(place.address), range.twin_of(place.address), buffer, place.parts);
}

void send_late_diffs(bool of_stacks_only) {
  static DiffBuffer buffer;
  for (const Place& place : node().twinned) {
    if (place.owner != Owner::remote || place.address == 0 || is_asked_for(place.address)) continue;
    const auto& of_stacks = node().copies.of_stacks;
    const bool is_of_stack = std::any_of(of_stacks.begin(), of_stacks.end(),
                                         [&](const Place& copy) { return copy.address == place.address; });
    if (of_stacks_only && !is_of_stack) continue;
    const Range& range = *find_range(place.address);
    const EncodedDiff diff = encode_whole(place, range, of_stacks_only, buffer);
    if (!diff.change) continue;
    ++downgrades.late_diffs;
    ++node().late_diffs;
    count_late_diff(place.home, diff.bytes);
    for_each_piece(buffer.diff, buffer.twin_words, diff, [&](Head head, const std::byte* payload) REQUIRES(handling) {
      head.kind = WireKind::late_diff;
      notify(place.home, head, payload);
    });
  }
}

/// The node is in single-writer mode when what it has changed is at home: then its processes ask homes for pages again.
void count_entry() REQUIRES(handling, node().mutex) {
  downgrades.enters = false;
  ++node().in_single_writer_mode;
  pthread_cond_broadcast(&node().arrival);
}

/// This process's part: shuts what it has open. The last one of the node sends home what all of them have changed.
void begin_entry() REQUIRES(handling, node().mutex) {
  shut_for_single_writer_mode();
  downgrades.enters = true;
  if (node().in_single_writer_mode + 1 < self.layout.threads_per_node) return count_entry();
  send_late_diffs(false);
  drop_all_copies();
}

/// False if the tables are in use, or changes are not at home yet.
bool try_to_enter() REQUIRES(handling) {
  if (single_writer_mode >= downgrades.entered && !downgrades.enters) {
    // An application thread that brings its node into it holds the tables until what the node changed is at home.
    if (downgrades.late_diffs > 0 || local_peers_send() || !node().mutex.try_lock()) return false;
    node().mutex.unlock();
    return true;
  }
  if (!are_pages_protected()) {
    single_writer_mode = downgrades.entered;
    return true;
  }
  if (!node().mutex.try_lock()) return false;
  if (single_writer_mode < downgrades.entered &&
      single_writer_mode.exchange(downgrades.entered) == SingleWriterMode::off)
    begin_entry();
  // A local peer may have taken what this process would have sent.
  const bool is_home = downgrades.late_diffs == 0 && !local_peers_send();
  if (downgrades.enters && is_home) count_entry();
  node().mutex.unlock();
  return is_home;
}

bool try_to_answer(Answer& one) REQUIRES(handling) {
  if (!one.taken) {
    if (!node().mutex.try_lock()) return false;
    if (!local_peers_send()) {
      // First what others will see: what was stored before it is then found behind it.
      one.taken = one.take();
      send_late_diffs(true);
    }
    node().mutex.unlock();
  }
  if (!one.taken || downgrades.late_diffs > 0) return false;
  answer(one.to, one.taken->head, one.taken->content.data());
  return true;
}

void go_on_with_answers() REQUIRES(handling) {
  auto& answers = downgrades.answers;
  while (!answers.empty() && try_to_answer(answers.front())) answers.erase(answers.begin());
}

void note_put_off(bool has_put_off) REQUIRES(handling) {
  if (std::exchange(downgrades.has_put_off, has_put_off) == has_put_off) return;
  node().put_off += has_put_off ? 1U : -1U;
}

void answer_who_enters() REQUIRES(handling) {
  if (downgrades.entering.empty() || !try_to_enter()) return;
  for (const ProcessId asker : downgrades.entering) answer_value(asker, 0);
  downgrades.entering.clear();
  downgrades.entered = SingleWriterMode::off;
}

}  // namespace

void shut_for_single_writer_mode() {
  node().shares_pages = true;
  note_single_writer_mode();
  shut_all_pages();
}

SingleWriterMode common_single_writer_mode() {
  return common_mode;
}

bool is_single_writer_mode_due() {
  return sdsm::is_single_writer_mode_due(common_mode, the_protocol().has_peers(), self.layout.nodes);
}

void change_single_writer_mode(SingleWriterEvent event) {
  const SingleWriterMode wanted = after(event, common_mode);
  // The processes of one node have all memory in common.
  if (wanted == common_mode || !the_protocol().has_peers() || self.layout.nodes == 1) return;
  join_single_writer_mode(wanted);
  const Head enters{.kind = WireKind::single_writer_mode, .value = static_cast<std::uint64_t>(wanted)};
  for (std::uint32_t i = 0; i < processes(); ++i) {
    if (ProcessId{i} != self.process) ask(ProcessId{i}, enters);
  }
  // Another thread may have brought this process into it, which has fetched pages since from homes that were not in it.
  if (common_mode == SingleWriterMode::off) refetch_stacks();
  common_mode = wanted;
}

void receive_single_writer_mode(ProcessId from, const Head& head) {
  downgrades.entering.push_back(from);
  downgrades.entered = std::max(downgrades.entered, SingleWriterMode{static_cast<std::uint8_t>(head.value)});
  answer_who_enters();
}

void end_single_writer_mode() {
  const NodeGuard guard;
  const SingleWriterMode mode = after(SingleWriterEvent::barrier, single_writer_mode);
  single_writer_mode = common_mode = mode;
  if (mode != SingleWriterMode::off) return;
  node().in_single_writer_mode = 0;
  node().shares_pages = false;
}

void receive_late_done() {
  --downgrades.late_diffs;
  --node().late_diffs;
  answer_who_enters();
  go_on_with_answers();
}

void answer_behind_stacks(ProcessId to, std::function<LateAnswer()> take) {
  downgrades.answers.push_back({to, std::move(take)});
  if (downgrades.answers.size() == 1) go_on_with_answers();
  if (downgrades.answers.empty()) return;
  note_put_off(true);
  if (!service.is_taken()) wake_service();
}

void receive_downgrade_request(ProcessId home, const Head& head, const std::byte* payload) {
  DowngradeRequest request{home, head.address, PageWish{head.value}};
  request.grants.resize(self.layout.threads_per_node);
  std::memcpy(request.grants.data(), payload, request.grants.size() * sizeof request.grants[0]);
  if (try_downgrade(request)) return;
  downgrades.put_off.push_back(std::move(request));
  note_put_off(true);
  if (!service.is_taken()) wake_service();
}

bool continue_downgrades() {
  std::vector<DowngradeRequest> again;
  again.swap(downgrades.put_off);
  for (DowngradeRequest& request : again) {
    if (!try_downgrade(request)) downgrades.put_off.push_back(std::move(request));
  }
  answer_who_enters();
  go_on_with_answers();
  note_put_off(!downgrades.put_off.empty() || !downgrades.entering.empty() || !downgrades.answers.empty());
  return downgrades.has_put_off;
}

void await_late_diffs() {
  constexpr unsigned pause_us = 20;
  while (node().late_diffs > 0) {
    node().mutex.unlock();
    usleep(pause_us);
    node().mutex.lock();
  }
}

void give_way() {
  constexpr unsigned most = 20;
  constexpr unsigned pause_us = 20;
  for (unsigned i = 0; i < most && node().put_off > 0; ++i) usleep(pause_us);
}

void confirm_grant(ProcessId home) {
  const std::size_t each = self.layout.threads_per_node;
  ++node().grants[index_of(home) * each + index_of(self.process) % each];
}

bool is_being_downgraded(std::uintptr_t page) {
  const std::uint32_t entered = node().in_single_writer_mode;
  if (entered > 0 && entered < self.layout.threads_per_node) return true;
  return std::any_of(node().downgrading.begin(), node().downgrading.end(),
                     [&](const Downgrading& downgrading) { return downgrading.address == page; });
}

std::uint64_t keep_pages_for(std::uint64_t ns) {
  const std::uint64_t now = now_ns();
  if (ns > 0 && (now < kept_until_ns || (node().put_off > 0 && !has_given_way))) return 0;
  has_given_way = ns == 0;
  return kept_until_ns = ns == 0 ? 0 : now + ns;
}

}  // namespace sdsm::dsm
