/// Files that the program has open. Where its threads are processes, those of a host share descriptors and streams
/// (docs/decisions/013-one-table-of-files-a-host.md). Each engine defines the functions that open_files.cpp does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace sdsm::program::open_files {

/// Whether other processes of the host have what the program opens.
bool are_shared();

/// The program has opened `descriptor`. Returns its number from now on: another process may have that one.
int opened(int descriptor);
/// There is another file at that number now.
void replaced(int descriptor);
/// A call has failed as `descriptor` is not open in this process. Whether it is now. Ends the run if another process
/// has it, from which this one cannot get it.
bool find_elsewhere(int descriptor);

/// While it lives, the program closes a descriptor, and perhaps the stream on it.
class Closing {
 public:
  explicit Closing(int descriptor, const FILE* stream = nullptr);
  ~Closing();
  Closing& operator=(Closing&&) = delete;

 private:
  bool is_noted_ = false;
  bool others_wait_ = false;  ///< for its end: of a pipe or socket
};

/// Room for the next stream, at an address that no other process uses; null: the C library's heap.
void* room_for_stream();
/// A stream in such a room has been opened, or has another file now.
void opened_stream(FILE* stream);

/// A unit of Fortran is opened or closed, or a statement reads or writes it. The run ends if only another process has
/// it.
void opened_unit(int unit);
void closed_unit(int unit);
void uses_unit(int unit);

/// Rooms of all processes lie there, at the same addresses in each: a page for each stream.
inline constexpr std::uintptr_t rooms_begin = 0x1d0000000000;
inline constexpr std::size_t room_bytes = 4096;
inline constexpr std::size_t most_streams = 200;  ///< of a process
inline constexpr std::size_t rooms_bytes = 256 * most_streams * room_bytes;
inline bool is_room(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - rooms_begin < rooms_bytes;
}

/// While it lives, the stream that the calling thread opens next gets this room.
class NextRoom {
 public:
  explicit NextRoom(void* room);
  ~NextRoom();
  NextRoom& operator=(NextRoom&&) = delete;
};
/// The room if the C library allocates a stream now; else null.
void* take_room(std::size_t bytes);

}  // namespace sdsm::program::open_files
