#include "native/tracer/execution/words.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "native/guest/code/machine_code.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/signals.hpp"
#include "native/tracer/execution/pages.hpp"
#include "native/tracer/execution/touch.hpp"
#include "native/tracer/record/objects.hpp"
#include "native/tracer/record/options.hpp"
#include "native/tracer/record/recorder.hpp"

namespace sdsm::tracer {
using namespace program;
namespace {

constexpr greg_t goes_downwards = 0x400;  // DF
constexpr std::size_t most_words = 1024;  // records that are collected; a power of two
constexpr std::uint32_t words_at_once = 64;

struct WatchedPart {
  std::uint32_t region = 0;  ///< in the run-time's numbers
  std::uint64_t first = 0;
  std::uint64_t pages = 0;
};

struct Watching {
  bool is_chosen = false;
  bool is_on = false;
  GrowingArray<WatchedPart> parts;
  // Watched pages that are open now: for the instruction that is being done, and for the kernel.
  GrowingArray<std::uintptr_t> open;
  GrowingArray<std::uintptr_t> in_use;
  std::uintptr_t in_use_end = 0;  ///< behind the highest of these, as buffers are opened from their begin on
  bool is_stepping = false;
  // The last access of the instruction that is being done, which may go on in the next page.
  std::uintptr_t step = 0;
  std::uintptr_t step_end = 0;
  WordsRecord* words = nullptr;  ///< a hash table; `used` says which are in use
  bool used[most_words] = {};
  std::size_t count = 0;
  // Room for what is sent: the stack is that of signals.
  WordsRecord batch[words_at_once];
  std::uint64_t sites[words_at_once] = {};
};
constinit Watching watching GUARDED_BY(turn);

bool is_watched(std::uintptr_t address) REQUIRES(turn) {
  const Range* const range = find_range(address);
  return range != nullptr && range->page_of(page_down(address)).is_watched;
}

void open_page(std::uintptr_t page, GrowingArray<std::uintptr_t>& pages) REQUIRES(turn) {
  if (page < watching.in_use_end) {
    for (const std::uintptr_t one : watching.in_use) {
      if (one == page) return;
    }
  }
  protect(page, page + page_bytes, PROT_READ | PROT_WRITE);
  pages.push_back(page);
  if (&pages == &watching.in_use) watching.in_use_end = std::max(watching.in_use_end, page + page_bytes);
}

void shut(GrowingArray<std::uintptr_t>& pages) REQUIRES(turn) {
  for (const std::uintptr_t page : pages) {
    if (watching.is_on && is_watched(page)) protect(page, page + page_bytes, PROT_NONE);
  }
  pages.clear();
}

void end_step() REQUIRES(turn) {
  watching.is_stepping = false;
  shut(watching.open);
}

void watch(std::uintptr_t begin, std::uintptr_t end) REQUIRES(turn) {
  Range* const range = find_range(begin);
  for (std::uintptr_t page = begin; page < end; page += page_bytes) range->page_of(page).is_watched = true;
  if (watching.is_on && begin < end) protect(begin, end, PROT_NONE);
}

WordsRecord& record_of(const WordsRecord& wanted) REQUIRES(turn) {
  if (watching.count * 2 > most_words) send_words(running_thread());
  std::uint64_t key = wanted.site * 0x9e3779b97f4a7c15U ^ (std::uint64_t{wanted.region} << 32 | wanted.page);
  key = (key ^ wanted.access) * 0xbf58476d1ce4e5b9U;
  for (std::size_t at = key >> 32;; ++at) {
    WordsRecord& found = watching.words[at % most_words];
    bool& is_used = watching.used[at % most_words];
    if (!is_used) {
      is_used = true;
      ++watching.count;
      return found = wanted;
    }
    if (found.site == wanted.site && found.region == wanted.region && found.page == wanted.page &&
        found.access == wanted.access)
      return found;
  }
}

/// Records [begin, end), which lies in one watched page.
void record(std::uintptr_t begin, std::uintptr_t end, unsigned access, std::uintptr_t site) REQUIRES(turn) {
  const std::uintptr_t page = page_down(begin);
  end = std::min(end, page + page_bytes);
  const PageInfo& info = find_range(begin)->page_of(page);
  WordsRecord wanted;
  wanted.region = info.region - 1;
  wanted.page = static_cast<std::uint32_t>(page_index(info.region, page));
  wanted.site = site;
  wanted.access = access | (watched.is_in_team.load(std::memory_order_relaxed) ? WordsRecord::in_team : 0U);
  WordsRecord& found = record_of(wanted);
  const std::size_t last = (end - 1 - page) / word_bytes;
  for (std::size_t word = (begin - page) / word_bytes; word <= last; ++word) {
    found.words[word / 64] |= std::uint64_t{1} << word % 64;
  }
}

/// Records every watched page's part of [begin, begin + bytes), and leaves the pages open.
void access(std::uintptr_t begin, std::uint64_t bytes, unsigned how, std::uintptr_t site,
            GrowingArray<std::uintptr_t>& pages) REQUIRES(turn) {
  const std::uintptr_t end = begin + bytes;
  for (std::uintptr_t at = begin; at < end; at = page_down(at) + page_bytes) {
    if (!is_watched(at)) continue;
    record(at, end, how, site);
    open_page(page_down(at), pages);
  }
}

/// movs, stos, lods, scas, cmps: one element of each operand.
bool is_string(const Instruction& found) {
  return found.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

void access_of_string(const MemoryAccesses& operands, const greg_t* registers, std::uint64_t elements,
                      std::uintptr_t site) REQUIRES(turn) {
  for (const MemoryAccess& one : std::span(operands.all, operands.count)) {
    const unsigned how = one.writes ? WordsRecord::writes : WordsRecord::reads;
    access(address_of(one.operand, registers, 0), one.bytes * elements, how, site, watching.open);
  }
}

template <typename Element>
void move_elements(greg_t* registers, std::uint64_t elements, bool is_move) {
  auto* to = reinterpret_cast<volatile Element*>(registers[REG_RDI]);
  const auto* from = reinterpret_cast<const volatile Element*>(registers[REG_RSI]);
  for (std::uint64_t i = 0; i < elements; ++i) to[i] = is_move ? from[i] : static_cast<Element>(registers[REG_RAX]);
  registers[REG_RDI] += static_cast<greg_t>(elements * sizeof(Element));
  if (is_move) registers[REG_RSI] += static_cast<greg_t>(elements * sizeof(Element));
  registers[REG_RCX] -= static_cast<greg_t>(elements);
}

/// `rep movs` and `rep stos` upwards: a step is one element, and these move thousands. Does as many as lie in one page
/// of each operand; the instruction itself goes on with the rest. False for other instructions, or across pages.
bool move_at_once(const Instruction& found, const MemoryAccesses& operands, greg_t* registers, std::uintptr_t site)
    REQUIRES(turn) {
  const MemoryAccess& to = operands.all[0];
  const bool is_move = operands.count == 2;
  // Of two operands cmps reads both, and of one scas and lods read it.
  if (!is_string(found) || !to.writes || (found.attributes & ZYDIS_ATTRIB_HAS_REP) == 0) return false;
  if ((found.attributes & ZYDIS_ATTRIB_HAS_SEGMENT) != 0 || to.operand.has_short_address) return false;
  if ((registers[REG_EFL] & goes_downwards) != 0) return false;
  const std::uint32_t bytes = to.bytes;
  const auto left_in_page = [bytes](greg_t address) {
    return (page_bytes - static_cast<std::uintptr_t>(address) % page_bytes) / bytes;
  };
  std::uint64_t elements =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(registers[REG_RCX]), left_in_page(registers[REG_RDI]));
  if (is_move) elements = std::min<std::uint64_t>(elements, left_in_page(registers[REG_RSI]));
  if (elements == 0) return false;
  access_of_string(operands, registers, elements, site);
  switch (bytes) {
    case 1: move_elements<std::uint8_t>(registers, elements, is_move); break;
    case 2: move_elements<std::uint16_t>(registers, elements, is_move); break;
    case 4: move_elements<std::uint32_t>(registers, elements, is_move); break;
    default: move_elements<std::uint64_t>(registers, elements, is_move); break;
  }
  end_step();
  return true;
}

/// Begin of the access that has come to `address`: before it, if it began in a page that is open. `address` itself,
/// where the operand does not show it (stacks, bit strings).
std::uintptr_t begin_of(const MemoryAccess& one, std::uintptr_t address, std::uintptr_t next, const greg_t* registers) {
  if (address != page_down(address)) return address;
  const std::uintptr_t begin = address_of(one.operand, registers, next);
  return begin < address && address - begin < one.bytes ? begin : address;
}

/// Any other instruction, whose access of `size` began at `begin` and has come to `address`.
void access_by(const MemoryAccess& size, std::uintptr_t begin, std::uintptr_t address, std::uintptr_t instruction,
               bool is_write, std::uintptr_t site) REQUIRES(turn) {
  unsigned how = is_write ? WordsRecord::writes : WordsRecord::reads;
  if (size.reads && size.writes) how = WordsRecord::writes | WordsRecord::reads;
  if (size.bytes == 0) {
    const std::uintptr_t page = page_down(address);
    record(page, page + page_bytes, how | WordsRecord::is_unsized, site);
    return open_page(page, watching.open);
  }
  // Its first part lies in a page that is open, as the kernel uses it.
  if (begin != address && is_watched(begin)) record(begin, address, how, site);
  // The second part of an access that began in the page before, as far as its operand does not show it.
  const bool goes_on = watching.is_stepping && watching.step == instruction && address == page_down(address) &&
                       address < watching.step_end && watching.step_end - address < size.bytes;
  const std::uintptr_t end = goes_on ? watching.step_end : begin + size.bytes;
  watching.step_end = end;
  record(address, end, how, site);
  open_page(page_down(address), watching.open);
}

}  // namespace

void choose_watched(const char* text) {
  watching.is_chosen = true;
  watching.words = reserve_array<WordsRecord>(most_words);
  while (*text != 0) {
    std::uint64_t numbers[3] = {};
    for (std::uint64_t& number : numbers) {
      char* end = nullptr;
      number = std::strtoull(text, &end, 10);
      text = *end == 0 ? end : end + 1;
    }
    watching.parts.push_back({static_cast<std::uint32_t>(numbers[0]) + 1, numbers[1], numbers[2]});
  }
}

void watch_region(std::uint32_t region) {
  if (!watching.is_chosen) return;
  const RegionInfo& info = region_info(region);
  for (const WatchedPart& part : watching.parts) {
    if (part.region != region || part.first >= info.pages) continue;
    const std::uint64_t pages = std::min(part.pages, info.pages - part.first);
    const std::uintptr_t begin = info.begin + part.first * page_bytes;
    // Parts of it may have become regions of their own.
    for (std::uintptr_t page = begin; page < begin + pages * page_bytes; page += page_bytes) {
      const PageInfo& own = find_range(page)->page_of(page);
      if (own.region == region && !own.is_watched) watch(page, page + page_bytes);
    }
  }
}

void start_watching() {
  if (!watching.is_chosen) return;
  watching.is_on = true;
  watches_words.store(true, std::memory_order_relaxed);
  for (std::uint32_t region = 1; region < region_count(); ++region) {
    const RegionInfo& info = region_info(region);
    for (std::uint64_t i = 0; i < info.pages; ++i) {
      const std::uintptr_t page = info.begin + i * page_bytes;
      if (find_range(page)->page_of(page).is_watched) protect(page, page + page_bytes, PROT_NONE);
    }
  }
}

void forget_watched(std::uintptr_t begin, std::uint64_t pages) {
  if (!watching.is_chosen) return;
  Range* const range = find_range(begin);
  for (std::uintptr_t page = begin; page < begin + pages * page_bytes; page += page_bytes) {
    PageInfo& info = range->page_of(page);
    if (!info.is_watched) continue;
    info.is_watched = false;
    protect(page, page + page_bytes, PROT_READ | PROT_WRITE);
  }
}

void stop_watching() {
  if (!watching.is_on) return;
  watching.is_on = false;
  watches_words.store(false, std::memory_order_relaxed);
  watching.is_chosen = false;
  unprotect_all();
}

bool take_watched_fault(const siginfo_t& info, ucontext_t& machine) {
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  if (!watching.is_on || !is_watched(address)) return false;
  const int saved_errno = errno;
  greg_t* const registers = machine.uc_mcontext.gregs;
  const auto instruction = static_cast<std::uintptr_t>(registers[REG_RIP]);
  const auto* const code = reinterpret_cast<const std::uint8_t*>(instruction);
  // A later page of the same instruction comes with the earlier ones open.
  if (watching.is_stepping && watching.step != instruction) end_step();
  const Instruction found = decode(code, longest_instruction);
  const MemoryAccesses operands = accesses_of(found);
  const std::uintptr_t site = site_in_program(instruction);
  constexpr greg_t write_bit = 2;  // of the page fault's error code
  if (move_at_once(found, operands, registers, site)) {
    errno = saved_errno;
    return true;
  }
  if (is_string(found) && operands.count > 0) {
    access_of_string(operands, registers, 1, site);
  } else {
    const MemoryAccess& size = operands.all[0];
    const std::uintptr_t begin = begin_of(size, address, instruction + found.length, registers);
    access_by(size, begin, address, instruction, (registers[REG_ERR] & write_bit) != 0, site);
  }
  watching.step = instruction;
  // Also in the handler of a trap, where none waits (take_signal()).
  watching.is_stepping = true;
  registers[REG_EFL] |= program::single_step;
  errno = saved_errno;
  return true;
}

bool end_watched_step(ucontext_t& machine) {
  if (!watching.is_stepping) return false;
  end_step();
  machine.uc_mcontext.gregs[REG_EFL] &= ~program::single_step;
  return true;
}

void open_watched(std::uintptr_t begin, std::uint64_t bytes, bool is_write) {
  if (!watching.is_on) return;
  const Range* const range = find_range(begin);
  if (range == nullptr) return;
  const std::uint64_t room = range->end - begin;
  access(begin, std::min(bytes, room), is_write ? WordsRecord::writes : WordsRecord::reads, site_in_program(0),
         watching.in_use);
}

void shut_watched() {
  end_step();
  shut(watching.in_use);
  watching.in_use_end = 0;
}

void send_words(const VirtualThread& thread) {
  if (watching.count == 0) return;
  WordsRecord* const batch = watching.batch;
  std::uint64_t* const sites = watching.sites;
  std::uint32_t count = 0;
  const auto send = [&]() REQUIRES(turn) {
    const TouchesHead head{thread.number, count};
    for (std::uint32_t i = 0; i < count; ++i) sites[i] = batch[i].site;
    tell_objects_of(sites, count);
    recorder::put(RecordKind::words, &head, sizeof head, batch, count * sizeof *batch);
    count = 0;
  };
  for (std::size_t i = 0; i < most_words; ++i) {
    if (!watching.used[i]) continue;
    watching.used[i] = false;
    batch[count++] = watching.words[i];
    if (count == words_at_once) send();
  }
  if (count > 0) send();
  watching.count = 0;
}

}  // namespace sdsm::tracer
