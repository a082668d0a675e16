/// omp_display_affinity and its kin: text by a format. Threads are bound to no place; a thread's affinity is that of
/// its process, which `sdsm run --bind` sets.
#include "native/guest/openmp/affinity.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "native/guest/openmp/thread.hpp"
#include "native/guest/runtime/entry.hpp"

extern "C" {
int omp_get_ancestor_thread_num(int level);
int omp_get_num_threads();
int omp_get_num_teams();
int omp_get_team_num();
}

/// Of the entry point that uses it.
#define SDSM_AFFINITY_CALLER reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

namespace sdsm::gomp {
namespace {

/// Text for a buffer that may be too small for it.
class AffinityText {
 public:
  AffinityText(char* buffer, std::size_t room) : buffer_(buffer), room_(room) {}

  void add(std::string_view text) {
    if (length_ < room_) std::memcpy(buffer_ + length_, text.data(), std::min(text.size(), room_ - length_));
    length_ += text.size();
  }
  void repeat(char sign, std::size_t times) {
    if (length_ < room_) std::memset(buffer_ + length_, sign, std::min(times, room_ - length_));
    length_ += times;
  }
  /// Bytes of all the text.
  std::size_t length() const { return length_; }

 private:
  char* buffer_;
  std::size_t room_;
  std::size_t length_ = 0;
};

struct AffinityField {
  bool has_zeros = false;
  bool is_right = false;
  std::size_t width = 0;
  char kind = '\0';
};

[[noreturn]] void refuse_format() {
  engine::refuse(
      "omp_set_affinity_format (or has OMP_AFFINITY_FORMAT) with a field that does not exist",
      "fields are %t %T %L %n %N %a %A %H %P %i or its long name, as %{thread_num}, with a width before it, as "
      "%5n, %.5n or %0.5n. Correct omp_set_affinity_format's text or OMP_AFFINITY_FORMAT.");
}

/// Moves `at`, which is behind a %, behind the field.
AffinityField take_field(const char*& at) {
  constexpr std::pair<std::string_view, char> names[] = {
      {"{team_num}", 't'},         {"{num_teams}", 'T'},      {"{nesting_level}", 'L'}, {"{thread_num}", 'n'},
      {"{num_threads}", 'N'},      {"{ancestor_tnum}", 'a'},  {"{host}", 'H'},          {"{process_id}", 'P'},
      {"{native_thread_id}", 'i'}, {"{thread_affinity}", 'A'}};
  AffinityField field;
  if (*at == '0') {
    field.has_zeros = true;
    if (*++at != '.') refuse_format();
  }
  if (*at == '.') {
    field.is_right = true;
    ++at;
  }
  const char* const end = at + std::strspn(at, "0123456789");
  if (*at != '0') std::from_chars(at, end, field.width);
  if (end == at ? field.is_right : field.width == 0) refuse_format();
  at = end;
  if (*at != '{') {
    field.kind = *at;
    if (field.kind != '\0') ++at;
    return field;
  }
  for (const auto& [name, kind] : names) {
    if (std::strncmp(at, name.data(), name.size()) != 0) continue;
    field.kind = kind;
    at += name.size();
    return field;
  }
  refuse_format();
}

/// Processors that this thread may use, as "0-3,6".
void add_processors(AffinityText& text) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  const auto add_number = [&](std::size_t number) {
    char digits[20];
    text.add({digits, std::to_chars(digits, digits + sizeof digits, number).ptr});
  };
  for (std::size_t first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &set)) continue;
    std::size_t last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    if (text.length() > 0) text.add(",");
    add_number(first);
    if (last > first) {
      text.add("-");
      add_number(last);
    }
    first = last;
  }
}

void add_value(AffinityText& text, char kind) {
  char digits[24];
  const auto add_number = [&](long long number) {
    text.add({digits, std::to_chars(digits, digits + sizeof digits, number).ptr});
  };
  const auto level = static_cast<int>(this_thread().level);
  switch (kind) {
    case 't': return add_number(omp_get_team_num());
    case 'T': return add_number(omp_get_num_teams());
    case 'L': return add_number(level);
    case 'n': return add_number(this_thread().number);
    case 'N': return add_number(omp_get_num_threads());
    case 'a': return add_number(omp_get_ancestor_thread_num(level - 1));
    case 'P': return add_number(getpid());
    case 'A': return add_processors(text);
    case 'i':
      text.add("0x");
      return text.add({digits, std::to_chars(digits, digits + sizeof digits, pthread_self(), 16).ptr});
    case 'H': {
      utsname name{};
      return text.add(uname(&name) == 0 ? name.nodename : "node");
    }
    default: refuse_format();
  }
}

void add_field(AffinityText& text, const AffinityField& field) {
  char own[4096];
  AffinityText own_text(own, sizeof own);
  add_value(own_text, field.kind);
  std::string_view value(own, std::min(own_text.length(), sizeof own));
  const std::size_t missing = field.width > value.size() ? field.width - value.size() : 0;
  const bool is_number = field.kind != 'A' && field.kind != 'H';
  if (field.has_zeros && is_number) {
    const std::size_t sign = value.starts_with("0x") ? 2 : value.starts_with("-") ? 1 : 0;
    text.add({value.data(), sign});  // substr() might throw, which needs the C++ library
    text.repeat('0', missing);
    value.remove_prefix(sign);
    return text.add(value);
  }
  if (field.is_right) text.repeat(' ', missing);
  text.add(value);
  if (!field.is_right) text.repeat(' ', missing);
}

const char* own_format() {
  if (this_thread().variables.affinity_format != nullptr) return this_thread().variables.affinity_format;
  const char* const given = std::getenv("OMP_AFFINITY_FORMAT");
  return given != nullptr ? given : "level %L thread %i affinity %A";
}

/// Returns the whole text's length. format: null or empty for the thread's own.
std::size_t capture(char* buffer, std::size_t room, const char* format) {
  if (format == nullptr || *format == '\0') format = own_format();
  AffinityText text(buffer, room);
  while (*format != '\0') {
    const std::size_t plain = std::strcspn(format, "%");
    text.add({format, plain});
    format += plain;
    if (*format == '\0') break;
    if (*++format == '%') {
      text.add("%");
      ++format;
    } else {
      add_field(text, take_field(format));
    }
  }
  return text.length();
}

/// A C text has a zero at its end, a Fortran variable blanks.
std::size_t end_text(char* buffer, std::size_t room, std::size_t length) {
  if (room > 0) buffer[std::min(length, room - 1)] = '\0';
  return length;
}
std::int32_t end_fortran_text(char* buffer, std::size_t room, std::size_t length) {
  if (length < room) std::memset(buffer + length, ' ', room - length);
  return static_cast<std::int32_t>(length);
}

/// A Fortran text with a zero at its end; cut where it is longer than any format.
struct AffinityFormat {
  AffinityFormat(const char* format, std::size_t length) {
    std::memcpy(text, format, std::min(length, sizeof text - 1));
  }
  char text[1024] = {};
};

std::size_t copy_format(char* buffer, std::size_t room) {
  AffinityText text(buffer, room);
  text.add(own_format());
  return text.length();
}

void set_format(const char* format, std::size_t length, std::uintptr_t caller) {
  this_thread().variables.affinity_format = engine::keep_text(format, length, caller);
}

void display(const char* format) {
  char line[4096];
  const std::size_t length = std::min(capture(line, sizeof line - 1, format), sizeof line - 1);
  line[length] = '\n';
  syscall(SYS_write, STDERR_FILENO, line, length + 1);
}

}  // namespace

bool shows_affinity() {
  return this_thread().variables.shows_affinity;
}

void show_affinity() {
  display(nullptr);
}

}  // namespace sdsm::gomp

using namespace sdsm::gomp;

SDSM_ENTRY_AS(void, omp_set_affinity_format, (const char* format),
              set_format(format, std::strlen(format), SDSM_AFFINITY_CALLER))
SDSM_ENTRY_AS(void, omp_set_affinity_format_, (const char* format, std::size_t length),
              set_format(format, length, SDSM_AFFINITY_CALLER))
SDSM_ENTRY_AS(std::size_t, omp_get_affinity_format, (char* buffer, std::size_t room),
              end_text(buffer, room, copy_format(buffer, room)))
SDSM_ENTRY_AS(std::int32_t, omp_get_affinity_format_, (char* buffer, std::size_t room),
              end_fortran_text(buffer, room, copy_format(buffer, room)))
SDSM_ENTRY_AS(std::size_t, omp_capture_affinity, (char* buffer, std::size_t room, const char* format),
              end_text(buffer, room, capture(buffer, room, format)))
SDSM_ENTRY_AS(std::int32_t, omp_capture_affinity_,
              (char* buffer, const char* format, std::size_t room, std::size_t length),
              end_fortran_text(buffer, room, capture(buffer, room, AffinityFormat(format, length).text)))
SDSM_ENTRY_AS(void, omp_display_affinity, (const char* format), display(format))
SDSM_ENTRY_AS(void, omp_display_affinity_, (const char* format, std::size_t length),
              display(AffinityFormat(format, length).text))
