/// A program's clock readings on a cluster, which `simulate --readings` writes and `trace --readings` shows it.
///
/// A CSV table with a title line and a line for each reading: thread by thread, each thread's in the order of the
/// program, numbered from 0. Seconds count from the begin of the program, exact to the picosecond:
///
///   thread,reading,clock,time_s
///   0,0,omp_get_wtime,0.000100000000
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "models/units.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

struct Reading {
  ClockSource clock{};
  Time time{};

  bool operator==(const Reading&) const = default;
};

/// By thread.
using Readings = std::vector<std::vector<Reading>>;

std::string readings_text(const Readings& readings);

/// Throws std::invalid_argument with the line if the file is no such table, or std::system_error.
Readings read_readings(const std::filesystem::path& path);

}  // namespace sdsm::trace
