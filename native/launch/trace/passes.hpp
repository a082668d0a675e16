/// Reads the run-time's records in each pass: first a Structure, then smaller times, last the trace.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "native/launch/region_name.hpp"
#include "native/launch/trace/site_table.hpp"
#include "native/launch/trace/stream_reader.hpp"
#include "native/launch/trace/structure.hpp"
#include "workloads/trace/writer.hpp"

namespace sdsm::trace_command {

/// What every pass does with the records.
class Pass : public StreamHandler {
 public:
  void on_hello(const tracer::Hello& hello) override;
  void on_refused(const std::string& why) override { refusal_ = why; }
  void on_diverged(const tracer::DivergedRecord& record) override { diverged_ = record.thread; }
  void on_finished(const tracer::FinishedRecord& record) override {
    is_finished_ = true;
    if (record.in_team != 0) ended_by_ = record.by;
  }

  /// on_time() will call `watcher` with the number of intervals that have ended.
  void watch(std::function<void(std::uint64_t)> watcher) { watcher_ = std::move(watcher); }
  void on_time() override {
    if (watcher_) watcher_(ended_);
  }

  bool has_begun() const { return has_begun_; }
  bool is_finished() const { return is_finished_; }
  /// The thread that ended the program inside a parallel region, if one did.
  const std::optional<std::uint32_t>& ended_by() const { return ended_by_; }
  const std::optional<std::string>& refusal() const { return refusal_; }
  const std::optional<std::uint32_t>& diverged() const { return diverged_; }

 protected:
  std::uint64_t ended_ = 0;  ///< intervals

 private:
  std::function<void(std::uint64_t)> watcher_;
  bool has_begun_ = false;
  bool is_finished_ = false;
  std::optional<std::uint32_t> ended_by_;
  std::optional<std::string> refusal_;
  std::optional<std::uint32_t> diverged_;
};

class FirstPass : public Pass {
 public:
  explicit FirstPass(Structure& structure) : structure_(structure) {}
  void on_interval(const tracer::IntervalRecord& record) override;
  void on_cut(const tracer::CutRecord& record) override { structure_.cut(record.thread); }
  void on_region(const tracer::RegionRecord& record) override { regions_.push_back(record); }
  void on_region_size(const tracer::RegionSizeRecord& record) override {
    if (record.id < regions_.size()) regions_[record.id].region.pages = record.pages;
  }
  void on_object(const tracer::ObjectRecord& record, const std::string& file) override {
    objects_.emplace_back(record, file);
  }
  void on_woken(const tracer::WokenRecord& record) override {
    structure_.woken(record.thread, record.by, record.events);
  }

  const std::vector<tracer::RegionRecord>& regions() const { return regions_; }
  /// Files in the program's memory, with their names.
  const std::vector<std::pair<tracer::ObjectRecord, std::string>>& objects() const { return objects_; }

 private:
  Structure& structure_;
  std::vector<tracer::RegionRecord> regions_;
  std::vector<std::pair<tracer::ObjectRecord, std::string>> objects_;
};

/// Compares intervals with the first pass's, and keeps the smaller times.
class RepeatedPass : public Pass {
 public:
  RepeatedPass(Structure& structure, unsigned number)
      : structure_(structure), number_(number), intervals_(structure.threads()) {}
  void on_interval(const tracer::IntervalRecord& record) override;
  void on_finished(const tracer::FinishedRecord& record) override;

 protected:
  /// Number of the thread's interval that `record` ends. Throws as Structure::compare() does.
  std::uint64_t next_interval(const tracer::IntervalRecord& record);

  Structure& structure_;
  unsigned number_;

 private:
  std::vector<std::uint64_t> intervals_;
};

/// Writes the trace. A thread's changes are known only when its pages are closed, so its intervals wait here until it
/// synchronises.
class TrackedPass : public RepeatedPass {
 public:
  TrackedPass(Structure& structure, unsigned number, trace::Writer& writer, const std::filesystem::path& program);

  void on_region(const tracer::RegionRecord& record) override;
  void on_region_size(const tracer::RegionSizeRecord& record) override;
  void on_touches(std::uint32_t thread, std::span<const tracer::TouchRecord> touches) override;
  void on_sites(std::uint32_t thread, std::span<const std::uint64_t> addresses) override;
  void on_object(const tracer::ObjectRecord& record, const std::string& file) override;
  void on_callers(std::uint32_t thread, std::span<const std::uint64_t> addresses) override;
  void on_unseen(const tracer::UnseenRecord& record) override;
  void on_interval(const tracer::IntervalRecord& record) override;
  void on_changes(const tracer::ChangesHead& head, std::span<const tracer::ChangeRecord> changes) override;
  void on_change_maps(const tracer::ChangesHead& head, std::span<const tracer::ChangeMapRecord> maps) override;
  void on_cut(const tracer::CutRecord& record) override;
  void on_atomic_words(const tracer::AtomicWordsRecord& record) override;

  /// The number of a site that another pass has found.
  std::uint32_t site_number(const trace::Site& site) { return sites_.number_of(site); }

  /// Hands the last intervals to the writer, and gives the file its name. Sites, call sites and unseen calls are put in
  /// here.
  void finish(trace::Header& header);

 private:
  struct ThreadState {
    std::vector<trace::Interval> waiting;    ///< changes unknown yet
    std::size_t waiting_count = 0;           ///< of `waiting` in use; the rest keeps its storage
    std::vector<trace::TouchRun> touches;    ///< of the interval that the thread is in, without their places
    std::vector<std::uint64_t> touch_times;  ///< each one's, in nanoseconds
    std::vector<std::uint32_t> sites;        ///< each one's, if they were asked for
    std::vector<tracer::ChangeRecord> changes;
    std::unordered_map<std::uint64_t, tracer::ChangeMapRecord> maps;  ///< of pages closed in between, by page
    bool is_split = false;
    std::optional<trace::Interval> last;  ///< held back: the program may end while the thread waits at its event
  };

  ThreadState& thread(std::uint32_t number);
  void decide(std::uint32_t number);
  void decide_in_order(ThreadState& state);
  void decide_split(ThreadState& state);
  void append(std::uint32_t number, const trace::Interval& interval);
  std::uint32_t call_site_of(const tracer::IntervalRecord& record);

  trace::Writer& writer_;
  SiteTable sites_;
  std::uint32_t callers_ = 0;              ///< call site of the fork that comes next
  std::vector<std::uint32_t> fork_sites_;  ///< by parallel region
  std::vector<trace::UnseenCall> unseen_;
  program_start::RegionNamer namer_;
  std::vector<ThreadState> states_;
  std::vector<trace::Region> regions_;
};

}  // namespace sdsm::trace_command
