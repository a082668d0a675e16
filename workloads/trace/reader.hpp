#pragma once

#include <filesystem>
#include <memory>

#include "commands/errors.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

/// The file is no trace, damaged or truncated. The text names the file, the byte and the problem.
class FormatError : public commands::BadInput {
 public:
  using BadInput::BadInput;
};

class File;

/// How much a cursor reads of an interval.
enum class Detail : std::uint8_t {
  touches,  ///< everything but lines and sites, which are skipped unchecked; enough to simulate pages of 4 KiB
  pages,    ///< lines and sites, too
};

/// Reads one thread's intervals in order. Holds one block (64 KiB) and one interval in memory, and keeps the file open.
/// Different threads may use different cursors of one file at once, but not the same one.
class ThreadCursor {
 public:
  /// Throws std::out_of_range if the trace has no such thread.
  ThreadCursor(const File& file, std::uint32_t thread, Detail detail = Detail::touches);
  ~ThreadCursor();
  ThreadCursor(ThreadCursor&&) noexcept;
  ThreadCursor& operator=(ThreadCursor&&) noexcept;

  /// Returns the next interval, or nullptr after the last. The next call overwrites it and reuses its storage: a long
  /// trace allocates nothing per interval. limits.hpp and the regions' sizes bound all values; after the last interval,
  /// the footer's totals are compared. Throws FormatError (again at each further call), or std::system_error if the
  /// disk cannot be read.
  const Interval* next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// An open trace file. Opening checks everything but the blocks; a cursor checks each block when it reaches it.
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

/// Throws FormatError if the trace has more touches than a processor can have done, for callers that visit each touch.
void check_touches(const File& file);

/// Counts events of a kind, of all threads.
std::uint64_t count_of(const File& file, EventKind kind);

}  // namespace sdsm::trace
