/// Why a run ends. When one process dies, the others lose their connections and may say so before its death is known.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace sdsm::run_command {

/// Kinds of reports, by likelihood of having caused the others, likeliest first.
enum class BlameKind : std::uint8_t {
  death,      ///< killed by a signal, or gone without a word
  report,     ///< said why it failed
  silence,    ///< no answer, no connection, or nonsense
  lost_peer,  ///< lost its connection to another
};

class Blame {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// How long to wait for a likelier cause.
  static constexpr std::chrono::milliseconds patience{200};
  /// The patience after a process has lost another, which nearly always has a cause. On a busy machine it shows late.
  static constexpr std::chrono::milliseconds patience_with_lost{2000};

  void add(BlameKind kind, std::string text, Time now) {
    const Time decides_at = now + (kind == BlameKind::lost_peer ? patience_with_lost : patience);
    decides_at_ = std::min(decides_at_.value_or(decides_at), decides_at);
    if (is_any() && kind_ <= kind) return;
    kind_ = kind;
    text_ = std::move(text);
  }
  bool is_any() const { return !text_.empty(); }
  bool is_decided(Time now) const { return decides_at_ && now >= *decides_at_; }
  /// Whether it may come from a program that ended in the middle of something.
  bool is_of_leaving() const { return kind_ == BlameKind::silence || kind_ == BlameKind::lost_peer; }
  /// The first report of the likeliest kind.
  const std::string& text() const { return text_; }

 private:
  BlameKind kind_{};
  std::string text_;
  std::optional<Time> decides_at_;
};

}  // namespace sdsm::run_command
