#include "models/locks.hpp"

#include "tests/catch.hpp"

using namespace sdsm;

namespace {

struct Waiter {
  char name;
  std::optional<std::uint64_t> turn{};
};

/// Who has the lock now; '-' if that stays as it was.
char granted(LockQueue<Waiter>& lock) {
  const std::optional<Waiter> next = lock.grant_next();
  return next ? next->name : '-';
}

}  // namespace

TEST_CASE("a lock goes to who came first, once it is given back") {
  LockQueue<Waiter> lock;
  CHECK(lock.is_free());
  lock.ask({'a'});
  CHECK_FALSE(lock.is_free());
  lock.ask({'b'});
  CHECK(granted(lock) == 'a');
  CHECK(granted(lock) == '-');
  lock.give_back();
  CHECK_FALSE(lock.is_free());
  CHECK(granted(lock) == 'b');
  lock.give_back();
  CHECK(lock.is_free());
}

TEST_CASE("an ordered region waits for its turn, and lets others before it meanwhile") {
  LockQueue<Waiter> lock;
  lock.ask({'c', 2});
  CHECK(granted(lock) == '-');
  lock.ask({'a', 0});
  lock.ask({'b'});
  CHECK(granted(lock) == 'a');
  lock.give_back();
  CHECK(granted(lock) == 'b');
  lock.give_back();
  CHECK(granted(lock) == 'c');
}

TEST_CASE("who comes late to a lock may stand before those that it comes before") {
  LockQueue<Waiter> lock;
  const auto comes_before = [](const Waiter& late, const Waiter& early) { return late.name < early.name; };
  for (const char name : {'b', 'd', 'c', 'a'}) lock.ask({name}, comes_before);
  for (const char name : {'a', 'b', 'c', 'd'}) {
    CHECK(granted(lock) == name);
    lock.give_back();
  }
}
