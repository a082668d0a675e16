#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "commands/timelines/writing.hpp"

namespace sdsm::timelines {
namespace {

/// Types of the events that sdsm writes, beside states and communications. Paraver's own begin at other numbers.
enum class Type : std::uint32_t { array = 48'000'001, first_page, pages, serves, requests };

/// Numbers of states: viewers draw 0 as idle and 1 as running.
std::size_t state_number(std::size_t state) {
  if (state == static_cast<std::size_t>(Spent::idle)) return 0;
  return state == static_cast<std::size_t>(Spent::compute) ? 1 : state + 1;
}

/// A processor, and the task and thread on it: one task per node, numbered from 1 as all is.
struct Place {
  std::uint32_t cpu, task, thread;
};

class ParaverWriter {
 public:
  ParaverWriter(const Timeline& timeline, const Labels& labels)
      : timeline_(timeline), labels_(labels), names_(timeline, labels) {
    for (const Event& event : timeline.events()) {
      if (event.what == Event::What::fault) arrays_.try_emplace(std::string(names_.array(event)), arrays_.size() + 1);
    }
  }

  void trace(std::ostream& to) {
    Stream out(to);
    std::int64_t end = 0;
    for (const Event& event : timeline_.events()) {
      if (event.what != Event::What::queue) end = std::max(end, rounded_ns(event.end));
    }
    const Layout layout = labels_.layout;
    std::string processors, tasks;
    for (std::uint32_t node = 1; node <= layout.nodes; ++node) {
      processors += fmt::format("{}{}", node > 1 ? "," : "", layout.threads_per_node);
      tasks += fmt::format("{}{}:{}", node > 1 ? "," : "", layout.threads_per_node, node);
    }
    // The same run gives the same bytes, so the date is none.
    out.print(FMT_COMPILE("#Paraver (01/01/2000 at 00:00):{}_ns:{}({}):1:{}({})\n"), end, layout.nodes, processors,
              layout.nodes, tasks);
    for (const Event& event : timeline_.events()) record(out, event);
    for (auto& [when, line] : later_) out.print(FMT_COMPILE("{}"), line);
  }

  std::string description() const {
    std::string text =
        "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nDEFAULT_SEMANTIC\n\n"
        "THREAD_FUNC         State As Is\n\nSTATES\n";
    std::map<std::size_t, std::string> states;
    for (std::size_t i = 0; i < names_.states().size(); ++i) {
      if (!names_.states()[i].empty()) states[state_number(i)] = names_.states()[i];
    }
    for (const auto& [number, name] : states) text += fmt::format("{:<6}{}\n", number, name);
    const auto type = [&](Type which, std::string_view name) {
      text += fmt::format("\nEVENT_TYPE\n0    {}    {}\n", static_cast<std::uint32_t>(which), name);
    };
    type(Type::array, "Array of a fault's pages");
    text += "VALUES\n0      none\n";
    std::map<std::size_t, std::string_view> arrays;
    for (const auto& [name, number] : arrays_) arrays[number] = name;
    for (const auto& [number, name] : arrays) text += fmt::format("{:<6} {}\n", number, one_line(name));
    type(Type::first_page, "First page of a fault, from 1");
    type(Type::pages, "Pages of a fault");
    type(Type::serves, "Serves a request");
    text += "VALUES\n0      no\n1      yes\n";
    type(Type::requests, "Requests that wait to be served");
    text += "\n# Tags of messages:\n";
    const auto messages = labels_.tables->messages;
    for (std::size_t kind = 0; kind < messages.size(); ++kind)
      text += fmt::format("# {} {}\n", kind, messages[kind].name);
    text += fmt::format("# {} reply\n# {} run of {}\n", no_kind, labels_.run, one_line(labels_.origin));
    if (const std::string cut = what_was_cut(timeline_); !cut.empty()) text += fmt::format("# {}\n", cut);
    for (const std::string& note : labels_.notes) text += fmt::format("# {}\n", note);
    return text;
  }

  std::string rows() const {
    const Layout layout = labels_.layout;
    std::string text;
    const auto level = [&](std::string_view name, std::uint32_t count, auto label) {
      text += fmt::format("LEVEL {} SIZE {}\n", name, count);
      for (std::uint32_t i = 0; i < count; ++i) text += label(i) + '\n';
      text += '\n';
    };
    const auto of_node = [](std::uint32_t node) { return fmt::format("node {}", node); };
    level("CPU", layout.processes(), [&](std::uint32_t i) {
      return fmt::format("node {} processor {}", i / layout.threads_per_node, i % layout.threads_per_node);
    });
    level("NODE", layout.nodes, of_node);
    level("TASK", layout.nodes, of_node);
    level("THREAD", layout.processes(), [](std::uint32_t i) { return fmt::format("thread {}", i); });
    return text;
  }

 private:
  static std::string one_line(std::string_view name) {
    std::string text(name);
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
    return text;
  }

  Place place(std::uint32_t process) const {
    const std::uint32_t per_node = labels_.layout.threads_per_node;
    return {process + 1, process / per_node + 1, process % per_node + 1};
  }

  void until(Stream& out, std::int64_t ns) {
    while (!later_.empty() && later_.begin()->first <= ns) {
      out.print(FMT_COMPILE("{}"), later_.begin()->second);
      later_.erase(later_.begin());
    }
  }

  static std::string event(const Place& at, std::int64_t ns, const std::string& values) {
    return fmt::format("2:{}:1:{}:{}:{}{}\n", at.cpu, at.task, at.thread, ns, values);
  }
  static std::string value(Type type, std::uint64_t value) {
    return fmt::format(":{}:{}", static_cast<std::uint32_t>(type), value);
  }

  /// Records stand in the order of their times; what ends is kept until then.
  void record(Stream& out, const Event& one) {
    const std::int64_t begin = rounded_ns(one.begin), end = rounded_ns(one.end);
    until(out, begin);
    switch (one.what) {
      case Event::What::state: {
        const Place at = place(one.track);
        return out.print(FMT_COMPILE("1:{}:1:{}:{}:{}:{}:{}\n"), at.cpu, at.task, at.thread, begin, end,
                         state_number(one.kind));
      }
      case Event::What::fault: {
        const Place at = place(one.track);
        const std::size_t array = arrays_.at(std::string(names_.array(one)));
        out.print(FMT_COMPILE("{}"), event(at, begin,
                                           value(Type::array, array) + value(Type::first_page, one.number + 1) +
                                               value(Type::pages, one.pages)));
        later_.emplace(end, event(at, end, value(Type::array, 0) + value(Type::first_page, 0) + value(Type::pages, 0)));
        return;
      }
      case Event::What::service:
        out.print(FMT_COMPILE("{}"), event(place(one.track), begin, value(Type::serves, 1)));
        later_.emplace(end, event(place(one.track), end, value(Type::serves, 0)));
        return;
      case Event::What::message: {
        const Place from = place(one.track), to = place(one.other);
        return out.print(FMT_COMPILE("3:{}:1:{}:{}:{}:{}:{}:1:{}:{}:{}:{}:{}:{}\n"), from.cpu, from.task, from.thread,
                         begin, begin, to.cpu, to.task, to.thread, end, end, one.number, unsigned{one.kind});
      }
      case Event::What::queue: {
        // Paraver has no place for what waits for a link.
        if (!names_.is_service_queue(one)) return;
        const std::int64_t length = lengths_[one.track] += one.change;
        out.print(FMT_COMPILE("{}"),
                  event(place(one.track), begin,
                        value(Type::requests, static_cast<std::uint64_t>(std::max<std::int64_t>(length, 0)))));
      }
    }
  }

  const Timeline& timeline_;
  const Labels& labels_;
  Names names_;
  std::map<std::string, std::size_t> arrays_;  ///< numbers, from 1, in the order of their first faults
  std::multimap<std::int64_t, std::string> later_;
  std::map<std::uint32_t, std::int64_t> lengths_;
};

}  // namespace

void write_paraver(std::ostream& trace, std::ostream& description, std::ostream& rows, const Timeline& timeline,
                   const Labels& labels) {
  ParaverWriter writer(timeline, labels);
  writer.trace(trace);
  description << writer.description();
  rows << writer.rows();
}

}  // namespace sdsm::timelines
