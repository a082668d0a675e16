/// Annotations that say which thread may touch which state, and that clang checks (-Wthread-safety; tests/thread_safety
/// runs it). A variable is GUARDED_BY a mutex, or by a role that one thread has; a function REQUIRES them.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <cstdint>

#include "native/guest/runtime/ending.hpp"

#ifdef __clang__
#define THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define THREAD_SAFETY(attribute)
#endif

// The names are those of clang's documentation. A lambda has its attributes behind its parameters: []() REQUIRES(x) {}.
#define CAPABILITY(kind) THREAD_SAFETY(capability(kind))
#define SCOPED_CAPABILITY THREAD_SAFETY(scoped_lockable)
#define GUARDED_BY(x) THREAD_SAFETY(guarded_by(x))
#define PT_GUARDED_BY(x) THREAD_SAFETY(pt_guarded_by(x))
#define REQUIRES(...) THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
#define RELEASE(...) THREAD_SAFETY(release_capability(__VA_ARGS__))
#define EXCLUDES(...) THREAD_SAFETY(locks_excluded(__VA_ARGS__))
#define ASSERT_CAPABILITY(x) THREAD_SAFETY(assert_capability(x))
#define RETURN_CAPABILITY(x) THREAD_SAFETY(lock_returned(x))
#define NO_THREAD_SAFETY_ANALYSIS THREAD_SAFETY(no_thread_safety_analysis)

namespace sdsm::program {

/// A role is a capability that nobody waits for: a thread takes it once, and then owns the role's state.
/// Roles are known by their addresses, so they are variables: `inline constinit Role service{"the service thread"};`.
class CAPABILITY("role") Role {
 public:
  explicit constexpr Role(const char* name) : name_(name) {}
  Role& operator=(Role&&) = delete;

  /// Gives the calling thread this role, and no other, from here on.
  void take() const ASSERT_CAPABILITY(this) { of_this_thread = this; }
  void hand_over() const { of_this_thread = nullptr; }
  bool is_taken() const { return of_this_thread == this; }
  /// Ends the run if the calling thread has another role. For entry points and signal handlers.
  void check() const ASSERT_CAPABILITY(this) {
    if (!is_taken()) end_run({"an error of sdsm's: a thread did what only ", name_, " may do"});
  }

 private:
  static inline constinit thread_local const Role* of_this_thread = nullptr;

  const char* name_;
};

/// The initial thread's role before the program runs. Afterwards everybody may read what only this role writes.
inline constinit Role starting{"the initial thread, before the program runs,"};

/// A pthread mutex that clang's check knows.
class CAPABILITY("mutex") Mutex {
 public:
  enum class Kind : std::uint8_t { plain, recursive };
  explicit constexpr Mutex(Kind kind = Kind::plain) {
    if (kind == Kind::recursive) mutex_ = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  }
  Mutex& operator=(Mutex&&) = delete;

  /// Initialises it for the processes that share its memory, before any of them uses it. `robust`: if its holder dies,
  /// the next process gets it; costs some nanoseconds.
  void share_between_processes(bool robust) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }

  void lock() ACQUIRE() {
    if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
  }
  bool try_lock() TRY_ACQUIRE(true) { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() RELEASE() { pthread_mutex_unlock(&mutex_); }
  /// Says that the calling thread works on behalf of the holder, which waits meanwhile.
  void is_held_by_asker() ASSERT_CAPABILITY(this) {}
  /// Waits for `condition`, without the mutex meanwhile.
  void wait_for(pthread_cond_t& condition) REQUIRES(this) { pthread_cond_wait(&condition, &mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Holds a mutex for as long as it lives.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock& operator=(MutexLock&&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace sdsm::program
