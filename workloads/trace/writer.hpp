#pragma once

#include <filesystem>
#include <memory>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

/// Writes a trace file. Bytes reach the disk as blocks of one thread each, so memory is bounded by the number of
/// threads (about 64 KiB each), not by the length of the trace. The file appears under its name only in finish():
/// until then it is `<path>.part`, so a run that dies leaves no file that looks like a trace.
class Writer {
 public:
  /// Throws std::system_error if the file cannot be created.
  Writer(std::filesystem::path path, std::uint32_t threads);
  ~Writer();  ///< Removes the .part file unless finish() was called.
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Appends thread `thread`'s next interval. Adjacent touches that can be one run are merged here.
  /// Throws std::system_error if the disk is full, std::invalid_argument if a value is outside its range
  /// (thread number, a change of more words than a page has, a position that goes back).
  void append(std::uint32_t thread, const Interval& interval);

  /// Writes the footer (header fields, regions, index, totals) and gives the file its name. Nothing may follow.
  void finish(const Header& header, const std::vector<Region>& regions);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sdsm::trace
