/// The command's end of the stream of records that the run-time sends.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "native/tracer/record/stream.hpp"

namespace sdsm::trace_command {

/// What a pass does with the records: read_stream() calls one function for each, in order.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  /// Between the others, at least once in a second.
  virtual void on_time() {}
  virtual void on_hello(const tracer::Hello&) {}
  virtual void on_region(const tracer::RegionRecord&) {}
  virtual void on_region_size(const tracer::RegionSizeRecord&) {}
  virtual void on_touches(std::uint32_t /*thread*/, std::span<const tracer::TouchRecord>) {}
  /// Addresses of the instructions of the touches before.
  virtual void on_sites(std::uint32_t /*thread*/, std::span<const std::uint64_t>) {}
  /// Addresses of the calls that led to the thread's next event.
  virtual void on_callers(std::uint32_t /*thread*/, std::span<const std::uint64_t>) {}
  virtual void on_object(const tracer::ObjectRecord&, const std::string& /*file*/) {}
  virtual void on_words(std::uint32_t /*thread*/, std::span<const tracer::WordsRecord>) {}
  virtual void on_unseen(const tracer::UnseenRecord&) {}
  virtual void on_interval(const tracer::IntervalRecord&) {}
  virtual void on_changes(const tracer::ChangesHead&, std::span<const tracer::ChangeRecord>) {}
  virtual void on_change_maps(const tracer::ChangesHead&, std::span<const tracer::ChangeMapRecord>) {}
  virtual void on_refused(const std::string& /*why*/) {}
  virtual void on_diverged(const tracer::DivergedRecord&) {}
  virtual void on_cut(const tracer::CutRecord&) {}
  virtual void on_woken(const tracer::WokenRecord&) {}
  virtual void on_atomic_words(const tracer::AtomicWordsRecord&) {}
  virtual void on_finished(const tracer::FinishedRecord& /*record*/) {}
};

/// Reads records from `descriptor` until its end. False if the stream ends in the middle of a record (the program was
/// killed). Throws RunError if something is no record, std::system_error if reading fails.
bool read_stream(int descriptor, StreamHandler& handler);

}  // namespace sdsm::trace_command
