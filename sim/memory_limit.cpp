#include "sim/memory_limit.hpp"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <string>
#include <unordered_set>

#include "commands/errors.hpp"
#include "models/scash/node_pages.hpp"

namespace sdsm::sim {
namespace {

constexpr double gib = 1 << 30;
/// A system without /proc/meminfo.
constexpr Bytes where_nothing_tells{std::int64_t{4} << 30};
/// A page's entry in the list of written pages counts once in bytes_of_page(). The list grows by doubling, and while it
/// does, the old one and the new one of twice that length are both there.
constexpr std::size_t bytes_of_growth = 2 * sizeof(Twinned);

/// Counts chunks of the tables that the nodes' threads touch, up to `most`.
std::uint64_t touched_chunks(const trace::File& file, const Layout& layout, std::uint64_t most) {
  std::uint64_t found = 0;
  for (std::uint32_t node = 0; node < layout.nodes; ++node) {
    std::unordered_set<std::uint64_t> chunks;
    for (std::uint32_t t = node * layout.threads_per_node; t < (node + 1) * layout.threads_per_node; ++t) {
      trace::ThreadCursor cursor = file.thread(t);
      while (const trace::Interval* interval = cursor.next()) {
        for (const trace::TouchRun& run : interval->touches) {
          const std::uint64_t last = (run.first + run.pages - 1) / chunk_pages;
          for (std::uint64_t chunk = run.first / chunk_pages; chunk <= last; ++chunk) {
            chunks.insert(std::uint64_t{index_of(run.region)} << 40 | chunk);
            if (found + chunks.size() > most) return found + chunks.size();
          }
        }
      }
    }
    found += chunks.size();
  }
  return found;
}

}  // namespace

Bytes default_memory_limit() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (std::int64_t kib = 0; file >> name >> kib; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (name == "MemAvailable:") return Bytes{kib * 1024 / 2};
  }
  return where_nothing_tells;
}

void check_memory(const trace::File& file, const Layout& layout, Bytes limit) {
  const std::uint64_t chunk_bytes = chunk_pages * (NodePages::bytes_of_page(layout.threads_per_node) + bytes_of_growth);
  const std::uint64_t most = static_cast<std::uint64_t>(limit.count) / chunk_bytes;
  std::uint64_t chunks = 0;
  for (const trace::Region& region : file.regions()) chunks += region.pages / chunk_pages + 1;
  if (chunks <= most / layout.nodes || touched_chunks(file, layout, most) <= most) return;
  throw commands::BadInput(fmt::format(
      "{}: it touches more pages than {} node{} can hold in {:.3g} GiB of memory. Give more by --max-memory if "
      "there is more, or simulate fewer nodes",
      file.path().string(), layout.nodes, layout.nodes == 1 ? "" : "s", static_cast<double>(limit.count) / gib));
}

}  // namespace sdsm::sim
