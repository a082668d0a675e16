/// One process of a world: the run-time's lowest layers, made of what the world gives (world.hpp), and the entries by
/// which the world calls the layers above, which are the product's own.
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <span>
#include <string>

#include "native/dsm/books/heap_books.hpp"
#include "native/dsm/files/open_files.hpp"
#include "native/dsm/files/standard_output.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/memory/stacks.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/memory/torn_words.hpp"
#include "native/dsm/openmp/barrier_requests.hpp"
#include "native/dsm/openmp/measured_region.hpp"
#include "native/dsm/openmp/synchronisation.hpp"
#include "native/dsm/process/launcher.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/requests/events.hpp"
#include "native/dsm/requests/request_handlers.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/timing/trap_time.hpp"
#include "native/dsm/wire/sockets.hpp"
#include "native/guest/memory/static_arrays.hpp"
#include "native/guest/openmp/gangs.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/message.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/signals.hpp"
#include "tests/world/world.hpp"

namespace {

constinit sdsm::world::Ground* ground = nullptr;

/// What the process allocates: powers of two, by which blocks that it has freed are kept.
struct FreeBlock {
  FreeBlock* next;
};
constinit FreeBlock* free_blocks[40] = {};

std::size_t size_class(std::size_t bytes) {
  return static_cast<std::size_t>(std::bit_width(std::max<std::size_t>(bytes, 16) - 1));
}

constexpr int answering_sockets = 1000;  ///< sockets below ask, by process

/// Both are states of the world's mutexes and conditions, in the C library's objects.
int& holders(pthread_mutex_t* mutex) {
  return mutex->__data.__lock;
}
std::uint64_t& broadcasts(pthread_cond_t* condition) {
  return *reinterpret_cast<std::uint64_t*>(condition);
}

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)

void* operator new(std::size_t bytes) {
  const std::size_t kind = size_class(bytes);
  FreeBlock*& first = free_blocks[kind];
  if (ground == nullptr) return std::malloc(std::size_t{1} << kind);  // the C++ library's, as it is loaded
  if (first == nullptr) return ground->memory(std::size_t{1} << kind, true);
  return std::exchange(first, first->next);
}
void operator delete(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  FreeBlock*& first = free_blocks[size_class(bytes)];
  first = new (block) FreeBlock{first};
}
/// Of unknown size: it stays until the schedule ends.
void operator delete(void* /*block*/) noexcept {}
// Of std::pmr: nothing is aligned to more than 16 bytes.
void* operator new(std::size_t bytes, std::align_val_t /*alignment*/) {
  return operator new(bytes);
}
void operator delete(void* block, std::size_t bytes, std::align_val_t /*alignment*/) noexcept {
  operator delete(block, bytes);
}

// The library's own: these hide the C library's from it. A process's threads never meet at the process's own mutexes,
// as no thread lets others run while it holds one; they meet at the node's.
extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  const auto is_free = [](const void* what) { return *static_cast<const int*>(what) == 0; };
  if (mutex->__data.__kind != 0) ground->pass();
  if (!is_free(&holders(mutex))) ground->wait_until(is_free, &holders(mutex), "a mutex");
  holders(mutex) = 1;
  return 0;
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (holders(mutex) != 0) return EBUSY;
  holders(mutex) = 1;
  return 0;
}
int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  holders(mutex) = 0;
  return 0;
}
/// The node's mutex, whose kind sets it apart.
int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* /*attributes*/) noexcept {
  *mutex = {};
  mutex->__data.__kind = 1;
  return 0;
}
int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* /*attributes*/) noexcept {
  *condition = {};
  return 0;
}
int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  ++broadcasts(condition);
  return 0;
}
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  struct Waiting {
    const std::uint64_t* now;
    std::uint64_t before;
  } const waiting{&broadcasts(condition), broadcasts(condition)};
  pthread_mutex_unlock(mutex);
  ground->wait_until(
      [](const void* what) {
        const auto& one = *static_cast<const Waiting*>(what);
        return *one.now != one.before;
      },
      &waiting, "a page on its way");
  return pthread_mutex_lock(mutex);
}
int usleep(useconds_t microseconds) {
  ground->sleep(std::uint64_t{microseconds} * 1000);
  return 0;
}
int sched_yield() noexcept {
  ground->sleep(20'000);  // less often than in a real run, where it waits for a while to be over
  return 0;
}
/// The answer that a process waits for from itself.
long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  const auto* const word = va_arg(rest, const std::atomic<std::uint32_t>*);
  const int operation = va_arg(rest, int);
  va_end(rest);
  if (number != SYS_futex) ground->fail("an error of the world's: an unknown system call");
  if (operation != FUTEX_WAIT_PRIVATE) return 0;
  ground->wait_until(
      [](const void* what) {
        return static_cast<const std::atomic<std::uint32_t>*>(what)->load() == sdsm::dsm::Mailbox::full;
      },
      word, "an answer of its own process");
  return 0;
}
int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const std::uint64_t ns = clock == CLOCK_THREAD_CPUTIME_ID ? ground->processor_time_ns() : ground->now_ns();
  *time = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  return 0;
}
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)

namespace sdsm::program {

void end_run(std::initializer_list<const char*> why) {
  std::string text;
  for (const char* const part : why) text += part;
  ground->fail(text.c_str());
  __builtin_unreachable();
}
void* reserve(std::size_t bytes) {
  return ground->memory(bytes, false);
}
bool set_protection(std::uintptr_t begin, std::uintptr_t end, int protection) {
  ground->protect(begin, end, protection);
  return true;
}
bool wait_for_input(int /*socket*/, std::uint64_t /*patience_ns*/) {
  return true;
}

// Programs have no handlers of signals.
void HeldSignals::hold() {}
void HeldSignals::release() {}
bool HeldSignals::are_held() {
  return false;
}
BlockedSignals::BlockedSignals() = default;
BlockedSignals::~BlockedSignals() = default;
AdmittedSignals::AdmittedSignals() : before_{} {}
AdmittedSignals::~AdmittedSignals() = default;

namespace {
const ProgramImage no_program;
[[noreturn]] void has_no_heap() {
  end_run({"an error of the world's: its programs have no heap"});
}
}  // namespace
const ProgramImage& program_image = no_program;
/// The only operation of the world's programs is an addition.
AtomicOutcome operate(const AtomicOperation& operation, void* memory) {
  auto* const number = static_cast<std::uint32_t*>(memory);
  AtomicOutcome outcome;
  outcome.before.low = *number;
  *number += static_cast<std::uint32_t>(operation.operand.low);
  outcome.now.low = *number;
  ground->note_operation(memory, outcome.before.low, outcome.now.low);
  return outcome;
}
bool holds_values(const void* /*begin*/, std::uint64_t /*pages*/) {
  return false;
}
HeapGuard::HeapGuard() {}
HeapGuard::~HeapGuard() {}
void* heap::unmap_first(AddressRange& /*part*/) {
  has_no_heap();
}
AddressRange heap::first_used_pages(const AddressRange& /*part*/) {
  has_no_heap();
}
std::size_t heap::room(const void* /*block*/) {
  has_no_heap();
}
bool heap::map_again(const AddressRange& /*part*/) {
  has_no_heap();
}

}  // namespace sdsm::program

namespace sdsm::gomp {

void message(std::initializer_list<const char*> /*parts*/) {}
std::uint32_t Gang::thread_of(std::uint32_t member) const {
  return member;
}

}  // namespace sdsm::gomp

namespace sdsm::dsm {
namespace {

constinit Range ranges[3];
constinit std::size_t range_count = 0;

std::size_t process_of(int socket) {
  return static_cast<std::size_t>(socket % answering_sockets);
}

}  // namespace

std::byte* map_node_memory(std::uintptr_t /*begin*/, std::size_t /*bytes*/) {
  return reinterpret_cast<std::byte*>(node_address);
}
Range* add_range(std::uintptr_t begin, std::size_t bytes, std::uintptr_t /*file_end*/) {
  const std::size_t pages = bytes / page_bytes;
  Range& range = ranges[range_count++];
  range.begin = begin;
  range.end = begin + bytes;
  range.view = ground->node_memory(2 * bytes);
  range.twins = range.view + bytes;
  range.region_of = reserve_array<std::uint32_t>(pages);
  range.first_toucher = reserve_array<std::uint32_t>(pages);
  range.opened = reserve_array<std::uint8_t>(pages);
  range.parts = reserve_array<std::uint16_t>(pages);
  return &range;
}
const Range* find_range(std::uintptr_t address) {
  for (std::size_t i = 0; i < range_count; ++i) {
    if (ranges[i].holds(address)) return &ranges[i];
  }
  return nullptr;
}
void protect_ranges(const AddressRange& open, const AddressRange& open_too) {
  for (std::size_t i = 0; i < range_count; ++i) {
    for (std::uintptr_t at = ranges[i].begin; at < ranges[i].end; at += page_bytes) {
      if (!open.holds(at) && !open_too.holds(at)) set_protection(at, at + page_bytes, PROT_NONE);
    }
  }
}

bool send_all(int socket, const void* head, std::size_t head_bytes, const void* payload, std::size_t bytes) {
  ground->send(static_cast<std::uint32_t>(process_of(socket)), socket >= answering_sockets, head, head_bytes, payload,
               bytes);
  return true;
}
std::optional<std::size_t> send_now(int socket, const void* head, std::size_t head_bytes, const void* payload,
                                    std::size_t bytes) {
  send_all(socket, head, head_bytes, payload, bytes);
  return 0;
}
bool receive_all(int socket, void* data, std::size_t bytes) {
  if (bytes > 0) ground->receive(static_cast<std::uint32_t>(process_of(socket)), data, bytes);
  return true;
}
bool receive_both(int socket, void* first, std::size_t first_bytes, void* second, std::size_t second_bytes,
                  std::uint64_t /*patience_ns*/) {
  return receive_all(socket, first, first_bytes) && receive_all(socket, second, second_bytes);
}
std::uint64_t retransmissions(int /*socket*/) {
  return 0;
}
void wake_service() {
  ground->wake_service();
}
void await_room(ProcessId /*to*/, int /*socket*/) {}
void await_room_no_longer(int /*socket*/) {}

// A handler runs while no thread of the program does.
StopTheWorld::StopTheWorld() : is_application_(application.is_taken()) {}
StopTheWorld::~StopTheWorld() = default;
void stop_if_asked() {}
void need_own_stack() {}

// Nothing is logged, measured or written to files, and no run ends.
std::uint64_t trap_time_ns() {
  return 1000;
}
void keep(const TimedEvent& /*event*/) {}
void keep_handled(const TimedEvent& /*event*/) {}
void send_long_timeline_log() {}
void send_long_page_log() {}
void log_region(const RegionOrigin& /*origin*/) {}
void send_to_launcher(FrameKind /*kind*/, const void* /*payload*/, std::size_t /*bytes*/) {}
ClockCalls clock_calls() {
  return {};
}
void note_clock_calls(const ClockCalls& /*calls*/, bool /*waited_for_work*/) {}
void note_arrival() {}
void note_leaving() {}
void report_torn_word(std::uint64_t /*address*/) {}
void flush_output() {}
void hand_on_streams() {}
void take_over_files() {}
void receive_file_closed() {}
void tell_of_file(ProcessId /*from*/, const Head& /*head*/) {}
void leave(int /*status*/) {
  end_run({"a process ends"});
}
void end_worker(std::uint64_t /*ended_ns*/, Dismissal /*dismissal*/) {
  leave(0);
}
void end_initial(ExitKind /*kind*/, int /*status*/) {
  leave(0);
}
void end_without_initial_thread(int /*status*/) {
  leave(0);
}
void* allocate_for(ProcessId /*process*/, const program::heap::Request& /*request*/) {
  program::has_no_heap();
}
void free_for(ProcessId /*process*/, void* /*block*/) {}
void end_waiting_of_blocks() {}

// The world says when a thread waits for a plain store.
void tell_of_changes(ProcessId /*from*/, const Head& /*head*/, const std::byte* /*payload*/) {}

namespace {

void name_fixed(std::uint32_t id, RegionKind kind, Placement placement, std::uint32_t owner, std::uint64_t pages,
                std::uintptr_t begin) REQUIRES(starting) {
  set_fixed_region(id, {{kind, placement, owner, pages}, begin});
  name_region(id);
}

AddressRange own_page(std::uintptr_t begin) {
  const std::uintptr_t own = begin + index_of(self.process) * page_bytes;
  return {own, own + page_bytes};
}

void start(world::Ground& given, const world::Setup& setup) {
  ground = &given;
  starting.take();
  const Traits& of_protocol = tables_of(setup.protocol).traits;
  self_at_start.layout = of_protocol.shares_copies ? setup.layout : Layout{setup.layout.processes(), 1};
  self_at_start.machines = setup.layout;
  self_at_start.process = ProcessId{setup.process};
  self_at_start.protocol = setup.protocol;
  self_at_start.jiajia = setup.jiajia;
  self_at_start.home_pages = setup.home_pages;
  self_at_start.invalidation = setup.invalidation;
  self_at_start.prefetch = setup.prefetch;
  choose_protocol(self.protocol);
  node_address_at_start = reinterpret_cast<std::uintptr_t>(ground->node_memory(std::size_t{1} << 19));
  make_node();
  start_region_books();
  add_range(world::shared_begin, world::shared_pages * page_bytes);
  add_range(world::stacks_begin, processes() * page_bytes);
  add_range(world::variables_begin, processes() * page_bytes);
  name_fixed(globals_region, RegionKind::mapped, Placement::round_robin, 0, world::shared_pages, world::shared_begin);
  std::vector<int> asking, answering;
  for (std::uint32_t i = 0; i < processes(); ++i) {
    const std::uint64_t behind = i * page_bytes;
    name_fixed(stack_region(i), RegionKind::thread_stack, Placement::initial, i, 1, world::stacks_begin + behind);
    name_fixed(control_region(i), RegionKind::thread_stack, Placement::initial, i, 1, world::variables_begin + behind);
    asking.push_back(static_cast<int>(i));
    answering.push_back(static_cast<int>(i) + answering_sockets);
  }
  ask_over(std::move(asking));
  answer_over(std::move(answering));
  the_protocol().start();
  protect_pages(own_page(world::stacks_begin), own_page(world::variables_begin));
  {
    const Held nothing_is_handled(handling);
    set_team(processes());
  }
  application.take();
  the_protocol().note_peers(processes() > 1);
}

void become(bool is_application) {
  (is_application ? application : service).take();
}

void handle_message(std::uint32_t from, const std::byte* message) {
  Head head;
  std::memcpy(&head, message, sizeof head);
  const Held nothing_else_is_handled(handling);
  handle(ProcessId{from}, head, message + sizeof head);
}

bool try_again() {
  const Held nothing_else_is_handled(handling);
  return the_protocol().try_again();
}

/// As the handler of SIGSEGV does (traps/faults.cpp).
void take_fault_at(std::uintptr_t address, bool is_write, std::uint64_t step) {
  application.check();
  Place place;
  if (!find_place(address, place)) end_run({"an error of the world's: a touch of no page"});
  the_protocol().take_fault(place, is_write ? Access::write : Access::read, At{step, 0});
}

std::uint32_t add(std::uintptr_t address, std::uint32_t number) {
  application.check();
  Place place;
  if (!find_place(address, place)) end_run({"an error of the world's: an atomic operation on no page"});
  program::AtomicOperation operation;
  operation.bytes = sizeof number;
  operation.operand.low = number;
  ++asked.atomics;
  return static_cast<std::uint32_t>(the_protocol().operate(place, address, operation).before.low);
}

constexpr world::Process entries{
    start,
    become,
    handle_message,
    try_again,
    take_fault_at,
    []() NO_THREAD_SAFETY_ANALYSIS { pass_barrier(Barrier::of_all); },
    [](std::uint32_t lock) NO_THREAD_SAFETY_ANALYSIS { acquire_lock(LockId{first_named_lock + lock}); },
    [](std::uint32_t lock) NO_THREAD_SAFETY_ANALYSIS { release_lock(LockId{first_named_lock + lock}); },
    add,
    []() NO_THREAD_SAFETY_ANALYSIS { the_protocol().come_to_wait(); },
    []() NO_THREAD_SAFETY_ANALYSIS { the_protocol().look_for_stores(); },
    []() NO_THREAD_SAFETY_ANALYSIS { the_protocol().show_stores(); },
};

}  // namespace
}  // namespace sdsm::dsm

extern "C" __attribute__((visibility("default"))) const sdsm::world::Process* sdsm::world::world_process() {
  return &sdsm::dsm::entries;
}
