#include "tests/models/scash/shared_memory.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace sdsm::test {

SharedMemory::SharedMemory(const Cluster& cluster) : cluster_(cluster), words_(cluster_), home_(cluster.pages) {
  for (std::uint32_t node = 0; node < cluster_.layout.nodes; ++node) {
    nodes_.push_back(std::make_unique<NodePages>(
        NodeId{node}, ProcessId{node * cluster_.layout.threads_per_node}, cluster_.layout.threads_per_node,
        cluster_.drops_changed_only ? &notices_ : nullptr, std::pmr::get_default_resource(),
        cluster_.home_pages_are_open ? HomePages::open : HomePages::read_only));
  }
}

Owner SharedMemory::owner(std::uint32_t process, Page page) const {
  const std::uint32_t home = cluster_.home(page);
  return home == process ? Owner::home : cluster_.same_node(home, process) ? Owner::local : Owner::remote;
}

SharedMemory::Content& SharedMemory::access(std::uint32_t process, Page page, Access access) {
  const std::uint32_t node = cluster_.node(process);
  const Owner owner = this->owner(process, page);
  const auto fault =
      nodes_[node]->access(ProcessId{process}, {RegionId{0}, page}, ProcessId{cluster_.home(page)}, owner, access);
  const auto expected = words_.access(process, page, access == Access::write);
  const std::string name = fault ? std::string(name_of(*fault)) : "none";
  if (name != expected.value_or("none")) {
    throw Wrong(fmt::format("process {} meets fault {} on page {}, expected is {}", process, name, page,
                            expected.value_or("none")));
  }
  if (fault) {
    ++faults_[static_cast<std::size_t>(*fault)];
    const FaultRule& rule = rule_of(*fault);
    if (rule.fetches_page) copies_[{node, page}] = home_[page];
    if (rule.makes_twin && owner == Owner::remote) twins_[{node, page}] = copies_.at({node, page});
    if (rule.makes_twin) unsent_[{node, page}] = 0;
  }
  if (owner != Owner::remote) return home_[page];
  const auto copy = copies_.find({node, page});
  if (copy == copies_.end())
    throw Wrong(fmt::format("process {} uses page {} which its node never fetched", process, page));
  return copy->second;
}

std::uint64_t SharedMemory::read(std::uint32_t process, std::uint64_t word) {
  return access(process, word / words, Access::read)[word % words];
}

void SharedMemory::write(std::uint32_t process, std::uint64_t word, std::uint64_t value) {
  const Page page = word / words;
  access(process, page, Access::write)[word % words] = value;
  const std::uint32_t node = cluster_.node(process);
  nodes_[node]->changed({RegionId{0}, page}, owner(process, page), {1, 1});
  words_.changed(process, page);
  if (const auto unsent = unsent_.find({node, page}); unsent != unsent_.end()) ++unsent->second;
}

void SharedMemory::apply(std::uint32_t process, const std::vector<Twinned>& diffs, const std::vector<Sent>& expected) {
  std::vector<Sent> sent;
  const std::uint32_t node = cluster_.node(process);
  for (const Twinned& diff : diffs) {
    const Page page = diff.page.index;
    sent.push_back({process, page});
    ++diffs_;
    if (diff.home != ProcessId{cluster_.home(page)})
      throw Wrong(fmt::format("a diff of page {} goes to the wrong home", page));
    if (diff.local != (owner(process, page) != Owner::remote))
      throw Wrong(fmt::format("page {} is not that local", page));
    int& unsent = unsent_.at({node, page});
    if (diff.change.words != unsent) {
      throw Wrong(fmt::format("a diff of page {} has {} words, {} were changed", page, diff.change.words, unsent));
    }
    unsent = 0;
    if (diff.local) continue;  // the home is the same memory
    const Content& copy = copies_.at({node, page});
    Content& twin = twins_.at({node, page});
    for (std::size_t word = 0; word < words; ++word) {
      if (copy[word] != twin[word]) home_[page][word] = copy[word];
    }
    twin = copy;
  }
  std::sort(sent.begin(), sent.end());
  std::vector<Sent> sorted = expected;
  std::sort(sorted.begin(), sorted.end());
  if (sent != sorted)
    throw Wrong(fmt::format("process {} sends {} diffs, expected are {}", process, sent.size(), sorted.size()));
}

void SharedMemory::drop(std::uint32_t node, Sync sync) {
  nodes_[node]->drop(sync);
  for (auto& [where, unsent] : unsent_) {
    const auto& [there, page] = where;
    const bool remote = cluster_.node(cluster_.home(page)) != there;
    if (there != node || (!remote && sync != Sync::barrier)) continue;
    if (unsent != 0)
      throw Wrong(fmt::format("node {} drops the twin of page {} before its changes were sent", node, page));
  }
  std::erase_if(unsent_, [&](const auto& entry) {
    const bool remote = cluster_.node(cluster_.home(entry.first.second)) != node;
    return entry.first.first == node && (remote || sync == Sync::barrier);
  });
  std::erase_if(twins_, [&](const auto& entry) { return entry.first.first == node; });
  // Copies keep their bytes here: only NodePages knows which may still be used.
}

void SharedMemory::release(std::uint32_t process) {
  const auto expected = words_.release(process);
  apply(process, nodes_[cluster_.node(process)]->flush(ProcessId{process}, Sync::release), expected);
}

void SharedMemory::acquire(std::uint32_t process) {
  const auto expected = words_.acquire(process);
  apply(process, nodes_[cluster_.node(process)]->flush(ProcessId{process}, Sync::acquire), expected);
  drop(cluster_.node(process), Sync::acquire);
}

void SharedMemory::barrier() {
  const auto expected = words_.barrier();
  for (std::uint32_t process = 0; process < cluster_.layout.processes(); ++process) {
    std::vector<Sent> own;
    std::copy_if(expected.begin(), expected.end(), std::back_inserter(own),
                 [=](const Sent& sent) { return sent.process == process; });
    apply(process, nodes_[cluster_.node(process)]->flush(ProcessId{process}, Sync::barrier), own);
  }
  for (std::uint32_t node = 0; node < cluster_.layout.nodes; ++node) drop(node, Sync::barrier);
  if (cluster_.drops_changed_only) notices_.publish();
}

}  // namespace sdsm::test
