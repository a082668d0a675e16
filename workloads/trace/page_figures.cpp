#include "workloads/trace/page_figures.hpp"

#include <fmt/format.h>

#include "workloads/trace/region_numbers.hpp"

namespace sdsm::trace {
namespace {

std::string quoted(const std::string& text) {
  std::string field = "\"";
  for (const char sign : text) {
    if (sign == '"') field += '"';
    field += sign;
  }
  return field + '"';
}

}  // namespace

PageFigures& PageFigures::operator+=(const PageFigures& other) {
  read_faults += other.read_faults;
  write_faults += other.write_faults;
  fetches += other.fetches;
  twins += other.twins;
  diffs += other.diffs;
  diff_bytes += other.diff_bytes;
  return *this;
}

PageFigures figures_of(const FaultRow& row) {
  PageFigures figures;
  (row.access == Access::read ? figures.read_faults : figures.write_faults) = 1;
  figures.fetches = row.fetches_page ? 1 : 0;
  figures.twins = row.twins_copy ? 1 : 0;
  return figures;
}

std::string page_table_text(const PageBook& book, const RegionNames& names, const Layout& layout) {
  std::string text = "node,process,region,name,page,read_faults,write_faults,fetches,twins,diffs,diff_bytes\n";
  for (const auto& [key, figures] : book) {
    const auto& [page, process] = key;
    const auto name = names.find(index_of(page.region));
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", index_of(layout.node_of(process)), index_of(process),
                        index_of(page.region),
                        quoted(name == names.end() ? fixed_region_name(index_of(page.region)) : name->second),
                        page.index, figures.read_faults, figures.write_faults, figures.fetches, figures.twins,
                        figures.diffs, figures.diff_bytes);
  }
  return text;
}

}  // namespace sdsm::trace
