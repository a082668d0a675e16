/// --protocol, of every command that plays a protocol.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "models/protocol/registry.hpp"

namespace sdsm::commands {

/// `why_not`: why the command does not play a row's protocol; empty if it does.
void add_protocol(CLI::App& app, ProtocolKind& protocol,
                  const std::function<std::string_view(const ProtocolRow&)>& why_not);

}  // namespace sdsm::commands
