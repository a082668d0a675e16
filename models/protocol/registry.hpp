/// The protocols that a run can choose, one row each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdsm {

/// Each row: the name, whether `sdsm run` plays it too, and what --help says.
// clang-format off
#define SDSM_PROTOCOLS(row) \
  row(scash, true, "home-based release consistency, as on SCore") \
  row(jiajia, false, "scope consistency with write notices, as JIAJIA has it; simulated only")
// clang-format on

#define SDSM_PROTOCOL_KIND(name, is_run, meaning) name,
enum class ProtocolKind : std::uint8_t { SDSM_PROTOCOLS(SDSM_PROTOCOL_KIND) };
#undef SDSM_PROTOCOL_KIND

struct ProtocolRow {
  ProtocolKind kind;
  std::string_view name;
  bool is_run;
  std::string_view meaning;
};

/// In the order of ProtocolKind.
#define SDSM_PROTOCOL_ROW(name, is_run, meaning) ProtocolRow{ProtocolKind::name, #name, is_run, meaning},
inline constexpr std::array protocol_rows{SDSM_PROTOCOLS(SDSM_PROTOCOL_ROW)};
#undef SDSM_PROTOCOL_ROW

constexpr std::string_view name_of(ProtocolKind kind) {
  return protocol_rows[static_cast<std::size_t>(kind)].name;
}

/// Of a platform's properties that give the protocol's costs.
inline std::string prefix_of(ProtocolKind kind) {
  return kind == ProtocolKind::scash ? "" : std::string(name_of(kind)) + '.';
}

constexpr std::optional<ProtocolKind> protocol_named(std::string_view name) {
  for (const ProtocolRow& row : protocol_rows) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

}  // namespace sdsm
