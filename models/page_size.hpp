/// Sizes that a simulated page may have.
#pragma once

#include <string>
#include <string_view>

#include "models/protocol/pages.hpp"
#include "models/units.hpp"

namespace sdsm {

/// A trace's pages, of which larger ones consist.
inline constexpr Bytes least_page{page_bytes};
/// The largest size of pages for which a trace has the places of its regions.
inline constexpr Bytes most_page{65536};

/// The reason why pages cannot have that size; empty if they can.
std::string page_size_problem(Bytes page);

/// 8KiB, 8192B or 8192. Throws std::invalid_argument, also where page_size_problem() has one.
Bytes parse_page_size(std::string_view text);

}  // namespace sdsm
