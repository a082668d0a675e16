/// The interface between this folder and the engine beneath it. The folder holds the synchronisation of the C and C++
/// library: mutexes, semaphores, condition variables and what is made of them. The engine knows an object in shared
/// memory by its address, and its bytes mean nothing; any other is the library's own.
#pragma once

#include <cstdint>

#include "models/program/demand.hpp"

namespace sdsm::engine {

/// Whether the engine has the object at `address`. It has none before main begins.
bool has_object(const volatile void* address);

/// An object has a number. times_held() knows the holder of one that was taken exclusively.
using sdsm::Counted;
using sdsm::Demand;
using sdsm::mutex_demand;
using sdsm::reader_demand;
using sdsm::semaphore_demand;
using sdsm::writer_demand;

inline constexpr std::uint64_t for_ever = ~std::uint64_t{0};

/// Both acquire memory if they return true; take() returns false after `patience_ns`. Event: take; of a mutex acquire.
bool take(const volatile void* object, Demand demand, std::uint64_t patience_ns = for_ever);
bool try_take(const volatile void* object, Demand demand);
/// Releases what take() took, and memory. Event: give; of a mutex release.
void give(const volatile void* object, Demand demand);
/// How often the caller holds an exclusive object, for the caller to change; null if it does not hold it.
std::uint32_t* times_held(const volatile void* object);

/// Both may be called before main, too.
void set_number(const volatile void* object, Counted what, std::int32_t number);
std::int32_t number_of(const volatile void* object, Counted what);

/// Waits until its parties have come, which is a release and an acquire. True for one of them. Event: meet.
bool meet(const volatile void* barrier);

/// Ends the run if take() does not show what was written before another took the object, as `what` needs it to.
void need_all_memory(const char* what);

/// The caller will await() a wake() of `object`, and misses none from here on.
void enlist(const volatile void* object);
/// Waits for a wake(). False when `patience_ns` are over, else the event is take. The caller is no longer enlisted; if
/// `stays`, it is after false, and the next call misses no wake() in between.
bool await(const volatile void* object, std::uint64_t patience_ns, bool stays = false);
/// How long a waiting thread sleeps before it polls its memory again. Another thread that changes it by a plain store,
/// and sees no waiter in its own copy, wakes nobody. for_ever where there are no copies.
extern const std::uint64_t time_between_polls_ns;
void leave(const volatile void* object);
/// Releases memory, and wakes the threads that enlisted first. Event: give. Returns how many.
std::uint32_t wake(const volatile void* object, std::uint32_t most);

/// Acquires memory: what other threads have written and released is seen from here on.
void see_all();

/// A number, from 0 on, that no other call returns, whichever thread's.
std::uint64_t next_own_number();

/// Notes that the caller has taken, and releases, a private mutex or once-flag, for which has_object() is false.
/// Threads that want it wait in the C library. So where threads take turns the caller keeps its own meanwhile.
void took_private();
void gave_private();

}  // namespace sdsm::engine
