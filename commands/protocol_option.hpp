/// --protocol, of every command that plays a protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "models/jiajia/rules.hpp"
#include "models/protocol/registry.hpp"
#include "models/scash/page_state.hpp"

namespace sdsm::commands {

class CommandLine;

/// `why_not`: why the command does not play a row's protocol; empty if it does.
void add_protocol(CommandLine& app, ProtocolKind& protocol,
                  const std::function<std::string_view(const ProtocolRow&)>& why_not);

/// --prefetch, of the same commands.
void add_prefetch(CommandLine& app, std::uint32_t& pages);
/// Throws BadInput where it does not go with the rest.
void check_prefetch(std::uint32_t pages, bool has_order);
/// Throws BadInput under a protocol that has no use for a recorded order.
void check_order(bool has_order, ProtocolKind protocol);

/// --scope, --home-migration and --adaptive-write-detection, of the same commands. `asked`: one that was given.
void add_jiajia_rules(CommandLine& app, jiajia::Rules& rules, std::string& asked);
/// Throws BadInput where what was given is of JIAJIA and the protocol is another.
void check_asked_of_jiajia(const std::string& asked, ProtocolKind protocol);

/// --invalidation, of the same commands. `otherwise`: what holds without it, for the help.
void add_invalidation(CommandLine& app, std::optional<Invalidation>& invalidation, const std::string& otherwise);
/// Throws BadInput where the protocol does not have it.
void check_invalidation(const std::optional<Invalidation>& invalidation, ProtocolKind protocol);

}  // namespace sdsm::commands
