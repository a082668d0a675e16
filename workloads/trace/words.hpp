/// The accessed words of a trace as its footer holds them (docs/trace-format.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

nlohmann::json words_json(const Words& words);
/// Throws ContentError if it is not what words_json() writes.
Words words_from(const nlohmann::json& value);
/// Throws ContentError if the words are of threads, pages or sites that the trace has not.
void check_words(const Words& words, const Header& header, const std::vector<Region>& regions);

}  // namespace sdsm::trace
