#pragma once

#include <string>
#include <vector>

#include "models/ids.hpp"
#include "native/dsm/control.hpp"

namespace sdsm::run_command {

/// A table for people: what each thread spent its time on, and what it sent.
std::string report_text(const std::string& program, const Layout& layout, const std::vector<dsm::Result>& processes);

/// One line about several runs: median, minimum and maximum.
std::string repeats_text(const std::vector<double>& makespans_s);

}  // namespace sdsm::run_command
