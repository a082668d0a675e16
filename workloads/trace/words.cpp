#include "workloads/trace/words.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "workloads/trace/content_error.hpp"
#include "workloads/trace/limits.hpp"

namespace sdsm::trace {
namespace {

using nlohmann::json;

constexpr const char* columns[] = {"thread", "interval", "region", "page", "access", "site", "set"};
constexpr std::uint64_t most_access = 15;

const json& list_in(const json& object, const char* key, std::size_t most) {
  const bool has_it = object.is_object() && object.contains(key) && object[key].is_array();
  if (!has_it || object[key].size() > most) {
    throw ContentError(fmt::format("\"words\" has no list \"{}\" of at most {}", key, most));
  }
  return object[key];
}

std::uint64_t number_in(const json& value, const char* key, std::uint64_t most) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
    throw ContentError(fmt::format("\"{}\" of \"words\" is not a whole number of 0..{}", key, most));
  }
  return value.get<std::uint64_t>();
}

std::vector<std::uint32_t> set_from(const json& value) {
  std::vector<std::uint32_t> set;
  if (!value.is_array() || value.size() % 2 != 0 || value.empty()) throw ContentError("a set of words has no runs");
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < value.size(); i += 2) {
    const std::uint64_t first = number_in(value[i], "sets", words_per_page - 1);
    const std::uint64_t count = number_in(value[i + 1], "sets", words_per_page);
    if ((i > 0 && first <= end) || count == 0 || first + count > words_per_page) {
      throw ContentError("a set's runs of words are not ascending and apart within a page");
    }
    end = first + count;
    set.push_back(static_cast<std::uint32_t>(first));
    set.push_back(static_cast<std::uint32_t>(count));
  }
  return set;
}

}  // namespace

json words_json(const Words& words) {
  json value = {{"array", words.array}, {"rows", json::object()}, {"sets", words.sets}};
  for (const char* column : columns) value["rows"][column] = json::array();
  json& rows = value["rows"];
  for (const WordsRow& row : words.rows) {
    const std::uint64_t fields[] = {row.thread, row.interval, row.region, row.page, row.access, row.site, row.set};
    for (std::size_t i = 0; i < std::size(columns); ++i) rows[columns[i]].push_back(fields[i]);
  }
  return value;
}

Words words_from(const json& value) {
  Words words;
  if (!value.is_object() || !value.contains("array") || !value["array"].is_string() || !value.contains("rows")) {
    throw ContentError("\"words\" has no array or no rows");
  }
  words.array = value["array"].get<std::string>();
  std::size_t numbers = 0;
  for (const json& set : list_in(value, "sets", max_word_rows)) {
    words.sets.push_back(set_from(set));
    numbers += words.sets.back().size();
  }
  if (numbers > max_word_set_numbers) throw ContentError("the sets of words are too large");
  const std::size_t count = list_in(value["rows"], columns[0], max_word_rows).size();
  words.rows.resize(count);
  const std::uint64_t most[] = {max_threads - 1, ~std::uint64_t{0} >> 1, max_regions - 1,  max_region_pages - 1,
                                most_access,     max_sites - 1,          max_word_rows - 1};
  for (std::size_t column = 0; column < std::size(columns); ++column) {
    const json& values = list_in(value["rows"], columns[column], max_word_rows);
    if (values.size() != count) throw ContentError("the columns of \"words\" are not equally long");
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t number = number_in(values[i], columns[column], most[column]);
      WordsRow& row = words.rows[i];
      switch (column) {
        case 0: row.thread = static_cast<std::uint32_t>(number); break;
        case 1: row.interval = number; break;
        case 2: row.region = static_cast<std::uint32_t>(number); break;
        case 3: row.page = number; break;
        case 4: row.access = static_cast<std::uint8_t>(number); break;
        case 5: row.site = static_cast<std::uint32_t>(number); break;
        default: row.set = static_cast<std::uint32_t>(number); break;
      }
    }
  }
  return words;
}

void check_words(const Words& words, const Header& header, const std::vector<Region>& regions) {
  for (const WordsRow& row : words.rows) {
    const bool is_there = row.thread < header.threads && row.region < regions.size() &&
                          row.page < regions[row.region].pages && row.site < header.sites.size() &&
                          row.set < words.sets.size();
    if (!is_there)
      throw ContentError("\"words\" are of a thread, a page, a site or a set that the trace does not have");
  }
}

}  // namespace sdsm::trace
