#include "native/dsm/recalls.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "native/dsm/answering.hpp"
#include "native/dsm/asking.hpp"
#include "native/dsm/clock.hpp"
#include "native/dsm/coherence.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/diff.hpp"
#include "native/dsm/diff_pieces.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/offices.hpp"
#include "native/dsm/opened_pages.hpp"
#include "native/dsm/page_turns.hpp"
#include "native/dsm/service.hpp"
#include "native/dsm/standing.hpp"
#include "native/program/ending.hpp"

namespace sdsm::dsm {
namespace {

struct Recall {
  ProcessId home{};
  std::uintptr_t page = 0;
  PageWish kept;
  std::uint64_t grants = 0;  ///< that were sent to this process before
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
struct Recalls {
  std::vector<Recall> put_off;
  std::vector<Answer> answers;      ///< in their order
  std::vector<ProcessId> entering;  ///< that wait until this process is in flag mode
  FlagMode entered{};               ///< in which they are
  bool enters = false;              ///< the process has yet to be counted among those of the node that are in it
  bool has_put_off = false;
  std::uint32_t late_diffs = 0;  ///< that are not at home yet
};
constinit Recalls recalls GUARDED_BY(handling);

/// The application thread's.
struct Kept {
  std::vector<std::uint64_t> grants;  ///< by home: that have come
  std::uint64_t until_ns = 0;
};
constinit Kept kept GUARDED_BY(node().mutex);

constinit std::atomic<FlagMode> flag_mode = FlagMode::off;
/// In which all are.
constinit FlagMode common_mode GUARDED_BY(application) = FlagMode::off;
constinit bool is_in_company GUARDED_BY(application) = false;
/// The thread came to a place where the program waits when it had no company.
constinit bool is_wait_due GUARDED_BY(application) = false;

bool is_asked_for(std::uintptr_t page) REQUIRES(node().mutex) {
  return std::any_of(node().arriving.begin(), node().arriving.end(),
                     [&](const Arriving& arriving) { return arriving.address == page; });
}

/// Sends home what the node has changed in copies, or in those of stacks alone.
void send_late_diffs(bool of_stacks_only) REQUIRES(handling, node().mutex);

auto find_given_up(std::uintptr_t page) REQUIRES(node().mutex) {
  return std::find_if(node().given_up.begin(), node().given_up.end(),
                      [&](const GivenUp& given_up) { return given_up.address == page; });
}

/// Companions have sent changes that are not at home yet. They go by other connections, so what has changed since in
/// the same places might come before them.
bool companions_send() REQUIRES(handling) {
  return node().late_diffs > recalls.late_diffs;
}

/// False if the page cannot be shut now.
bool shut(Recall& recall) REQUIRES(handling, node().mutex) {
  kept.grants.resize(processes());
  if (kept.grants[index_of(recall.home)] < recall.grants || now_ns() < kept.until_ns) return false;
  if (companions_send()) return false;
  recall.is_shut = true;
  recall.was_written = may_be_written(recall.page);
  if (is_on_own_node(recall.home)) {
    if (!recall.was_written && recall.kept.right() == Right::read) return true;
    shut_page(recall.page);
  } else {
    shut_page(recall.page);
    auto given_up = find_given_up(recall.page);
    if (given_up == node().given_up.end()) given_up = node().given_up.insert(given_up, {recall.page, 0});
    recall.takes_copy = ++given_up->shut_by == self.layout.threads_per_node;
  }
  note_lost_page(recall.page);
  // What the node stored in others' stacks before it stored here has to be seen first.
  if (is_in_flag_mode()) send_late_diffs(true);
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

/// Takes the copy from the node, all of whose processes have shut it. Returns what it has of its content, if that was
/// changed.
Parts take_copy(const Recall& recall) REQUIRES(node().mutex) {
  node().given_up.erase(find_given_up(recall.page));
  pthread_cond_broadcast(&node().arrival);
  const PageId id = recall.kept.page();
  const bool keeps_reading = recall.kept.right() == Right::read;
  Parts parts = 0;
  if (is_asked_for(recall.page)) {
    // The home comes to this node's request later: the node has no copy, or has not written it.
    const bool has_copy = std::any_of(node().arriving.begin(), node().arriving.end(), [&](const Arriving& arriving) {
      return arriving.address == recall.page && arriving.has_copy;
    });
    if (!has_copy || keeps_reading) return 0;
  } else if (node().pages.node_permission(id, Owner::remote) == Permission::read_write) {
    if (!is_changed(recall.page, parts)) parts = 0;
  }
  give_up_copy(id, keeps_reading);
  return parts;
}

bool try_to_give_up(Recall& recall) REQUIRES(handling) {
  if (!node().mutex.try_lock()) return false;
  const bool is_done = (recall.is_shut || shut(recall)) && recalls.late_diffs == 0;
  const Parts parts = is_done && recall.takes_copy ? take_copy(recall) : Parts{0};
  // Nobody changes the page before its home grants it again.
  node().mutex.unlock();
  if (!is_done) return false;
  const auto bytes = static_cast<std::uint32_t>(parts == 0 ? 0 : shared_page_bytes());
  const Head head{.kind = WireKind::recalled,
                  .bytes = bytes,
                  .address = recall.page,
                  .value = Recalled{recall.was_written, parts}.number()};
  static std::byte* const room = reserve_array<std::byte>(shared_page_bytes());
  const std::byte* const content = parts == 0 ? nullptr : slot_content(recall.page, room);
  if (parts != 0) count_late_diff(recall.home, bytes);
  if (recall.home == self.process) {
    hear_recalled(head, content);
  } else {
    notify(recall.home, head, content);
  }
  return true;
}

/// Nothing else may be done meanwhile: the thread that stands still may hold any lock of this process, as for sending.
EncodedDiff encode_whole(const Place& place, const Range& range, bool is_open_stack, DiffBuffer& buffer)
    REQUIRES(node().mutex) {
  std::optional<StandStill> nobody_stores;
  if (stand_still_at(flag_mode_here(), is_open_stack, false)) nobody_stores.emplace();
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
    ++recalls.late_diffs;
    ++node().late_diffs;
    count_late_diff(place.home, diff.bytes);
    for_each_piece(buffer.diff, buffer.twin_words, diff, [&](Head head, const std::byte* payload) REQUIRES(handling) {
      head.kind = WireKind::late_diff;
      notify(place.home, head, payload);
    });
  }
}

/// The node is in flag mode when what it has changed is at home: then its processes ask homes for pages again.
void count_entry() REQUIRES(handling, node().mutex) {
  recalls.enters = false;
  ++node().in_flag_mode;
  pthread_cond_broadcast(&node().arrival);
}

/// This process's part: shuts what it has open. The last one of the node sends home what all of them have changed.
void begin_entry() REQUIRES(handling, node().mutex) {
  shut_for_flag_mode();
  recalls.enters = true;
  if (node().in_flag_mode + 1 < self.layout.threads_per_node) return count_entry();
  send_late_diffs(false);
  drop_all_copies();
}

/// False if the tables are in use, or changes are not at home yet.
bool try_to_enter() REQUIRES(handling) {
  if (flag_mode >= recalls.entered && !recalls.enters) return recalls.late_diffs == 0;
  if (!are_pages_protected()) {
    flag_mode = recalls.entered;
    return true;
  }
  if (!node().mutex.try_lock()) return false;
  if (flag_mode < recalls.entered && flag_mode.exchange(recalls.entered) == FlagMode::off) begin_entry();
  if (recalls.enters && recalls.late_diffs == 0) count_entry();
  node().mutex.unlock();
  return recalls.late_diffs == 0;
}

bool try_to_answer(Answer& one) REQUIRES(handling) {
  if (!one.taken) {
    if (!node().mutex.try_lock()) return false;
    if (!companions_send()) {
      // First what others will see: what was stored before it is then found behind it.
      one.taken = one.take();
      send_late_diffs(true);
    }
    node().mutex.unlock();
  }
  if (!one.taken || recalls.late_diffs > 0) return false;
  answer(one.to, one.taken->head, one.taken->content.data());
  return true;
}

void go_on_with_answers() REQUIRES(handling) {
  auto& answers = recalls.answers;
  while (!answers.empty() && try_to_answer(answers.front())) answers.erase(answers.begin());
}

void note_put_off(bool has_put_off) REQUIRES(handling) {
  if (std::exchange(recalls.has_put_off, has_put_off) == has_put_off) return;
  node().put_off += has_put_off ? 1U : -1U;
}

void answer_who_enters() REQUIRES(handling) {
  if (recalls.entering.empty() || !try_to_enter()) return;
  for (const ProcessId asker : recalls.entering) answer_value(asker, 0);
  recalls.entering.clear();
  recalls.entered = FlagMode::off;
}

}  // namespace

void shut_for_flag_mode() {
  node().shares_pages = true;
  note_flag_mode();
  shut_all_pages();
}

FlagMode flag_mode_here() {
  return flag_mode.load(std::memory_order_acquire);
}

FlagMode common_flag_mode() {
  return common_mode;
}

void note_company(bool has_company) {
  is_in_company = has_company;
  if (is_wait_due) come_to_wait();
}

void come_to_wait() {
  is_wait_due = !is_in_company;
  if (is_wait_due) return;
  if (plays_jiajia()) {
    program::end_run(
        {"the program waits in a loop for another thread's plain store, which JIAJIA hands on at locks and barriers "
         "alone (omp atomic read is a plain load). Wait by a lock, a barrier, or an atomic operation that also writes "
         "(omp atomic capture, fetch_add), or give --protocol scash"});
  }
  change_flag_mode(FlagEvent::wait);
  ++asked.waits;
}

bool is_flag_mode_due() {
  return !plays_jiajia() && sdsm::is_flag_mode_due(common_mode, is_in_company, self.layout.nodes);
}

void change_flag_mode(FlagEvent event) {
  if (plays_jiajia()) return;
  const FlagMode wanted = after(event, common_mode);
  // The processes of one node have all memory in common.
  if (wanted == common_mode || !is_in_company || self.layout.nodes == 1) return;
  join_flag_mode(flag_mode, wanted);
  const Head enters{.kind = WireKind::flag_mode, .value = static_cast<std::uint64_t>(wanted)};
  for (std::uint32_t i = 0; i < processes(); ++i) {
    if (ProcessId{i} != self.process) ask(ProcessId{i}, enters);
  }
  // Another thread may have brought this process into it, which has fetched pages since from homes that were not in it.
  if (common_mode == FlagMode::off) look_at_stacks_anew();
  common_mode = wanted;
}

void hear_of_flags(ProcessId from, const Head& head) {
  recalls.entering.push_back(from);
  recalls.entered = std::max(recalls.entered, FlagMode{static_cast<std::uint8_t>(head.value)});
  answer_who_enters();
}

void end_flag_mode() {
  const NodeGuard guard;
  const FlagMode mode = after(FlagEvent::barrier, flag_mode);
  flag_mode = common_mode = mode;
  if (mode != FlagMode::off) return;
  node().in_flag_mode = 0;
  node().shares_pages = false;
}

void hear_late_done() {
  --recalls.late_diffs;
  --node().late_diffs;
  answer_who_enters();
  go_on_with_answers();
}

void answer_behind_stacks(ProcessId to, std::function<LateAnswer()> take) {
  recalls.answers.push_back({to, std::move(take)});
  if (recalls.answers.size() == 1) go_on_with_answers();
  if (recalls.answers.empty()) return;
  note_put_off(true);
  if (!service.is_taken()) wake_service();
}

void hear_recall(ProcessId home, const Head& head, const std::byte* payload) {
  Recall recall{home, head.address, PageWish{head.value}, 0};
  std::memcpy(&recall.grants, payload, sizeof recall.grants);
  if (try_to_give_up(recall)) return;
  recalls.put_off.push_back(recall);
  note_put_off(true);
  if (!service.is_taken()) wake_service();
}

bool go_on_with_recalls() {
  std::vector<Recall> again;
  again.swap(recalls.put_off);
  for (Recall& recall : again) {
    if (!try_to_give_up(recall)) recalls.put_off.push_back(recall);
  }
  answer_who_enters();
  go_on_with_answers();
  note_put_off(!recalls.put_off.empty() || !recalls.entering.empty() || !recalls.answers.empty());
  return recalls.has_put_off;
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
  kept.grants.resize(processes());
  ++kept.grants[index_of(home)];
}

bool is_being_given_up(std::uintptr_t page) {
  const std::uint32_t entered = node().in_flag_mode;
  if (entered > 0 && entered < self.layout.threads_per_node) return true;
  return std::any_of(node().given_up.begin(), node().given_up.end(),
                     [&](const GivenUp& given_up) { return given_up.address == page; });
}

void keep_pages_until(std::uint64_t ns) {
  kept.until_ns = ns;
}

}  // namespace sdsm::dsm
