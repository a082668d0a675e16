/// Shared by the writers of all formats.
#pragma once

#include <fmt/compile.h>
#include <fmt/format.h>

#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "commands/timelines/timeline.hpp"

namespace sdsm::timelines {

/// Writes text to a file, piece by piece.
class Stream {
 public:
  explicit Stream(std::ostream& out) : out_(out) {}
  ~Stream() { flush(); }
  Stream& operator=(Stream&&) = delete;

  /// `format` is FMT_COMPILE("..."), as a run has millions of events.
  template <typename Format, typename... Values>
  void print(const Format& format, const Values&... values) {
    fmt::format_to(std::back_inserter(buffer_), format, values...);
    if (buffer_.size() > 60'000) flush();
  }

 private:
  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  std::ostream& out_;
  fmt::memory_buffer buffer_;
};

/// Names for an event; valid while the labels are.
class Names {
 public:
  Names(const Timeline& timeline, const Labels& labels)
      : labels_(labels), states_(timeline.state_names()), processes_(labels.layout.processes()) {}

  const std::string& state(const Event& event) const { return states_[event.kind]; }
  const std::vector<std::string>& states() const { return states_; }
  std::string_view message(const Event& event) const {
    return event.kind < labels_.tables->messages.size() ? labels_.tables->messages[event.kind].name : "reply";
  }
  std::string_view array(const Event& event) const {
    return event.other < labels_.regions.size() ? std::string_view(labels_.regions[event.other]) : "?";
  }
  bool is_service_queue(const Event& event) const { return event.track < processes_; }
  std::string link(const Event& event) const {
    const std::size_t number = event.track - processes_;
    return number < labels_.links.size() ? labels_.links[number] : fmt::format("link {}", number);
  }

 private:
  const Labels& labels_;
  std::vector<std::string> states_;
  std::uint32_t processes_;
};

}  // namespace sdsm::timelines
