/// --protocol, of every command that plays a protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "models/protocol/registry.hpp"
#include "models/scash/page_state.hpp"

namespace sdsm::commands {

/// `why_not`: why the command does not play a row's protocol; empty if it does.
void add_protocol(CLI::App& app, ProtocolKind& protocol,
                  const std::function<std::string_view(const ProtocolRow&)>& why_not);

/// --prefetch, of the same commands.
void add_prefetch(CLI::App& app, std::uint32_t& pages);
/// Throws BadInput where it does not go with the rest.
void check_prefetch(std::uint32_t pages, ProtocolKind protocol, bool has_order);

/// --invalidation, of the same commands. `otherwise`: what holds without it, for the help.
void add_invalidation(CLI::App& app, std::optional<Invalidation>& invalidation, const std::string& otherwise);
/// Throws BadInput where the protocol does not have it.
void check_invalidation(const std::optional<Invalidation>& invalidation, ProtocolKind protocol);

}  // namespace sdsm::commands
