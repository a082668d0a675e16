/// Converts a trace's accessed words to and from JSON in its footer (docs/trace-format.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

nlohmann::json words_json(const Words& words);
/// Throws ContentError if words_json() cannot have written this.
Words words_from(const nlohmann::json& value);
/// Throws ContentError if the words name threads, pages or sites that the trace lacks.
void check_words(const Words& words, const Header& header, const std::vector<Region>& regions);

}  // namespace sdsm::trace
