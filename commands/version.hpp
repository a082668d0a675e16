/// Which sdsm this is, and that its parts are of one version.
#pragma once

#include <string>

namespace sdsm::commands {

std::string version();

/// Throws BadInput if what started this command is an sdsm of another version: that one says its own in the
/// environment.
void refuse_another_version();

}  // namespace sdsm::commands
