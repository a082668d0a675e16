/// SCASH with single-writer pages (models/single_writer/page_sharing.hpp) behind the door: what runs under the names of
/// SCASH and home_open. Until threads hand memory over by plain stores or atomic operations, it is SCASH alone.
#include <optional>
#include <utility>

#include "native/dsm/memory/single_writer_mode.hpp"
#include "native/dsm/protocol/scash/copies.hpp"
#include "native/dsm/protocol/scash/scash.hpp"
#include "native/dsm/protocol/single_writer/copies.hpp"
#include "native/dsm/protocol/single_writer/flags.hpp"
#include "native/dsm/protocol/single_writer/page_requests.hpp"

namespace sdsm::dsm {
namespace {

class SingleWriter final : public Scash {
 public:
  std::optional<std::size_t> take_fault(const Place& place, std::uintptr_t address, Access access, const At& at)
      REQUIRES(application) EXCLUDES(node().mutex) override {
    const std::optional<FaultKind> kind = find_right(place, access, at);
    if (access == Access::read && is_in_single_writer_mode()) come_to_load(at.instruction, address);
    return kind ? std::optional(static_cast<std::size_t>(*kind)) : std::nullopt;
  }

  void flush(Sync sync) REQUIRES(application) EXCLUDES(node().mutex) override {
    granted_.reset();
    dsm::flush(sync);
  }

  void flush_pages(const AddressRange& pages) REQUIRES(application, node().mutex) override { flush_early(pages); }

  void begin_interval(Sync sync) REQUIRES(application) EXCLUDES(node().mutex) override {
    // Handlers may have written while the thread waited for the grant.
    if (const auto granted = std::exchange(granted_, {})) dsm::flush(Sync::acquire, &*granted);
    drop(sync);
  }

  void receive_diff(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling) override {
    dsm::receive_diff(from, head, payload);
  }
};
constinit SingleWriter single_writer;

}  // namespace

Protocol* scash_protocol() {
  return &single_writer;
}
Protocol* home_open_protocol() {
  return &single_writer;
}

}  // namespace sdsm::dsm
