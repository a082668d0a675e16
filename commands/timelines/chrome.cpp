#include <set>

#include <nlohmann/json.hpp>

#include "commands/timelines/writing.hpp"
#include "commands/version.hpp"

namespace sdsm::timelines {
namespace {

using Json = nlohmann::ordered_json;

/// Replaces bytes of a name that are not UTF-8 by U+FFFD.
std::string text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class Writer {
 public:
  Writer(std::ostream& out, const Timeline& timeline, const Labels& labels)
      : out_(out), timeline_(timeline), labels_(labels), names_(timeline, labels) {
    for (const std::string& region : labels.regions) arrays_.push_back(text(region));
  }

  void write() {
    out_.print(FMT_COMPILE("{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":["), text(about()));
    tracks();
    for (const Event& event : timeline_.events()) this->event(event);
    moment("measured region begins", labels_.measured_from);
    moment("measured region ends", labels_.measured_until);
    out_.print(FMT_COMPILE("\n]}}\n"));
  }

 private:
  Json about() const {
    Json about{{"run", labels_.run},
               {"of", labels_.origin},
               {"nodes", labels_.layout.nodes},
               {"threads_per_node", labels_.layout.threads_per_node},
               {"events", timeline_.events().size()},
               {"cut_events", timeline_.cut()},
               {"sdsm", commands::version()}};
    if (timeline_.cut() > 0) about["cut_from_s"] = to_seconds(timeline_.cut_from());
    const Selection& kept = timeline_.selection();
    if (kept.begin > Time{} || kept.end < Time::max()) {
      about["window_s"] = {to_seconds(kept.begin), kept.end < Time::max() ? Json(to_seconds(kept.end)) : Json()};
    }
    if (!labels_.notes.empty()) about["notes"] = labels_.notes;
    return about;
  }

  // Perfetto takes process 0 and thread 0 for the machine's idle ones.
  std::uint32_t pid(std::uint32_t process) const { return index_of(labels_.layout.node_of(ProcessId{process})) + 1; }
  std::uint32_t links_pid() const { return labels_.layout.nodes + 1; }
  std::uint32_t service(std::uint32_t process) const { return labels_.layout.processes() + process + 1; }

  void begin_event() { out_.print(FMT_COMPILE("{}"), std::exchange(separator_, ",\n")); }

  void name(const char* what, std::uint32_t pid, std::uint32_t tid, const std::string& name) {
    begin_event();
    out_.print(FMT_COMPILE(R"({{"ph":"M","name":"{}_name","pid":{},"tid":{},"args":{{"name":{}}}}})"), what, pid, tid,
               text(name));
    begin_event();
    out_.print(FMT_COMPILE(R"({{"ph":"M","name":"{}_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})"), what,
               pid, tid, tid == 0 ? pid : tid);
  }

  void tracks() {
    std::set<std::uint32_t> threads, services;
    bool has_links = false;
    for (const Event& event : timeline_.events()) {
      if (event.what == Event::What::state) threads.insert(event.track);
      if (event.what == Event::What::service) services.insert(event.track);
      has_links |= event.what == Event::What::queue && !names_.is_service_queue(event);
    }
    std::set<std::uint32_t> nodes;
    for (const std::uint32_t thread : threads) nodes.insert(pid(thread));
    for (const std::uint32_t node : nodes) name("process", node, 0, fmt::format("node {}", node - 1));
    if (has_links) name("process", links_pid(), 0, "network");
    for (const std::uint32_t thread : threads)
      name("thread", pid(thread), thread + 1, fmt::format("thread {}", thread));
    for (const std::uint32_t thread : services) {
      name("thread", pid(thread), service(thread), fmt::format("service of thread {}", thread));
    }
  }

  void event(const Event& event) {
    const std::int64_t begin = rounded_ns(event.begin);
    const std::int64_t duration = rounded_ns(event.end) - begin;
    switch (event.what) {
      case Event::What::state:
        return slice("state", names_.state(event), event.track, event.track + 1, begin, duration, "");
      case Event::What::fault:
        more_.clear();
        fmt::format_to(std::back_inserter(more_),
                       FMT_COMPILE(R"(,"args":{{"fault":"{}","array":{},"first_page":{},"pages":{}}})"),
                       names_.state(event), array(event), event.number, event.pages);
        return slice("fault", event.pages == 1 ? "page" : "pages", event.track, event.track + 1, begin, duration,
                     {more_.data(), more_.size()});
      case Event::What::service:
        return slice("service", "serves", event.track, service(event.track), begin, duration, "");
      case Event::What::message: return message(event, begin, begin + duration);
      case Event::What::queue: return queue(event, begin);
    }
  }

  const std::string& link(const Event& event) {
    std::string& name = links_[event.track];
    if (name.empty()) name = text(fmt::format("waiting for {}", names_.link(event)));
    return name;
  }

  std::string_view array(const Event& event) const {
    return event.other < arrays_.size() ? std::string_view(arrays_[event.other]) : "null";
  }

  void slice(const char* category, std::string_view name, std::uint32_t process, std::uint32_t tid, std::int64_t begin,
             std::int64_t duration, std::string_view more) {
    begin_event();
    out_.print(FMT_COMPILE(R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03}{}}})"),
               category, name, pid(process), tid, begin / 1000, begin % 1000, duration / 1000, duration % 1000, more);
  }

  void message(const Event& event, std::int64_t sent, std::int64_t arrived) {
    begin_event();
    out_.print(
        FMT_COMPILE(
            R"({{"ph":"s","cat":"message","name":"{}","id":{},"pid":{},"tid":{},"ts":{}.{:03},"args":{{"bytes":{}}}}})"),
        names_.message(event), messages_, pid(event.track), event.track + 1, sent / 1000, sent % 1000, event.number);
    begin_event();
    out_.print(
        FMT_COMPILE(R"({{"ph":"f","bp":"e","cat":"message","name":"{}","id":{},"pid":{},"tid":{},"ts":{}.{:03}}})"),
        names_.message(event), messages_++, pid(event.other), event.other + 1, arrived / 1000, arrived % 1000);
  }

  void queue(const Event& event, std::int64_t when) {
    const std::int64_t length = lengths_[event.track] += event.change;
    begin_event();
    if (names_.is_service_queue(event)) {
      out_.print(
          FMT_COMPILE(
              R"({{"ph":"C","name":"requests waiting for thread {}","pid":{},"ts":{}.{:03},"args":{{"requests":{}}}}})"),
          event.track, pid(event.track), when / 1000, when % 1000, length);
    } else {
      out_.print(FMT_COMPILE(R"({{"ph":"C","name":{},"pid":{},"ts":{}.{:03},"args":{{"messages":{}}}}})"), link(event),
                 links_pid(), when / 1000, when % 1000, length);
    }
  }

  void moment(const char* name, std::optional<Time> when) {
    if (!when || *when < timeline_.selection().begin || *when >= timeline_.selection().end) return;
    begin_event();
    out_.print(FMT_COMPILE(R"({{"ph":"i","s":"g","name":"{}","pid":1,"tid":1,"ts":{}.{:03}}})"), name,
               rounded_ns(*when) / 1000, rounded_ns(*when) % 1000);
  }

  Stream out_;
  const Timeline& timeline_;
  const Labels& labels_;
  Names names_;
  std::vector<std::string> arrays_;             ///< as JSON
  std::map<std::uint32_t, std::string> links_;  ///< as JSON, by queue
  fmt::memory_buffer more_;
  std::map<std::uint32_t, std::int64_t> lengths_;
  std::uint64_t messages_ = 0;
  const char* separator_ = "\n";
};

}  // namespace

void write_chrome(std::ostream& out, const Timeline& timeline, const Labels& labels) {
  Writer(out, timeline, labels).write();
}

}  // namespace sdsm::timelines
