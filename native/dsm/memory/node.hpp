/// State that the processes of a node share besides its memory: the states of its pages (models/scash/node_pages.hpp),
/// the pages that are twinned and those on their way. One process uses it at a time. The others are its local peers.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory_resource>

#include "models/scash/node_pages.hpp"
#include "models/single_writer/since_barrier.hpp"
#include "native/dsm/memory/larger_pages.hpp"
#include "native/dsm/wire/control.hpp"
#include "native/dsm/wire/identity.hpp"

namespace sdsm::dsm {

/// A page as the protocol knows it, and its address, which is the same in every process.
struct Place {
  PageId id;
  std::uintptr_t address = 0;  ///< of its first part; 0: the page is gone, and changes of it concern nobody
  ProcessId home{};
  Owner owner{};
  Parts parts = 1;
};

struct Arriving {
  std::uintptr_t address = 0;
  bool has_copy = false;     ///< the node only wants to write it
  bool is_of_stack = false;  ///< in single-writer mode, where others have to wait for it
};
struct Downgrading {
  std::uintptr_t address = 0;
  std::uint32_t shut_by = 0;  ///< processes
};

/// A thread's atomic operation on its way to another node's page and back; others may overtake it.
struct Operating {
  ProcessId process{};
  std::uintptr_t address = 0;  ///< of the variable
  std::uint64_t shown = 0;     ///< operations of the home that the node's copy may show since this one began
};

/// An application thread by the kernel's numbers.
struct ApplicationThread {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  char state_file[52] = {};  ///< where the kernel writes whether it sleeps
  std::atomic<bool> is_known = false;
  std::atomic<bool> stands = false;   ///< stopped
  std::atomic<bool> changes = false;  ///< memory, while others are stopped
};

/// Memory at one address in all processes of the node. It only grows; a freed block serves later requests of its size.
class NodeArena final : public std::pmr::memory_resource {
 public:
  NodeArena(std::byte* begin, std::size_t bytes) : next_(begin), end_(begin + bytes) {}

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::byte* next_;
  std::byte* end_;
  FreeBlock* free_[48] = {};  ///< by the power of two that the block's size is
};

/// Copies of others' stacks that local peers leave to a process for a while, which lost them before it used them.
struct KeptStacks {
  ProcessId by{};
  std::uint64_t until_ns = 0;
};

struct Node {
  Node(std::byte* memory, std::size_t bytes) NO_THREAD_SAFETY_ANALYSIS;

  program::Mutex mutex;
  NodeArena arena GUARDED_BY(mutex);
  WriteNotices notices GUARDED_BY(mutex);  ///< used under Invalidation::changed
  NodePages pages GUARDED_BY(mutex);
  std::pmr::vector<Place> twinned GUARDED_BY(mutex);            ///< as in `pages`, in its order
  std::pmr::vector<Arriving> arriving GUARDED_BY(mutex);        ///< what some process of the node asks a home for
  std::pmr::vector<Downgrading> downgrading GUARDED_BY(mutex);  ///< pages that not all processes of the node have shut
  std::pmr::vector<Operating> operating GUARDED_BY(mutex);      ///< under --atomics relaxed
  std::uint32_t in_single_writer_mode GUARDED_BY(mutex) = 0;    ///< processes of the node
  CopiesOfOthers<std::pmr::vector<Place>> copies GUARDED_BY(mutex);
  KeptStacks kept_stacks GUARDED_BY(mutex);
  /// Of pages, that its processes have taken: by process of the node, for one home after the other.
  std::pmr::vector<std::uint64_t> grants GUARDED_BY(mutex);
  /// Other nodes use pages of this one in single-writer mode, or atomic operations have changed some: a process asks
  /// the home before it opens one.
  std::atomic<bool> shares_pages = false;
  std::atomic<std::uint32_t> put_off = 0;     ///< processes whose service threads wait until the tables are free
  std::atomic<std::uint32_t> late_diffs = 0;  ///< sent by its processes, and not at home yet
  std::atomic<std::uint64_t> stack_news = 0;  ///< how often (stack_news.hpp)
  std::atomic<std::uint32_t> changing = 0;    ///< threads that stop the world
  ApplicationThread application_threads[most_processes]{};
  std::uint64_t dropped_stack_news GUARDED_BY(mutex) = 0;  ///< `stack_news` when its copies of stacks were last dropped
  std::uint64_t next_turn GUARDED_BY(mutex) = 0;           ///< of the log (page_log.hpp)
  pthread_cond_t arrival;                                  ///< a page has arrived, or is downgraded
  std::atomic<bool> is_made = false;
};

/// Where the node's shared state is: at the same address in each of its processes. A variable, as tests/world/ has
/// several nodes in one process.
inline constinit std::uintptr_t node_address_at_start GUARDED_BY(starting) = 0x1e0000000000;
inline constexpr const std::uintptr_t& node_address = node_address_at_start;
inline Node& node() {
  return *reinterpret_cast<Node*>(node_address);
}
/// Makes the shared state, in the node's first process. The others may use it once the processes have met.
void make_node() REQUIRES(starting);
[[noreturn]] void end_before_node_is_made();

/// While it lives, no other process of the node uses what they share.
class SCOPED_CAPABILITY NodeGuard {
 public:
  NodeGuard() ACQUIRE(node().mutex) {
    if (!node().is_made.load(std::memory_order_relaxed)) end_before_node_is_made();
    node().mutex.lock();
  }
  ~NodeGuard() RELEASE() { node().mutex.unlock(); }

 private:
  program::HeldSignals signals_;
};

/// The twinned page that holds `address`, or null.
const Place* find_twinned(std::uintptr_t address) REQUIRES(node().mutex);

}  // namespace sdsm::dsm
