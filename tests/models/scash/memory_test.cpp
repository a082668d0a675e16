/// What a node's pages cost in memory. Operator new is replaced by one that counts.

#include <cstddef>
#include <cstdlib>
#include <new>

#include "models/scash/node_pages.hpp"
#include "tests/catch.hpp"

namespace {
std::size_t allocated = 0;
}

void* operator new(std::size_t size) {
  allocated += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocated += size;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

using namespace sdsm;

namespace {

std::size_t bytes_for(std::uint32_t processes, auto&& body) {
  NodePages pages(NodeId{1}, ProcessId{processes}, processes);
  const std::size_t before = allocated;
  body(pages);
  return allocated - before;
}

}  // namespace

TEST_CASE("asking about a page that nobody touched costs no memory") {
  const std::size_t bytes = bytes_for(2, [](NodePages& pages) {
    for (std::uint64_t index = 0; index < 1'000'000; index += 1000) {
      const PageId page{RegionId{3}, index};
      if (pages.node_permission(page, Owner::remote) != Permission::unmapped) FAIL("a copy from nowhere");
      if (pages.process_permission(ProcessId{3}, page, Owner::local) != Permission::read_only) FAIL("not resting");
      pages.changed(page, Owner::remote, {1, 1});
    }
    pages.drop(Sync::acquire);
    pages.drop(Sync::barrier);
  });
  CHECK(bytes == 0);
}

TEST_CASE("a terabyte's last page costs as much as its first") {
  const auto touch = [](std::uint64_t index) {
    return bytes_for(1, [=](NodePages& pages) {
      pages.access(ProcessId{1}, {RegionId{0}, index}, ProcessId{0}, Owner::remote, Access::read);
    });
  };
  constexpr std::uint64_t terabyte = std::uint64_t{1} << 28;  // of pages
  const std::size_t first = touch(0);
  const std::size_t last = touch(terabyte - 1);
  CHECK(first < 16'384);
  CHECK(last < 65'536);
}

TEST_CASE("a page touched again, barrier after barrier, costs memory once") {
  NodePages pages(NodeId{1}, ProcessId{1}, 1);
  const auto sweep = [&] {
    for (std::uint64_t index = 0; index < 4096; ++index) {
      pages.access(ProcessId{1}, {RegionId{0}, index}, ProcessId{0}, Owner::remote, Access::read);
    }
    pages.flush(ProcessId{1}, Sync::barrier);
    pages.drop(Sync::barrier);
  };
  sweep();
  const std::size_t before = allocated;
  for (int i = 0; i < 100; ++i) sweep();
  CHECK(allocated == before);
}
