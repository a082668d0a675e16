#pragma once

#include <filesystem>
#include <memory>
#include <stdexcept>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

/// A file that is not a trace, is damaged or is cut short. The text names the file, the byte and what is wrong there.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class File;

/// What a cursor reads of an interval.
enum class Detail : std::uint8_t {
  touches,  ///< all but its lines and sites, which are passed over unchecked: what a simulation of 4 KiB pages needs
  pages,    ///< its lines and sites too
};

/// One thread's intervals in order. Holds one block (64 KiB) and one interval in memory. Keeps the file open by itself.
/// Cursors of one file may be used in different threads at once; one cursor may not.
class ThreadCursor {
 public:
  /// Throws std::out_of_range if the trace has no such thread.
  ThreadCursor(const File& file, std::uint32_t thread, Detail detail = Detail::touches);
  ~ThreadCursor();
  ThreadCursor(ThreadCursor&&) noexcept;
  ThreadCursor& operator=(ThreadCursor&&) noexcept;

  /// The next interval, or nullptr after the last. The pointee is overwritten by the next call (its vector's storage
  /// is reused, so a long trace allocates nothing per interval). Throws FormatError, and throws it again if called
  /// again; std::system_error if the disk cannot be read. Every value has been checked as limits.hpp and the regions'
  /// sizes tell, and after the last interval the thread's totals have been compared with the footer's.
  const Interval* next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A trace file, opened. Reading the footer checks everything but the blocks themselves, which are checked (by their
/// checksums and by range checks of every value) when a cursor reaches them.
class File {
 public:
  /// Throws FormatError, or std::system_error if the file cannot be opened.
  explicit File(std::filesystem::path path);
  ~File();
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;

  std::uint32_t format() const;  ///< first_format..format_version
  const Header& header() const;
  const std::vector<Region>& regions() const;      ///< regions()[i].id is RegionId{i}
  Totals totals(std::uint32_t thread) const;       ///< Throws std::out_of_range.
  EventCounts events(std::uint32_t thread) const;  ///< Throws std::out_of_range.
  std::uint64_t file_bytes() const;
  const std::filesystem::path& path() const;

  ThreadCursor thread(std::uint32_t thread, Detail detail = Detail::touches) const { return {*this, thread, detail}; }

 private:
  friend class ThreadCursor;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sdsm::trace
