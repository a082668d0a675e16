// Gravitation: templates, virtual functions, a reduction of a class of vectors, an octree built by tasks with unique
// pointers, a comparison of the tree's forces with the sum over all pairs, and a leapfrog that keeps the energy.
#include <omp.h>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <valarray>
#include <vector>

namespace {

template <typename Number, std::size_t size>
struct Vector {
  std::array<Number, size> of{};
  Number& operator[](std::size_t i) { return of[i]; }
  Number operator[](std::size_t i) const { return of[i]; }
  Vector& operator+=(const Vector& other) {
    for (std::size_t i = 0; i < size; ++i) of[i] += other[i];
    return *this;
  }
  friend Vector operator-(Vector a, const Vector& b) {
    for (std::size_t i = 0; i < size; ++i) a[i] -= b[i];
    return a;
  }
  friend Vector operator*(Number factor, Vector a) {
    for (Number& x : a.of) x *= factor;
    return a;
  }
  Number square() const {
    Number sum{};
    for (const Number x : of) sum += x * x;
    return sum;
  }
};
using Vector3 = Vector<double, 3>;

#pragma omp declare reduction(+ : Vector3 : omp_out += omp_in) initializer(omp_priv = Vector3{})

struct Body {
  Vector3 position, velocity;
  double mass = 0;
};

class Force {
 public:
  virtual ~Force() = default;
  virtual Vector3 on(const Body& body) const = 0;
  virtual const char* name() const = 0;

 protected:
  static constexpr double softening = 0.01;
  static void pull(const Vector3& from, double mass, const Vector3& at, Vector3& sum) {
    const Vector3 d = from - at;
    const double r2 = d.square() + softening;
    sum += mass / (r2 * std::sqrt(r2)) * d;
  }
};

class Pairs : public Force {
 public:
  explicit Pairs(const std::vector<Body>& bodies) : bodies_(bodies) {}
  Vector3 on(const Body& body) const override {
    Vector3 sum;
    for (const Body& other : bodies_) pull(other.position, other.mass, body.position, sum);
    return sum;
  }
  const char* name() const override { return "pairs"; }

 private:
  const std::vector<Body>& bodies_;
};

class Tree : public Force {
 public:
  Tree(const std::vector<Body>& bodies, double opening) : opening_(opening) {
    std::vector<const Body*> all;
    double reach = 1;
    for (const Body& body : bodies) {
      all.push_back(&body);
      for (const double x : body.position.of) reach = std::max(reach, std::fabs(x));
    }
#pragma omp parallel
#pragma omp single
    root_ = build(std::move(all), Vector3{}, reach, 0);
  }
  Vector3 on(const Body& body) const override {
    Vector3 sum;
    visit(*root_, body, sum);
    return sum;
  }
  const char* name() const override {
    return "tree";
  }
  int nodes() const {
    return count(*root_);
  }

 private:
  struct Node {
    Vector3 centre_of_mass;
    double mass = 0, half = 0;
    std::array<std::unique_ptr<Node>, 8> children;
    std::list<const Body*> leaf;
  };

  static std::unique_ptr<Node> build(std::vector<const Body*> bodies, Vector3 centre, double half, int depth) {
    if (bodies.empty()) return nullptr;
    auto node = std::make_unique<Node>();
    node->half = half;
    for (const Body* body : bodies) {
      node->mass += body->mass;
      node->centre_of_mass += body->mass * body->position;
    }
    node->centre_of_mass = 1 / node->mass * node->centre_of_mass;
    if (bodies.size() <= 4 || depth > 30) {
      node->leaf.assign(bodies.begin(), bodies.end());
      return node;
    }
    std::array<std::vector<const Body*>, 8> parts;
    for (const Body* body : bodies) {
      std::size_t part = 0;
      for (std::size_t k = 0; k < 3; ++k) part |= (body->position[k] > centre[k] ? 1u : 0u) << k;
      parts[part].push_back(body);
    }
    for (std::size_t part = 0; part < 8; ++part) {
      Vector3 child = centre;
      for (std::size_t k = 0; k < 3; ++k) child[k] += (part >> k & 1 ? half : -half) / 2;
#pragma omp task shared(node, parts) firstprivate(part, child) if (parts[part].size() > 16)
      node->children[part] = build(std::move(parts[part]), child, half / 2, depth + 1);
    }
#pragma omp taskwait
    return node;
  }

  void visit(const Node& node, const Body& body, Vector3& sum) const {
    const double r2 = (node.centre_of_mass - body.position).square();
    if (4 * node.half * node.half < opening_ * opening_ * r2)
      return pull(node.centre_of_mass, node.mass, body.position, sum);
    for (const Body* other : node.leaf) pull(other->position, other->mass, body.position, sum);
    for (const auto& child : node.children)
      if (child) visit(*child, body, sum);
  }

  static int count(const Node& node) {
    int sum = 1;
    for (const auto& child : node.children)
      if (child) sum += count(*child);
    return sum;
  }

  double opening_;
  std::unique_ptr<Node> root_;
};

std::vector<Body> make_bodies(int count) {
  std::vector<Body> bodies(static_cast<std::size_t>(count));
#pragma omp parallel for
  for (int i = 0; i < count; ++i) {
    Body& body = bodies[static_cast<std::size_t>(i)];
    const double angle = 2.399963 * i, radius = std::sqrt((i + 0.5) / count);
    body.position.of = {radius * std::cos(angle), radius * std::sin(angle), 0.1 * std::sin(5.0 * i)};
    body.velocity.of = {-0.6 * body.position[1], 0.6 * body.position[0], 0};
    body.mass = 1.0 / count;
  }
  return bodies;
}

double energy(const std::vector<Body>& bodies) {
  double sum = 0;
  const std::size_t count = bodies.size();
#pragma omp parallel for reduction(+ : sum) schedule(static, 4)
  for (std::size_t i = 0; i < count; ++i) {
    sum += bodies[i].mass * bodies[i].velocity.square() / 2;
    for (std::size_t j = i + 1; j < count; ++j)
      sum -= bodies[i].mass * bodies[j].mass / std::sqrt((bodies[i].position - bodies[j].position).square() + 0.01);
  }
  return sum;
}

Vector3 momentum(const std::vector<Body>& bodies) {
  Vector3 sum;
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t i = 0; i < bodies.size(); ++i) sum += bodies[i].mass * bodies[i].velocity;
  return sum;
}

void move(std::vector<Body>& bodies, const Force& force, double step) {
  std::vector<Vector3> pulls(bodies.size());
#pragma omp parallel
  {
    std::optional<int> mine;
#pragma omp for schedule(dynamic, 8)
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      pulls[i] = force.on(bodies[i]);
      mine = mine.value_or(0) + 1;
    }
#pragma omp for
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      bodies[i].velocity += step * pulls[i];
      bodies[i].position += step * bodies[i].velocity;
    }
  }
}

double largest_difference(const std::vector<Body>& bodies, const Force& a, const Force& b) {
  double worst = 0;
#pragma omp parallel for reduction(max : worst)
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Vector3 exact = a.on(bodies[i]);
    worst = std::max(worst, std::sqrt((exact - b.on(bodies[i])).square() / (exact.square() + 0.01)));
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 200, steps = argc > 2 ? std::atoi(argv[2]) : 6;
  std::vector<Body> bodies = make_bodies(count), alone = bodies;
  const double begun = omp_get_wtime(), before = energy(bodies);
  const Vector3 first = momentum(bodies);
  double worst = 0;
  int nodes = 0;
  for (int s = 0; s < steps; ++s) {
    const Pairs pairs(bodies);
    const auto tree = std::make_unique<Tree>(bodies, 0.4);
    worst = std::max(worst, largest_difference(bodies, pairs, *tree));
    nodes = tree->nodes();
    move(bodies, pairs, 0.002);
  }
  int wrong = worst > 0.1 || nodes < count / 8;
  omp_set_num_threads(1);
  for (int s = 0; s < steps; ++s) move(alone, Pairs(alone), 0.002);
  for (std::size_t i = 0; i < bodies.size(); ++i) wrong += bodies[i].position.of != alone[i].position.of;
  const double after = energy(bodies), drift = std::sqrt((momentum(bodies) - first).square());
  wrong += std::fabs(after - before) > 0.01 * std::fabs(before) || drift > 1e-12;
  std::printf("nbody: %d bodies, %d nodes, tree off by %.2e, energy %.6f %.6f, drift %.1e, %.3f s: %s\n", count, nodes,
              worst, before, after, drift, omp_get_wtime() - begun, wrong ? "WRONG" : "verified");
  return wrong != 0;
}
