#include "native/launch/trace/words_pass.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/errors.hpp"
#include "workloads/trace/limits.hpp"

namespace sdsm::trace_command {

using namespace commands;

WordsPass::WordsPass(Structure& structure, unsigned number, const std::filesystem::path& program)
    : RepeatedPass(structure, number), sites_(program.string()), states_(structure.threads()) {}

WordsPass::ThreadState& WordsPass::thread(std::uint32_t number) {
  if (number >= states_.size()) throw RunError("the run-time tells words of a thread that the program does not have");
  return states_[number];
}

void WordsPass::on_interval(const tracer::IntervalRecord& record) {
  next_interval(record);
  decide(record.thread);
  ++thread(record.thread).intervals;
}

void WordsPass::on_object(const tracer::ObjectRecord& record, const std::string& file) {
  sites_.add_object(record, file);
}

void WordsPass::on_words(std::uint32_t number, std::span<const tracer::WordsRecord> words) {
  ThreadState& state = thread(number);
  for (const tracer::WordsRecord& record : words) {
    Bits& bits = state.words[{record.region, record.page, record.access, sites_.at(record.site)}];
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] |= record.words[i];
  }
}

std::uint32_t WordsPass::set_of(const Bits& bits) {
  const auto [known, is_new] = set_numbers_.try_emplace(bits, static_cast<std::uint32_t>(sets_.size()));
  if (!is_new) return known->second;
  std::vector<std::uint32_t>& set = sets_.emplace_back();
  bool was_set = false;
  for (std::uint32_t word = 0; word < bits.size() * 64; ++word) {
    const bool is_set = (bits[word / 64] >> word % 64 & 1) != 0;
    if (is_set && !was_set) set.insert(set.end(), {word, 0});
    if (is_set) ++set.back();
    was_set = is_set;
  }
  set_numbers_used_ += set.size();
  return known->second;
}

void WordsPass::decide(std::uint32_t number) {
  ThreadState& state = thread(number);
  for (const auto& [key, bits] : state.words) {
    const auto& [region, page, access, site] = key;
    const std::uint32_t set = set_of(bits);
    if (rows_.size() == trace::max_word_rows || set_numbers_used_ > trace::max_word_set_numbers) {
      throw RunError(
          fmt::format("the words that threads access fill more than {} rows of a trace (one for each instruction, "
                      "page and interval). Trace fewer iterations, or a smaller problem",
                      trace::max_word_rows));
    }
    rows_.push_back({.thread = number,
                     .interval = state.intervals,
                     .region = region,
                     .page = page,
                     .access = static_cast<std::uint8_t>(access),
                     .site = site,
                     .set = set});
  }
  state.words.clear();
}

trace::Words WordsPass::words(const std::string& array, TrackedPass& pass) const {
  trace::Words words{array, rows_, sets_};
  std::vector<std::uint32_t> numbers;
  for (const trace::Site& site : sites_.sites()) numbers.push_back(pass.site_number(site));
  for (trace::WordsRow& row : words.rows) row.site = numbers[row.site];
  return words;
}

}  // namespace sdsm::trace_command
