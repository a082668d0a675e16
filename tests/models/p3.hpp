/// The numbers of the Pentium III cluster ([WR-env], [WR-opt]), as the tests work with them by hand.
#pragma once

#include <cmath>

#include "models/costs.hpp"

namespace sdsm::test {

/// Microseconds with up to six digits after the point, exactly.
inline Time us(double microseconds) {
  return Time{std::llround(microseconds * 1e6)};
}

inline LinkSpec cable(double bytes_per_second) {
  return {{bytes_per_second}, us(5)};
}
inline const std::vector<LinkSpec> fast_ethernet{cable(12.5e6), cable(12.5e6)};
inline const std::vector<LinkSpec> gigabit_ethernet{cable(125e6), cable(125e6)};

inline Costs p3_costs() {
  Costs costs;
  //            WROH WROL WROR WRWH WRWL WRWR WUMR RRWR RROR RUMR
  costs.fault = {us(8), us(44), us(51), us(7), us(16), us(24), us(599), us(25), us(18), us(587)};
  costs.message_fixed = us(61.66);
  costs.message_per_byte = us(0.181919);
  costs.dirty_home_page = us(18.95);
  costs.barrier = {{{1, 1}, us(0.2)}, {{2, 1}, us(661)}, {{1, 2}, us(225)}, {{4, 1}, us(7305)}, {{4, 2}, us(17631)}};
  costs.lock = {{{1, 1}, us(0.6)}, {{2, 1}, us(52)}, {{1, 2}, us(4)}, {{4, 1}, us(74)}, {{4, 2}, us(204)}};
  costs.reference = fast_ethernet;
  return costs;
}

}  // namespace sdsm::test
