#include <algorithm>
#include <array>
#include <queue>
#include <set>
#include <sstream>
#include <string_view>

#include "commands/timelines/writing.hpp"
#include "commands/version.hpp"

namespace sdsm::timelines {
namespace {

/// Kinds of events that the file's header defines, by number: name and fields, which are texts unless fields_type()
/// says otherwise.
constexpr std::pair<std::string_view, std::string_view> definitions[] = {
    {"DefineContainerType", "Alias Type Name"},
    {"DefineStateType", "Alias Type Name"},
    {"DefineVariableType", "Alias Type Name Color"},
    {"DefineLinkType", "Alias Type StartContainerType EndContainerType Name"},
    {"DefineEntityValue", "Alias Type Name Color"},
    {"CreateContainer", "Time Alias Type Container Name"},
    {"DestroyContainer", "Time Type Name"},
    {"PushState", "Time Container Type Value"},
    {"PushState", "Time Container Type Value Array FirstPage Pages"},
    {"PopState", "Time Container Type"},
    {"SetVariable", "Time Container Type Value"},
    {"StartLink", "Time Container Type StartContainer Value Key Bytes"},
    {"EndLink", "Time Container Type EndContainer Value Key"},
};

constexpr const char* fields_type(std::string_view event, std::string_view field) {
  if (field == "Time") return "date";
  if (field == "Color") return "color";
  return event == "SetVariable" && field == "Value" ? "double" : "string";
}

std::string header() {
  std::string text;
  for (std::size_t number = 0; number < std::size(definitions); ++number) {
    const auto& [name, fields] = definitions[number];
    text += fmt::format("%EventDef Paje{} {}\n", name, number);
    std::istringstream words{std::string(fields)};
    for (std::string field; words >> field;) text += fmt::format("% {} {}\n", field, fields_type(name, field));
    text += "%EndEventDef\n";
  }
  return text;
}

/// Quotes a name; a quotation mark in it would end the text.
std::string in_quotes(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' || static_cast<unsigned char>(c) < ' ' ? '\'' : c;
  return text + '"';
}

std::string seconds(std::int64_t ns) {
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

class PajeWriter {
 public:
  PajeWriter(std::ostream& out, const Timeline& timeline, const Labels& labels)
      : out_(out), timeline_(timeline), labels_(labels), names_(timeline, labels) {}

  void write() {
    out_.print(FMT_COMPILE("# sdsm {}: {} run of {}, {} nodes x {} threads, {} events\n"), commands::version(),
               labels_.run, in_quotes(labels_.origin), labels_.layout.nodes, labels_.layout.threads_per_node,
               timeline_.events().size());
    if (const std::string cut = what_was_cut(timeline_); !cut.empty()) out_.print(FMT_COMPILE("# {}\n"), cut);
    for (const std::string& note : labels_.notes) out_.print(FMT_COMPILE("# {}\n"), note);
    out_.print(FMT_COMPILE("{}"), header());
    types();
    containers();
    for (const Event& event : timeline_.events()) this->event(event);
    end_until(std::numeric_limits<std::int64_t>::max());
    std::for_each(made_.rbegin(), made_.rend(), [&](const auto& made) {
      out_.print(FMT_COMPILE("6 {} {} {}\n"), seconds(last_ns_), made.second, made.first);
    });
  }

 private:
  void types() {
    out_.print(FMT_COMPILE("0 Cluster 0 Cluster\n0 Node Cluster Node\n0 Thread Node Thread\n0 Link Cluster Link\n"));
    out_.print(FMT_COMPILE("1 State Thread State\n1 Fault Thread Fault\n1 Service Thread Service\n"));
    out_.print(FMT_COMPILE("2 Requests Thread Requests \"0.9 0.5 0.1\"\n2 Messages Link Messages \"0.4 0.4 0.9\"\n"));
    out_.print(FMT_COMPILE("3 Message Cluster Thread Thread Message\n"));
    // Neighbours in the list of states get different colours.
    constexpr std::array<const char*, 6> colours{"0.9 0.2 0.2", "0.9 0.6 0.1", "0.3 0.3 0.9",
                                                 "0.7 0.3 0.8", "0.2 0.7 0.8", "0.6 0.6 0.6"};
    for (std::size_t i = 0; i < names_.states().size(); ++i) {
      const std::string& name = names_.states()[i];
      if (name.empty()) continue;
      const char* const colour = i == 0 ? "0.2 0.7 0.2" : colours[i % colours.size()];
      for (const char* type : {"State", "Fault"})
        out_.print(FMT_COMPILE("4 {} {} {} \"{}\"\n"), name, type, name, colour);
    }
    out_.print(FMT_COMPILE("4 serves Service serves \"0.5 0.3 0.1\"\n"));
  }

  void create(const std::string& alias, const char* type, const std::string& container, const std::string& name) {
    out_.print(FMT_COMPILE("5 {} {} {} {} {}\n"), seconds(first_ns_), alias, type, container, in_quotes(name));
    made_.emplace_back(alias, type);
  }

  void containers() {
    std::set<std::uint32_t> threads, links;
    for (const Event& event : timeline_.events()) {
      using enum Event::What;
      if (event.what == state || event.what == service) threads.insert(event.track);
      if (event.what == queue) (names_.is_service_queue(event) ? threads : links).insert(event.track);
      if (event.what == message) threads.insert({event.track, event.other});
    }
    if (!timeline_.events().empty()) first_ns_ = rounded_ns(timeline_.events().front().begin);
    last_ns_ = first_ns_;
    create("cluster", "Cluster", "0", "cluster");
    std::set<std::uint32_t> nodes;
    for (const std::uint32_t thread : threads) {
      const std::uint32_t node = index_of(labels_.layout.node_of(ProcessId{thread}));
      if (nodes.insert(node).second) create(fmt::format("n{}", node), "Node", "cluster", fmt::format("node {}", node));
      create(fmt::format("t{}", thread), "Thread", fmt::format("n{}", node), fmt::format("thread {}", thread));
    }
    for (const std::uint32_t link : links) {
      create(fmt::format("l{}", link), "Link", "cluster", names_.link({.track = link}));
    }
  }

  void event(const Event& event) {
    const std::int64_t begin = rounded_ns(event.begin), end = rounded_ns(event.end);
    end_until(begin);
    last_ns_ = std::max(last_ns_, begin);
    const std::string time = seconds(begin);
    switch (event.what) {
      case Event::What::state:
        out_.print(FMT_COMPILE("7 {} t{} State {}\n"), time, event.track, names_.state(event));
        return end_at(end, event);
      case Event::What::fault:
        out_.print(FMT_COMPILE("8 {} t{} Fault {} {} {} {}\n"), time, event.track, names_.state(event),
                   in_quotes(names_.array(event)), event.number, event.pages);
        return end_at(end, event);
      case Event::What::service:
        out_.print(FMT_COMPILE("7 {} t{} Service serves\n"), time, event.track);
        return end_at(end, event);
      case Event::What::message:
        out_.print(FMT_COMPILE("11 {} cluster Message t{} {} m{} {}\n"), time, event.track, names_.message(event),
                   messages_, event.number);
        return end_at(end, event, messages_++);
      case Event::What::queue: {
        const std::int64_t length = lengths_[event.track] += event.change;
        if (names_.is_service_queue(event)) {
          out_.print(FMT_COMPILE("10 {} t{} Requests {}\n"), time, event.track, length);
        } else {
          out_.print(FMT_COMPILE("10 {} l{} Messages {}\n"), time, event.track, length);
        }
      }
    }
  }

  struct End {
    std::int64_t ns;
    std::uint64_t number;  ///< events that end together end in the order of their beginnings
    Event event;
    std::uint64_t message;
    bool operator>(const End& other) const { return std::pair(ns, number) > std::pair(other.ns, other.number); }
  };

  void end_at(std::int64_t ns, const Event& event, std::uint64_t message = 0) {
    ends_.push({ns, number_++, event, message});
  }

  /// Writes ends up to `ns`, as the format requires events in the order of their times.
  void end_until(std::int64_t ns) {
    while (!ends_.empty() && ends_.top().ns <= ns) {
      const End end = ends_.top();
      ends_.pop();
      last_ns_ = std::max(last_ns_, end.ns);
      const Event& event = end.event;
      if (event.what == Event::What::message) {
        out_.print(FMT_COMPILE("12 {} cluster Message t{} {} m{}\n"), seconds(end.ns), event.other,
                   names_.message(event), end.message);
        continue;
      }
      const char* const type = event.what == Event::What::state   ? "State"
                               : event.what == Event::What::fault ? "Fault"
                                                                  : "Service";
      out_.print(FMT_COMPILE("9 {} t{} {}\n"), seconds(end.ns), event.track, type);
    }
  }

  Stream out_;
  const Timeline& timeline_;
  const Labels& labels_;
  Names names_;
  std::vector<std::pair<std::string, const char*>> made_;  ///< containers, with their type
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::uint64_t number_ = 0;
  std::uint64_t messages_ = 0;
  std::map<std::uint32_t, std::int64_t> lengths_;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace

void write_paje(std::ostream& out, const Timeline& timeline, const Labels& labels) {
  PajeWriter(out, timeline, labels).write();
}

}  // namespace sdsm::timelines
