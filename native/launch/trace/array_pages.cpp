/// Finds the pages of an array that a user has named.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "commands/errors.hpp"
#include "native/launch/program_start.hpp"
#include "native/launch/trace/words_pass.hpp"

namespace sdsm::trace_command {

using namespace commands;

namespace {

constexpr std::size_t most_names = 12;

struct NamedRegion {
  const tracer::RegionRecord* record = nullptr;
  std::string name{};
  std::vector<std::uint32_t> calls{};  ///< sites, the innermost first

  RegionKind kind() const { return record->region.kind; }
  bool is_stack() const { return kind() == RegionKind::initial_stack || kind() == RegionKind::thread_stack; }
};

std::string last_part(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// FILE:LINE of each frame of each site, by binutils' addr2line: the innermost inlined call's first.
std::vector<std::vector<std::string>> lines_of(const std::vector<trace::Site>& sites) {
  constexpr std::size_t at_once = 1000;
  std::vector<std::vector<std::string>> lines(sites.size());
  std::map<std::string, std::vector<std::size_t>> by_file;
  for (std::size_t i = 0; i < sites.size(); ++i) by_file[sites[i].file].push_back(i);
  for (const auto& [file, numbers] : by_file) {
    for (std::size_t from = 0; from < numbers.size() && !file.empty(); from += at_once) {
      const std::size_t to = std::min(numbers.size(), from + at_once);
      std::vector<std::string> arguments{"-e", file, "-i", "-a"};
      for (std::size_t i = from; i < to; ++i) arguments.push_back(fmt::format("{:#x}", sites[numbers[i]].address));
      const std::string output = program_start::addr2line(arguments);
      std::size_t next = from;
      for (std::size_t begin = 0, end = 0; (end = output.find('\n', begin)) != std::string::npos; begin = end + 1) {
        const std::string line = output.substr(begin, end - begin);
        if (line.starts_with("0x")) {
          ++next;
        } else if (next > from && next <= to && !line.starts_with("??")) {
          const std::string place = line.substr(0, line.find(" ("));
          lines[numbers[next - 1]].push_back(last_part(place));
        }
      }
    }
  }
  return lines;
}

class Arrays {
 public:
  Arrays(const FirstPass& pass, const std::filesystem::path& program)
      : file_(program), namer_(program), sites_(program.string()) {
    for (const auto& [object, name] : pass.objects()) sites_.add_object(object, name);
    for (const tracer::RegionRecord& record : pass.regions()) add(record);
    lines_ = lines_of(sites_.sites());
  }

  /// "region:first:pages", with commas between them; empty if none has the name.
  std::string pages_of(const std::string& array) const {
    std::string found;
    const auto add = [&](std::uint32_t region, std::uint64_t first, std::uint64_t pages) {
      found += fmt::format("{}{}:{}:{}", found.empty() ? "" : ",", region, first, pages);
    };
    for (const NamedRegion& region : regions_) {
      // A region may grow later.
      constexpr std::uint64_t all = std::uint64_t{1} << 40;
      if (has_name(region, array)) add(region.record->id, 0, all);
    }
    if (!found.empty() && !is_variable_too(array)) return found;
    found.clear();
    for (const auto& [address, bytes] : file_.variables_named(array)) {
      const std::uint64_t begin = address / page_bytes * page_bytes;
      const std::uint64_t end = (address + bytes + page_bytes - 1) / page_bytes * page_bytes;
      for (const NamedRegion& region : regions_) {
        if (!is_program_variable(region.kind())) continue;
        if (region.record->library[0] != 0 || region.record->address == 0) continue;
        const std::uint64_t from = std::max(begin, region.record->address);
        const std::uint64_t to = std::min(end, region.record->address + region.record->region.pages * page_bytes);
        if (from < to) add(region.record->id, (from - region.record->address) / page_bytes, (to - from) / page_bytes);
      }
    }
    return found;
  }

  bool is_stack(const std::string& array) const {
    return std::any_of(regions_.begin(), regions_.end(),
                       [&](const NamedRegion& region) { return region.is_stack() && region.name == array; });
  }

  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const NamedRegion& region : regions_) {
      if (region.is_stack()) continue;
      const auto line = std::find_if(region.calls.begin(), region.calls.end(),
                                     [&](std::uint32_t site) { return !lines_[site].empty(); });
      names.insert(line != region.calls.end() ? lines_[*line].front() : region.name.substr(0, region.name.find(" (")));
    }
    return names;
  }

 private:
  void add(const tracer::RegionRecord& record) {
    NamedRegion region{.record = &record};
    region.name = namer_
                      .name_of({region.kind(), record.region.owner, record.number, record.bytes, record.address,
                                record.caller, record.library})
                      .value_or("");
    for (const std::uint64_t call : record.calls) {
      if (call != 0) region.calls.push_back(sites_.at(call));
    }
    regions_.push_back(std::move(region));
  }

  /// `array` is the name, its begin up to the bracket, what asked for the block, or a line on the way there.
  bool has_name(const NamedRegion& region, const std::string& array) const {
    if (region.is_stack()) return false;
    if (region.name == array || region.name.starts_with(array + " (") || region.name.ends_with(", " + array + ")"))
      return true;
    return std::any_of(region.calls.begin(), region.calls.end(), [&](std::uint32_t site) {
      return std::find(lines_[site].begin(), lines_[site].end(), array) != lines_[site].end();
    });
  }

  /// A variable's region has whole pages only: its ends lie in the globals.
  bool is_variable_too(const std::string& array) const { return !file_.variables_named(array).empty(); }

  program_start::ElfFile file_;
  program_start::RegionNamer namer_;
  SiteTable sites_;
  std::vector<NamedRegion> regions_;
  std::vector<std::vector<std::string>> lines_;  ///< by site
};

/// What `sdsm explain` calls an array: "heap #1, allocated at cg.c:7", or "9 blocks (heap #1 the first), allocated at".
std::string without_allocation(const std::string& array) {
  static constexpr char allocated[] = ", allocated at ";
  const std::size_t at = array.find(allocated);
  if (at == std::string::npos) return array;
  return array.starts_with("heap #") ? array.substr(0, at) : array.substr(at + sizeof allocated - 1);
}

}  // namespace

std::string pages_of_array(const std::string& array, const FirstPass& pass, const std::filesystem::path& program) {
  const Arrays arrays(pass, program);
  const std::string wanted = without_allocation(array);
  if (arrays.is_stack(wanted)) {
    throw BadInput(
        fmt::format("--words {}: a thread works on its stack all the time, and each access would be a step. "
                    "Move what threads share to the heap, or make it static",
                    array));
  }
  if (std::string found = arrays.pages_of(wanted); !found.empty()) {
    constexpr std::size_t most_text = 120'000;  // of an environment variable, 128 KiB
    if (found.size() <= most_text) return found;
    throw BadInput(
        fmt::format("--words {}: {} blocks have that name, more than can be watched. Name one of them, as "
                    "`sdsm trace info` lists them (heap #1), or trace fewer iterations",
                    array, std::count(found.begin(), found.end(), ',') + 1));
  }
  std::string names;
  std::size_t count = 0;
  const std::set<std::string> all = arrays.names();
  for (const std::string& name : all) {
    if (count++ < most_names) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name);
  }
  if (all.size() > most_names) names += fmt::format(" and {} more", all.size() - most_names);
  throw BadInput(fmt::format(
      "--words {}: the program has no array of that name. There are {}, and its global variables", array, names));
}

}  // namespace sdsm::trace_command
