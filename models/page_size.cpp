#include "models/page_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace sdsm {

std::string page_size_problem(Bytes page) {
  if (page < least_page) {
    return fmt::format("pages of {} bytes are smaller than a trace's, of {} bytes. Give {} times a power of two",
                       page.count, least_page.count, least_page.count);
  }
  if (page.count % least_page.count != 0 || !std::has_single_bit(static_cast<std::uint64_t>(page.count))) {
    return fmt::format("{} bytes are not {} times a power of two. Give 8KiB, 16KiB, 32KiB or 64KiB", page.count,
                       least_page.count);
  }
  if (page > most_page) {
    return fmt::format(
        "pages of {} bytes are too large: a trace tells where its regions lie up to {}. Give at most 64KiB", page.count,
        most_page.count);
  }
  return {};
}

Bytes parse_page_size(std::string_view text) {
  const bool is_number = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  const Bytes page = parse_bytes(std::string(text) + (is_number ? "B" : ""));
  if (const std::string problem = page_size_problem(page); !problem.empty()) throw std::invalid_argument(problem);
  return page;
}

}  // namespace sdsm
