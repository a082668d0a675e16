/// --protocol, of every command that plays a protocol.
#pragma once

#include <CLI/CLI.hpp>

#include "models/protocol/registry.hpp"

namespace sdsm::commands {

void add_protocol(CLI::App& app, ProtocolKind& protocol);

}  // namespace sdsm::commands
