/// The protocol a second time, written plainly after the specification: maps of what each node and each process has.
/// The tests hold models/scash/node_pages.hpp against it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/ids.hpp"

namespace sdsm::test {

using Page = std::uint64_t;

/// The cluster of a random program: process p's pages are p, p + P, p + 2 P, ...
struct Cluster {
  Layout layout;
  std::uint64_t pages = 1;
  bool drops_changed_only = false;
  bool home_pages_are_open = false;

  std::uint32_t home(Page page) const { return static_cast<std::uint32_t>(page % layout.processes()); }
  std::uint32_t node(std::uint32_t process) const { return process / layout.threads_per_node; }
  bool same_node(std::uint32_t a, std::uint32_t b) const { return node(a) == node(b); }
};

/// A diff on its way, with its sender and its page.
struct Sent {
  std::uint32_t process;
  Page page;
  auto operator<=>(const Sent&) const = default;
};

class ProtocolInWords {
 public:
  explicit ProtocolInWords(const Cluster& cluster) : cluster_(cluster) {}

  /// "WUMR" and so on, or nothing. A write is taken to change a word.
  std::optional<std::string> access(std::uint32_t process, Page page, bool write);
  void changed(std::uint32_t process, Page page);

  std::vector<Sent> release(std::uint32_t process);
  std::vector<Sent> acquire(std::uint32_t process);
  std::vector<Sent> barrier();

 private:
  enum class May : std::uint8_t { nothing, read, write };
  struct Copy {
    May may = May::nothing;
    std::uint32_t fetched = 0;  ///< number of barriers before the fetch
  };
  struct Twin {
    std::uint32_t holder;
    bool changed = false;  ///< since it was made or renewed
  };
  using OnNode = std::pair<std::uint32_t, Page>;

  May at_rest(std::uint32_t node, Page page) const;
  bool remote(std::uint32_t node, Page page) const { return cluster_.node(cluster_.home(page)) != node; }
  May on_node(std::uint32_t node, Page page) const;
  May in_process(std::uint32_t process, Page page) const;
  bool send(std::uint32_t process, const OnNode& where, Twin& twin, std::vector<Sent>& sent);
  void forget_copy(std::uint32_t node, Page page);

  const Cluster& cluster_;
  std::map<OnNode, Copy> nodes_;
  std::map<OnNode, May> processes_;  ///< (process, page)
  std::map<OnNode, Twin> twins_;
  std::vector<std::tuple<Page, std::uint32_t, std::uint32_t>> notices_;  ///< page, writing node, barriers before it
  std::uint32_t barriers_ = 0;
};

}  // namespace sdsm::test
