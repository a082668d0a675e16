#include "commands/timelines/options.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string_view>

#include "commands/command_line.hpp"
#include "commands/errors.hpp"
#include "commands/output.hpp"
#include "commands/standard_streams.hpp"

namespace sdsm::timelines {
namespace {

using commands::BadInput;

enum class Format : std::uint8_t { chrome, paje, paraver };

Format format_of(const Request& request) {
  if (!request.format.empty()) return request.format == "paje" ? Format::paje : Format::chrome;
  if (request.file.ends_with(".json")) return Format::chrome;
  if (request.file.ends_with(".paje") || request.file.ends_with(".trace")) return Format::paje;
  if (request.file.ends_with(".prv")) return Format::paraver;
  throw BadInput(
      fmt::format("--timeline {}: its ending does not say in which format (.json: Chrome's, .paje or .trace: Paje's, "
                  ".prv: Paraver's). Name it so, or give --timeline-format",
                  request.file));
}

void write_as_paraver(const Request& request, const Timeline& timeline, const Labels& labels) {
  std::ostringstream description, rows;
  const std::vector<std::string> files = files_of(request);
  commands::write_output([&](std::ostream& out) { write_paraver(out, description, rows, timeline, labels); }, files[0]);
  commands::write_output([&](std::ostream& out) { out << description.str(); }, files[1]);
  commands::write_output([&](std::ostream& out) { out << rows.str(); }, files[2]);
}

/// "1.2s:1.5s"; a side may be empty.
void set_window(const std::string& text, Selection& selection) {
  const std::size_t colon = text.find(':');
  const auto fail = [&](const std::string& why) {
    throw BadInput(
        fmt::format("--timeline-window {}: {}. Give two times of the run, such as 1.2s:1.5s, or one with "
                    "its colon",
                    text, why));
  };
  if (colon == std::string::npos || text.size() == 1) fail("this is no window");
  try {
    if (colon > 0) selection.begin = parse_time(text.substr(0, colon));
    if (colon + 1 < text.size()) selection.end = parse_time(text.substr(colon + 1));
  } catch (const std::invalid_argument& error) {
    fail(error.what());
  }
  if (selection.begin < Time{} || selection.begin >= selection.end) fail("it ends before it begins");
}

/// "0,2-3"
std::vector<bool> threads_named(const std::string& text, std::uint32_t threads) {
  std::vector<bool> named(threads);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    const std::size_t dash = part.find('-');
    try {
      const std::uint64_t first = parse_whole_number(part.substr(0, dash), 0, threads - 1);
      const std::uint64_t last =
          dash == std::string::npos ? first : parse_whole_number(part.substr(dash + 1), first, threads - 1);
      for (std::uint64_t thread = first; thread <= last; ++thread) named[thread] = true;
    } catch (const std::invalid_argument& error) {
      throw BadInput(fmt::format("--timeline-threads {}: {}. Name threads from 0 to {}, such as 0,2-3", text,
                                 error.what(), threads - 1));
    }
    at = comma + 1;
  }
  return named;
}

}  // namespace

std::vector<std::string> files_of(const Request& request) {
  if (request.file.empty()) return {};
  if (format_of(request) != Format::paraver) return {request.file};
  const std::string name = request.file.substr(0, request.file.size() - std::string_view(".prv").size());
  return {request.file, name + ".pcf", name + ".row"};
}

void add_options(commands::CommandLine& app, Request& request) {
  commands::add_output(
      app, "--timeline", request.file,
      "write what each thread did when to this file, for a viewer: FILE.json is Chrome's format (Perfetto), "
      "FILE.paje or FILE.trace Paje's, FILE.prv Paraver's, with .pcf and .row beside it (docs/timelines.md)");
  app.add_option("--timeline-format", request.format, "the timeline's format, whatever its file is called")
      .check(commands::one_of({"chrome", "paje"}))
      .type_name("chrome|paje");
  commands::add_name(app, "--timeline-window", request.window,
                     "only this part of the run, from its begin, such as 1.2s:1.5s; either side may be left out",
                     "FROM:TO");
  commands::add_name(app, "--timeline-threads", request.threads,
                     "only these threads, such as 0,2-3, and the messages between them", "LIST");
  app.add_option("--timeline-events", request.events,
                 "keep at most so many events, those that begin first (default 1000000; 40 bytes of memory each)")
      .check(commands::whole_number(1, 1'000'000'000))
      .type_name("N");
}

Selection selection_of(const Request& request, std::uint32_t threads) {
  Selection selection;
  if (request.file.empty()) {
    const bool is_given =
        !request.format.empty() || !request.window.empty() || !request.threads.empty() || request.events;
    if (is_given) throw BadInput("an option of the timeline is given, but no --timeline FILE. Name a file to write to");
    return selection;
  }
  format_of(request);
  if (!request.window.empty()) set_window(request.window, selection);
  if (!request.threads.empty()) selection.threads = threads_named(request.threads, threads);
  selection.most_events = request.events.value_or(selection.most_events);
  return selection;
}

void write(const Request& request, const Timeline& timeline, const Labels& labels) {
  if (timeline.events().empty() && timeline.cut() > 0) {
    throw BadInput(fmt::format("--timeline-events {} is too few: more begin at once, at {:.9f} s",
                               timeline.selection().most_events, to_seconds(timeline.cut_from())));
  }
  if (timeline.events().empty()) {
    throw BadInput(
        fmt::format("--timeline {}: nothing of the run is in it. Choose a window in which the threads named "
                    "do something",
                    request.file));
  }
  const Format format = format_of(request);
  if (format == Format::paraver) {
    write_as_paraver(request, timeline, labels);
  } else {
    commands::write_output(
        [&](std::ostream& out) { (format == Format::paje ? write_paje : write_chrome)(out, timeline, labels); },
        request.file);
  }
  if (const std::string cut = what_was_cut(timeline); !cut.empty()) commands::say("warning: " + cut + ".");
}

}  // namespace sdsm::timelines
