// Lagrangian hydrodynamics in the style of LULESH, in two dimensions: a staggered mesh whose nodes move, element
// volumes, artificial viscosity, an equation of state by material (virtual calls, a list of elements for each), time
// step constraints by minima found by each thread and merged in a critical region, work arrays allocated anew in every
// step, and an error (an element turned inside out) thrown within a region and told outside. One thread is the
// reference.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

class TurnedOver : public std::runtime_error {
 public:
  TurnedOver(int element, double volume)
      : std::runtime_error("element " + std::to_string(element) + " has volume " + std::to_string(volume)),
        element(element) {}
  int element;
};

struct State {
  double pressure, sound;
};

class Material {
 public:
  virtual ~Material() = default;
  virtual State at(double density, double energy) const = 0;
  virtual std::string name() const = 0;
};

class Gas : public Material {
 public:
  explicit Gas(double gamma) : gamma_(gamma) {}
  State at(double density, double energy) const override {
    const double pressure = (gamma_ - 1) * density * energy;
    return {pressure, std::sqrt(gamma_ * std::max(pressure, 1e-12) / density)};
  }
  std::string name() const override { return "gas"; }

 private:
  double gamma_;
};

class Stiff : public Material {
 public:
  State at(double density, double energy) const override {
    const double pressure = std::max(0.0, 0.8 * density * energy + 0.5 * (density - 1));
    return {pressure, std::sqrt((1.3 * pressure + 0.5) / density)};
  }
  std::string name() const override { return "stiff fluid with a name too long for a small string"; }
};

struct Domain {
  explicit Domain(int edge)
      : edge(edge),
        nodes((edge + 1) * (edge + 1)),
        elements(edge * edge),
        x(nodes),
        y(nodes),
        vx(nodes),
        vy(nodes),
        fx(nodes),
        fy(nodes),
        node_mass(nodes),
        mass(elements),
        volume(elements),
        energy(elements),
        pressure(elements),
        viscosity(elements),
        sound(elements),
        corner_first(nodes + 1) {
    materials.push_back(std::make_unique<Gas>(1.4));
    materials.push_back(std::make_unique<Stiff>());
    materials.push_back(std::make_unique<Gas>(5.0 / 3));
    members.resize(materials.size());
    for (int j = 0; j <= edge; ++j)
      for (int i = 0; i <= edge; ++i) {
        x[j * (edge + 1) + i] = static_cast<double>(i) / edge;
        y[j * (edge + 1) + i] = static_cast<double>(j) / edge;
      }
    for (int e = 0; e < elements; ++e) {
      const int i = e % edge, j = e / edge;
      corners.push_back(
          {j * (edge + 1) + i, j * (edge + 1) + i + 1, (j + 1) * (edge + 1) + i + 1, (j + 1) * (edge + 1) + i});
      members[(i * 7 + j * 3) % 5 % materials.size()].push_back(e);
      volume[e] = area(e);
      mass[e] = volume[e] * (1 + 0.1 * ((i + j) % 3));
      energy[e] = i < edge / 4 && j < edge / 4 ? 4.0 : 0.5;
      for (int c : corners[e]) node_mass[c] += mass[e] / 4;
    }
    // Which corners of elements a node has: forces are gathered in this order, whoever does it.
    std::vector<std::vector<int>> of(nodes);
    for (int e = 0; e < elements; ++e)
      for (int c = 0; c < 4; ++c) of[corners[e][c]].push_back(4 * e + c);
    for (int n = 0; n < nodes; ++n) {
      corner_first[n + 1] = corner_first[n] + static_cast<int>(of[n].size());
      corner_list.insert(corner_list.end(), of[n].begin(), of[n].end());
    }
  }

  double area(int e) const {
    const auto& c = corners[e];
    return 0.5 * ((x[c[2]] - x[c[0]]) * (y[c[3]] - y[c[1]]) - (x[c[3]] - x[c[1]]) * (y[c[2]] - y[c[0]]));
  }

  int edge, nodes, elements;
  std::vector<double> x, y, vx, vy, fx, fy, node_mass, mass, volume, energy, pressure, viscosity, sound;
  std::vector<std::array<int, 4>> corners;
  std::vector<int> corner_first, corner_list;
  std::vector<std::unique_ptr<Material>> materials;
  std::vector<std::vector<int>> members;
  double step = 1e-3, time = 0;
  int cycles = 0;
};

void states(Domain& d) {
  for (std::size_t m = 0; m < d.members.size(); ++m) {
    const auto& list = d.members[m];
    const Material& material = *d.materials[m];
#pragma omp parallel for schedule(static) firstprivate(m)
    for (std::size_t k = 0; k < list.size(); ++k) {
      const int e = list[k];
      const State s = material.at(d.mass[e] / d.volume[e], d.energy[e]);
      d.pressure[e] = s.pressure;
      d.sound[e] = s.sound;
    }
  }
}

void forces(Domain& d) {
  // New in every step, as LULESH does it.
  double* const corner_x = new double[4 * d.elements];
  std::vector<double> corner_y(4 * d.elements);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int e = 0; e < d.elements; ++e) {
      const auto& c = d.corners[e];
      const double p = d.pressure[e] + d.viscosity[e];
      for (int k = 0; k < 4; ++k) {
        const int next = c[(k + 1) % 4], before = c[(k + 3) % 4];
        corner_x[4 * e + k] = 0.5 * p * (d.y[next] - d.y[before]);
        corner_y[4 * e + k] = -0.5 * p * (d.x[next] - d.x[before]);
      }
    }
#pragma omp for schedule(static) nowait
    for (int n = 0; n < d.nodes; ++n) {
      double sx = 0, sy = 0;
      for (int k = d.corner_first[n]; k < d.corner_first[n + 1]; ++k) {
        sx += corner_x[d.corner_list[k]];
        sy += corner_y[d.corner_list[k]];
      }
      d.fx[n] = sx;
      d.fy[n] = sy;
    }
  }
  delete[] corner_x;
}

void move(Domain& d) {
  const int line = d.edge + 1;
  const double step = d.step;
#pragma omp parallel
  {
#pragma omp for simd schedule(static)
    for (int n = 0; n < d.nodes; ++n) {
      d.vx[n] += step * d.fx[n] / d.node_mass[n];
      d.vy[n] += step * d.fy[n] / d.node_mass[n];
    }
    // Walls.
#pragma omp for nowait
    for (int i = 0; i < line; ++i) d.vx[i * line] = d.vx[i * line + d.edge] = 0;
#pragma omp for
    for (int i = 0; i < line; ++i) d.vy[i] = d.vy[d.edge * line + i] = 0;
#pragma omp for simd schedule(simd : static)
    for (int n = 0; n < d.nodes; ++n) {
      d.x[n] += step * d.vx[n];
      d.y[n] += step * d.vy[n];
    }
  }
}

// An exception may not leave the region: the first by element is kept and thrown on outside.
void volumes(Domain& d) {
  std::exception_ptr kept;
  int kept_element = std::numeric_limits<int>::max();
  const auto new_volume = std::make_unique<double[]>(d.elements);
#pragma omp parallel
  {
    try {
#pragma omp for schedule(static) nowait
      for (int e = 0; e < d.elements; ++e) {
        try {
          const double v = d.area(e);
          if (!(v > 0)) throw TurnedOver(e, v);
          new_volume[e] = v;
        } catch (const TurnedOver& error) {
#pragma omp critical(kept)
          if (error.element < kept_element) {
            kept_element = error.element;
            kept = std::current_exception();
          }
          new_volume[e] = d.volume[e];
        }
      }
    } catch (const std::exception&) {
      std::abort();
    }
  }
  if (kept_element != std::numeric_limits<int>::max()) throw std::logic_error(std::to_string(kept_element));
#pragma omp parallel for
  for (int e = 0; e < d.elements; ++e) {
    const double change = new_volume[e] - d.volume[e];
    d.energy[e] = std::max(1e-9, d.energy[e] - (d.pressure[e] + d.viscosity[e]) * change / d.mass[e]);
    const double rate = change / (d.step * new_volume[e]), length = std::sqrt(new_volume[e]);
    const double density = d.mass[e] / new_volume[e];
    d.viscosity[e] = rate < 0 ? density * length * -rate * (1.5 * length * -rate + 0.3 * d.sound[e]) : 0;
    d.volume[e] = new_volume[e];
  }
}

// Each thread finds the least of its own; as in LULESH first into an array by thread, and here also by critical.
void constrain(Domain& d) {
  std::vector<double> least(omp_get_max_threads(), 1e20);
  std::optional<int> narrowest;
  double by_critical = 1e20;
#pragma omp parallel
  {
    double own = 1e20;
    int where = -1;
#pragma omp for nowait
    for (int e = 0; e < d.elements; ++e) {
      const double limit =
          0.2 * std::sqrt(d.volume[e]) / (d.sound[e] + 1e-9 + 4 * std::sqrt(d.viscosity[e] * d.volume[e] / d.mass[e]));
      if (limit < own) own = limit, where = e;
    }
    least[omp_get_thread_num()] = own;
#pragma omp critical
    {
      if (own < by_critical || (own == by_critical && where < narrowest.value_or(where + 1))) {
        by_critical = own;
        narrowest = where;
      }
    }
  }
  const double by_array = *std::min_element(least.begin(), least.end());
  if (by_array != by_critical || !narrowest) throw std::logic_error("the constraints differ");
  d.step = std::min(by_array, 1.1 * d.step);
}

struct Outcome {
  std::vector<double> x, y, energy;
  double time;
};

Outcome run(int edge, int cycles, int threads) {
  omp_set_num_threads(threads);
  Domain d(edge);
  states(d);
  for (; d.cycles < cycles; ++d.cycles) {
    forces(d);
    move(d);
    volumes(d);
    states(d);
    constrain(d);
    d.time += d.step;
  }
  return {d.x, d.y, d.energy, d.time};
}

bool turned_over_is_told(int edge, int threads) {
  omp_set_num_threads(threads);
  Domain d(edge);
  states(d);
  const int at = d.corners[edge * edge / 2][2];
  d.x[at] -= 2.5 / edge;
  d.y[at] -= 2.5 / edge;
  try {
    volumes(d);
  } catch (const std::logic_error& error) {
    return std::atoi(error.what()) >= 0;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const int edge = argc > 1 ? std::atoi(argv[1]) : 20, cycles = argc > 2 ? std::atoi(argv[2]) : 6;
  const int team = omp_get_max_threads();
  const Outcome reference = run(edge, cycles, 1);
  int wrong = 0;
  for (int threads : {team, (team + 1) / 2, team}) {
    const Outcome outcome = run(edge, cycles, threads);
    wrong += outcome.x != reference.x;
    wrong += outcome.y != reference.y;
    wrong += outcome.energy != reference.energy;
    wrong += outcome.time != reference.time;
  }
  wrong += !turned_over_is_told(edge, team);
  double total = 0, most = 0;
#pragma omp parallel for reduction(+ : total) reduction(max : most)
  for (std::size_t e = 0; e < reference.energy.size(); ++e) {
    total += reference.energy[e];
    most = std::max(most, reference.energy[e]);
  }
  std::printf("time %.6f, energy %.6f, at most %.6f\n", reference.time, total, most);
  if (!(reference.time > 0) || !std::isfinite(total)) ++wrong;
  std::puts(wrong ? "WRONG" : "verified");
  return wrong != 0;
}
