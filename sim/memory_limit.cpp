#include "sim/memory_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <istream>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>

#include "commands/errors.hpp"
#include "models/scash/node_pages.hpp"

namespace sdsm::sim {
namespace {

constexpr double mib = 1 << 20, gib = 1 << 30;
/// The memory of a system without /proc/meminfo.
constexpr Bytes where_nothing_tells{std::int64_t{4} << 30};
/// bytes_of_page() counts a page's entry in the list of written pages once. The list grows by doubling; meanwhile the
/// old list and the new one of twice its length both exist.
constexpr std::size_t bytes_of_growth = 2 * sizeof(Twinned);

std::string in_words(Bytes memory) {
  const auto count = static_cast<double>(memory.count);
  if (count >= gib) return fmt::format("{:.3g} GiB", count / gib);
  if (count >= mib) return fmt::format("{:.3g} MiB", count / mib);
  return fmt::format("{} B", memory.count);
}

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

Bytes memory_limit_from(std::istream& meminfo, std::istream& container) {
  std::optional<Bytes> available;
  std::string name;
  for (std::int64_t kib = 0; meminfo >> name >> kib;
       meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (name == "MemAvailable:") available = Bytes{kib * 1024};
  }
  // "max" where there is no limit.
  std::int64_t most = 0;
  if (container >> most) available = Bytes{std::min(most, available.value_or(Bytes{most}).count)};
  return available ? Bytes{available->count / 2} : where_nothing_tells;
}

Bytes default_memory_limit() {
  std::ifstream meminfo("/proc/meminfo");
  // A container sees its own group at the root.
  std::ifstream container("/sys/fs/cgroup/memory.max");
  return memory_limit_from(meminfo, container);
}

void check_memory(const trace::File& file, const Layout& layout, Bytes limit) {
  const std::uint64_t chunk_bytes = chunk_pages * (NodePages::bytes_of_page(layout.threads_per_node) + bytes_of_growth);
  const std::uint64_t most = static_cast<std::uint64_t>(limit.count) / chunk_bytes;
  std::uint64_t chunks = 0;
  for (const trace::Region& region : file.regions()) chunks += region.pages / chunk_pages + 1;
  if (chunks <= most / layout.nodes || touched_chunks(file, layout, most) <= most) return;
  throw commands::BadInput(
      fmt::format("{}: it touches more pages than {} node{} can hold in {} of memory. Give more by --max-memory if "
                  "there is more, or simulate fewer nodes",
                  file.path().string(), layout.nodes, layout.nodes == 1 ? "" : "s", in_words(limit)));
}

}  // namespace sdsm::sim
