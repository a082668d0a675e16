#include "native/launch/run/agent_request.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "commands/errors.hpp"
#include "commands/version.hpp"

namespace sdsm::run_command {

using commands::RunError;

namespace {

const std::string first_words = "sdsm-agent " + commands::version() + " ";
constexpr std::size_t most_bytes = std::size_t{64} << 20;

class Writer {
 public:
  void add(std::uint32_t number) { text_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void add(const std::string& word) {
    add(static_cast<std::uint32_t>(word.size()));
    text_ += word;
  }
  void add(const SameFile& file) {
    add(file.path);
    add(file.sha256);
    add(std::uint32_t{file.is_program});
  }
  template <typename Element>
  void add(const std::vector<Element>& list) {
    add(static_cast<std::uint32_t>(list.size()));
    for (const Element& element : list) add(element);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  void take(std::uint32_t& number) { std::memcpy(&number, bytes(sizeof number).data(), sizeof number); }
  void take(std::string& word) {
    std::uint32_t size = 0;
    take(size);
    word = bytes(size);
  }
  void take(SameFile& file) {
    take(file.path);
    take(file.sha256);
    std::uint32_t is_program = 0;
    take(is_program);
    file.is_program = is_program != 0;
  }
  template <typename Element>
  void take(std::vector<Element>& list) {
    std::uint32_t size = 0;
    take(size);
    for (std::uint32_t i = 0; i < size; ++i) take(list.emplace_back());
  }

 private:
  std::string_view bytes(std::size_t count) {
    if (count > rest_.size()) throw RunError("the launcher's request is damaged. Build sdsm again");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
};

/// One order for both directions.
template <typename Request, typename Visit>
void visit_fields(Request& request, Visit&& visit) {
  visit(request.host);
  visit(request.name);
  visit(request.threads_per_node);
  visit(request.nodes);
  visit(request.launcher);
  visit(request.own_address);
  visit(request.patience_ms);
  visit(request.folder);
  visit(request.files);
  visit(request.program);
  visit(request.arguments);
  visit(request.environment);
}

bool read_exactly(int input, char* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t count = read(input, to, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    to += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

std::string text_of(const AgentRequest& request) {
  Writer writer;
  visit_fields(request, [&](const auto& field) { writer.add(field); });
  std::string text = fmt::format("{}{}\n", first_words, request.secret.size() + writer.text().size());
  text.append(reinterpret_cast<const char*>(request.secret.data()), request.secret.size());
  return text + writer.text();
}

AgentRequest read_request(int input) {
  std::string line;
  for (char sign = 0; line.size() < 100 && read_exactly(input, &sign, 1) && sign != '\n';) line += sign;
  if (!line.starts_with(first_words)) {
    throw RunError(line.starts_with("sdsm-agent ")
                       ? "the launcher is of another version of sdsm than this host's. Install one version everywhere"
                       : "--agent is for sdsm run --hosts alone, which starts it. See docs/running.md");
  }
  std::size_t bytes = 0;
  std::from_chars(line.data() + first_words.size(), line.data() + line.size(), bytes);
  AgentRequest request;
  std::string text(std::min(bytes, most_bytes), '\0');
  if (bytes < request.secret.size() || bytes > most_bytes || !read_exactly(input, text.data(), text.size())) {
    throw RunError("the launcher's request has not come as a whole. Does the launcher still run?");
  }
  std::memcpy(request.secret.data(), text.data(), request.secret.size());
  Reader reader(std::string_view(text).substr(request.secret.size()));
  visit_fields(request, [&](auto& field) { reader.take(field); });
  return request;
}

}  // namespace sdsm::run_command
