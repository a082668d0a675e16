// A join of two tables by hashing: buckets that grow under a lock each, matches in a vector of each thread, sums by
// group under a std::mutex, and a count by atomic additions. Strings short and long. Against std::multimap.
#include <omp.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Row {
  unsigned key = 0;
  long value = 0;
  std::string tag;
};

struct Bucket {
  omp_lock_t lock;
  std::vector<const Row*> rows;
};

using Matches = std::vector<std::pair<const Row*, const Row*>>;

struct Joined {
  long matches = 0;
  long sum = 0;
  std::map<std::string, long> sum_of;  // by group
  bool operator==(const Joined& other) const {
    return matches == other.matches && sum == other.sum && sum_of == other.sum_of;
  }
};

constexpr std::size_t buckets = 128;

std::string group_of(const Row& row) {
  return row.tag.substr(0, 4);
}

long weight_of(const Row& build, const Row& probe) {
  return build.value * 3 + probe.value;
}

std::vector<Row> make_table(int rows, unsigned state, unsigned keys) {
  std::vector<Row> table;
  for (int i = 0; i < rows; ++i) {
    state = state * 1103515245U + 12345U;
    const unsigned key = (state >> 10U) % keys;
    const char* const rest = i % 3 == 0 ? " a rather long text that is not small" : "";
    table.push_back({key, i, "tag" + std::to_string(key * 7919U % 1000) + rest});
  }
  return table;
}

Joined join_serially(const std::vector<Row>& build, const std::vector<Row>& probe) {
  std::multimap<unsigned, const Row*> by_key;
  for (const Row& row : build) by_key.insert({row.key, &row});
  Joined joined;
  for (const Row& row : probe) {
    for (auto [at, end] = by_key.equal_range(row.key); at != end; ++at) {
      ++joined.matches;
      joined.sum += weight_of(*at->second, row);
      joined.sum_of[group_of(row)] += at->second->value;
    }
  }
  return joined;
}

std::vector<Bucket> fill_buckets(const std::vector<Row>& build) {
  std::vector<Bucket> table(buckets);
  for (Bucket& bucket : table) omp_init_lock(&bucket.lock);
#pragma omp parallel for schedule(dynamic, 64)
  for (std::size_t i = 0; i < build.size(); ++i) {
    Bucket& bucket = table[build[i].key % buckets];
    omp_set_lock(&bucket.lock);
    bucket.rows.push_back(&build[i]);
    omp_unset_lock(&bucket.lock);
  }
  for (Bucket& bucket : table) omp_destroy_lock(&bucket.lock);
  return table;
}

Joined join(const std::vector<Row>& build, const std::vector<Row>& probe) {
  const std::vector<Bucket> table = fill_buckets(build);
  std::vector<Matches> found(static_cast<std::size_t>(omp_get_max_threads()));
  std::atomic<long> count{0};
  std::mutex mutex;
  Joined joined;
#pragma omp parallel
  {
    Matches& own = found[static_cast<std::size_t>(omp_get_thread_num())];
    std::map<std::string, long> own_sum_of;
#pragma omp for schedule(guided)
    for (std::size_t i = 0; i < probe.size(); ++i) {
      for (const Row* row : table[probe[i].key % buckets].rows) {
        if (row->key != probe[i].key) continue;
        own.emplace_back(row, &probe[i]);
        own_sum_of[group_of(probe[i])] += row->value;
        count.fetch_add(1, std::memory_order_relaxed);
      }
    }
    const std::lock_guard guard(mutex);
    for (const auto& [group, sum] : own_sum_of) joined.sum_of[group] += sum;
  }
  joined.matches = count;
  for (const Matches& matches : found)
    for (const auto& [row, probed] : matches) joined.sum += weight_of(*row, *probed);
  return joined;
}

}  // namespace

int main() {
  const std::vector<Row> build = make_table(1000, 1, 700);
  const std::vector<Row> probe = make_table(1500, 2, 900);
  const Joined expected = join_serially(build, probe);
  const Joined joined = join(build, probe);
  const bool is_right = joined == expected;
  std::printf("%s: %ld matches, sum %ld, %zu groups\n", is_right ? "verified" : "WRONG", joined.matches, joined.sum,
              joined.sum_of.size());
  return is_right ? 0 : 1;
}
