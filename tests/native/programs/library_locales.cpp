// The C++ library's locales, which threads of a region are the first to use: expressions, streams and facets of the
// program's own. No <iostream>, whose constructor would make the first locale before main.
#include <omp.h>

#include <atomic>
#include <cstdio>
#include <ios>
#include <locale>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "expect.h"

namespace {

constexpr int rounds = 5;

/// Facets get their numbers at their first use.
template <int which>
struct Own : std::locale::facet {
  static std::locale::id id;
  int value() const { return 100 + which; }
};
template <int which>
std::locale::id Own<which>::id;

template <int which>
int wrong_of_own() {
  const std::locale with(std::locale::classic(), new Own<which>);
  int wrong = std::has_facet<Own<which>>(with) ? 0 : 1;
  wrong += std::use_facet<Own<which>>(with).value() != 100 + which;
  wrong += std::use_facet<std::ctype<char>>(with).toupper('q') != 'Q';
  return wrong;
}

struct Marks : std::numpunct<char> {
  char do_decimal_point() const override { return ';'; }
  char do_thousands_sep() const override { return '_'; }
  std::string do_grouping() const override { return "\3"; }
};

std::string printed(const std::locale& locale, int number) {
  std::ostringstream out;
  out.imbue(locale);
  out << number << ' ' << number + 0.5;
  return out.str();
}

}  // namespace

int main() {
  std::vector<int> wrong(256);
  int team = 1;
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    int bad = 0;
#pragma omp master
    team = omp_get_num_threads();
    const std::regex word("([a-z]+)([0-9]+)");
    std::smatch found;
    const std::string text = "thread" + std::to_string(self);
    bad += !std::regex_match(text, found, word) || found[2].str() != std::to_string(self);
    for (int i = 0; i < rounds; ++i) {
      bad += self % 2 == 0 ? wrong_of_own<0>() + wrong_of_own<1>() : wrong_of_own<2>() + wrong_of_own<3>();
      bad += wrong_of_own<4>();
    }
    std::istringstream in("17 2.5 word");
    int whole = 0;
    double broken = 0;
    std::string rest;
    in >> whole >> broken >> rest;
    bad += whole != 17 || broken != 2.5 || rest != "word";
    wrong[static_cast<std::size_t>(self)] = bad;
  }
  // One that all use, and that keeps what the first of them found out.
  const std::locale marks(std::locale::classic(), new Marks);
#pragma omp parallel
  {
    int bad = 0;
    for (int i = 0; i < rounds; ++i) {
      const std::locale copy = marks;
      bad += printed(copy, 1234000 + i) != "1_234_00" + std::to_string(i) + " 1;234e+06";
      bad += printed(copy, i) != std::to_string(i) + ' ' + std::to_string(i) + ";5";
    }
    wrong[static_cast<std::size_t>(omp_get_thread_num())] += bad;
  }
  // Facets that different threads have numbered, in one locale.
  const std::locale two(std::locale(std::locale::classic(), new Own<0>), new Own<1>);
  const std::locale four(std::locale(two, new Own<2>), new Own<3>);
  EXPECT(std::has_facet<Own<0>>(four) && std::use_facet<Own<0>>(four).value() == 100);
  EXPECT(std::has_facet<Own<1>>(four) && std::use_facet<Own<1>>(four).value() == 101);
  EXPECT(std::has_facet<Own<2>>(four) && std::use_facet<Own<2>>(four).value() == 102);
  EXPECT(std::has_facet<Own<3>>(four) && std::use_facet<Own<3>>(four).value() == 103);

  // Words of streams that threads ask for.
  std::vector<int> words(256);
#pragma omp parallel
  { words[static_cast<std::size_t>(omp_get_thread_num())] = std::ios_base::xalloc(); }
  for (int i = 0; i < team; ++i) {
    for (int k = 0; k < i; ++k) EXPECT(words[static_cast<std::size_t>(i)] != words[static_cast<std::size_t>(k)]);
  }

  // Made by one thread, and ended by another.
  std::vector<const std::locale*> passed(40);
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    if (self == 0) {
      for (const std::locale*& each : passed) each = new std::locale(marks, new Own<5>);
    }
#pragma omp barrier
    if (self == omp_get_num_threads() - 1) {
      for (const std::locale* each : passed) delete each;
    }
    std::ostringstream out;
    out << 2.5;
    if (out.str() != "2.5") ++wrong[static_cast<std::size_t>(self)];
  }
  for (int i = 0; i < team; ++i) EXPECT(wrong[static_cast<std::size_t>(i)] == 0);
  return expect_status();
}
