/// What a manager of locks and the barrier's master answer, and in which order
/// (native/dsm/requests/answering.hpp): the handlers themselves, with a list in place of connections.
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/locks.hpp"
#include "native/dsm/books/heap_books.hpp"
#include "native/dsm/books/regions.hpp"
#include "native/dsm/openmp/barrier_requests.hpp"
#include "native/dsm/openmp/gang_requests.hpp"
#include "native/dsm/openmp/lock_requests.hpp"
#include "native/dsm/openmp/measured_region.hpp"
#include "native/dsm/process/ending.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/runtime/ending.hpp"
#include "tests/catch.hpp"

namespace sdsm::program {
void end_run(std::initializer_list<const char*> why) {
  throw std::runtime_error(*why.begin());
}
}  // namespace sdsm::program

namespace sdsm::dsm {
namespace {
std::vector<std::pair<std::uint32_t, WireKind>> answers;
}

// Stand-ins for what the handlers use.
void answer(ProcessId to, const Head& head, const void* /*payload*/) {
  answers.emplace_back(index_of(to), head.kind);
}
void answer_value(ProcessId to, std::uint64_t /*value*/) {
  answers.emplace_back(index_of(to), WireKind::done);
}
std::uint32_t newest_generation() {
  return 0;
}
ClockCalls clock_calls() {
  return {};
}
void end_waiting_of_blocks() {}
void end_without_initial_thread(int /*status*/) {}

namespace {

using Answers = std::vector<std::pair<std::uint32_t, WireKind>>;

Answers take_answers() {
  return std::exchange(answers, {});
}

/// A protocol without pages, which answers without further ado.
class NoPages final : public Protocol {
  const ModelOfMessages& messages() const override { return model_; }
  void start() override {}
  std::optional<std::size_t> take_fault(const Place&, Access, const At&) override { return {}; }
  void count_page_request(ProcessId, std::uint64_t) override {}
  void flush(Sync) override {}
  void flush_pages(const AddressRange&) override {}
  void begin_interval(Sync) override {}
  Head ask_at(const SyncPoint&, Head, const void*, Wait, std::uint64_t) override { return {}; }
  void take_grant(const SyncPoint&, const Head&) override {}
  Head hand_on(const SyncPoint&, Head, bool) override { return {}; }
  Release arrive(Head, bool, Wait) override { return {}; }
  void gather_notices(ProcessId, const Head&, const std::byte*) override {}
  void tell_more_notices(ProcessId, const Head&) override {}
  bool sees_all_stores() const override { return true; }
  void take_plain_wait() override {}
  bool serve(ProcessId, const Head&, const std::byte*) override { return false; }
  void count_page_reply(ProcessId, std::uint32_t) override {}
  void grant(ProcessId to, const Head& head) override {
    count_served(to, MessageKind::lock_grant, control_payload.count);
    answer(to, head);
  }
  bool are_changes_home() override { return false; }
  void release_team(std::uint32_t size, Head release) override {
    for (std::uint32_t i = size; i-- > 0;) answer(ProcessId{i}, release);
  }

  ModelOfMessages model_{};
};
constinit NoPages no_pages;

/// Four nodes of one process; this one is process 0.
struct Handlers {
  Handlers() {
    starting.take();
    self_at_start.layout = {4, 1};
    chosen_at_start = &no_pages;
    handling.lock();
    answers.clear();
  }
  ~Handlers() { handling.unlock(); }
};

void want_turn(std::uint32_t process, OrderedTurn turn, std::uint64_t lock) {
  std::byte payload[sizeof turn];
  std::memcpy(payload, &turn, sizeof turn);
  request_lock(ProcessId{process}, {.kind = WireKind::lock_request, .bytes = sizeof turn, .address = lock}, payload);
}

void pass_on(std::uint32_t process, OrderedTurn turn, std::uint64_t next) {
  std::byte payload[sizeof turn];
  std::memcpy(payload, &turn, sizeof turn);
  pass_turn(ProcessId{process}, {.kind = WireKind::ordered_pass, .bytes = sizeof turn, .value = next}, payload);
}

TEST_CASE("a lock goes to its longest waiter, and remote grants count") {
  const Handlers handlers;
  const std::uint64_t counted = served.messages_by_kind[static_cast<std::size_t>(MessageKind::lock_grant)];
  const Head wanted{.kind = WireKind::lock_request, .address = 10};
  for (const std::uint32_t process : {2U, 0U, 3U}) request_lock(ProcessId{process}, wanted, nullptr);
  CHECK(take_answers() == Answers{{2, WireKind::lock_grant}});
  give_lock_back(wanted);
  CHECK(take_answers() == Answers{{0, WireKind::lock_grant}});
  try_lock(ProcessId{1}, wanted);
  CHECK(take_answers() == Answers{{1, WireKind::done}});  // the holder
  give_lock_back(wanted);
  CHECK(take_answers() == Answers{{3, WireKind::lock_grant}});
  give_lock_back(wanted);
  try_lock(ProcessId{1}, wanted);
  CHECK(take_answers() == Answers{{1, WireKind::lock_grant}});
  // Processes 2, 3 and 1; process 0 is here.
  CHECK(served.messages_by_kind[static_cast<std::size_t>(MessageKind::lock_grant)] - counted == 3);
}

TEST_CASE("ordered regions come in the order of their turns") {
  const Handlers handlers;
  want_turn(1, {7, 4}, 11);
  want_turn(2, {7, 0}, 11);
  CHECK(take_answers() == Answers{{2, WireKind::lock_grant}});
  pass_on(1, {7, 4}, 8);  // waits for its turn
  CHECK(take_answers().empty());
  give_lock_back({.kind = WireKind::lock_release, .address = 11});
  CHECK(take_answers().empty());
  pass_on(2, {7, 0}, 4);
  // Process 1's chunk passes at once, so the lock that it asked for is nobody's turn any more.
  CHECK(take_answers() == Answers{{2, WireKind::done}, {1, WireKind::done}});
}

TEST_CASE("a flag's waiter goes on at its count, later flags restart") {
  const Handlers handlers;
  const auto flag = [](std::uint64_t construct, std::uint64_t value) {
    return Head{.kind = WireKind::flag_wait, .address = flag_number(construct, 5), .value = value};
  };
  await_flag(ProcessId{1}, flag(1, 2));
  await_flag(ProcessId{2}, flag(1, 3));
  await_flag(ProcessId{3}, flag(2, 1));
  post_flag(flag(1, 2));
  CHECK(take_answers() == Answers{{1, WireKind::lock_grant}});
  await_flag(ProcessId{1}, flag(1, 1));
  CHECK(take_answers() == Answers{{1, WireKind::lock_grant}});
  post_flag(flag(1, 4));
  CHECK(take_answers() == Answers{{2, WireKind::lock_grant}});
  forget_flags_before(2);
  await_flag(ProcessId{1}, flag(1, 1));
  CHECK(take_answers().empty());
  post_flag(flag(2, 1));
  CHECK(take_answers() == Answers{{3, WireKind::lock_grant}});
}

TEST_CASE("a barrier ends with the team, latecomers are dismissed") {
  const Handlers handlers;
  set_team(3);
  arrive(ProcessId{0});
  arrive(ProcessId{3});  // not in the team: waits for work
  arrive(ProcessId{2});
  CHECK(take_answers().empty());
  arrive(ProcessId{1});
  const auto release = WireKind::barrier_release;
  CHECK(take_answers() == Answers{{2, release}, {1, release}, {0, release}});
  dismiss_all(0, Dismissal::at_once);
  CHECK(take_answers() == Answers{{3, WireKind::quit}});
  CHECK_FALSE(are_all_dismissed());
  arrive(ProcessId{1});
  arrive(ProcessId{2});
  CHECK(take_answers() == Answers{{1, WireKind::quit}, {2, WireKind::quit}});
  CHECK(are_all_dismissed());
}

TEST_CASE("exit functions run one process after another") {
  const Handlers handlers;
  set_team(1);
  CHECK_FALSE(others_have_exit_functions());
  note_exit_functions();
  CHECK(others_have_exit_functions());
  arrive(ProcessId{3});
  arrive(ProcessId{1});
  dismiss_all(0, Dismissal::after_exit_functions);
  const auto quit = WireKind::quit_in_turn;
  CHECK(take_answers() == Answers{{1, quit}, {3, quit}});
  await_end_turn(ProcessId{3});
  CHECK(take_answers().empty());
  await_end_turn(ProcessId{1});
  CHECK(take_answers() == Answers{{1, WireKind::done}});
  pass_end_turn({});  // process 2 has not come yet
  arrive(ProcessId{2});
  CHECK(take_answers() == Answers{{2, quit}});
  CHECK_FALSE(are_all_dismissed());
  await_end_turn(ProcessId{2});
  CHECK(take_answers() == Answers{{2, WireKind::done}});
  pass_end_turn({});
  CHECK(take_answers() == Answers{{3, WireKind::done}});
  CHECK_FALSE(are_all_dismissed());
  CHECK_FALSE(status_of_exit_functions().has_value());
  pass_end_turn({.kind = WireKind::end_done, .address = 1, .value = 3});
  CHECK(status_of_exit_functions() == 3);
  CHECK(take_answers().empty());
  CHECK(are_all_dismissed());
  dismiss_all(1, Dismissal::at_once);  // the program's end itself
  let_others_leave();
  CHECK(take_answers() == Answers{{1, WireKind::done}, {2, WireKind::done}, {3, WireKind::done}});
}

Head at_gang(std::uint64_t key, std::uint64_t size) {
  return {.kind = WireKind::barrier_arrive, .address = key, .value = size};
}

void divides(std::uint32_t process, std::uint64_t key, GangDivision how) {
  std::byte payload[sizeof how];
  std::memcpy(payload, &how, sizeof how);
  note_division(ProcessId{process}, {.kind = WireKind::gang_divided, .bytes = sizeof how, .address = key}, payload);
}

TEST_CASE("a gang's barrier ends when its members are there") {
  const Handlers handlers;
  arrive_in_gang(ProcessId{0}, at_gang(71, 2));
  arrive_in_gang(ProcessId{1}, at_gang(73, 2));
  CHECK(take_answers().empty());
  arrive_in_gang(ProcessId{2}, at_gang(71, 2));
  const auto release = WireKind::barrier_release;
  CHECK(take_answers() == Answers{{2, release}, {0, release}});
  leave_gang(at_gang(71, 2));
  leave_gang(at_gang(71, 2));
  CHECK_THROWS_WITH(leave_gang(at_gang(73, 2)), ContainsSubstring("leaves it while another waits"));
}

TEST_CASE("a process at the barrier of a deserted gang ends it") {
  const Handlers handlers;
  leave_gang(at_gang(81, 3));
  CHECK_THROWS_WITH(arrive_in_gang(ProcessId{2}, at_gang(81, 3)), ContainsSubstring("the same barriers"));
}

TEST_CASE("a team divided in different ways ends the run") {
  const Handlers handlers;
  const char* const said = "divide it in different ways";
  set_team(3);
  divides(0, 91, {.size = 3, .arguments = 5});
  arrive(ProcessId{0});
  arrive(ProcessId{3});  // in no team
  divides(1, 91, {.size = 3, .arguments = 5});
  CHECK_THROWS_WITH(divides(2, 91, {.size = 3, .arguments = 6}), ContainsSubstring(said));
  divides(2, 93, {.whole = 95, .size = 2, .arguments = 5});
  CHECK_THROWS_WITH(arrive_in_gang(ProcessId{1}, at_gang(95, 2)), ContainsSubstring(said));
  arrive_in_gang(ProcessId{2}, at_gang(95, 2));
  CHECK_THROWS_WITH(divides(0, 97, {.whole = 95, .size = 2, .arguments = 5}), ContainsSubstring(said));
}

}  // namespace
}  // namespace sdsm::dsm
