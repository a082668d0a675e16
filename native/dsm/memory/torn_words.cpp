#include "native/dsm/memory/torn_words.hpp"

#include <link.h>

#include <atomic>
#include <utility>

#include "native/dsm/wire/identity.hpp"
#include "native/guest/code/short_stores.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/functions.hpp"
#include "native/guest/runtime/message.hpp"
#include "native/guest/runtime/program_image.hpp"

namespace sdsm::dsm {
namespace {

std::atomic<bool> has_short_stores = false;

int find_short_stores_in(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
  if (!program::is_of_program(*object)) return 0;
  program::for_each_function(
      *object,
      [](const program::FunctionExtent& extent, void*) {
        const auto* const code = reinterpret_cast<const std::uint8_t*>(extent.code.begin);
        if (!has_short_stores && program::stores_short_variables(code, extent.code.end - extent.code.begin)) {
          has_short_stores = true;
        }
      },
      nullptr);
  return has_short_stores ? 1 : 0;
}

}  // namespace

void find_short_stores() {
  if (self.atomics == Atomics::lock) dl_iterate_phdr(find_short_stores_in, nullptr);
}

void report_torn_word(std::uint64_t address) {
  if (self.atomics == Atomics::lock) {
    if (!has_short_stores) return;
    program::end_run(
        {"two nodes changed the 4 bytes at address 0x", program::Hexadecimal(address),
         " at the same time, by plain stores: if atomic variables of 1 or 2 bytes lie there side by side, one has lost "
         "a change. Align them to 4 bytes, or store them by atomic exchanges"});
  }
  static bool was_reported = false;
  if (std::exchange(was_reported, true)) return;
  gomp::message({"warning: two nodes changed the 4 bytes at address 0x", program::Hexadecimal(address),
                 " at the same time, by plain stores; the later change was kept whole. That is right for one variable "
                 "that several threads store. If variables of 1 or 2 bytes lie there side by side, one has lost a "
                 "change: align each to 4 bytes"});
}

}  // namespace sdsm::dsm
