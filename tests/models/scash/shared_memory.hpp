/// A cluster's memory with its bytes: home pages, copies, twins and diffs, moved as NodePages decides. Whether what it
/// decides is right shows in the values that reads find.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/scash/node_pages.hpp"
#include "tests/models/scash/protocol_in_words.hpp"

namespace sdsm::test {

/// The protocol did what it must not: the text says what.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::uint64_t words = 4;  ///< of a page; enough for false sharing

class SharedMemory {
 public:
  explicit SharedMemory(const Cluster& cluster);

  /// Each throws Wrong if NodePages and ProtocolInWords disagree, or if a copy is used that does not exist.
  std::uint64_t read(std::uint32_t process, std::uint64_t word);
  void write(std::uint32_t process, std::uint64_t word, std::uint64_t value);
  void release(std::uint32_t process);
  void acquire(std::uint32_t process);
  void barrier();

  std::uint64_t at_home(std::uint64_t word) const { return home_[word / words][word % words]; }
  std::uint64_t faults(FaultKind kind) const { return faults_[static_cast<std::size_t>(kind)]; }
  std::uint64_t diffs() const { return diffs_; }

 private:
  using Content = std::array<std::uint64_t, words>;
  using OnNode = std::pair<std::uint32_t, Page>;

  Owner owner(std::uint32_t process, Page page) const;
  Content& access(std::uint32_t process, Page page, Access access);
  void apply(std::uint32_t process, const std::vector<Twinned>& diffs, const std::vector<Sent>& expected);
  void drop(std::uint32_t node, Sync sync);

  Cluster cluster_;
  ProtocolInWords words_;
  WriteNotices notices_;
  std::vector<std::unique_ptr<NodePages>> nodes_;
  std::vector<Content> home_;
  std::map<OnNode, Content> copies_;
  std::map<OnNode, Content> twins_;  ///< of remote pages
  std::map<OnNode, int> unsent_;     ///< changes of local twins and of remote ones since their last flush
  std::array<std::uint64_t, fault_kinds> faults_{};
  std::uint64_t diffs_ = 0;
};

}  // namespace sdsm::test
