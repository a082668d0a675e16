/// Does `sdsm trace --words` record the words that were accessed, and leave the rest of a trace as it is?
#include <algorithm>
#include <map>
#include <tuple>

#include "tests/catch.hpp"
#include "tests/native/traced_run.hpp"

using namespace sdsm;
using namespace sdsm::tests;

namespace {

using Runs = std::vector<std::uint32_t>;

CommandResult trace_words(const std::filesystem::path& file, const std::string& array,
                          const std::string& traced = "words") {
  std::vector<std::string> command = tracing(2, file, {program(traced)});
  const auto separator = std::find(command.begin(), command.end(), "--");
  command.insert(separator, {"--words", array});
  return run_command(command);
}

/// Words as bits, by page, thread and access, of parallel regions.
class Accessed {
 public:
  explicit Accessed(const trace::Words& words) {
    for (const trace::WordsRow& row : words.rows) {
      if ((row.access & trace::WordsRow::in_team) == 0) continue;  // memcmp with masks, for one
      CHECK((row.access & trace::WordsRow::is_unsized) == 0);
      for (const unsigned access : {trace::WordsRow::reads, trace::WordsRow::writes}) {
        if ((row.access & access) == 0) continue;
        auto& bits = bits_[{row.page, row.thread, access}];
        bits.resize(1024);
        const Runs& set = words.sets[row.set];
        for (std::size_t i = 0; i < set.size(); i += 2) {
          std::fill_n(bits.begin() + set[i], set[i + 1], true);
        }
      }
    }
  }
  Runs read(std::uint64_t page, std::uint32_t thread) const { return runs(page, thread, trace::WordsRow::reads); }
  Runs written(std::uint64_t page, std::uint32_t thread) const { return runs(page, thread, trace::WordsRow::writes); }

 private:
  Runs runs(std::uint64_t page, std::uint32_t thread, unsigned access) const {
    Runs found;
    const auto bits = bits_.find({page, thread, access});
    for (std::uint32_t word = 0; bits != bits_.end() && word < 1024; ++word) {
      if (!bits->second[word]) continue;
      if (word == 0 || !bits->second[word - 1]) found.insert(found.end(), {word, 0});
      ++found.back();
    }
    return found;
  }
  std::map<std::tuple<std::uint64_t, std::uint32_t, unsigned>, std::vector<bool>> bits_;
};

}  // namespace

TEST_CASE("each kind of access is recorded to the word") {
  const TemporaryFolder folder;
  const auto file = folder / "a.trace";
  const CommandResult done = trace_words(file, "field");
  INFO(done.errors);
  REQUIRE(done.status == 0);
  const TraceContent trace = read_trace(file);
  CHECK(trace.header.words.array == "field");
  const Accessed accessed(trace.header.words);
  for (std::uint32_t t = 0; t < 2; ++t) {
    CHECK(accessed.read(0, t) == Runs{t, 1});
    CHECK(accessed.written(0, t) == Runs{t, 1});
    CHECK(accessed.read(1, t) == Runs{4 * t, 4});
    CHECK(accessed.written(1, t).empty());
    CHECK(accessed.written(2, t) == Runs{25 * t, 3});
    CHECK(accessed.read(2, t).empty());
    CHECK(accessed.read(8, t) == Runs{0, 1});
    CHECK(accessed.written(8, t) == Runs{0, 1});
  }
  CHECK(accessed.read(3, 0) == Runs{0, 1024});
  CHECK(accessed.read(4, 0) == Runs{0, 176});
  CHECK(accessed.written(5, 0) == Runs{0, 1024});
  CHECK(accessed.written(6, 0) == Runs{0, 176});
  CHECK(accessed.read(7, 0) == Runs{0, 2});
  CHECK(accessed.written(7, 0) == Runs{512, 2});
  CHECK(accessed.written(9, 1) == Runs{1023, 1});
  CHECK(accessed.written(10, 1) == Runs{0, 1});
  CHECK(accessed.written(11, 1) == Runs{1, 1});
  CHECK(accessed.written(11, 0).empty());
}

TEST_CASE("word records change nothing else and watch one array alone") {
  const TemporaryFolder folder;
  REQUIRE(trace_words(folder / "with.trace", "beside").status == 0);
  std::vector<std::string> command = tracing(2, folder / "without.trace", {program("words")});
  command.insert(std::find(command.begin(), command.end(), "--"), "--lines");
  REQUIRE(run_command(command).status == 0);
  const TraceContent with = read_trace(folder / "with.trace");
  const TraceContent without = read_trace(folder / "without.trace");
  CHECK(with.threads == without.threads);
  CHECK(without.header.words == trace::Words{});
  std::uint64_t pages = 0;
  for (const trace::WordsRow& row : with.header.words.rows) {
    CHECK(with.regions[row.region].name == "beside");
    pages = std::max(pages, row.page + 1);
  }
  CHECK(pages == 1);
}

TEST_CASE("an access across the watched array's begin counts within it") {
  const TemporaryFolder folder;
  const auto file = folder / "a.trace";
  const CommandResult done = trace_words(file, "after", "words_beside");
  INFO(done.errors);
  REQUIRE(done.status == 0);
  const TraceContent trace = read_trace(file);
  const Accessed accessed(trace.header.words);
  CHECK(accessed.read(0, 0) == Runs{0, 1});
  CHECK(accessed.written(0, 1) == Runs{1023, 1});
  CHECK(accessed.written(1, 1) == Runs{0, 1});
}

TEST_CASE("looking up who called may read the watched pages themselves") {
  const TemporaryFolder folder;
  const CommandResult done = trace_words(folder / "a.trace", "globals", "unwound");
  INFO(done.errors);
  REQUIRE(done.status == 0);
}

TEST_CASE("an unknown array is a one-line error with the known names") {
  const TemporaryFolder folder;
  const CommandResult done = trace_words(folder / "a.trace", "fields");
  CHECK(done.status == 2);
  CHECK(done.errors.find(
            "--words fields: the program has no array of that name. There are 'beside', 'field', 'globals'") !=
        std::string::npos);
  CHECK(std::count(done.errors.begin(), done.errors.end(), '\n') == 1);
  CHECK(!std::filesystem::exists(folder / "a.trace"));
}
