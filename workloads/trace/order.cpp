#include "workloads/trace/order.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "commands/input.hpp"
#include "workloads/trace/limits.hpp"

namespace sdsm::trace {
namespace {

constexpr std::uint64_t order_version = 1;

/// Whether an object and a value follow the kind.
constexpr bool has_object(OrderKind kind) {
  return kind == OrderKind::read || kind == OrderKind::write || kind == OrderKind::take;
}

class OrderReader {
 public:
  explicit OrderReader(const std::filesystem::path& path) : path_(path.string()) {
    if (const std::string problem = commands::input_problem(path); !problem.empty()) {
      throw std::invalid_argument(fmt::format("{}: {}. Give what `sdsm run --order` wrote", path_, problem));
    }
    stream_.open(path);
  }

  Order read() {
    Order order;
    read_head(order);
    for (next_line(); words_[0] != "end"; next_line()) {
      if (words_[0] == "node") {
        if (count_ != 2 || number(1, most_number) != order.nodes.size()) fail("is not the next node");
        if (order.nodes.size() == order.layout.nodes) fail("is one node too many");
        order.nodes.emplace_back();
      } else {
        if (order.nodes.empty()) fail("stands before the first node");
        if (++events_ > most_order_events) fail(fmt::format("is more than the {} events allowed", most_order_events));
        order.nodes.back().push_back(event(order));
      }
    }
    if (count_ != 1 || order.nodes.size() != order.layout.nodes) fail("ends the file before its last node");
    if (stream_.peek() != std::ifstream::traits_type::eof()) fail("ends the file, and more follows");
    return order;
  }

 private:
  static constexpr std::uint64_t most_number = std::numeric_limits<std::uint64_t>::max();

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(
        fmt::format("{}:{}: the line {}. An order comes from `sdsm run --order`; record it again", path_, line_, what));
  }

  void read_head(Order& order) {
    next_line();
    if (count_ != 4 || words_[0] != "sdsm-order") fail("does not begin an order");
    if (number(1, most_number) != order_version) fail("says that the file is of another version");
    const std::uint64_t nodes = number(2, max_threads);
    const std::uint64_t threads = number(3, max_threads);
    if (nodes == 0 || threads == 0 || nodes * threads > max_threads) fail("gives no possible layout");
    order.layout = {static_cast<std::uint32_t>(nodes), static_cast<std::uint32_t>(threads)};
  }

  OrderEvent event(const Order& order) const {
    OrderEvent event;
    event.process = ProcessId{static_cast<std::uint32_t>(number(0, order.layout.processes() - 1))};
    if (index_of(order.layout.node_of(event.process)) != order.nodes.size() - 1)
      fail("is of a process of another node");
    std::size_t kind = 0;
    while (kind < order_kinds && name_of(static_cast<OrderKind>(kind)) != words_[1]) ++kind;
    if (kind == order_kinds) fail("names no event");
    event.kind = static_cast<OrderKind>(kind);
    if (count_ != (has_object(event.kind) ? 4U : 2U)) fail("has too few or too many words");
    if (!has_object(event.kind)) return event;
    event.object = static_cast<std::uint32_t>(number(2, std::numeric_limits<std::uint32_t>::max()));
    event.value = number(3, most_number);
    return event;
  }

  std::uint64_t number(std::size_t word, std::uint64_t most) const {
    std::uint64_t value = 0;
    const char* const end = words_[word].data() + words_[word].size();
    const auto [rest, status] = std::from_chars(words_[word].data(), end, value);
    if (status != std::errc() || rest != end || value > most || word >= count_) {
      fail(fmt::format("needs a number from 0 to {} as its word {}", most, word + 1));
    }
    return value;
  }

  /// Reads one to four words into `words_`.
  void next_line() {
    ++line_;
    // Longer lines set the stream's failbit, as the file's end does before its "end".
    if (!stream_.getline(text_.data(), text_.size())) fail("is missing, or longer than any event");
    words_ = {};
    count_ = 0;
    const auto taken = static_cast<std::size_t>(stream_.gcount());  // counts the line's end, unless the file has none
    std::string_view rest(text_.data(), stream_.eof() ? taken : taken - 1);
    for (;;) {
      const std::size_t end = rest.find(' ');
      if (end == 0 || rest.empty() || count_ == words_.size()) fail("is not one to four words with a space between");
      words_[count_++] = rest.substr(0, end);
      if (end == std::string_view::npos) return;
      rest.remove_prefix(end + 1);
    }
  }

  std::string path_;
  std::ifstream stream_;
  std::array<char, 96> text_{};
  std::array<std::string_view, 4> words_;
  std::size_t count_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace

std::string_view name_of(OrderKind kind) {
  static constexpr std::array<std::string_view, order_kinds> names{"read", "write", "barrier", "ask",
                                                                   "take", "drop",  "give"};
  return name_in(names, kind);
}

std::string order_text(const Order& order) {
  std::string text =
      fmt::format("sdsm-order {} {} {}\n", order_version, order.layout.nodes, order.layout.threads_per_node);
  for (std::size_t node = 0; node < order.nodes.size(); ++node) {
    text += fmt::format("node {}\n", node);
    for (const OrderEvent& event : order.nodes[node]) {
      fmt::format_to(std::back_inserter(text), "{} {}", index_of(event.process), name_of(event.kind));
      if (has_object(event.kind)) fmt::format_to(std::back_inserter(text), " {} {}", event.object, event.value);
      text += '\n';
    }
  }
  return text + "end\n";
}

Order read_order(const std::filesystem::path& path) {
  return OrderReader(path).read();
}

}  // namespace sdsm::trace
