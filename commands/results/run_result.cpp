#include "commands/results/run_result.hpp"

#include <nlohmann/json.hpp>

#include "commands/file_hash.hpp"
#include "commands/output.hpp"
#include "commands/version.hpp"

namespace sdsm::results {

Json thread(const Tables& tables, ProcessId id, NodeId node, const Times& times, const ThreadCounts& counts,
            const Json* own) {
  Json fault_time = Json::object(), faults = fault_time, messages = fault_time;
  for (std::size_t kind = 0; kind < tables.faults.size(); ++kind) {
    fault_time[tables.faults[kind].name] = times.fault_s[kind];
    faults[tables.faults[kind].name] = counts.faults[kind];
  }
  for (std::size_t kind = 0; kind < tables.messages.size(); ++kind) {
    if (!tables.messages[kind].is_usual && counts.messages_by_kind[kind] == 0) continue;
    messages[tables.messages[kind].name] = counts.messages_by_kind[kind];
  }
  Json json = {{"id", index_of(id)},
               {"node", index_of(node)},
               {"time_s",
                {{"compute", times.compute_s},
                 {"fault", fault_time},
                 {"diff", times.diff_s},
                 {"protect", times.protect_s},
                 {"barrier", times.barrier_s},
                 {"lock", times.lock_s},
                 {"stolen", times.stolen_s},
                 {"idle", times.idle_s}}},
               {"faults", faults},
               {"barriers", counts.barriers},
               {"locks", counts.locks},
               {"messages", counts.messages},
               {"bytes", counts.bytes},
               {"messages_by_kind", messages},
               {"served", counts.served},
               {"served_bytes", counts.served_bytes},
               {"diffs", counts.diffs},
               {"diff_bytes", counts.diff_bytes}};
  for (std::size_t i = 0; i < tables.further_counts.size(); ++i) json[tables.further_counts[i]] = counts.further[i];
  if (own != nullptr) json.update(*own);
  return json;
}

Json head(std::string_view kind) {
  return {{"format", format}, {"kind", kind}};
}

Json head(std::string_view kind, const std::vector<std::string>& program, Layout layout, ProtocolKind protocol) {
  Json json = head(kind);
  json.update({{"program", program},
               {"nodes", layout.nodes},
               {"threads_per_node", layout.threads_per_node},
               {"protocol", sdsm::name_of(protocol)}});
  return json;
}

void add_part(Json& to, double makespan_s, Json threads) {
  to["makespan_s"] = makespan_s;
  to["threads"] = std::move(threads);
}

void add_origin(Json& to, const std::vector<std::filesystem::path>& inputs, const Json* versions) {
  Json& list = to["inputs"] = Json::array();
  for (const std::filesystem::path& path : inputs) {
    list.push_back({{"path", path.string()}, {"sha256", commands::sha256_of(path)}});
  }
  Json& by = to["versions"] = {{"sdsm", commands::version()}};
  if (versions != nullptr) by.update(*versions);
}

void write(const Json& document, const std::string& where) {
  commands::write_output(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", where);
}

}  // namespace sdsm::results
