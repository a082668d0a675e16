#include "models/compared_words.hpp"

#include "tests/catch.hpp"

using namespace sdsm;

namespace {

constexpr PageId page{RegionId{3}, 1};

WordOperation change_of(std::uint64_t byte, PageId of = page) {
  return {.page = of, .byte = byte, .words = 1};
}
WordOperation comparison(std::uint64_t byte, Moment found, PageId of = page) {
  return {.page = of, .byte = byte, .words = 1, .compares = true, .found = found};
}

}  // namespace

TEST_CASE("a compare whose word has changed since is refused") {
  ComparedWords words;
  const Moment loaded = words.now();
  CHECK(!words.operate(change_of(4096)));
  const std::optional<Moment> refused = words.operate(comparison(4096, loaded));
  REQUIRE(refused);
  CHECK(!words.operate(comparison(4096, *refused)));
  // It has changed the word itself.
  CHECK(words.operate(comparison(4096, *refused)));
}

TEST_CASE("other words, other regions and operations that change nothing refuse nobody") {
  ComparedWords words;
  const Moment loaded = words.now();
  CHECK(!words.operate(change_of(4104)));
  CHECK(!words.operate(change_of(4096, {RegionId{4}, 1})));
  CHECK(!words.operate({.page = page, .byte = 4096}));
  CHECK(!words.operate(comparison(4096, loaded)));
}

TEST_CASE("a node's copy is as old as its latest fetch") {
  ComparedWords words;
  const NodeId node{1}, other{2};
  words.copy(node, page);
  CHECK(words.of_copy(node, page) == 0);
  words.operate(change_of(4096));
  words.copy(node, page);
  words.operate(change_of(4096));
  CHECK(words.of_copy(node, page) == 1);
  CHECK(words.of_copy(other, page) == 0);
  CHECK(words.operate(comparison(4096, words.of_copy(node, page))));
  words.copy(node, page);
  CHECK(!words.operate(comparison(4096, words.of_copy(node, page))));
}
