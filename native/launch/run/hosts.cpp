#include "native/launch/run/hosts.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

#include "commands/child.hpp"
#include "commands/command_line.hpp"
#include "commands/errors.hpp"
#include "commands/file_hash.hpp"
#include "commands/input.hpp"
#include "commands/interruption.hpp"
#include "native/dsm/wire/sockets.hpp"
#include "native/launch/run/agent_request.hpp"

namespace sdsm::run_command {

using namespace commands;
using namespace program_start;
using dsm::FrameKind;

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Words that mean the same to this machine's shell and to one behind ssh.
bool is_plain(std::string_view word) {
  return !word.empty() && word.front() != '-' && std::all_of(word.begin(), word.end(), [](char sign) {
    return std::isalnum(static_cast<unsigned char>(sign)) != 0 || std::strchr("._/@%:+,-", sign) != nullptr;
  });
}

std::string replace_host(std::string launcher, const std::string& host) {
  constexpr std::string_view place = "{host}";
  for (std::size_t at = 0; (at = launcher.find(place, at)) != std::string::npos; at += host.size()) {
    launcher.replace(at, place.size(), host);
  }
  return launcher;
}

std::string peer_of(int socket) {
  sockaddr_in peer{};
  socklen_t length = sizeof peer;
  char text[INET_ADDRSTRLEN] = "";
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &length) == 0) {
    inet_ntop(AF_INET, &peer.sin_addr, text, sizeof text);
  }
  return text;
}

std::string how_it_ended(const ProcessEnd& end) {
  return end.was_killed ? fmt::format("was killed by signal {} ({})", end.signal, strsignal(end.signal))
                        : fmt::format("ended with status {}", end.status);
}

}  // namespace

Host parse_host(const std::string& text, const std::string& where) {
  const std::size_t equals = text.find('=');
  Host host{text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1)};
  if (!is_plain(host.name)) {
    throw BadInput(fmt::format("{}: '{}' is no name of a host (nor are IPv6 addresses). Give NAME or NAME=ADDRESS",
                               where, host.name));
  }
  if (equals != std::string::npos) check_address(host.address, where + " " + host.name);
  return host;
}

HostFile read_hostfile(const std::string& path) {
  if (const std::string problem = input_problem(path, 1 << 20); !problem.empty()) {
    throw BadInput(fmt::format("--hostfile {}: {}. Give a text file with a host a line", path, problem));
  }
  std::ifstream file(path);
  HostFile read;
  bool has_slots = false;
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    const std::string where = fmt::format("{}:{}", path, number);
    std::istringstream words(line.substr(0, line.find('#')));
    std::string host;
    if (!(words >> host)) continue;
    std::string slots;
    if (const std::size_t colon = host.find(':'); colon != std::string::npos) {
      slots = "slots=" + host.substr(colon + 1);
      host.resize(colon);
    }
    for (std::string word; words >> word; slots = word) {
      if (slots.empty() && word.starts_with("slots=")) continue;
      throw BadInput(fmt::format("{}: unexpected '{}'. Write HOST or HOST=ADDRESS, then at most slots=N", where, word));
    }
    read.hosts.push_back(parse_host(host, where));
    read.slots.push_back(1);
    if (slots.empty()) continue;
    has_slots = true;
    const std::string count = slots.substr(std::string_view("slots=").size());
    if (const std::string problem = whole_number(1, dsm::most_processes)(count); !problem.empty()) {
      throw BadInput(fmt::format("{}: slots: {}", where, problem));
    }
    read.slots.back() = static_cast<std::uint32_t>(std::stoul(count));
  }
  if (read.hosts.empty()) throw BadInput(fmt::format("{}: no host in this file. Write one host a line", path));
  if (!has_slots) read.slots.clear();
  return read;
}

void check_address(const std::string& text, const std::string& option) {
  in_addr address{};
  if (inet_pton(AF_INET, text.c_str(), &address) == 1) {
    const std::uint32_t number = ntohl(address.s_addr);
    if (number != INADDR_ANY && number < 0xE0000000) return;  // from 224.0.0.0 on for many machines at once
    throw BadInput(
        fmt::format("{}: {} is no single machine's address, and others than the hosts could connect. Give the "
                    "one at which the hosts reach it; `ip -4 address` lists a machine's own",
                    option, text));
  }
  throw BadInput(
      fmt::format("{}: '{}' is no IPv4 address such as 10.0.0.1. `ip -4 address` lists a machine's own", option, text));
}

/// One host as the launcher sees it: the command that reaches it, and the agent's connection.
class Hosts::Agent {
 public:
  Agent(const Host& host, const std::string& launcher, const std::string& command, const std::string& request,
        int input, const Descriptor& output)
      : name_(host.name), address_(host.address), command_(launcher), unsent_(request), input_(input) {
    start(command, output);
  }
  ~Agent() {
    // The agent ends when its connection does; one without may not have come so far.
    constexpr auto patience = std::chrono::seconds(3);
    const auto begun = Clock::now();
    let_go();
    while (!poll_for_end() && Clock::now() - begun < patience)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Agent& operator=(Agent&&) = delete;

  const std::string& name() const { return name_; }
  const std::string& address() const { return address_; }
  const std::string& command() const { return command_; }
  ControlChannel& control() { return control_; }
  const std::optional<ProcessEnd>& end() const { return end_; }

  void take_connection(int socket) {
    if (address_.empty()) address_ = peer_of(socket);
    control_ = ControlChannel(Descriptor(socket));
    last_message_ = Clock::now();
  }

  /// All at once when the run has failed: the others' waits then take no more time.
  void let_go() {
    if (!control_.is_open()) process_.send(SIGTERM);
    control_ = ControlChannel(Descriptor());
    pipe_.reset();
  }

  const std::optional<ProcessEnd>& poll_for_end() {
    if (const auto& status = process_.poll_for_end(); status && !end_) end_ = process_end(*status);
    return end_;
  }

  /// Writes what the pipe takes: the request, and then the program's input.
  void pass_input() {
    if (pipe_.get() < 0) return;
    if (unsent_.empty() && !read_input()) return pipe_.reset();
    while (!unsent_.empty()) {
      const ssize_t count = write(pipe_.get(), unsent_.data(), unsent_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      // Nobody reads it any more.
      if (count < 0) return pipe_.reset();
      unsent_.erase(0, static_cast<std::size_t>(count));
    }
  }

  void add_to(std::vector<pollfd>& polled) const {
    const short events = static_cast<short>(POLLIN | (control_.has_unsent() ? POLLOUT : 0));
    polled.push_back({control_.descriptor(), events, 0});
    if (pipe_.get() < 0) return;
    if (unsent_.empty()) {
      polled.push_back({input_, POLLIN, 0});
    } else {
      polled.push_back({pipe_.get(), POLLOUT, 0});
    }
  }

  Clock::time_point last_message_ = Clock::now();
  bool is_started_ = false;
  bool is_blamed_ = false;
  bool is_finishing_ = false;

 private:
  void start(const std::string& command, const Descriptor& output) {
    Pipe input = make_pipe();
    try {
      process_ = execute({.file = "/bin/sh",
                          .arguments = {"/bin/sh", "-c", "exec " + command_ + " \"$@\"", "sh", command, "--agent"},
                          .environment = own_environment(),
                          .files = {{input.read_end.get(), STDIN_FILENO}, {output.get(), STDOUT_FILENO}},
                          // It can still tidy up when the launcher is gone.
                          .last_signal = SIGTERM});
    } catch (const RunError& error) {
      throw RunError(fmt::format("host {}: `{}`: {}", name_, command_, error.what()));
    }
    pipe_ = std::move(input.write_end);
    fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
  }

  /// False if there is no more.
  bool read_input() {
    if (input_ < 0) return false;
    pollfd ready{input_, POLLIN, 0};
    if (poll(&ready, 1, 0) <= 0) return true;
    std::string buffer(1 << 16, '\0');  // not on the stack, which may have 64 KiB in all
    const ssize_t count = read(input_, buffer.data(), buffer.size());
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    unsent_.assign(buffer, 0, static_cast<std::size_t>(count));
    return count > 0;
  }

  std::string name_;
  std::string address_;
  std::string command_;  ///< for messages
  std::string unsent_;
  int input_;
  Child process_;
  Descriptor pipe_;
  ControlChannel control_{Descriptor()};
  std::optional<ProcessEnd> end_;
};

Hosts::Hosts(const HostsOptions& options, const Layout& layout, const ProgramStart& start, const Secret& secret,
             int input, Seconds timeout)
    : layout_(layout), timeout_(timeout), secret_(secret) {
  // An agent that is gone does not take its input.
  std::signal(SIGPIPE, SIG_IGN);
  const std::string command = std::filesystem::read_symlink("/proc/self/exe").string();
  if (!is_plain(command)) {
    throw BadInput(
        fmt::format("{}: blanks and signs in its path keep a shell on another host from finding it. Move "
                    "the build folder to a path without them",
                    command));
  }
  AgentRequest request;
  request.secret = secret;
  request.patience_ms = static_cast<std::uint32_t>(std::clamp(timeout.count() * 500, 1., 1e9));
  request.threads_per_node = layout.threads_per_node;
  request.folder = std::filesystem::current_path().string();
  request.program = start.file.string();
  request.arguments = start.arguments;
  request.environment = start.environment.entries();
  const auto add_file = [&](const std::string& path, bool is_program) {
    request.files.push_back({path, commands::sha256_of(path), is_program});
  };
  add_file(command, true);
  add_file(runtime_library("libsdsm-run.so", "sdsm-run-runtime").string(), false);
  add_file(request.program, true);
  const int listener = dsm::listen_on(dsm::Transport::tcp, options.listen.c_str(), request.launcher);
  if (listener < 0) {
    const std::string remedy = dsm::remedy_for(errno);
    throw RunError(fmt::format("--listen {}: {}{}", options.listen, std::strerror(errno),
                               remedy.empty() ? ". Give an IPv4 address of this machine" : remedy));
  }
  admission_.emplace(listener, secret_.data());
  for (std::uint32_t number = 0; number < options.hosts.size(); ++number) {
    throw_if_interrupted("interrupted during the start: all processes are stopped");
    const Host& host = options.hosts[number];
    request.host = number;
    request.name = host.name;
    request.own_address = host.address;
    request.nodes.clear();
    for (std::uint32_t node = 0; node < layout.nodes; ++node) {
      if (host_of(node, options.hosts.size()) == number) request.nodes.push_back(node);
    }
    agents_.push_back(std::make_unique<Agent>(host, replace_host(options.launcher, host.name), command,
                                              text_of(request), number == 0 ? input : -1, output_.add_host()));
  }
}

Hosts::~Hosts() {
  // An agent that finds the port closed would complain of that. So the port closes last.
  for (const auto& agent : agents_) agent->let_go();
  agents_.clear();
  // A failed program's last words.
  constexpr auto patience = std::chrono::seconds(1);
  const auto begun = Clock::now();
  for (output_.pass_rest(); output_.is_pending() && interruption() == 0 && Clock::now() - begun < patience;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    output_.pass_rest();
  }
}

void Hosts::take_connection(int socket, std::uint32_t host, std::uint32_t process,
                            std::vector<std::optional<ControlChannel>>& connected) {
  Descriptor taken(socket);
  if (host >= agents_.size()) return;
  if (process == dsm::agent_number) {
    if (!agents_[host]->control().is_open()) agents_[host]->take_connection(taken.release());
    return;
  }
  if (process < connected.size() && !connected[process]) connected[process] = ControlChannel(std::move(taken));
}

std::vector<ControlChannel> Hosts::gather() {
  std::vector<std::optional<ControlChannel>> connected(layout_.processes());
  auto begun = Clock::now();
  auto last_round = begun;
  const auto is_ready = [](const auto& agent) { return agent->is_started_; };
  while (!std::all_of(agents_.begin(), agents_.end(), is_ready) ||
         !std::all_of(connected.begin(), connected.end(), [](const auto& one) { return one.has_value(); })) {
    constexpr int round_ms = 10;
    if (const auto arrival = admission_->next(round_ms)) {
      take_connection(arrival->socket, arrival->hello.host, arrival->hello.process, connected);
    }
    if (admission_->error() != 0) {
      throw RunError(fmt::format("the hosts' connections cannot be accepted: {}{}", std::strerror(admission_->error()),
                                 dsm::remedy_for(admission_->error())));
    }
    throw_if_interrupted("interrupted during the start: all processes are stopped");
    const auto now = Clock::now();
    // A stopped launcher (Ctrl-Z) has received nothing.
    if (now - last_round > std::chrono::seconds(1)) begun += now - last_round;
    last_round = now;
    output_.pass(now);
    for (const auto& agent : agents_) {
      // The end first: what the agent said before it must be here by then.
      const bool has_ended = agent->poll_for_end().has_value();
      agent->pass_input();
      agent->control().receive();
      // What comes later is for check().
      while (!agent->is_started_) {
        const auto frame = agent->control().next_frame();
        if (!frame) break;
        if (frame->kind == FrameKind::started) agent->is_started_ = true;
        if (frame->kind == FrameKind::failed) {
          throw RunError(fmt::format("host {}: {}", agent->name(), one_line(frame->payload)));
        }
      }
      if (has_ended) {
        throw RunError(
            fmt::format("host {} cannot be used: `{}` {} before the processes were started. Is there a "
                        "message above? Is sdsm there, at the same path as here?",
                        agent->name(), agent->command(), how_it_ended(*agent->end())));
      }
      if (!agent->is_started_ && now - begun > timeout_) {
        throw RunError(
            fmt::format("host {} has not started its processes within {:g} s. Does `{} true` work, without "
                        "asking anything? A larger --timeout gives it more time",
                        agent->name(), timeout_.count(), agent->command()));
      }
    }
  }
  // From here on there is no port that a stranger could try.
  admission_.reset();
  std::vector<ControlChannel> channels;
  for (auto& channel : connected) channels.push_back(std::move(*channel));
  return channels;
}

void Hosts::add_to(std::vector<pollfd>& polled) const {
  output_.add_to(polled);
  for (const auto& agent : agents_) agent->add_to(polled);
}

void Hosts::check(Time now, Listener& listener) {
  output_.pass(now);
  for (const auto& agent : agents_) {
    const bool has_ended = agent->poll_for_end().has_value();
    ControlChannel& control = agent->control();
    agent->pass_input();
    control.flush();
    control.receive();
    try {
      while (const auto frame = control.next_frame()) {
        agent->last_message_ = now;
        dsm::ProcessEnded ended;
        if (frame->kind == FrameKind::pong) continue;
        if (frame->kind != FrameKind::ended || frame->payload.size() != sizeof ended) {
          throw ProtocolError("sent the launcher bytes that are no message");
        }
        std::memcpy(&ended, frame->payload.data(), sizeof ended);
        listener.ended(ended.process, ended.wait_status);
      }
    } catch (const ProtocolError& error) {
      listener.lost(
          fmt::format("host {}: its agent {}. Build sdsm again, and copy it to all hosts", agent->name(), error.what()),
          false);
    }
    if (agent->is_blamed_ || agent->is_finishing_) continue;
    if (has_ended) {
      agent->is_blamed_ = true;
      listener.lost(fmt::format("host {}: `{}` {}, and with it the host's processes. Was it stopped by hand, or the "
                                "connection lost?",
                                agent->name(), agent->command(), how_it_ended(*agent->end())),
                    true);
    } else if (!control.is_open()) {
      if (now - agent->last_message_ < std::chrono::seconds(1)) continue;  // soon more is known
      agent->is_blamed_ = true;
      listener.lost(fmt::format("host {}: its agent has ended, and with it the host's processes. Was it stopped by "
                                "hand, or has the host been shut down?",
                                agent->name()),
                    true);
    } else if (now - agent->last_message_ > timeout_) {
      agent->is_blamed_ = true;
      listener.lost(
          fmt::format("host {}: its agent has not answered for {:g} s. Is the host there, and not overloaded? "
                      "A larger --timeout gives it more time",
                      agent->name(), timeout_.count()),
          false);
    }
  }
}

void Hosts::ping() {
  for (const auto& agent : agents_) {
    if (!agent->control().has_unsent()) agent->control().send(FrameKind::ping);
  }
}

void Hosts::forgive(Clock::duration pause) {
  for (const auto& agent : agents_) agent->last_message_ += pause;
}

void Hosts::finish() {
  for (const auto& agent : agents_) {
    agent->is_finishing_ = true;
    agent->control().send(FrameKind::finish);
  }
  auto begun = Clock::now();
  for (const auto& agent : agents_) {
    // What the program printed may still be on its way through the launcher command, and its reader may take its time.
    while (!agent->poll_for_end()) {
      output_.pass(Clock::now());
      if (output_.is_pending()) begun = Clock::now();
      throw_if_interrupted("interrupted while the hosts ended: all processes are stopped");
      agent->control().flush();
      agent->pass_input();
      if (Clock::now() - begun > timeout_) {
        throw RunError(
            fmt::format("host {}: `{}` has not ended within {:g} s of the program. Has the program started "
                        "something that still runs?",
                        agent->name(), agent->command(), timeout_.count()));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (agent->end()->was_killed || agent->end()->status != 0) {
      throw RunError(
          fmt::format("host {}: `{}` {} after the program's end: its last output may be missing. Run it "
                      "again",
                      agent->name(), agent->command(), how_it_ended(*agent->end())));
    }
  }
  for (output_.pass_rest(); output_.is_pending(); output_.pass_rest()) {
    throw_if_interrupted("interrupted while the program's output was read: all processes are stopped");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

const std::string& Hosts::name_of(std::uint32_t node) const {
  return agents_[host_of(node, agents_.size())]->name();
}

const std::string& Hosts::address_of(std::uint32_t node) const {
  return agents_[host_of(node, agents_.size())]->address();
}

}  // namespace sdsm::run_command
