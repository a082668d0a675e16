#pragma once

#include <filesystem>
#include <memory>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

/// Writes a trace file. Bytes reach the disk as blocks of one thread each. So memory is bounded by the number of
/// threads (about 64 KiB each, and 24 bytes per 64 KiB block written), not by the length of the trace. The file gets
/// its name only in finish(): until then it is `<path>.part`, so a run that dies leaves no file that looks like a
/// trace. After a std::system_error, append and finish throw std::logic_error.
class Writer {
 public:
  /// `threads` is 1..65536, else std::invalid_argument. Throws std::system_error if the file cannot be created, or if
  /// another writer uses it.
  Writer(const std::filesystem::path& path, std::uint32_t threads);
  ~Writer();  ///< Removes the .part file unless finish() was called.
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Appends the next interval of thread `thread`, and merges adjacent touches that fit in one run. Throws
  /// std::system_error if the disk is full. Throws std::invalid_argument, without writing the interval, if a value
  /// breaks the rules in limits.hpp (thread number, a change of more words than a page has, lines of another number of
  /// pages than changed in part, a position that goes back, a field that the event kind does not use); the writer can
  /// go on.
  void append(std::uint32_t thread, const Interval& interval);

  /// Writes the footer (header fields, regions, index, totals) and gives the file its name. Nothing may follow. Texts
  /// are kept as UTF-8; other bytes become U+FFFD. Throws std::invalid_argument, and has written nothing, if a region
  /// is impossible, a touched page is in no region, or the header's sites do not match those of the touches;
  /// std::system_error as append does. If only the renaming fails, the complete .part file is kept.
  void finish(const Header& header, const std::vector<Region>& regions);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sdsm::trace
