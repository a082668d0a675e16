/// A world in which processes of the native DSM run as coroutines of one thread: what a process gets from the world
/// instead of an operating system, and what the world calls in a process. Each process is a copy of one shared library,
/// so that it has variables of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/atomics.hpp"
#include "models/ids.hpp"
#include "models/jiajia/rules.hpp"
#include "models/protocol/registry.hpp"
#include "models/scash/page_state.hpp"

namespace sdsm::world {

/// How the run is set up, and who the process is.
struct Setup {
  Layout layout;
  ProtocolKind protocol{};
  HomePages home_pages{};
  Invalidation invalidation{};
  std::uint32_t prefetch = 0;
  jiajia::Rules jiajia;
  std::uint32_t process = 0;
};

/// The program's memory: shared pages, whose homes go round robin, and a page of stack for each process. Nobody maps
/// these addresses: the world keeps the bytes in arrays, and looks up each access in a table of rights.
inline constexpr std::uint64_t page_length = 4096;
inline constexpr std::uint32_t shared_pages = 4;
inline constexpr std::uintptr_t shared_begin = 0x200000000000;
inline constexpr std::uintptr_t stacks_begin = 0x300000000000;
inline constexpr std::uintptr_t variables_begin = 0x310000000000;  ///< thread-local; no program uses them
inline constexpr std::uint32_t most_processes = 4;
/// Programs number the shared pages, then the stacks.
inline constexpr std::uint32_t pages = shared_pages + most_processes;
inline constexpr std::uint32_t words = 8;  ///< of 4 bytes, that programs use of each page

/// What a process gets from the world. It calls from its application thread unless a comment says otherwise.
class Ground {
 public:
  /// Others may run now.
  virtual void pass() = 0;
  /// Waits until `is_due(what)`.
  virtual void wait_until(bool (*is_due)(const void*), const void* what, const char* why) = 0;
  virtual void sleep(std::uint64_t ns) = 0;
  /// Either thread: another process's service thread gets a question, its application thread an answer.
  virtual void send(std::uint32_t to, bool is_answer, const void* head, std::size_t head_bytes, const void* payload,
                    std::size_t bytes) = 0;
  /// Waits for the next bytes of an answer.
  virtual void receive(std::uint32_t from, void* data, std::size_t bytes) = 0;
  virtual std::uint64_t now_ns() = 0;
  virtual std::uint64_t processor_time_ns() = 0;
  virtual void protect(std::uintptr_t begin, std::uintptr_t end, int protection) = 0;
  /// Memory of the process's node: the same for its processes, which ask in the same order.
  virtual std::byte* node_memory(std::size_t bytes) = 0;
  /// Memory of the process that is zero, or has what an earlier schedule left there if it `may_be_old`.
  virtual void* memory(std::size_t bytes, bool may_be_old) = 0;
  /// The service thread has work that it had put off. Either thread.
  virtual void wake_service() = 0;
  /// An atomic operation has been done on the node's memory.
  virtual void note_operation(const void* where, std::uint64_t before, std::uint64_t now) = 0;
  [[noreturn]] virtual void fail(const char* why) = 0;

 protected:
  ~Ground() = default;
};

/// What the world calls in a process.
struct Process {
  void (*start)(Ground& ground, const Setup& setup);
  /// From here on the caller is the application thread, or else the service thread.
  void (*become)(bool is_application);
  // The service thread's. try_again() returns whether something is still put off.
  void (*handle)(std::uint32_t from, const std::byte* message);
  bool (*try_again)();
  // The application thread's. `step`: the program's instruction.
  void (*fault)(std::uintptr_t address, bool is_write, std::uint64_t step);
  void (*barrier)();
  void (*acquire)(std::uint32_t lock);
  void (*release)(std::uint32_t lock);
  std::uint32_t (*add)(std::uintptr_t address, std::uint32_t number);  ///< atomically; returns what was there before
  void (*wait)();  ///< the run-time has found the thread waiting for a plain store
  void (*look)();  ///< it finds it so again
  void (*show)();  ///< the thread is about to rest
};
extern "C" const Process* world_process();

}  // namespace sdsm::world
