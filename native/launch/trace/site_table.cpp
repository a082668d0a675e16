#include "native/launch/trace/site_table.hpp"

#include <algorithm>

namespace sdsm::trace_command {

void SiteTable::add_object(const tracer::ObjectRecord& record, const std::string& file) {
  objects_.push_back({record, file.empty() ? program_ : file});
  known_.clear();  // a file may lie where another one lay
}

std::uint32_t SiteTable::at(std::uint64_t address) {
  const auto known = known_.find(address);
  if (known != known_.end()) return known->second;
  trace::Site site;
  // The last that was loaded there.
  const auto object = std::find_if(objects_.rbegin(), objects_.rend(), [&](const LoadedObject& loaded) {
    return address >= loaded.place.begin && address < loaded.place.end;
  });
  if (object != objects_.rend()) site = {object->file, address - object->place.load_offset};
  return known_[address] = number_of(site);
}

std::uint32_t SiteTable::number_of(const trace::Site& site) {
  const auto [number, is_new] = numbers_.try_emplace({site.file, site.address}, sites_.size());
  if (is_new) sites_.push_back(site);
  return number->second;
}

}  // namespace sdsm::trace_command
