#include "native/launch/trace/stream_reader.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "commands/errors.hpp"
#include "commands/interruption.hpp"
#include "native/launch/trace/trace_program.hpp"

namespace sdsm::trace_command {

using namespace commands;

namespace {

using tracer::RecordKind;

[[noreturn]] void fail() {
  throw RunError("the program's stream of records is damaged: does the program write to files that it did not open?");
}

template <typename Structure>
Structure head_of(std::span<const std::byte> record) {
  Structure structure;
  if (record.size() < sizeof structure) fail();
  std::memcpy(&structure, record.data(), sizeof structure);
  return structure;
}

/// The elements after a head; copied, as the buffer gives no alignment.
template <typename Element>
std::span<const Element> elements_after(std::span<const std::byte> record, std::size_t head, std::uint32_t count,
                                        std::vector<Element>& storage) {
  if (record.size() != head + std::size_t{count} * sizeof(Element)) fail();
  storage.resize(count);
  if (count > 0) std::memcpy(storage.data(), record.data() + head, count * sizeof(Element));
  return storage;
}

class RecordParser {
 public:
  explicit RecordParser(StreamHandler& handler) : handler_(handler) {}

  void parse(RecordKind kind, std::span<const std::byte> record) {
    switch (kind) {
      case RecordKind::hello: return handler_.on_hello(head_of<tracer::Hello>(record));
      case RecordKind::region: return handler_.on_region(head_of<tracer::RegionRecord>(record));
      case RecordKind::region_size: return handler_.on_region_size(head_of<tracer::RegionSizeRecord>(record));
      case RecordKind::interval: return handler_.on_interval(head_of<tracer::IntervalRecord>(record));
      case RecordKind::atomic_words: return handler_.on_atomic_words(head_of<tracer::AtomicWordsRecord>(record));
      case RecordKind::woken: return handler_.on_woken(head_of<tracer::WokenRecord>(record));
      case RecordKind::diverged: return handler_.on_diverged(head_of<tracer::DivergedRecord>(record));
      case RecordKind::cut: return handler_.on_cut(head_of<tracer::CutRecord>(record));
      case RecordKind::finished: return handler_.on_finished(head_of<tracer::FinishedRecord>(record));
      case RecordKind::refused:
        return handler_.on_refused({reinterpret_cast<const char*>(record.data()), record.size()});
      case RecordKind::touches: {
        const auto head = head_of<tracer::TouchesHead>(record);
        return handler_.on_touches(head.thread, elements_after(record, sizeof head, head.count, touches_));
      }
      case RecordKind::sites: {
        const auto head = head_of<tracer::TouchesHead>(record);
        return handler_.on_sites(head.thread, elements_after(record, sizeof head, head.count, sites_));
      }
      case RecordKind::callers: {
        const auto head = head_of<tracer::TouchesHead>(record);
        return handler_.on_callers(head.thread, elements_after(record, sizeof head, head.count, sites_));
      }
      case RecordKind::words: {
        const auto head = head_of<tracer::TouchesHead>(record);
        return handler_.on_words(head.thread, elements_after(record, sizeof head, head.count, words_));
      }
      case RecordKind::object: {
        const auto head = head_of<tracer::ObjectRecord>(record);
        const auto name = record.subspan(sizeof head);
        return handler_.on_object(head, {reinterpret_cast<const char*>(name.data()), name.size()});
      }
      case RecordKind::unseen: return handler_.on_unseen(head_of<tracer::UnseenRecord>(record));
      case RecordKind::changes: {
        const auto head = head_of<tracer::ChangesHead>(record);
        return handler_.on_changes(head, elements_after(record, sizeof head, head.count, changes_));
      }
      case RecordKind::change_maps: {
        const auto head = head_of<tracer::ChangesHead>(record);
        return handler_.on_change_maps(head, elements_after(record, sizeof head, head.count, maps_));
      }
    }
    fail();
  }

 private:
  StreamHandler& handler_;
  std::vector<tracer::TouchRecord> touches_;
  std::vector<std::uint64_t> sites_;
  std::vector<tracer::WordsRecord> words_;
  std::vector<tracer::ChangeRecord> changes_;
  std::vector<tracer::ChangeMapRecord> maps_;
};

}  // namespace

bool read_stream(int descriptor, StreamHandler& handler) {
  constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
  std::vector<std::byte> buffer(buffer_bytes);
  std::size_t begin = 0;
  std::size_t end = 0;
  RecordParser parser(handler);
  for (;;) {
    while (end - begin >= sizeof(tracer::RecordHead)) {
      const auto head = head_of<tracer::RecordHead>({buffer.data() + begin, end - begin});
      if (head.bytes > buffer_bytes / 2) fail();
      if (end - begin < sizeof head + head.bytes) break;
      parser.parse(head.kind, {buffer.data() + begin + sizeof head, head.bytes});
      begin += sizeof head + head.bytes;
    }
    std::memmove(buffer.data(), buffer.data() + begin, end - begin);
    end -= begin;
    begin = 0;
    constexpr int second_ms = 1000;
    pollfd records{descriptor, POLLIN, 0};
    const int ready = poll(&records, 1, second_ms);
    handler.on_time();
    // Also where a program records faster than this reads, so that no call ever waits.
    throw_if_interrupted(interrupted);
    if (ready <= 0) continue;
    const ssize_t count = read(descriptor, buffer.data() + end, buffer.size() - end);
    if (count < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "the program's stream of records cannot be read");
    }
    if (count == 0) return end == 0;
    end += static_cast<std::size_t>(count);
  }
}

}  // namespace sdsm::trace_command
