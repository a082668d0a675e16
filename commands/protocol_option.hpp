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
inline constexpr const char* prefetch_in_order =
    "--prefetch and --order do not go together: an order has the fetched pages alone. Leave one of them out";
void add_prefetch(CLI::App& app, std::uint32_t& pages);

}  // namespace sdsm::commands
