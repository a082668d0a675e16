/// Recorded orders as files: they read back as written, and anything else is refused.
#include <fstream>
#include <random>
#include <stdexcept>

#include "tests/campaign.hpp"
#include "tests/catch.hpp"
#include "tests/workloads/trace/samples.hpp"
#include "workloads/trace/order.hpp"

using namespace sdsm;
using namespace sdsm::trace;

namespace {

constexpr OrderKind last_kind = OrderKind::give;

Order random_order(std::mt19937_64& random) {
  Order order{{static_cast<std::uint32_t>(1 + random() % 3), static_cast<std::uint32_t>(1 + random() % 3)}, {}};
  for (std::uint32_t node = 0; node < order.layout.nodes; ++node) {
    auto& events = order.nodes.emplace_back();
    for (std::uint64_t i = random() % 20; i > 0; --i) {
      OrderEvent event;
      event.process = ProcessId{node * order.layout.threads_per_node +
                                static_cast<std::uint32_t>(random() % order.layout.threads_per_node)};
      event.kind = static_cast<OrderKind>(random() % (static_cast<unsigned>(last_kind) + 1));
      if (event.kind == OrderKind::read || event.kind == OrderKind::write || event.kind == OrderKind::take) {
        event.object = static_cast<std::uint32_t>(random());
        event.value = random() >> (random() % 64);
      }
      events.push_back(event);
    }
  }
  return order;
}

Order read_text(const Scratch& scratch, const std::string& text) {
  std::ofstream(scratch / "order") << text;
  return read_order(scratch / "order");
}

std::string error_of(const Scratch& scratch, const std::string& text) {
  try {
    (void)read_text(scratch, text);
  } catch (const std::invalid_argument& error) {
    return std::string(error.what()).substr((scratch / "order").string().size());
  }
  return "no error";
}

}  // namespace

TEST_CASE("an order is read as it was written") {
  const Scratch scratch;
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) {
    const Order order = random_order(random);
    REQUIRE(read_text(scratch, order_text(order)) == order);
  }
}

TEST_CASE("an order's text matches one by hand") {
  Order order{{2, 1}, {}};
  order.nodes = {{{ProcessId{0}, OrderKind::write, 2, 0}, {ProcessId{0}, OrderKind::barrier}},
                 {{ProcessId{1}, OrderKind::take, 4294967041, 7}}};
  CHECK(order_text(order) == "sdsm-order 1 2 1\nnode 0\n0 write 2 0\n0 barrier\nnode 1\n1 take 4294967041 7\nend\n");
}

TEST_CASE("an invalid order is refused with its line") {
  const Scratch scratch;
  const std::string head = "sdsm-order 1 2 1\n";
  const auto says = [&](const std::string& text, const std::string& what) {
    INFO(text);
    const std::string said = error_of(scratch, text);
    INFO(said);
    CHECK(said.find(what) != std::string::npos);
  };
  CHECK_THROWS_WITH(read_order("/tmp"), "/tmp: is a folder. Give what `sdsm run --order` wrote");
  CHECK_THROWS_WITH(read_order("/dev/zero"), "/dev/zero: is no regular file. Give what `sdsm run --order` wrote");
  says("", ":1: the line is missing");
  says("sdsm-trace 1 2 1\n", ":1: the line does not begin an order");
  says("sdsm-order 2 2 1\n", "is of another version");
  says("sdsm-order 1 0 1\n", "gives no possible layout");
  says("sdsm-order 1 65536 65536\n", "gives no possible layout");
  says("sdsm-order 1 65537 1\n", "needs a number from 0 to 65536 as its word 3");
  says(head + "0 barrier\n", ":2: the line stands before the first node");
  says(head + "node 1\n", ":2: the line is not the next node");
  says(head + "node 0\n1 barrier\n", ":3: the line is of a process of another node");
  says(head + "node 0\n2 barrier\n", ":3: the line needs a number from 0 to 1 as its word 1");
  says(head + "node 0\n-1 barrier\n", "needs a number");
  says(head + "node 0\n0 wait\n", ":3: the line names no event");
  says(head + "node 0\n0\n", ":3: the line names no event");
  says(head + "node 0\n0 read 1\n", "has too few or too many words");
  says(head + "node 0\n0 barrier 1 1\n", "has too few or too many words");
  says(head + "node 0\n0 read 4294967296 1\n", "needs a number from 0 to 4294967295 as its word 3");
  says(head + "node 0\n0 read 1 18446744073709551616\n", "as its word 4");
  says(head + "node 0\n0 read 1 1 1\n", "is not one to four words");
  says(head + "node 0\n0  read 1 1\n", "is not one to four words");
  says(head + "node 0\n\n", "is not one to four words");
  says(head + "node 0\n0 barrier\nend\n", ":4: the line ends the file before its last node");
  says(head + "node 0\nnode 1\nnode 2\n", ":4: the line is one node too many");
  says(head + "node 0\nnode 1\n", ":4: the line is missing");
  says(head + "node 0\nnode 1\nend\nnode 0\n", ":4: the line ends the file, and more follows");
  says(head + "node 0\n" + std::string(1000, '0') + "\n", ":3: the line is missing, or longer than any event");
  CHECK_THROWS_WITH(read_order(scratch / "nothing"), ContainsSubstring("cannot be read (No such file or directory)"));
}

TEST_CASE("damaged orders end in an error or in an order") {
  const Scratch scratch;
  std::mt19937_64 random(test::seed(2));
  std::uint64_t refused = 0;
  const std::uint64_t rounds = test::rounds(2000);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    std::string text = order_text(random_order(random));
    for (std::uint64_t damages = 1 + random() % 3; damages > 0 && !text.empty(); --damages) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, 1 + random() % 8); break;
        case 2: text.insert(at, 1, "0 \n9"[random() % 4]); break;
        default: text.resize(at); break;
      }
      if (text.empty()) text.push_back('\n');
    }
    try {
      const Order order = read_text(scratch, text);
      REQUIRE(order.nodes.size() == order.layout.nodes);
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  WARN(refused << " refused, " << rounds - refused << " read");
  CHECK(refused > rounds / 2);
  CHECK(refused < rounds);
}
