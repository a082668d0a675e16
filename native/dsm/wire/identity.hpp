/// This process's identity and options, fixed before the program begins.
#pragma once

#include <cstdint>

#include "models/atomics.hpp"
#include "models/ids.hpp"
#include "models/jiajia/rules.hpp"
#include "models/page_size.hpp"
#include "models/program/placement.hpp"
#include "models/protocol/tables.hpp"
#include "models/scash/page_state.hpp"
#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

struct Self {
  Layout layout;    ///< of processes that share memory. Under JIAJIA none do
  Layout machines;  ///< messages within one of its nodes count nothing
  ProcessId process{};
  ProtocolKind protocol{};
  jiajia::Rules jiajia;
  HeapPlacement placement{};
  Atomics atomics{};
  HomePages home_pages{};
  Invalidation invalidation{};
  std::uint32_t prefetch = 0;
  std::uint32_t page_bytes = least_page.count;  ///< of a page (larger_pages.hpp)
  int control = -1;                             ///< socket to the launcher; -1: none, the program runs alone
  int node_memory = -1;                         ///< file of the node's memory
  bool is_bound = false;                        ///< to a processor, by the run-time
  std::uint32_t processes_on_host = 1;          ///< of the run
  bool wants_page_log = false;
  bool wants_timeline = false;
  bool shares_clock = false;   ///< with process 0
  std::uint64_t begun_ns = 0;  ///< when this process began
};
inline constinit Self self_at_start GUARDED_BY(starting);
inline constexpr const Self& self = self_at_start;

inline std::uint32_t processes() {
  return self.layout.processes();
}
inline bool is_initial() {
  return self.process == ProcessId{0};
}
inline NodeId own_node() {
  return self.layout.node_of(self.process);
}
inline bool is_on_own_node(ProcessId process) {
  return self.machines.node_of(process) == self.machines.node_of(self.process);
}
inline const Traits& traits() {
  return tables_of(self.protocol).traits;
}
inline const protocol::Courses& courses_of_run() {
  return tables_of(self.protocol).courses;
}

}  // namespace sdsm::dsm
