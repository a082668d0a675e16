/// The protocols that a run can choose, one row each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdsm {

/// Each row: the name, why `sdsm run` does not play it (empty: it does), and what --help says.
// clang-format off
#define SDSM_PROTOCOLS(row) \
  row(scash, "", "home-based release consistency, as on SCore") \
  row(home_open, "", "as scash, but pages stay writable on their home's node") \
  row(jiajia, "", "scope consistency with write notices, as JIAJIA has it") \
  row(hardware, "for this machine's own memory start the program without sdsm", "hardware shared memory of one node; simulated only")
// clang-format on

#define SDSM_PROTOCOL_KIND(name, why_not_run, meaning) name,
enum class ProtocolKind : std::uint8_t { SDSM_PROTOCOLS(SDSM_PROTOCOL_KIND) };
#undef SDSM_PROTOCOL_KIND

struct ProtocolRow {
  ProtocolKind kind;
  std::string_view name;
  std::string_view why_not_run;
  std::string_view meaning;
};

/// Users write a name's underscores as hyphens.
template <std::size_t bytes>
struct ShownName {
  constexpr explicit ShownName(const char (&name)[bytes]) {
    for (std::size_t i = 0; i < bytes; ++i) text[i] = name[i] == '_' ? '-' : name[i];
  }
  char text[bytes]{};
};
#define SDSM_PROTOCOL_NAME(name, why_not_run, meaning) inline constexpr ShownName name##_shown(#name);
SDSM_PROTOCOLS(SDSM_PROTOCOL_NAME)
#undef SDSM_PROTOCOL_NAME

/// Rows in the order of ProtocolKind.
#define SDSM_PROTOCOL_ROW(name, why_not_run, meaning) \
  ProtocolRow{ProtocolKind::name, name##_shown.text, why_not_run, meaning},
inline constexpr std::array protocol_rows{SDSM_PROTOCOLS(SDSM_PROTOCOL_ROW)};
#undef SDSM_PROTOCOL_ROW

constexpr const ProtocolRow& row_of(ProtocolKind kind) {
  return protocol_rows[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name_of(ProtocolKind kind) {
  return row_of(kind).name;
}

/// Where nobody asks for another one. A platform gives its costs without a prefix.
inline constexpr ProtocolKind default_protocol = ProtocolKind::scash;

/// The protocol whose folder, kinds of faults and costs this one shares.
constexpr ProtocolKind base_of(ProtocolKind kind) {
  return kind == ProtocolKind::home_open ? ProtocolKind::scash : kind;
}

/// Prefix of a platform's properties that give the protocol's costs.
inline std::string prefix_of(ProtocolKind kind) {
  return base_of(kind) == default_protocol ? "" : std::string(name_of(kind)) + '.';
}

constexpr std::optional<ProtocolKind> protocol_named(std::string_view name) {
  for (const ProtocolRow& row : protocol_rows) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

}  // namespace sdsm
