/// sdsm costs: computes messages, diffs, barriers and faults by models/, for the parts of sdsm that are not C++.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands/command_line.hpp"
#include "commands/errors.hpp"
#include "commands/results/run_result.hpp"
#include "models/barrier_shape.hpp"
#include "models/diff.hpp"
#include "models/protocol/tables.hpp"
#include "models/scash/messages.hpp"
#include "models/wire.hpp"

namespace {

using namespace sdsm;
using results::Json;

constexpr const char* help = "Tell what the simulator makes of messages, diffs and barriers, as JSON.";
constexpr const char* footer =
    "A question is a JSON object. {} asks for the sizes alone, which every answer has; more members ask for more:\n"
    "  {\"diff_words\": [1, 256]}                 diffs of 1 and 256 words, in one run: bytes, messages\n"
    "  {\"payloads\": [32, 4096], \"frame\": {\"payload\": 1460, \"overhead\": 78, \"minimum\": 84}, \"links\": 2}\n"
    "                                           messages: bytes on a wire, and one after another over an idle route\n"
    "  {\"barrier\": {\"shape\": \"tree\", \"message_us\": {\"wire\": 10, \"link\": 2, \"processor\": 3},\n"
    "               \"measured_us\": {\"2x1\": 78}, \"layouts\": [\"4x1\"]}}\n"
    "                                           barriers of layouts (nodes x threads): modelled from messages alone,\n"
    "                                           and as the simulator extrapolates them from the measured ones\n"
    "  {\"protocol\": \"scash\"}                   its kinds of faults\n"
    "docs/result-format.md has the answer's fields.\n\n"
    "Examples:\n  sdsm costs '{\"diff_words\": [64]}'\n  sdsm costs - <questions       an answer a line, at once\n\n"
    "Exit status: 0 done, 1 the answer could not be written, 2 bad input.";

constexpr std::uint32_t most_of_a_layout = 1 << 20;
constexpr double longest_us = 1e12;

std::uint32_t part_of_layout(std::string_view text) {
  return static_cast<std::uint32_t>(parse_whole_number(text, 1, most_of_a_layout));
}

Layout layout_of(const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos) throw std::invalid_argument(fmt::format("'{}' is no layout such as 4x1", text));
  return {part_of_layout(std::string_view(text).substr(0, cross)),
          part_of_layout(std::string_view(text).substr(cross + 1))};
}

Time time_of(const Json& microseconds) {
  const auto us = microseconds.get<double>();
  if (!(std::abs(us) <= longest_us)) throw std::invalid_argument(fmt::format("{} us is no time of a message", us));
  return Time{std::llround(us * 1e6)};
}

double to_us(Time time) {
  return static_cast<double>(time.count()) * 1e-6;
}

Bytes size_of(const Json& bytes, std::int64_t least = 0) {
  const auto count = bytes.get<std::int64_t>();
  if (count < least || count > (std::int64_t{1} << 40)) throw std::invalid_argument(fmt::format("{} bytes", count));
  return Bytes{count};
}

Json diffs(const Json& words) {
  Json answers = Json::array();
  for (const Json& asked : words) {
    const auto count = asked.get<std::int64_t>();
    if (count < 0 || count > words_per_page) {
      throw std::invalid_argument(fmt::format("a page has {} words, not {}", words_per_page, count));
    }
    const std::int64_t bytes = diff_bytes({static_cast<std::uint16_t>(count), count > 0}).count;
    answers.push_back(
        {{"words", count}, {"bytes", bytes}, {"messages", (bytes + max_payload.count - 1) / max_payload.count}});
  }
  return answers;
}

/// Returns the bytes that pass one after another: with links of 1 B/us and no latency, a message takes as many us.
std::int64_t idle_bytes(const Framing& framing, std::uint32_t links, Bytes payload) {
  const std::vector<LinkSpec> route(links, {Bandwidth{1e6}, {}});
  return std::llround(to_us(idle_time(WireModel::store_and_forward, route, framing, payload)));
}

Json messages(const Json& payloads, const Json& frame, std::uint32_t links) {
  Framing framing;
  if (!frame.is_null())
    framing = {size_of(frame.at("payload"), 1), size_of(frame.at("overhead")), size_of(frame.at("minimum"))};
  Json answers = Json::array();
  for (const Json& asked : payloads) {
    const Bytes payload = size_of(asked);
    answers.push_back({{"bytes", payload.count},
                       {"wire_bytes", wire_bytes(framing, payload).count},
                       {"idle_bytes", idle_bytes(framing, links, payload)}});
  }
  return answers;
}

std::uint32_t links_of(const Json& question) {
  const auto links = question.value("links", std::int64_t{2});
  if (links < 1 || links > 16) throw std::invalid_argument(fmt::format("a route has 1 to 16 links, not {}", links));
  return static_cast<std::uint32_t>(links);
}

Json barriers(const Json& asked) {
  BarrierModel model;
  const auto shape = asked.at("shape").get<std::string>();
  if (shape != "flat" && shape != "tree")
    throw std::invalid_argument(fmt::format("shape '{}' is neither flat nor tree", shape));
  model.shape = shape == "tree" ? BarrierShape::tree : BarrierShape::flat;
  const Json& message = asked.at("message_us");
  model.message = {time_of(message.at("wire")), time_of(message.at("link")), time_of(message.at("processor"))};
  for (const auto& [layout, time] : asked.at("measured_us").items()) model.measured[layout_of(layout)] = time_of(time);
  Json answers = Json::array();
  for (const Json& text : asked.at("layouts")) {
    const Layout layout = layout_of(text.get<std::string>());
    answers.push_back({{"layout", text},
                       {"gather_us", to_us(gather_time(model.shape, layout, model.message))},
                       {"modelled_us", to_us(model.modelled(layout))},
                       {"extrapolated_us", to_us(model.extrapolated(layout))}});
  }
  return answers;
}

Json faults(const std::string& protocol) {
  const std::optional<ProtocolKind> kind = protocol_named(protocol);
  if (!kind) throw std::invalid_argument(fmt::format("there is no protocol '{}'", protocol));
  Json answers = Json::array();
  for (const FaultRow& row : tables_of(*kind).faults) {
    answers.push_back({{"name", row.name},
                       {"access", row.access == Access::read ? "read" : "write"},
                       {"fetches_page", row.fetches_page},
                       {"twins_copy", row.twins_copy}});
  }
  return answers;
}

/// Answers a question. Throws BadInput if it is none.
Json answer(const std::string& text) {
  try {
    const Json question = Json::parse(text);
    for (const auto& [name, value] : question.items()) {
      if (name != "diff_words" && name != "payloads" && name != "frame" && name != "links" && name != "barrier" &&
          name != "protocol") {
        throw std::invalid_argument(fmt::format("no question is called '{}'", name));
      }
    }
    const Framing framing;
    Json answer = results::head("costs");
    answer["sizes"] = {{"control_bytes", control_payload.count},
                       {"page_bytes", page_payload.count},
                       {"most_payload_bytes", max_payload.count}};
    answer["frame"] = {
        {"payload", framing.payload.count}, {"overhead", framing.overhead.count}, {"minimum", framing.minimum.count}};
    if (question.contains("diff_words")) answer["diffs"] = diffs(question["diff_words"]);
    if (question.contains("payloads"))
      answer["messages"] = messages(question["payloads"], question.value("frame", Json()), links_of(question));
    if (question.contains("barrier")) answer["barriers"] = barriers(question["barrier"]);
    if (question.contains("protocol")) answer["faults"] = faults(question["protocol"].get<std::string>());
    return answer;
  } catch (const Json::exception& error) {
    std::string why = error.what();  // such as "[json.exception.type_error.302] type must be string, but is number"
    why.erase(0, why.find("] ") + 2);
    if (!Json::accept(text)) why = "no JSON object";
    throw commands::BadInput(fmt::format("{}: {}. `sdsm costs --help` has the form of a question", text, why));
  } catch (const std::exception& error) {
    throw commands::BadInput(fmt::format("{}: {}. `sdsm costs --help` has the form of a question", text, error.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  commands::CommandLine app{help, "sdsm costs"};
  app.footer(footer);
  std::string question = "{}";
  app.add_option("question", question, "a JSON object, or - for one on each line of stdin").capture_default_str();
  return commands::run(app, argc, argv, [&] {
    if (question != "-") {
      fmt::print("{}\n", answer(question).dump(2));
      return commands::done;
    }
    for (std::string line; std::getline(std::cin, line);) {
      fmt::print("{}\n", answer(line).dump());
      if (std::fflush(stdout) != 0) break;
    }
    return commands::done;
  });
}
