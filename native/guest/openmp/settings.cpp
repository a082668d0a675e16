#include "native/guest/openmp/settings.hpp"

#include <cstdlib>
#include <cstring>
#include <limits>

#include "native/guest/runtime/message.hpp"

namespace sdsm::gomp {
namespace {

const char* skip_blanks(const char* text) {
  return text + std::strspn(text, " \t\n");
}

/// Moves `text` past `word` if it begins with it, whatever the case.
bool take(const char*& text, const char* word) {
  const std::size_t length = std::strlen(word);
  if (strncasecmp(text, word, length) != 0) return false;
  text += length;
  return true;
}

/// Moves `text` past a positive number. 0 if there is none, or it is too large.
std::uint64_t take_number(const char*& text) {
  std::uint64_t value = 0;
  constexpr std::uint64_t limit = std::numeric_limits<std::int64_t>::max() / 10 - 1;
  for (; *text >= '0' && *text <= '9'; ++text) {
    if (value > limit) return 0;
    value = value * 10 + static_cast<std::uint64_t>(*text - '0');
  }
  return value;
}

bool parse_flag(const char* text, bool& flag) {
  text = skip_blanks(text);
  bool value = false;
  if (take(text, "true") || take(text, "1")) {
    value = true;
  } else if (!take(text, "false") && !take(text, "0")) {
    return false;
  }
  if (*skip_blanks(text) != '\0') return false;
  flag = value;
  return true;
}

void complain(const char* name, const char* value) {
  message({"the environment variable ", name, "='", value, "' is not understood and has no effect"});
}

/// A number from 0 on.
void read_number(const char* name, std::uint32_t& number) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return;
  const char* at = skip_blanks(text);
  const bool is_number = *at >= '0' && *at <= '9';
  const std::uint64_t found = take_number(at);
  if (!is_number || *skip_blanks(at) != '\0' || found > std::numeric_limits<std::int32_t>::max())
    return complain(name, text);
  number = static_cast<std::uint32_t>(found);
}

void read_threads(const char* name, std::uint32_t& threads) {
  const char* text = std::getenv(name);
  if (text == nullptr) return;
  const std::uint32_t number = parse_threads(text);
  if (number == 0) return complain(name, text);
  threads = number;
}

}  // namespace

bool parse_schedule(const char* text, ControlVariables& variables) {
  text = skip_blanks(text);
  const bool monotonic = take(text, "monotonic");
  if (monotonic || take(text, "nonmonotonic")) {
    text = skip_blanks(text);
    if (*text++ != ':') return false;
  }
  text = skip_blanks(text);
  RunSchedule schedule{};
  if (take(text, "static")) {
    schedule = RunSchedule::static_;
  } else if (take(text, "dynamic")) {
    schedule = RunSchedule::dynamic;
  } else if (take(text, "guided")) {
    schedule = RunSchedule::guided;
  } else if (take(text, "auto")) {
    schedule = RunSchedule::automatic;
  } else {
    return false;
  }
  text = skip_blanks(text);
  std::uint64_t chunk = schedule == RunSchedule::dynamic || schedule == RunSchedule::guided ? 1 : 0;
  if (*text == ',') {
    text = skip_blanks(text + 1);
    chunk = take_number(text);
    if (chunk == 0) return false;
    text = skip_blanks(text);
  }
  if (*text != '\0') return false;
  variables.schedule = schedule;
  variables.monotonic = monotonic;
  variables.chunk = chunk;
  return true;
}

std::uint32_t parse_threads(const char* text) {
  text = skip_blanks(text);
  const std::uint64_t value = take_number(text);
  text = skip_blanks(text);
  if (*text != '\0' && *text != ',') return 0;
  return value > std::numeric_limits<std::int32_t>::max() ? 0 : static_cast<std::uint32_t>(value);
}

ControlVariables initial_control_variables(std::uint32_t default_threads) {
  ControlVariables variables;
  variables.threads = default_threads;
  read_threads("OMP_NUM_THREADS", variables.threads);
  read_threads("OMP_THREAD_LIMIT", variables.thread_limit);
  if (const char* text = std::getenv("OMP_SCHEDULE"); text && !parse_schedule(text, variables)) {
    complain("OMP_SCHEDULE", text);
  }
  if (const char* text = std::getenv("OMP_DYNAMIC"); text && !parse_flag(text, variables.dynamic)) {
    complain("OMP_DYNAMIC", text);
  }
  if (const char* text = std::getenv("OMP_DISPLAY_AFFINITY"); text && !parse_flag(text, variables.shows_affinity)) {
    complain("OMP_DISPLAY_AFFINITY", text);
  }
  bool nested = false;
  if (const char* text = std::getenv("OMP_NESTED"); text && !parse_flag(text, nested)) complain("OMP_NESTED", text);
  if (nested) variables.max_active_levels = std::numeric_limits<std::int32_t>::max();
  read_number("OMP_MAX_ACTIVE_LEVELS", variables.max_active_levels);
  read_number("OMP_MAX_TASK_PRIORITY", variables.max_task_priority);
  return variables;
}

}  // namespace sdsm::gomp
