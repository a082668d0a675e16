#include "models/protocol/queues.hpp"

#include "tests/catch.hpp"

using namespace sdsm;

namespace {

struct Waiter {
  char name;
  std::optional<std::uint64_t> turn{};
  ProcessId by{static_cast<std::uint32_t>(name)};
};

constexpr ProcessId a{'a'}, b{'b'};

/// The lock's new holder; '-' if it stays as it was.
char granted(LockQueue<Waiter>& lock) {
  const std::optional<Waiter> next = lock.grant_next();
  return next ? next->name : '-';
}

}  // namespace

TEST_CASE("a lock goes to who came first, once it is given back") {
  LockQueue<Waiter> lock;
  lock.ask({'a'});
  lock.ask({'b'});
  CHECK(granted(lock) == 'a');
  CHECK(granted(lock) == '-');
  CHECK((lock.is_held_by(a) && !lock.is_held_by(b)));
  lock.give_back();
  CHECK_FALSE(lock.is_held_by(a));
  CHECK(granted(lock) == 'b');
}

TEST_CASE("a lock that nobody has or wants is claimed") {
  LockQueue<Waiter> lock;
  CHECK(lock.claim(a));
  CHECK_FALSE(lock.claim(b));
  lock.ask({'b'});
  CHECK(granted(lock) == '-');
  lock.ask({'a'});
  CHECK(granted(lock) == 'a');
  CHECK_FALSE(lock.is_claimed());
  // Its own lock may come back yet; another's may not, nor one for which another waits.
  CHECK_FALSE(lock.claim(a));
  lock.give_back();
  CHECK(granted(lock) == 'b');
  CHECK_FALSE(lock.claim(a));
  CHECK(lock.claim(b));
  lock.disclaim();
  lock.give_back();
  CHECK(lock.claim(a));
}

TEST_CASE("an ordered region waits for its turn") {
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

TEST_CASE("a late request may go ahead in a lock's queue") {
  LockQueue<Waiter> lock;
  const auto comes_before = [](const Waiter& late, const Waiter& early) { return late.name < early.name; };
  for (const char name : {'b', 'd', 'c', 'a'}) lock.ask({name}, comes_before);
  for (const char name : {'a', 'b', 'c', 'd'}) {
    CHECK(granted(lock) == name);
    lock.give_back();
  }
}
