/// Descriptors and streams that the processes of a host share (docs/decisions/013-one-table-of-files-a-host.md). A
/// table in their common memory says what is open. A process hands on by writing out what its streams hold, and takes
/// over what others have opened and closed when it learns of their changes to memory.
#pragma once

#include <cstdint>

#include "native/dsm/wire/threads.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

/// Maps the table: `file` is an empty one that the launcher made for the host's processes; -1: none.
void share_files(int file) REQUIRES(starting);

/// Before this process prints: ends the run if the program prints to a file that is on another host.
void need_output_here() REQUIRES(application);
/// Before others learn of this process's changes: writes out what the streams hold, and gives back what they have read
/// ahead.
void hand_on_streams() REQUIRES(application);
/// After this process has learnt of others' changes.
void take_over_files() REQUIRES(application);
/// What the initial process has open when it begins a region, for processes of other hosts. Trivially copyable.
struct FilesOfInitial {
  static constexpr std::uint32_t most = 16;

  bool has_new_output = false;  ///< standard output is another file than at the start
  std::uint32_t unit_count = 0;
  std::int32_t units[most] = {};  ///< of Fortran

  static FilesOfInitial now();
  void learn_files_of_initial() const REQUIRES(application);
};

/// Whether `address` is a stream's that this process has only now.
bool finds_stream(std::uintptr_t address);
/// The process that opened the stream there; -1: none.
int process_of_stream(std::uintptr_t address);

/// WireKind::file_closed and has_file.
void receive_file_closed() REQUIRES(handling);
void tell_of_file(ProcessId from, const Head& head) REQUIRES(handling);

}  // namespace sdsm::dsm
