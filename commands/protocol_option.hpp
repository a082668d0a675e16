/// --protocol, of every command that plays a protocol.
#pragma once

#include <cstdint>
#include <functional>

#include <CLI/CLI.hpp>

#include "models/protocol/registry.hpp"

namespace sdsm::commands {

/// `why_not`: why the command does not play a row's protocol; empty if it does.
void add_protocol(CLI::App& app, ProtocolKind& protocol,
                  const std::function<std::string_view(const ProtocolRow&)>& why_not);

/// --prefetch, of the same commands.
void add_prefetch(CLI::App& app, std::uint32_t& pages);
/// Throws BadInput where it does not go with the rest.
void check_prefetch(std::uint32_t pages, ProtocolKind protocol, bool has_order);

}  // namespace sdsm::commands
