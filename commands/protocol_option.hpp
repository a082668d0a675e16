/// --protocol, of every command that plays a protocol.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "models/protocol/registry.hpp"

namespace sdsm::commands {

/// `plays`: whether the command plays a row's protocol.
void add_protocol(CLI::App& app, ProtocolKind& protocol, const std::function<bool(const ProtocolRow&)>& plays);

}  // namespace sdsm::commands
