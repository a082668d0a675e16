#include "native/launch/trace/site_table.hpp"

#include <algorithm>

#include "workloads/trace/limits.hpp"

namespace sdsm::trace_command {

void SiteTable::add_object(const tracer::ObjectRecord& record, const std::string& file) {
  objects_.push_back({record, file.empty() ? program_ : file});
  known_.clear();  // a file may lie where another one lay
  known_calls_.clear();
}

std::uint32_t SiteTable::at(std::uint64_t address) {
  const auto known = known_.find(address);
  if (known != known_.end()) return known->second;
  return known_[address] = number_of(site_at(address));
}

trace::Site SiteTable::site_at(std::uint64_t address) const {
  // The last that was loaded there.
  const auto object = std::find_if(objects_.rbegin(), objects_.rend(), [&](const LoadedObject& loaded) {
    return address >= loaded.place.begin && address < loaded.place.end;
  });
  if (object == objects_.rend()) return {};
  return {object->file, address - object->place.load_offset};
}

std::uint32_t SiteTable::call_site(std::span<const std::uint64_t> addresses) {
  std::uint32_t number = 0;
  // Of programs with very many chains of calls, callers are left out, and then sites.
  const bool is_half_full = call_sites_.size() > trace::max_call_sites / 2;
  for (std::size_t i = is_half_full ? std::min<std::size_t>(addresses.size(), 1) : addresses.size(); i > 0; --i) {
    const std::uint64_t address = addresses[i - 1];
    const auto [known, is_new] = known_calls_.try_emplace({address, number});
    if (is_new) {
      if (call_sites_.size() == trace::max_call_sites) return 0;
      call_sites_.push_back({site_at(address), number});
      known->second = static_cast<std::uint32_t>(call_sites_.size());
    }
    number = known->second;
  }
  return number;
}

std::uint32_t SiteTable::number_of(const trace::Site& site) {
  const auto [number, is_new] = numbers_.try_emplace({site.file, site.address}, sites_.size());
  if (is_new) sites_.push_back(site);
  return number->second;
}

}  // namespace sdsm::trace_command
