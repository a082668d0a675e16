#include "native/dsm/files/open_files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "native/dsm/process/ending.hpp"
#include "native/dsm/requests/answering.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/guest/kernel/open_files.hpp"
#include "native/guest/kernel/system_calls.hpp"
#include "native/guest/library/library_memory.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/next_function.hpp"

extern "C" FILE _IO_2_1_stdin_;

namespace sdsm::dsm {
namespace {

using program::call_kernel;
using program::Decimal;
using program::end_run;
using program::open_files::most_streams;
using program::open_files::room_bytes;
using program::open_files::rooms_begin;

/// The run-time's own begin there; files with higher numbers are their process's alone.
constexpr int most_descriptors = 200;
constexpr std::size_t most_units = 256;

/// A change has a new version. What was never changed has version 0: open are then descriptors 0 to 2.
struct Descriptor {
  std::uint32_t version;
  std::uint32_t owner;  ///< the process that opened it, plus 1; 0: closed
};
struct Stream {
  std::uint32_t version;
  std::int32_t descriptor;           ///< plus 1; 0: closed
  std::atomic<std::uint32_t> marks;  ///< of its end and of errors, as FILE::_flags has them
};
/// Zeroed at first.
struct Table {
  std::atomic<std::uint32_t> changes;
  std::atomic<std::uint32_t> units_used;
  std::atomic<std::uint32_t>
      has_higher;  ///< process plus 1 that last opened a descriptor that has no row here; 0: none
  std::atomic<std::uint64_t> units[most_units];  ///< process plus 1, and the number; 0: none
  pid_t pids[most_processes];                    ///< 0: on another host
  Descriptor descriptors[most_descriptors];
  std::uint32_t streams_used[most_processes];
  Stream streams[most_processes][most_streams];
};
constinit Table* table = nullptr;

constinit int table_file = -1;

/// The table's lock. It is held for some system calls. The kernel takes the host's part of it back from a process that
/// ends: one of its threads may end it while the other has the lock.
class CAPABILITY("mutex") TableMutex {
 public:
  void lock() ACQUIRE() NO_THREAD_SAFETY_ANALYSIS {
    program::HeldSignals::hold();
    of_process_.lock();
    while (set(F_WRLCK) == -EINTR) continue;
  }
  void unlock() RELEASE() NO_THREAD_SAFETY_ANALYSIS {
    set(F_UNLCK);
    of_process_.unlock();
    program::HeldSignals::release();
  }

 private:
  static long set(short kind) {
    struct flock whole {};
    whole.l_type = kind;
    return call_kernel(SYS_fcntl, {{table_file, F_SETLKW, reinterpret_cast<long>(&whole)}});
  }

  program::Mutex of_process_;
};
constinit TableMutex table_mutex;

class SCOPED_CAPABILITY TableGuard {
 public:
  TableGuard() ACQUIRE(table_mutex) { table_mutex.lock(); }
  ~TableGuard() RELEASE() { table_mutex.unlock(); }
  TableGuard& operator=(TableGuard&&) = delete;
};

/// What this process has of it.
struct Own {
  std::uint32_t version;
  bool is_open;
};
constinit Own own_descriptors[most_descriptors] GUARDED_BY(table_mutex){};
constinit Own own_streams[most_processes][most_streams] GUARDED_BY(table_mutex){};
constinit std::atomic<std::uint32_t> seen_changes = 0;

/// A stream that is open here. The list is the application thread's.
struct OpenStream {
  FILE* stream;
  Stream* shared;
  std::uint32_t marks;
};
std::vector<OpenStream> open_streams;

constexpr std::uint32_t shared_marks = 0x30;  // _IO_EOF_SEEN, _IO_ERR_SEEN
constexpr int backup_mark = 0x100, putting_mark = 0x800;

FILE* stream_at(std::size_t process, std::size_t number) {
  return reinterpret_cast<FILE*>(rooms_begin + (process * most_streams + number) * room_bytes);
}
struct Room {
  std::size_t process, number;
};
Room room_of(std::uintptr_t address) {
  const std::size_t page = (address - rooms_begin) / room_bytes;
  return {page / most_streams, page % most_streams};
}

/// Notes a change that this process has made.
void note_change() REQUIRES(table_mutex) {
  const std::uint32_t before = table->changes.fetch_add(1);
  if (seen_changes == before) seen_changes = before + 1;
}

void claim(int number) REQUIRES(table_mutex) {
  Descriptor& shared = table->descriptors[number];
  shared.owner = index_of(self.process) + 1;
  own_descriptors[number] = {++shared.version, true};
  note_change();
}

void close_own(long descriptor) {
  call_kernel(SYS_close, {{descriptor}});
}

/// Gets the file that its owner has at that number. If this process has a file there that the table does not list, that
/// stays, and the answer is false.
bool fetch(int number, const Own& own) REQUIRES(table_mutex) {
  const pid_t owner = table->pids[table->descriptors[number].owner - 1];
  const long process = call_kernel(SYS_pidfd_open, {{owner, 0}});
  if (process < 0) return false;
  const long copy = call_kernel(SYS_pidfd_getfd, {{process, number, 0}});
  close_own(process);
  if (copy < 0 || copy == number) return copy == number;
  long placed = -1;
  if (own.is_open || number <= STDERR_FILENO) {
    placed = call_kernel(SYS_dup3, {{copy, number, number <= STDERR_FILENO ? 0 : O_CLOEXEC}});
  } else {
    placed = call_kernel(SYS_fcntl, {{copy, F_DUPFD_CLOEXEC, number}});
    if (placed >= 0 && placed != number) close_own(placed);
  }
  close_own(copy);
  return placed == number;
}

void take_over_descriptors() REQUIRES(table_mutex) {
  for (int number = 0; number < most_descriptors; ++number) {
    const Descriptor& shared = table->descriptors[number];
    Own& own = own_descriptors[number];
    if (own.version == shared.version) continue;
    const bool was_open = own.is_open || (own.version == 0 && number <= STDERR_FILENO);
    own.is_open = shared.owner != 0 && fetch(number, own);
    if (was_open && !own.is_open) close_own(number);
    // Else tried again at the next change: a thread may be about to list or to close what is there.
    if (own.is_open || shared.owner == 0) own.version = shared.version;
  }
}

/// As fopen's, for a descriptor that is open.
const char* mode_of(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  const bool appends = (flags & O_APPEND) != 0;
  switch (flags & O_ACCMODE) {
    case O_RDONLY: return "r";
    case O_WRONLY: return appends ? "a" : "w";
    default: return appends ? "a+" : "r+";
  }
}

SDSM_NEXT_FUNCTION program::NextFunction<FILE*(int, const char*)> open_stream{"fdopen"};
SDSM_NEXT_FUNCTION program::NextFunction<int(FILE*)> close_stream{"fclose"};

void note_open(FILE* stream, Stream& shared) {
  open_streams.push_back({stream, &shared, shared.marks});
}
void note_closed(const FILE* stream) {
  std::erase_if(open_streams, [stream](const OpenStream& open) { return open.stream == stream; });
}

/// Makes a stream of this process's own at the address of another's.
bool copy_stream(FILE* stream, int descriptor) REQUIRES(table_mutex) {
  if (!own_descriptors[descriptor].is_open) return false;
  if (mprotect(stream, room_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  const program::open_files::NextRoom room(stream);
  return open_stream.for_run_time()(descriptor, mode_of(descriptor)) == stream;
}

void take_over_stream(std::size_t process, std::size_t number) REQUIRES(table_mutex) {
  Stream& shared = table->streams[process][number];
  Own& own = own_streams[process][number];
  if (own.version == shared.version) return;
  FILE* const stream = stream_at(process, number);
  if (own.is_open) {
    note_closed(stream);
    stream->_fileno = -1;  // another file may have that number by now
    close_stream.for_run_time()(stream);
  }
  own.version = shared.version;
  own.is_open = shared.descriptor > 0 && copy_stream(stream, shared.descriptor - 1);
  if (own.is_open) note_open(stream, shared);
}

/// The C library's lock of a stream.
struct StreamLock {
  int lock, count;
  void* owner;
};
/// Whether the thread is within a call on the stream: a handler of the program's has interrupted it.
bool is_in_use(FILE* stream) {
  if (ftrylockfile(stream) != 0) return true;
  const bool is_locked_twice = reinterpret_cast<const StreamLock*>(stream->_lock)->count > 1;
  funlockfile(stream);
  return is_locked_twice;
}

/// Leaves nothing in the stream's buffer, and no place in the file that others may leave.
void empty(FILE* stream) {
  if (is_in_use(stream)) return;
  if ((stream->_flags & backup_mark) != 0) return;  // what ungetc has put there cannot be handed on
  const bool is_wide = stream->_mode > 0;           // what it holds is elsewhere
  const bool holds_output = stream->_IO_write_ptr > stream->_IO_write_base;
  if (is_wide || holds_output || stream->_IO_read_ptr < stream->_IO_read_end) std::fflush(stream);
  if (is_wide || stream->_IO_read_ptr != stream->_IO_read_end) return;
  stream->_IO_read_base = stream->_IO_read_ptr = stream->_IO_read_end = stream->_IO_buf_base;
  stream->_IO_write_base = stream->_IO_write_ptr = stream->_IO_write_end = stream->_IO_buf_base;
  stream->_flags &= ~putting_mark;
  stream->_offset = -1;
}

std::uint64_t unit_entry(std::uint32_t process, int unit) {
  return std::uint64_t{process + 1} << 32 | static_cast<std::uint32_t>(unit);
}
void add_unit(std::uint32_t process, int unit) REQUIRES(table_mutex) {
  for (std::uint32_t i = 0; i < most_units; ++i) {
    if (table->units[i] != 0) continue;
    table->units[i] = unit_entry(process, unit);
    table->units_used = std::max<std::uint32_t>(table->units_used, i + 1);
    return;
  }
}

/// Standard output of the initial process is a file of another host's, and this process's is not.
constinit bool is_output_elsewhere GUARDED_BY(application) = false;

constexpr const char* other_host =
    ". The processes of other hosts do not have it: use it where it is open, or give the run one host";
constexpr const char* not_handed =
    ". This process cannot copy it: either pidfd_getfd is forbidden, or the process has a file of its own at that "
    "number. Use the file in the thread that opened it";

[[noreturn]] void end_at_descriptor(int number, std::size_t owner, const char* why) {
  end_run({"the program uses descriptor ", Decimal(static_cast<std::uint64_t>(number)), ", which process ",
           Decimal(owner), " opened", why});
}

}  // namespace

void share_files(int file) {
  void* const rooms = mmap(reinterpret_cast<void*>(rooms_begin), program::open_files::rooms_bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (file < 0 || processes() < 2 || reinterpret_cast<std::uintptr_t>(rooms) != rooms_begin) return;
  if (ftruncate(file, sizeof(Table)) != 0) return;
  void* const memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return;
  fcntl(file, F_SETFD, FD_CLOEXEC);
  table_file = file;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // where Yama restricts pidfd_getfd
  table = static_cast<Table*>(memory);
  const TableGuard guard;
  table->pids[index_of(self.process)] = getpid();
}

FilesOfInitial FilesOfInitial::now() {
  FilesOfInitial files;
  if (table == nullptr) return files;
  files.has_new_output = table->descriptors[STDOUT_FILENO].version != 0;
  for (std::uint32_t i = 0; i < table->units_used && files.unit_count < most; ++i) {
    if ((table->units[i] >> 32) == 1) files.units[files.unit_count++] = static_cast<std::int32_t>(table->units[i]);
  }
  return files;
}

void FilesOfInitial::learn_files_of_initial() const {
  if (table == nullptr || table->pids[0] != 0) return;
  is_output_elsewhere = has_new_output && table->descriptors[STDOUT_FILENO].version == 0;
  const TableGuard guard;
  for (std::atomic<std::uint64_t>& unit : table->units) {
    if ((unit >> 32) == 1) unit = 0;
  }
  for (std::uint32_t i = 0; i < unit_count; ++i) add_unit(0, units[i]);
}

void need_output_here() {
  if (!is_output_elsewhere) return;
  end_run(
      {"a thread prints to standard output, which the program has sent to a file on another host. Redirect it in "
       "each thread, in a parallel region, or give the run one host"});
}

void hand_on_streams() {
  if (table == nullptr) return;
  if (table->descriptors[STDIN_FILENO].version != 0) empty(&_IO_2_1_stdin_);
  for (OpenStream& open : open_streams) {
    empty(open.stream);
    const std::uint32_t marks = static_cast<std::uint32_t>(open.stream->_flags) & shared_marks;
    if (marks != open.marks) open.shared->marks = open.marks = marks;
  }
}

void take_over_files() {
  if (table == nullptr) return;
  if (table->changes != seen_changes) {
    const TableGuard guard;
    seen_changes.store(table->changes);
    take_over_descriptors();
    for (std::size_t process = 0; process < processes(); ++process) {
      for (std::size_t i = 0; i < table->streams_used[process]; ++i) take_over_stream(process, i);
    }
  }
  for (OpenStream& open : open_streams) {
    if (open.marks == open.shared->marks) continue;
    open.marks = open.shared->marks;
    open.stream->_flags = (open.stream->_flags & ~static_cast<int>(shared_marks)) | static_cast<int>(open.marks);
  }
}

bool finds_stream(std::uintptr_t address) {
  if (table == nullptr || !program::open_files::is_room(reinterpret_cast<const void*>(address))) return false;
  if (!is_running || !application.is_taken()) return false;
  application.check();
  const auto is_here = [address] {
    const Room room = room_of(address);
    const TableGuard guard;
    return own_streams[room.process][room.number].is_open;
  };
  if (is_here()) return false;
  take_over_files();
  return is_here();
}

int process_of_stream(std::uintptr_t address) {
  if (!program::open_files::is_room(reinterpret_cast<const void*>(address))) return -1;
  return static_cast<int>(room_of(address).process);
}

void receive_file_closed() {
  if (table == nullptr) return;
  const TableGuard guard;
  take_over_descriptors();
}

void tell_of_file(ProcessId from, const Head& head) {
  answer_value(from, table != nullptr ? table->descriptors[head.address].owner : 0);
}

}  // namespace sdsm::dsm

namespace sdsm::program::open_files {

using namespace dsm;

bool are_shared() {
  return table != nullptr;
}

namespace {
int opened_higher(int descriptor) {
  table->has_higher = index_of(self.process) + 1;
  return descriptor;
}
}  // namespace

int opened(int descriptor) {
  if (table == nullptr || descriptor < 0) return descriptor;
  if (descriptor >= most_descriptors) return opened_higher(descriptor);
  const TableGuard guard;
  const auto is_free = [](int number) REQUIRES(table_mutex) {
    const Descriptor& shared = table->descriptors[number];
    return shared.owner == 0 || own_descriptors[number].version == shared.version;
  };
  if (!is_free(descriptor)) {
    const int kind = (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD;
    int moved = descriptor;
    while (moved < most_descriptors && !is_free(moved)) {
      int least = moved + 1;
      if (moved != descriptor) close_own(moved);
      while (least < most_descriptors && !is_free(least)) ++least;
      moved = fcntl(descriptor, kind, least);
      if (moved < 0) return descriptor;
    }
    close_own(descriptor);
    descriptor = moved;
    if (descriptor >= most_descriptors) return opened_higher(descriptor);
  }
  claim(descriptor);
  return descriptor;
}

void replaced(int descriptor) {
  if (table == nullptr || descriptor < 0) return;
  if (descriptor >= most_descriptors) {
    opened_higher(descriptor);
    return;
  }
  const TableGuard guard;
  claim(descriptor);
}

bool find_elsewhere(int descriptor) {
  if (table == nullptr || descriptor < 0 || !is_running || !application.is_taken()) return false;
  if (fcntl(descriptor, F_GETFD) >= 0) return false;  // it is open, but not for this access
  if (descriptor >= most_descriptors) {
    const std::uint32_t opener = table->has_higher;
    if (opener == 0 || opener == index_of(self.process) + 1) return false;
    end_at_descriptor(descriptor, opener - 1,
                      ". Descriptors from 200 on are their process's own: keep fewer files open");
  }
  application.check();
  take_over_files();
  std::size_t owner = 0;
  {
    const TableGuard guard;
    take_over_descriptors();
    owner = table->descriptors[descriptor].owner;
    if (own_descriptors[descriptor].is_open) return fcntl(descriptor, F_GETFD) >= 0;
  }
  if (owner != 0) end_at_descriptor(descriptor, owner - 1, not_handed);
  for (std::uint32_t other = 0; other < processes(); ++other) {
    if (table->pids[other] != 0) continue;
    const Head question{.kind = WireKind::has_file, .address = static_cast<std::uint64_t>(descriptor)};
    const std::uint64_t found = ask(ProcessId{other}, question).value;
    if (found != 0) end_at_descriptor(descriptor, found - 1, other_host);
  }
  return false;
}

Closing::Closing(int descriptor, const FILE* stream) NO_THREAD_SAFETY_ANALYSIS {
  if (table == nullptr) return;
  const bool is_shared =
      descriptor >= 0 && descriptor < most_descriptors &&
      (descriptor <= STDERR_FILENO || __atomic_load_n(&own_descriptors[descriptor].is_open, __ATOMIC_RELAXED));
  // The run-time closes its own files while it has stopped threads, one of which may hold the lock.
  if (!is_shared && !is_room(stream)) return;
  is_noted_ = true;
  table_mutex.lock();
  if (table->changes != seen_changes) take_over_descriptors();
  if (is_room(stream)) {
    const Room room = room_of(reinterpret_cast<std::uintptr_t>(stream));
    Stream& shared = table->streams[room.process][room.number];
    shared.descriptor = 0;
    shared.marks = 0;
    own_streams[room.process][room.number] = {++shared.version, false};
    note_closed(stream);
    note_change();
  }
  if (!is_shared || (descriptor > STDERR_FILENO && !own_descriptors[descriptor].is_open)) return;
  Descriptor& shared = table->descriptors[descriptor];
  struct stat status {};
  others_wait_ = fstat(descriptor, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
  shared.owner = 0;
  own_descriptors[descriptor] = {++shared.version, false};
  note_change();
}

Closing::~Closing() NO_THREAD_SAFETY_ANALYSIS {
  if (!is_noted_) return;
  table_mutex.unlock();
  if (!others_wait_ || !is_running || !application.is_taken()) return;
  const int error = errno;
  for (std::uint32_t other = 0; other < processes(); ++other) {
    const bool is_other = ProcessId{other} != self.process && table->pids[other] != 0;
    if (is_other) tell(ProcessId{other}, {.kind = WireKind::file_closed});
  }
  errno = error;
}

void* room_for_stream() {
  if (table == nullptr || has_own_malloc()) return nullptr;
  const std::size_t process = index_of(self.process);
  const TableGuard guard;
  for (std::size_t i = 0; i < most_streams; ++i) {
    const Stream& shared = table->streams[process][i];
    const Own& own = own_streams[process][i];
    if (shared.descriptor != 0 || own.is_open || own.version != shared.version) continue;
    FILE* const room = stream_at(process, i);
    if (mprotect(room, room_bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    table->streams_used[process] = std::max(table->streams_used[process], static_cast<std::uint32_t>(i + 1));
    return room;
  }
  return nullptr;
}

void opened_stream(FILE* stream) {
  if (table == nullptr || !is_room(stream)) return;
  const int descriptor = fileno(stream);
  const Room room = room_of(reinterpret_cast<std::uintptr_t>(stream));
  const TableGuard guard;
  Stream& shared = table->streams[room.process][room.number];
  const bool is_shared = descriptor >= 0 && descriptor < most_descriptors && own_descriptors[descriptor].is_open;
  shared.descriptor = is_shared ? descriptor + 1 : 0;
  shared.marks = 0;
  own_streams[room.process][room.number] = {++shared.version, true};
  note_closed(stream);
  note_open(stream, shared);
  note_change();
}

void opened_unit(int unit) {
  if (table == nullptr) return;
  const TableGuard guard;
  closed_unit(unit);
  add_unit(index_of(self.process), unit);
}

void closed_unit(int unit) {
  if (table == nullptr) return;
  const std::uint64_t entry = unit_entry(index_of(self.process), unit);
  for (std::uint32_t i = 0; i < table->units_used; ++i) {
    if (table->units[i] == entry) table->units[i] = 0;
  }
}

void uses_unit(int unit) {
  if (table == nullptr) return;
  std::uint64_t other = 0;
  for (std::uint32_t i = 0; i < table->units_used; ++i) {
    const std::uint64_t entry = table->units[i];
    if (entry == 0 || static_cast<std::int32_t>(entry) != unit) continue;
    if ((entry >> 32) == index_of(self.process) + 1) return;
    other = entry >> 32;
  }
  if (other != 0) {
    const Decimal digits(static_cast<std::uint64_t>(unit < 0 ? -unit : unit));
    constexpr const char* remedy =
        " alone: each process has units of its own. Let the thread that opened it do all input and output on it, or "
        "open it in each thread, with position='append' in a critical section, and close it there";
    end_run({"the program reads or writes unit ", unit < 0 ? "-" : "", digits, " of Fortran, which is open in process ",
             Decimal(other - 1), remedy});
  }
  constexpr int error_unit = 0, input_unit = 5, output_unit = 6;
  if (unit != error_unit && unit != input_unit && unit != output_unit) opened_unit(unit);
}

}  // namespace sdsm::program::open_files
