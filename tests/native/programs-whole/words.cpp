// Words counted, in the C++ library's types: strings, maps and streams in parallel regions, tables of each thread
// merged under a mutex, regular use of sort, and a text that one thread writes to a file and reads back by lines.
#include <omp.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using Counts = std::unordered_map<std::string, long>;

const std::vector<std::string>& syllables() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> made;
    for (const char* first : {"b", "d", "f", "gr", "k", "l", "m", "n", "pr", "s", "t", "v"})
      for (const char* second : {"a", "e", "i", "o", "u", "ee"}) made.push_back(std::string(first) + second);
    return made;
  }();
  return all;
}

std::string word_of(std::mt19937& generator) {
  const auto& all = syllables();
  std::geometric_distribution<int> length(0.45);
  std::uniform_int_distribution<std::size_t> which(0, 7);
  std::string word = all[which(generator)];
  for (int more = length(generator); more > 0 && word.size() < 60; --more)
    word += all[which(generator) * 5 % all.size()];
  return word;
}

std::vector<std::string> lines_of(int count) {
  std::vector<std::string> lines(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(static, 4)
  for (int i = 0; i < count; ++i) {
    std::mt19937 generator(1234u + static_cast<unsigned>(i));
    std::ostringstream line;
    for (int k = 0; k < 8; ++k) line << (k ? " " : "") << word_of(generator);
    lines[static_cast<std::size_t>(i)] = line.str();
  }
  return lines;
}

template <typename Map>
void count_line(const std::string& line, Map& counts) {
  std::istringstream words(line);
  for (std::string word; words >> word;) ++counts[word];
}

Counts merged_by_mutex(const std::vector<std::string>& lines) {
  Counts all;
  std::mutex mutex;
#pragma omp parallel
  {
    Counts own;
#pragma omp for nowait
    for (std::size_t i = 0; i < lines.size(); ++i) count_line(lines[i], own);
    const std::lock_guard<std::mutex> guard(mutex);
    for (const auto& [word, count] : own) all[word] += count;
  }
  return all;
}

// A table in stripes, each with its own mutex: words go where their hash says.
Counts by_stripes(const std::vector<std::string>& lines) {
  struct Stripe {
    std::mutex mutex;
    std::map<std::string, long> counts;
  };
  std::array<Stripe, 7> stripes;
#pragma omp parallel for schedule(dynamic, 8)
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::map<std::string, long> own;
    count_line(lines[i], own);
    std::array<std::vector<std::pair<std::string, long>>, 7> sorted;
    for (const auto& entry : own) sorted[std::hash<std::string>{}(entry.first) % 7].push_back(entry);
    for (std::size_t s = 0; s < 7; ++s) {
      if (sorted[s].empty()) continue;
      std::unique_lock<std::mutex> lock(stripes[s].mutex, std::try_to_lock);
      if (!lock) lock.lock();
      for (const auto& [word, count] : sorted[s]) stripes[s].counts[word] += count;
    }
  }
  Counts all;
  for (const Stripe& stripe : stripes) all.insert(stripe.counts.begin(), stripe.counts.end());
  return all;
}

void add(std::map<std::string, long>& to, const std::map<std::string, long>& from) {
  for (const auto& [word, count] : from) to[word] += count;
}
#pragma omp declare reduction(merge : std::map <std::string, long> : add(omp_out, omp_in))

Counts by_reduction(const std::vector<std::string>& lines) {
  std::map<std::string, long> all;
#pragma omp parallel for reduction(merge : all)
  for (std::size_t i = 0; i < lines.size(); ++i) count_line(lines[i], all);
  return {all.begin(), all.end()};
}

bool through_a_file(const std::vector<std::string>& lines) {
  const std::string name = "words-" + std::to_string(getpid()) + ".tmp";
  std::vector<std::string> again;
#pragma omp parallel
#pragma omp single
  {
    std::ofstream file(name);
    for (std::size_t i = 0; i < lines.size(); ++i) file << std::setw(6) << i << ':' << lines[i] << '\n';
    file.close();
    std::ifstream back(name);
    for (std::string line; std::getline(back, line);) {
      const auto colon = line.find(':');
      if (std::stoul(line.substr(0, colon)) == again.size()) again.push_back(line.substr(colon + 1));
    }
    std::remove(name.c_str());
  }
  return again == lines;
}

// Names that threads ask for at once get one number each.
class Names {
 public:
  std::shared_ptr<const std::string> intern(const std::string& name) {
    const std::lock_guard<std::recursive_mutex> guard(mutex_);
    auto& known = names_[name];
    if (!known) {
      known = std::make_shared<const std::string>(name);
      ++made_;
    }
    return again(name);
  }
  long made() const { return made_; }

 private:
  std::shared_ptr<const std::string> again(const std::string& name) {
    const std::lock_guard<std::recursive_mutex> guard(mutex_);
    return names_.at(name);
  }
  std::recursive_mutex mutex_;
  std::map<std::string, std::shared_ptr<const std::string>> names_;
  std::atomic<long> made_{0};
};

int interned_wrong(const Counts& expected, const std::vector<std::string>& lines) {
  Names names;
  int wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (std::size_t i = 0; i < lines.size(); i += 4) {
    Counts own;
    count_line(lines[i], own);
    for (const auto& [word, count] : own) wrong += *names.intern(word) != word || count < 1;
  }
  Counts some;
  for (std::size_t i = 0; i < lines.size(); i += 4) count_line(lines[i], some);
  return wrong + (names.made() != static_cast<long>(some.size())) + (some.size() > expected.size());
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::stoi(argv[1]) : 240;
  const double begun = omp_get_wtime();
  const std::vector<std::string> lines = lines_of(count);
  Counts expected;
  for (const std::string& line : lines) count_line(line, expected);
  int wrong = 0;
  const auto check = [&](const char* what, bool good) {
    if (!good) std::cerr << what << " is wrong\n";
    wrong += !good;
  };
  check("mutex", merged_by_mutex(lines) == expected);
  check("stripes", by_stripes(lines) == expected);
  check("reduction", by_reduction(lines) == expected);
  check("file", through_a_file(lines));
  check("names", interned_wrong(expected, lines) == 0);
  std::vector<std::pair<long, std::string>> order;
  for (const auto& [word, number] : expected) order.emplace_back(-number, word);
  std::sort(order.begin(), order.end());
  const long total =
      std::accumulate(order.begin(), order.end(), 0L, [](long sum, const auto& e) { return sum - e.first; });
  check("total", total == 8L * count);
#pragma omp parallel
#pragma omp critical
  std::cout << "thread " << omp_get_thread_num() << " saw " << order.front().second << std::endl;
  std::cout << "words: " << expected.size() << " of " << total << ", " << std::fixed << std::setprecision(3)
            << omp_get_wtime() - begun << " s: " << (wrong ? "WRONG" : "verified") << '\n';
  return wrong != 0;
}
