/// The version of sdsm, and a check that its parts have the same one.
#pragma once

#include <string>

namespace sdsm::commands {

std::string version();

/// Throws BadInput if an sdsm of another version started this command; a parent puts its version in the environment.
void refuse_another_version();

}  // namespace sdsm::commands
