// Objects in data-sharing clauses: copies, destructors, threadprivate objects, thread_local, reductions of classes,
// iterators, lambdas, virtual calls, statics initialised inside a region.
#include <omp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "expect.h"

namespace {

/// Knows how many of its kind are alive; the counters change inside `critical` only.
class Counted {
 public:
  explicit Counted(int value = 0) : text_("value " + std::to_string(value)), value_(value) { change(1); }
  Counted(const Counted& other) : text_(other.text_), value_(other.value_) { change(1); }
  Counted& operator=(const Counted& other) = default;
  ~Counted() { change(-1); }

  int value() const { return value_; }
  const std::string& text() const { return text_; }
  void set(int value) {
    value_ = value;
    text_ = "value " + std::to_string(value);
  }
  static int alive() { return alive_; }

 private:
  static void change(int by) {
#pragma omp critical(counted)
    alive_ += by;
  }
  std::string text_;
  int value_;
  static int alive_;
};
int Counted::alive_ = 0;

struct Sum {
  double total = 0;
  std::vector<int> parts;
  Sum& operator+=(const Sum& other) {
    total += other.total;
    parts.insert(parts.end(), other.parts.begin(), other.parts.end());
    return *this;
  }
};
#pragma omp declare reduction(+ : Sum : omp_out += omp_in)

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};
struct Square : Shape {
  explicit Square(int side) : side_(side) {}
  int area() const override { return side_ * side_; }
  int side_;
};
struct Strip : Shape {
  explicit Strip(int length) : length_(length) {}
  int area() const override { return length_; }
  int length_;
};

const std::string& made_once(int* times) {
  static const std::string value = [times] {
    ++*times;
    return std::string("made when first needed, by whoever comes first");
  }();
  return value;
}

thread_local int calls = 0;
}  // namespace

// Declared before it is defined: g++ takes an object with a constructor for threadprivate in no other order.
extern Counted per_thread;
#pragma omp threadprivate(per_thread)
Counted per_thread(5);

static void copy_objects() {
  int wrong = 0;
  const int before = Counted::alive();
  {
    Counted given(7);
    Counted last(0);
#pragma omp parallel firstprivate(given) reduction(+ : wrong)
    {
      wrong += given.text() != "value 7";
      given.set(omp_get_thread_num());
      wrong += given.text() != "value " + std::to_string(omp_get_thread_num());
    }
    EXPECT(given.value() == 7);
#pragma omp parallel for lastprivate(last) schedule(dynamic, 4)
    for (int i = 0; i < 100; ++i) last.set(i);
    EXPECT(last.text() == "value 99");
    Counted handed(0);
#pragma omp parallel firstprivate(handed) reduction(+ : wrong)
    {
#pragma omp single copyprivate(handed)
      handed.set(31);
      wrong += handed.text() != "value 31";
    }
  }
  EXPECT(wrong == 0);
  EXPECT(Counted::alive() == before);
}

static void reduce_objects() {
  Sum sum;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 200; ++i) {
    sum.total += i;
    sum.parts.push_back(i);
  }
  EXPECT(sum.total == 19900);
  EXPECT(sum.parts.size() == 200);
}

static void keep_one_for_each_thread() {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    wrong += per_thread.value() != 5;
    per_thread.set(100 + omp_get_thread_num());
    ++calls;
  }
#pragma omp parallel reduction(+ : wrong)
  {
    wrong += per_thread.text() != "value " + std::to_string(100 + omp_get_thread_num());
    ++calls;
    wrong += calls != 2;
  }
  EXPECT(wrong == 0);
  per_thread.set(9);
#pragma omp parallel copyin(per_thread) reduction(+ : wrong)
  wrong += per_thread.text() != "value 9";
  EXPECT(wrong == 0);
}

static void iterate() {
  int wrong = 0;
  std::vector<int> values(3000, 1);
#pragma omp parallel for schedule(dynamic, 50)
  for (auto iterator = values.begin(); iterator < values.end(); ++iterator) *iterator += 2;
#pragma omp parallel for
  for (int& value : values) value *= 2;
  const std::function<void(int&)> bump = [](int& value) { value += 1; };
#pragma omp parallel for
  for (std::size_t i = 0; i < values.size(); ++i) bump(values[i]);
  for (const int value : values) wrong += value != 7;
  EXPECT(wrong == 0);
}

static void call_virtual_functions() {
  std::vector<std::unique_ptr<Shape>> shapes(100);
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 100; ++i) {
    if (i % 2 == 0) {
      shapes[i] = std::make_unique<Square>(i);
    } else {
      shapes[i] = std::make_unique<Strip>(i);
    }
  }
  long area = 0;
#pragma omp parallel for schedule(static, 3) reduction(+ : area)
  for (int i = 0; i < 100; ++i) area += shapes[i]->area();
  long expected = 0;
  for (int i = 0; i < 100; ++i) expected += i % 2 == 0 ? i * i : i;
  EXPECT(area == expected);
}

static void make_once() {
  int wrong = 0;
  int times = 0;
#pragma omp parallel reduction(+ : wrong)
  {
#pragma omp single
    made_once(&times);
    wrong += made_once(&times).size() != 46;
  }
  EXPECT(times == 1);
  EXPECT(wrong == 0);
}

int main() {
  copy_objects();
  reduce_objects();
  keep_one_for_each_thread();
  iterate();
  call_virtual_functions();
  make_once();
  return expect_status();
}
