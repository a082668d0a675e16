/// The result of a run, simulated or native, as JSON: docs/result-format.md. This file writes the fields that both
/// kinds of runs share; each adds its own between them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/counts.hpp"
#include "models/ids.hpp"
#include "models/protocol/registry.hpp"
#include "models/protocol/tables.hpp"

namespace sdsm::results {

using Json = nlohmann::ordered_json;

/// Version of every result document; a reader refuses any other.
inline constexpr int format = 1;

/// One thread's time by item; the items sum to the makespan.
struct Times {
  double compute_s = 0;
  std::array<double, most_fault_kinds> fault_s{};
  double diff_s = 0;
  double protect_s = 0;
  double barrier_s = 0;
  double lock_s = 0;
  double stolen_s = 0;
  double idle_s = 0;
};

/// `tables` are those of the run's protocol. `own` is an object with the fields that only this kind of run has, placed
/// after the shared ones; null for none.
Json thread(const Tables& tables, ProcessId id, NodeId node, const Times& times, const ThreadCounts& counts,
            const Json* own = nullptr);

/// Returns the first fields of every result document.
Json head(std::string_view kind);

/// Returns the first fields of a run's document.
Json head(std::string_view kind, const std::vector<std::string>& program, Layout layout, ProtocolKind protocol);

/// Adds the time and the threads of the measured region to a result, or of the whole run to its `whole_run`.
void add_part(Json& to, double makespan_s, Json threads);

/// Adds the result's `inputs`, hashed as they are on disk, and the versions of sdsm and of those in `versions`, an
/// object; null for none. Throws std::system_error if an input cannot be read.
void add_origin(Json& to, const std::vector<std::filesystem::path>& inputs, const Json* versions = nullptr);

/// Writes a document to a file, or to stdout for "-". Bytes of a name that are not UTF-8 become U+FFFD. Throws what
/// commands::write_output() throws.
void write(const Json& document, const std::string& where);

}  // namespace sdsm::results
