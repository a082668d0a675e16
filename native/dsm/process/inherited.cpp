#include "native/dsm/process/inherited.hpp"

#include <clocale>
#include <cstring>

#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

constinit ProcessState known GUARDED_BY(application);

/// Whether the name has changed. One that has no room is empty.
template <std::size_t room>
bool take_over(char (&name)[room], const char* now) {
  if (now == nullptr || std::strlen(now) >= room) now = "";
  if (std::strcmp(name, now) == 0) return false;
  std::strcpy(name, now);
  return true;
}

mode_t file_mask_now() {
  const mode_t now = umask(0);
  umask(now);
  return now;
}

}  // namespace

const ProcessState& ProcessState::of_initial() {
  char folder[sizeof known.folder];
  bool has_changed = take_over(known.folder, getcwd(folder, sizeof folder));
  has_changed |= take_over(known.locale, std::setlocale(LC_ALL, nullptr));
  const mode_t mask = file_mask_now();
  has_changed |= mask != known.file_mask;
  known.file_mask = mask;
  if (has_changed) ++known.version;
  return known;
}

void ProcessState::begin() {
  of_initial();
}

void ProcessState::give_to_this_process() const {
  if (version == known.version) return;
  if (file_mask != known.file_mask) umask(file_mask);
  if (take_over(known.locale, locale) && locale[0] != 0 && std::setlocale(LC_ALL, locale) == nullptr) {
    program::end_run({"the program has set the locale ", locale, ", which another of its processes has not"});
  }
  if (take_over(known.folder, folder) && folder[0] != 0 && chdir(folder) != 0) {
    program::end_run({"the program is in the folder ", folder, ", where another of its processes cannot go"});
  }
  known.file_mask = file_mask;
  known.version = version;
}

}  // namespace sdsm::dsm
