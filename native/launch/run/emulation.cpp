#include "native/launch/run/emulation.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <system_error>
#include <vector>

#include "platforms/file/platform.hpp"
#include "workloads/trace/larger_pages.hpp"
#include "workloads/trace/region_numbers.hpp"

namespace sdsm::run_command {

using commands::Descriptor;

namespace {

Descriptor make_memory(const char* name) {
  Descriptor memory(memfd_create(name, MFD_CLOEXEC));
  if (memory.get() < 0) throw std::system_error(errno, std::generic_category(), "cannot make the emulation's memory");
  return memory;
}

/// The network on which the platform's costs were measured.
void read_network(const std::filesystem::path& path, ProtocolKind protocol, dsm::Emulation& emulation) {
  const Platform platform = read_platform(path);
  const auto own = platform.costs.further_protocols.find(protocol);
  const bool has_costs = own != platform.costs.further_protocols.end();  // of which nothing else is needed here
  if (has_costs && (own->second.datagram.count > 0 || own->second.acknowledgement.count > 0)) {
    throw std::invalid_argument(
        fmt::format("{}: its JIAJIA has messages of one length, or acknowledgements (jiajia.message.size, "
                    "jiajia.message.acknowledgement), which are simulated only. Give another platform",
                    path.string()));
  }
  if (platform.costs.reference.size() != 2) {
    throw std::invalid_argument(
        fmt::format("{}: reference.links is {}; only two links, from a node to a switch and on to a node, can be "
                    "emulated. Give another platform, such as p3-score or one that sdsm platform new writes",
                    path.string(), platform.costs.reference.size()));
  }
  emulation.network.link = platform.reference_link;
  emulation.network.framing = platform.costs.framing;
  emulation.has_network = 1;
}

class ScheduleWriter {
 public:
  ScheduleWriter(const trace::File& file, double factor, Bytes page)
      : file_(file),
        factor_(factor),
        page_(page),
        regions_(trace::running_regions(file.regions(), file.header().threads)) {}

  Descriptor write() {
    const std::uint32_t threads = file_.header().threads;
    bytes_.resize((threads + 1) * sizeof(dsm::SchedulePlace));
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      set_place(thread);
      if (page_ == least_page) {
        trace::ThreadCursor cursor = file_.thread(thread);
        while (const trace::Interval* interval = cursor.next()) append(*interval);
      } else {
        trace::LargerPages pages(file_.regions(), page_);
        trace::ThreadCursor cursor = file_.thread(thread, trace::Detail::pages);
        while (const trace::Interval* interval = cursor.next()) append(pages.of(*interval));
      }
    }
    set_place(threads);
    Descriptor memory = make_memory("sdsm-schedule");
    for (std::size_t written = 0; written < bytes_.size();) {
      const ssize_t more = ::write(memory.get(), bytes_.data() + written, bytes_.size() - written);
      if (more < 0) throw std::system_error(errno, std::generic_category(), "cannot keep the emulation's schedule");
      written += static_cast<std::size_t>(more);
    }
    return memory;
  }

 private:
  void set_place(std::uint32_t thread) {
    const dsm::SchedulePlace place = bytes_.size();
    std::memcpy(bytes_.data() + thread * sizeof place, &place, sizeof place);
  }

  template <typename Record>
  void append_record(const Record& record) {
    const auto* begin = reinterpret_cast<const std::byte*>(&record);
    bytes_.insert(bytes_.end(), begin, begin + sizeof record);
  }

  void append(const trace::Interval& interval) {
    dsm::ScheduledInterval scheduled;
    scheduled.compute_ns = static_cast<std::uint64_t>(std::llround(static_cast<double>(interval.compute_ns) * factor_));
    scheduled.touches = static_cast<std::uint32_t>(interval.touches.size());
    scheduled.end = interval.end.kind;
    append_record(scheduled);
    for (const trace::TouchRun& run : interval.touches) {
      dsm::ScheduledTouch touch;
      touch.region = regions_[index_of(run.region)];
      touch.pages = run.pages;
      touch.first = run.first;
      touch.position = run.position;
      touch.access = run.access;
      append_record(touch);
    }
  }

  const trace::File& file_;
  double factor_;
  Bytes page_;
  std::vector<std::uint32_t> regions_;
  std::vector<std::byte> bytes_;
};

struct Schedule {
  Descriptor file;
  bool has_region = false;  ///< the program's clock delimits what is measured
};

Schedule make_schedule(const EmulationRequest& request, const Layout& layout, Bytes page) {
  trace::check_scale(request.scale);
  const trace::File file(*request.trace);
  trace::check_touches(file);
  if (file.header().threads != layout.processes()) {
    throw std::invalid_argument(fmt::format("{} has {} threads, and this run {}. Trace the program again with -n {}",
                                            request.trace->string(), file.header().threads, layout.processes(),
                                            layout.processes()));
  }
  if (page != least_page && file.format() < trace::first_format_with_lines) {
    throw std::invalid_argument(
        fmt::format("pages of {} bytes (--page-size): {} is of format {}, which does not tell where they lie. Trace "
                    "the program again, or give --page-size {}",
                    page.count, request.trace->string(), file.format(), least_page.count));
  }
  const bool whole = false;
  const trace::TraceSurvey survey = trace::survey(file, whole);
  const double factor = trace::compute_factor(request.scale, file, survey, whole);
  return {ScheduleWriter(file, factor, page).write(), survey.clock_calls >= 2};
}

}  // namespace

EmulatedCluster emulate(const EmulationRequest& request, const Layout& layout, ProtocolKind protocol, Bytes page) {
  if (layout.nodes > dsm::most_emulated_nodes) {
    throw std::invalid_argument(fmt::format("at most {} nodes can be emulated", dsm::most_emulated_nodes));
  }
  EmulatedCluster cluster;
  read_network(request.platform, protocol, cluster.emulation);
  cluster.wires = make_memory("sdsm-wires");
  if (ftruncate(cluster.wires.get(), sizeof(dsm::EmulatedWires)) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make the emulation's memory");
  }
  void* const wires =
      mmap(nullptr, sizeof(dsm::EmulatedWires), PROT_READ | PROT_WRITE, MAP_SHARED, cluster.wires.get(), 0);
  if (wires == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "cannot make the emulation's memory");
  }
  bool at_once = true;
  if (request.trace) {
    Schedule schedule = make_schedule(request, layout, page);
    cluster.schedule = std::move(schedule.file);
    at_once = !schedule.has_region;
  }
  dsm::prepare_wires(*static_cast<dsm::EmulatedWires*>(wires), at_once);
  munmap(wires, sizeof(dsm::EmulatedWires));
  return cluster;
}

}  // namespace sdsm::run_command
