#include "tests/models/scash/protocol_in_words.hpp"

#include <algorithm>

namespace sdsm::test {

/// "Home and local pages start read-only; remote pages start unmapped." With open homes "a home's pages stay writable".
ProtocolInWords::May ProtocolInWords::at_rest(std::uint32_t node, Page page) const {
  if (remote(node, page)) return May::nothing;
  return cluster_.home_pages_are_open ? May::write : May::read;
}

ProtocolInWords::May ProtocolInWords::on_node(std::uint32_t node, Page page) const {
  const auto known = nodes_.find({node, page});
  return known != nodes_.end() ? known->second.may : at_rest(node, page);
}

ProtocolInWords::May ProtocolInWords::in_process(std::uint32_t process, Page page) const {
  const auto known = processes_.find({process, page});
  return known != processes_.end() ? known->second : at_rest(cluster_.node(process), page);
}

std::optional<std::string> ProtocolInWords::access(std::uint32_t process, Page page, bool write) {
  if (in_process(process, page) >= (write ? May::write : May::read)) return std::nullopt;
  const std::uint32_t node = cluster_.node(process);
  const std::uint32_t home = cluster_.home(page);
  const May before = on_node(node, page);

  std::string name = write ? "W" : "R";
  name += before == May::nothing ? "UM" : before == May::read ? "RO" : "RW";
  name += home == process ? "H" : cluster_.same_node(home, process) ? "L" : "R";

  Copy& copy = nodes_[{node, page}];
  if (before == May::nothing) copy.fetched = barriers_;
  copy.may = std::max(before, write ? May::write : May::read);
  processes_[{process, page}] = write ? May::write : May::read;
  if (write && before != May::write && home != process) twins_[{node, page}] = {process};
  if (write && !remote(node, page)) notices_.emplace_back(page, node, barriers_);
  return name;
}

void ProtocolInWords::changed(std::uint32_t process, Page page) {
  const auto twin = twins_.find({cluster_.node(process), page});
  if (twin != twins_.end()) twin->second.changed = true;
}

bool ProtocolInWords::send(std::uint32_t process, const OnNode& where, Twin& twin, std::vector<Sent>& sent) {
  if (!twin.changed) return false;
  twin.changed = false;
  sent.push_back({process, where.second});
  if (remote(where.first, where.second)) notices_.emplace_back(where.second, where.first, barriers_);
  return true;
}

/// "Diffs of all pages that the process has twinned", and of those that a local peer twinned and it wrote: the next
/// holder of the lock must find them at home.
std::vector<Sent> ProtocolInWords::release(std::uint32_t process) {
  std::vector<Sent> sent;
  for (auto& [where, twin] : twins_) {
    if (where.first != cluster_.node(process)) continue;
    const bool wrote = remote(where.first, where.second) && in_process(process, where.second) == May::write;
    if (twin.holder == process || wrote) send(process, where, twin, sent);
  }
  return sent;
}

/// Dirty non-home pages are flushed, all of the node's changes, then all of its copies are dropped.
std::vector<Sent> ProtocolInWords::acquire(std::uint32_t process) {
  const std::uint32_t node = cluster_.node(process);
  std::vector<Sent> sent;
  for (auto& [where, twin] : twins_) {
    if (where.first == node && (twin.holder == process || remote(node, where.second))) send(process, where, twin, sent);
  }
  for (Page page = 0; page < cluster_.pages; ++page) {
    if (remote(node, page)) forget_copy(node, page);
  }
  return sent;
}

std::vector<Sent> ProtocolInWords::barrier() {
  std::vector<Sent> sent;
  for (auto& [where, twin] : twins_) send(twin.holder, where, twin, sent);
  ++barriers_;
  twins_.clear();
  if (!cluster_.drops_changed_only) {
    nodes_.clear();
    processes_.clear();
    return sent;
  }
  for (std::uint32_t node = 0; node < cluster_.layout.nodes; ++node) {
    for (Page page = 0; page < cluster_.pages; ++page) {
      if (!remote(node, page)) {
        forget_copy(node, page);  // back to read-only
        continue;
      }
      const auto copy = nodes_.find({node, page});
      if (copy == nodes_.end()) continue;
      const bool stale = std::any_of(notices_.begin(), notices_.end(), [&](const auto& notice) {
        return std::get<0>(notice) == page && std::get<1>(notice) != node &&
               std::get<2>(notice) >= copy->second.fetched;
      });
      if (stale) {
        forget_copy(node, page);
      } else {
        copy->second.may = std::min(copy->second.may, May::read);
        for (std::uint32_t process = 0; process < cluster_.layout.processes(); ++process) {
          const auto own = processes_.find({process, page});
          if (cluster_.node(process) == node && own != processes_.end()) own->second = std::min(own->second, May::read);
        }
      }
    }
  }
  return sent;
}

void ProtocolInWords::forget_copy(std::uint32_t node, Page page) {
  nodes_.erase({node, page});
  if (remote(node, page)) twins_.erase({node, page});
  for (std::uint32_t process = 0; process < cluster_.layout.processes(); ++process) {
    if (cluster_.node(process) == node) processes_.erase({process, page});
  }
}

}  // namespace sdsm::test
