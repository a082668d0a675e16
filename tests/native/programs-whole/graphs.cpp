// A graph suite in the style of GAP and Graph500, on one random graph with skewed degrees: breadth-first search whose
// parents are claimed by compare-and-exchange, direction-switching with bitmaps; shortest paths by delta-stepping with
// buckets of each thread; components by union-find with atomic hooks and by label propagation; PageRank; triangles;
// betweenness; a k-core by peeling; colouring by guess and repair. Each result is held against a serial one or its
// definition.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

namespace {

using Vertex = std::int32_t;

struct Graph {
  Vertex vertices = 0;
  std::vector<std::int64_t> first;
  std::vector<Vertex> target;
  std::vector<std::int32_t> weight;

  std::int64_t degree(Vertex v) const { return first[v + 1] - first[v]; }
};

std::uint64_t random_next(std::uint64_t& s) {
  s ^= s << 13;
  s ^= s >> 7;
  return s ^= s << 17;
}

// Edges by recursive quadrants, as Graph500; each thread makes its share from a seed by edge, so the graph is the same.
Graph generate(int scale, int per_vertex) {
  const Vertex n = 1 << scale;
  const std::int64_t m = static_cast<std::int64_t>(n) * per_vertex;
  std::vector<std::pair<Vertex, Vertex>> edges(m);
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t e = 0; e < m; ++e) {
    std::uint64_t s = 88172645463325252ULL + 2654435761ULL * e;
    for (int i = 0; i < 4; ++i) random_next(s);
    Vertex a = 0, b = 0;
    for (int bit = 0; bit < scale; ++bit) {
      const int r = random_next(s) % 100;
      a = a << 1 | (r >= 76 || (r >= 57 && r < 76 && random_next(s) % 2));
      b = b << 1 | (r >= 57 && r < 90);
    }
    edges[e] = {a, b};
  }
  Graph g;
  g.vertices = n;
  // Degrees by atomics, a scan, places by atomic capture, and each list sorted and freed of copies.
  std::vector<std::int64_t> count(n + 1);
#pragma omp parallel for
  for (std::int64_t e = 0; e < m; ++e) {
    if (edges[e].first == edges[e].second) continue;
#pragma omp atomic
    ++count[edges[e].first];
#pragma omp atomic
    ++count[edges[e].second];
  }
  std::vector<std::int64_t> first(n + 1), place(n);
  for (Vertex v = 0; v < n; ++v) place[v] = first[v], first[v + 1] = first[v] + count[v];
  std::vector<Vertex> target(first[n]);
#pragma omp parallel for
  for (std::int64_t e = 0; e < m; ++e) {
    const auto [a, b] = edges[e];
    if (a == b) continue;
    std::int64_t at;
#pragma omp atomic capture
    at = place[a]++;
    target[at] = b;
#pragma omp atomic capture
    at = place[b]++;
    target[at] = a;
  }
  std::vector<std::int64_t> left(n + 1);
#pragma omp parallel for schedule(guided)
  for (Vertex v = 0; v < n; ++v) {
    const auto begin = target.begin() + first[v], end = target.begin() + first[v + 1];
    std::sort(begin, end);
    left[v + 1] = std::unique(begin, end) - begin;
  }
  std::partial_sum(left.begin(), left.end(), left.begin());
  g.first = left;
  g.target.resize(left[n]);
  g.weight.resize(left[n]);
#pragma omp parallel for
  for (Vertex v = 0; v < n; ++v)
    for (std::int64_t k = 0; k < left[v + 1] - left[v]; ++k) {
      const Vertex u = target[first[v] + k];
      g.target[left[v] + k] = u;
      g.weight[left[v] + k] = 1 + (std::min(u, v) * 31 + std::max(u, v) * 17) % 23;
    }
  return g;
}

std::vector<int> depths(const Graph& g, Vertex source) {
  std::vector<int> depth(g.vertices, -1);
  std::queue<Vertex> queue;
  depth[source] = 0;
  for (queue.push(source); !queue.empty(); queue.pop())
    for (std::int64_t k = g.first[queue.front()]; k < g.first[queue.front() + 1]; ++k)
      if (depth[g.target[k]] < 0) {
        depth[g.target[k]] = depth[queue.front()] + 1;
        queue.push(g.target[k]);
      }
  return depth;
}

int breadth_first(const Graph& g, Vertex source) {
  std::vector<std::atomic<Vertex>> parent(g.vertices);
  for (auto& p : parent) p.store(-1, std::memory_order_relaxed);
  parent[source] = source;
  std::vector<Vertex> frontier{source}, next(g.vertices);
  std::vector<std::atomic<std::uint64_t>> bitmap((g.vertices + 63) / 64);
  std::atomic<std::int64_t> edges_of_next{0};
  int level = 0;
  while (!frontier.empty()) {
    std::atomic<int> found{0};
    const bool from_below = edges_of_next.exchange(0) > static_cast<std::int64_t>(g.target.size()) / 8;
    if (from_below) {
      for (auto& word : bitmap) word = 0;
#pragma omp parallel
      {
#pragma omp for
        for (std::size_t i = 0; i < frontier.size(); ++i)
          bitmap[frontier[i] / 64].fetch_or(1ULL << frontier[i] % 64, std::memory_order_relaxed);
#pragma omp for schedule(dynamic, 64)
        for (Vertex v = 0; v < g.vertices; ++v) {
          if (parent[v].load(std::memory_order_relaxed) >= 0) continue;
          for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k) {
            const Vertex u = g.target[k];
            if (!(bitmap[u / 64].load(std::memory_order_relaxed) >> u % 64 & 1)) continue;
            parent[v].store(u, std::memory_order_relaxed);
            next[found.fetch_add(1)] = v;
            edges_of_next += g.degree(v);
            break;
          }
        }
      }
    } else {
#pragma omp parallel
      {
        std::vector<Vertex> own;
#pragma omp for schedule(dynamic, 8) nowait
        for (std::size_t i = 0; i < frontier.size(); ++i)
          for (std::int64_t k = g.first[frontier[i]]; k < g.first[frontier[i] + 1]; ++k) {
            const Vertex u = g.target[k];
            Vertex none = -1;
            if (parent[u].load(std::memory_order_relaxed) < 0 && parent[u].compare_exchange_strong(none, frontier[i])) {
              own.push_back(u);
              edges_of_next.fetch_add(g.degree(u), std::memory_order_relaxed);
            }
          }
        const int at = found.fetch_add(static_cast<int>(own.size()));
        std::copy(own.begin(), own.end(), next.begin() + at);
      }
    }
    frontier.assign(next.begin(), next.begin() + found);
    ++level;
  }
  // Each parent is one level above, by an edge.
  const std::vector<int> depth = depths(g, source);
  int wrong = level - 1 != *std::max_element(depth.begin(), depth.end());
#pragma omp parallel for reduction(+ : wrong)
  for (Vertex v = 0; v < g.vertices; ++v) {
    const Vertex p = parent[v];
    if (depth[v] < 0 ? p >= 0 : p < 0) ++wrong;
    if (p < 0 || v == source) continue;
    if (depth[v] != depth[p] + 1) ++wrong;
    if (!std::binary_search(g.target.begin() + g.first[p], g.target.begin() + g.first[p + 1], v)) ++wrong;
  }
  return wrong;
}

int delta_stepping(const Graph& g, Vertex source, int delta) {
  constexpr int far = std::numeric_limits<int>::max() / 2;
  std::vector<std::atomic<int>> distance(g.vertices);
  for (auto& d : distance) d = far;
  distance[source] = 0;
  std::vector<Vertex> frontier(g.target.size() + 1);
  frontier[0] = source;
  std::size_t held = 1;
  int bucket = 0, next_bucket = far;
  std::size_t filled = 0;
#pragma omp parallel
  {
    std::vector<std::vector<Vertex>> buckets;
    while (bucket != far) {
      const std::size_t count = held;
      const int now = bucket;
#pragma omp for schedule(dynamic, 16)
      for (std::size_t i = 0; i < count; ++i) {
        const Vertex v = frontier[i];
        if (distance[v] < delta * now) continue;
        for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k) {
          const Vertex u = g.target[k];
          const int candidate = distance[v] + g.weight[k];
          int old = distance[u];
          while (candidate < old)
            if (distance[u].compare_exchange_weak(old, candidate)) {
              const std::size_t b = candidate / delta;
              if (buckets.size() <= b) buckets.resize(b + 1);
              buckets[b].push_back(u);
              break;
            }
        }
      }
      for (std::size_t b = now; b < buckets.size(); ++b)
        if (!buckets[b].empty()) {
#pragma omp critical
          next_bucket = std::min(next_bucket, static_cast<int>(b));
          break;
        }
#pragma omp barrier
#pragma omp single
      {
        bucket = next_bucket;
        next_bucket = far;
        filled = 0;
      }
      if (static_cast<std::size_t>(bucket) < buckets.size()) {
        auto& own = buckets[bucket];
        std::size_t at;
#pragma omp atomic capture
        {
          at = filled;
          filled += own.size();
        }
        std::copy(own.begin(), own.end(), frontier.begin() + at);
        own.clear();
      }
#pragma omp barrier
#pragma omp single
      held = filled;
    }
  }
  // Dijkstra's.
  std::vector<int> expected(g.vertices, far);
  using Entry = std::pair<int, Vertex>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  expected[source] = 0;
  queue.emplace(0, source);
  while (!queue.empty()) {
    const auto [d, v] = queue.top();
    queue.pop();
    if (d != expected[v]) continue;
    for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k)
      if (d + g.weight[k] < expected[g.target[k]]) {
        expected[g.target[k]] = d + g.weight[k];
        queue.emplace(expected[g.target[k]], g.target[k]);
      }
  }
  return !std::equal(expected.begin(), expected.end(), distance.begin(), [](int a, const auto& b) { return a == b; });
}

int components(const Graph& g) {
  std::vector<std::atomic<Vertex>> above(g.vertices);
  std::vector<Vertex> label(g.vertices);
  for (Vertex v = 0; v < g.vertices; ++v) above[v] = label[v] = v;
  const auto root = [&](Vertex v) {
    for (Vertex u = above[v]; u != v; u = above[v]) {
      Vertex higher = above[u];
      above[v].compare_exchange_weak(u, higher);  // halves the path
      v = higher;
    }
    return v;
  };
  bool changed = true;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 32)
    for (Vertex v = 0; v < g.vertices; ++v)
      for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k) {
        Vertex a = root(v), b = root(g.target[k]);
        while (a != b) {
          if (a < b) std::swap(a, b);
          Vertex expected = a;
          if (above[a].compare_exchange_strong(expected, b)) break;
          a = root(a);
          b = root(b);
        }
      }
    while (true) {
#pragma omp barrier
      const bool again = changed;
#pragma omp barrier
      if (!again) break;
#pragma omp single
      changed = false;
#pragma omp for
      for (Vertex v = 0; v < g.vertices; ++v) {
        Vertex least;
#pragma omp atomic read
        least = label[v];
        const Vertex before = least;
        for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k) {
          Vertex other;
#pragma omp atomic read
          other = label[g.target[k]];
          least = std::min(least, other);
        }
        if (least < before) {
#pragma omp atomic write
          label[v] = least;
#pragma omp atomic write
          changed = true;
        }
      }
    }
  }
  int wrong = 0;
  for (Vertex v = 0; v < g.vertices; ++v) wrong += root(v) != label[v];
  return wrong;
}

int page_rank(const Graph& g) {
  const int n = g.vertices;
  std::vector<double> rank(n, 1.0 / n), share(n), next(n);
  double change = 1, loose = 0;
  int rounds = 0;
#pragma omp parallel
  for (int round = 0; round < 8; ++round) {
#pragma omp single
    change = loose = 0;
#pragma omp for reduction(+ : loose)
    for (int v = 0; v < n; ++v) {
      share[v] = g.degree(v) ? rank[v] / static_cast<double>(g.degree(v)) : 0;
      if (!g.degree(v)) loose += rank[v];
    }
#pragma omp for schedule(dynamic, 64) reduction(+ : change)
    for (int v = 0; v < n; ++v) {
      double sum = 0;
      for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k) sum += share[g.target[k]];
      next[v] = 0.15 / n + 0.85 * (sum + loose / n);
      change += std::fabs(next[v] - rank[v]);
    }
#pragma omp single
    {
      rank.swap(next);
      ++rounds;
    }
  }
  const double sum = std::accumulate(rank.begin(), rank.end(), 0.0);
  return rounds != 8 || std::fabs(sum - 1) > 1e-9 || !(change < 0.5);
}

int triangles(const Graph& g) {
  std::int64_t found = 0, expected = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : found)
  for (Vertex v = 0; v < g.vertices; ++v)
    for (std::int64_t k = g.first[v]; k < g.first[v + 1] && g.target[k] < v; ++k) {
      const Vertex u = g.target[k];
      std::int64_t a = g.first[v], b = g.first[u];
      while (a < g.first[v + 1] && b < g.first[u + 1] && g.target[a] < u && g.target[b] < u) {
        if (g.target[a] == g.target[b])
          ++found, ++a, ++b;
        else if (g.target[a] < g.target[b])
          ++a;
        else
          ++b;
      }
    }
  std::vector<char> near(g.vertices);
  for (Vertex v = 0; v < g.vertices; ++v) {
    for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k) near[g.target[k]] = 1;
    for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k)
      for (std::int64_t l = g.first[g.target[k]]; l < g.first[g.target[k] + 1]; ++l) expected += near[g.target[l]];
    for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k) near[g.target[k]] = 0;
  }
  return 6 * found != expected;
}

// Brandes' algorithm: sources shared out, sums by a compare-and-exchange loop over doubles.
int betweenness(const Graph& g, int sources) {
  std::vector<std::atomic<double>> score(g.vertices);
  std::vector<double> expected(g.vertices);
  const auto add_from = [&](Vertex s, auto&& add) {
    std::vector<int> depth(g.vertices, -1);
    std::vector<double> paths(g.vertices), owed(g.vertices);
    std::vector<Vertex> order{s};
    depth[s] = 0;
    paths[s] = 1;
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::int64_t k = g.first[order[i]]; k < g.first[order[i] + 1]; ++k) {
        const Vertex u = g.target[k];
        if (depth[u] < 0) depth[u] = depth[order[i]] + 1, order.push_back(u);
        if (depth[u] == depth[order[i]] + 1) paths[u] += paths[order[i]];
      }
    for (std::size_t i = order.size(); i-- > 1;) {
      const Vertex v = order[i];
      for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k)
        if (depth[g.target[k]] == depth[v] - 1) owed[g.target[k]] += paths[g.target[k]] / paths[v] * (1 + owed[v]);
      if (owed[v] > 0) add(v, owed[v]);
    }
  };
#pragma omp parallel for schedule(dynamic)
  for (int s = 0; s < sources; ++s)
    add_from(s * 37 % g.vertices, [&](Vertex v, double value) {
      double old = score[v].load(std::memory_order_relaxed);
      while (!score[v].compare_exchange_weak(old, old + value)) continue;
    });
  for (int s = 0; s < sources; ++s)
    add_from(s * 37 % g.vertices, [&](Vertex v, double value) { expected[v] += value; });
  int wrong = 0;
  for (Vertex v = 0; v < g.vertices; ++v) wrong += std::fabs(score[v] - expected[v]) > 1e-9 * (1 + expected[v]);
  return wrong;
}

// Vertices of degree below k go, and those that fall below by it: worklists handed from round to round.
int cores(const Graph& g, int k) {
  std::vector<std::atomic<std::int64_t>> degree(g.vertices);
  std::vector<std::int64_t> expected(g.vertices);
  for (Vertex v = 0; v < g.vertices; ++v) degree[v] = expected[v] = g.degree(v);
  std::vector<Vertex> work, next;
  for (Vertex v = 0; v < g.vertices; ++v)
    if (degree[v] < k) work.push_back(v);
  std::vector<Vertex> stack = work;
  while (!work.empty()) {
    next.clear();
#pragma omp parallel
    {
      std::vector<Vertex> own;
#pragma omp for schedule(static, 4) nowait
      for (std::size_t i = 0; i < work.size(); ++i)
        for (std::int64_t e = g.first[work[i]]; e < g.first[work[i] + 1]; ++e)
          if (degree[g.target[e]].fetch_sub(1) == k) own.push_back(g.target[e]);
#pragma omp critical(next_list)
      next.insert(next.end(), own.begin(), own.end());
    }
    work.swap(next);
  }
  while (!stack.empty()) {
    const Vertex v = stack.back();
    stack.pop_back();
    for (std::int64_t e = g.first[v]; e < g.first[v + 1]; ++e)
      if (expected[g.target[e]]-- == k) stack.push_back(g.target[e]);
  }
  int wrong = 0;
  for (Vertex v = 0; v < g.vertices; ++v) wrong += (degree[v] >= k) != (expected[v] >= k);
  return wrong;
}

int colours(const Graph& g) {
  std::vector<std::atomic<int>> colour(g.vertices);
  for (auto& c : colour) c = -1;
  std::vector<Vertex> work(g.vertices);
  std::iota(work.begin(), work.end(), 0);
  for (int rounds = 0; !work.empty(); ++rounds) {
    if (rounds > g.vertices) return 1;
    std::vector<Vertex> again;
#pragma omp parallel
    {
      std::vector<char> taken;
#pragma omp for schedule(dynamic, 16)
      for (std::size_t i = 0; i < work.size(); ++i) {
        const Vertex v = work[i];
        taken.assign(g.degree(v) + 1, 0);
        for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k) {
          const int c = colour[g.target[k]].load(std::memory_order_acquire);
          if (c >= 0 && c <= g.degree(v)) taken[c] = 1;
        }
        colour[v].store(static_cast<int>(std::find(taken.begin(), taken.end(), 0) - taken.begin()),
                        std::memory_order_release);
      }
#pragma omp for
      for (std::size_t i = 0; i < work.size(); ++i)
        for (std::int64_t k = g.first[work[i]]; k < g.first[work[i] + 1]; ++k)
          if (g.target[k] < work[i] && colour[g.target[k]] == colour[work[i]]) {
#pragma omp critical(again_list)
            again.push_back(work[i]);
            break;
          }
    }
    work = again;
  }
  int wrong = 0;
  for (Vertex v = 0; v < g.vertices; ++v)
    for (std::int64_t k = g.first[v]; k < g.first[v + 1]; ++k) wrong += colour[v] == colour[g.target[k]];
  return wrong;
}

bool check(const char* what, int wrong) {
  if (wrong) std::printf("WRONG: %s, %d\n", what, wrong);
  return wrong == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int scale = argc > 1 ? std::atoi(argv[1]) : 6;
  const Graph g = generate(scale, 6);
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < g.target.size(); ++k) sum = sum * 31 + g.target[k] * 7 + g.weight[k];
  std::printf("%d vertices, %zu edges, sum %016llx\n", g.vertices, g.target.size(),
              static_cast<unsigned long long>(sum));
  bool right = check("search", breadth_first(g, 0));
  right &= check("search from elsewhere", breadth_first(g, g.vertices / 3));
  right &= check("shortest paths", delta_stepping(g, 0, 8));
  right &= check("components", components(g));
  right &= check("ranks", page_rank(g));
  right &= check("triangles", triangles(g));
  right &= check("betweenness", betweenness(g, 12));
  right &= check("cores", cores(g, 4));
  right &= check("colours", colours(g));
  if (right) std::puts("verified");
  return !right;
}
