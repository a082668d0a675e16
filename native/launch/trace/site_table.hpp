/// Addresses in the program's memory as sites and call sites of a trace: files, and addresses in them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "native/tracer/record/stream.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::trace_command {

class SiteTable {
 public:
  /// program: what the program's own file is called.
  explicit SiteTable(std::string program) : program_(std::move(program)) {}

  void add_object(const tracer::ObjectRecord& record, const std::string& file);
  /// The number of the site at an address, which may be a new one.
  std::uint32_t at(std::uint64_t address);
  std::uint32_t number_of(const trace::Site& site);
  /// The number (from 1) of the call site at the first address, to which calls at the others led, the innermost first;
  /// 0 if there is none.
  std::uint32_t call_site(std::span<const std::uint64_t> addresses);
  const std::vector<trace::Site>& sites() const { return sites_; }
  const std::vector<trace::CallSite>& call_sites() const { return call_sites_; }

 private:
  trace::Site site_at(std::uint64_t address) const;

  /// A file in the program's memory.
  struct LoadedObject {
    tracer::ObjectRecord place;
    std::string file;
  };

  std::string program_;
  std::vector<LoadedObject> objects_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  ///< by address in the program's memory
  std::map<std::pair<std::string, std::uint64_t>, std::uint32_t> numbers_;
  std::vector<trace::Site> sites_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t>
      known_calls_;  ///< by address, and its caller's number
  std::vector<trace::CallSite> call_sites_;
};

}  // namespace sdsm::trace_command
