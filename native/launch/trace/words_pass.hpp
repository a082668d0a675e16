/// The pass that records the accessed words of an array.
#pragma once

#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "native/launch/trace/passes.hpp"

namespace sdsm::trace_command {

/// A pass of its own: its times are those of single steps.
class WordsPass : public RepeatedPass {
 public:
  WordsPass(Structure& structure, unsigned number, const std::filesystem::path& program);

  void on_interval(const tracer::IntervalRecord& record) override;
  void on_object(const tracer::ObjectRecord& record, const std::string& file) override;
  void on_words(std::uint32_t thread, std::span<const tracer::WordsRecord> words) override;

  /// All that was accessed, with the sites of `pass`.
  trace::Words words(const std::string& array, TrackedPass& pass) const;

 private:
  using Bits = std::array<std::uint64_t, 16>;
  struct ThreadState {
    std::uint64_t intervals = 0;  ///< that have ended
    /// Words accessed in the interval that the thread is in: by region, page, access and site.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, Bits> words;
  };

  ThreadState& thread(std::uint32_t number);
  void decide(std::uint32_t number);
  std::uint32_t set_of(const Bits& bits);

  SiteTable sites_;
  std::vector<ThreadState> states_;
  std::vector<trace::WordsRow> rows_;
  std::map<Bits, std::uint32_t> set_numbers_;
  std::vector<std::vector<std::uint32_t>> sets_;
  std::size_t set_numbers_used_ = 0;
};

/// The pages of an array as the run-time's choose_watched() reads them. `array`: a variable, a region's name or the
/// begin of it, a line FILE:LINE that allocates. Throws BadInput, with the names that there are, if none has that one.
std::string pages_of_array(const std::string& array, const FirstPass& pass, const std::filesystem::path& program);

}  // namespace sdsm::trace_command
