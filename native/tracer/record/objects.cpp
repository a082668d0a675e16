#include "native/tracer/record/objects.hpp"

#include <link.h>

#include <cstring>

#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"
#include "native/tracer/record/recorder.hpp"

namespace sdsm::tracer {
namespace {

using program::AddressRange;

/// Files whose records were sent; what is in none of them may have been loaded since. The last one that was asked for
/// is kept apart, as most touches come from few places.
struct Objects {
  program::GrowingArray<AddressRange> sent;
  AddressRange last;
};
constinit Objects objects GUARDED_BY(turn);

bool is_sent(std::uintptr_t address) REQUIRES(turn) {
  if (objects.last.holds(address)) return true;
  for (const AddressRange& range : objects.sent) {
    if (!range.holds(address)) continue;
    objects.last = range;
    return true;
  }
  return false;
}

int send_if_it_holds(dl_phdr_info* object, std::size_t /*size*/, void* address) REQUIRES(turn) {
  const AddressRange range = program::whole_of(*object);
  if (!range.holds(*static_cast<const std::uintptr_t*>(address))) return 0;
  const ObjectRecord record{range.begin, range.end, object->dlpi_addr};
  recorder::put(RecordKind::object, &record, sizeof record, object->dlpi_name, std::strlen(object->dlpi_name));
  objects.sent.push_back(range);
  return 1;
}

}  // namespace

void tell_objects_of(const std::uint64_t* addresses, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uintptr_t address = addresses[i];
    if (is_sent(address)) continue;
    // Code that no file holds is asked for once.
    if (dl_iterate_phdr(send_if_it_holds, &address) == 0) objects.sent.push_back({address, address + 1});
  }
}

}  // namespace sdsm::tracer
