#include "native/launch/run/agent.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "commands/errors.hpp"
#include "commands/file_hash.hpp"
#include "commands/interruption.hpp"
#include "native/dsm/process/admission.hpp"
#include "native/dsm/wire/sockets.hpp"
#include "native/launch/run/agent_request.hpp"
#include "native/launch/run/cluster_process.hpp"
#include "native/launch/run/logs/control_channel.hpp"

namespace sdsm::run_command {

using namespace commands;
using namespace program_start;
using dsm::FrameKind;

namespace {

/// A launcher whose machine is gone says nothing, not even that; the kernel finds out.
void notice_loss(int socket) {
  const int on = 1, idle_s = 10, interval_s = 5, times = 4;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

class Agent {
 public:
  explicit Agent(AgentRequest request) : request_(std::move(request)), control_(connect(dsm::agent_number)) {
    notice_loss(control_.descriptor());
  }
  ~Agent() {
    for (const auto& [number, process] : processes_) process.send(SIGKILL);
    processes_.clear();
    if (!is_finished_) descendants_.kill_all();
  }
  Agent& operator=(Agent&&) = delete;

  int run() {
    watch_children();
    try {
      go_to_folder();
      check_files();
      start_processes();
      control_.send(FrameKind::started);
    } catch (const std::exception& error) {
      control_.send(FrameKind::failed, error.what(), std::strlen(error.what()));
    }
    while (control_.is_open() && !is_finished_ && interruption() == 0) {
      wait_for_news();
      tell_ends();
      listen();
    }
    return is_finished_ ? 0 : 1;
  }

 private:
  /// Connects to the launcher, and says for which process.
  Descriptor connect(std::uint32_t process) const {
    dsm::limit_connecting(request_.patience_ms);
    Descriptor socket(dsm::connect_to(request_.launcher, request_.own_address.c_str()));
    dsm::Hello hello;
    std::memcpy(hello.secret, request_.secret.data(), request_.secret.size());
    hello.process = process;
    hello.host = request_.host;
    if (socket.get() < 0 || !dsm::send_all(socket.get(), &hello, sizeof hello)) {
      const int error = errno;
      const std::string from = request_.own_address.empty() ? "" : " from " + request_.own_address;
      std::string remedy = dsm::remedy_for(error);
      if (remedy.empty()) {
        remedy = ". Give --listen an address of the launcher's machine that all hosts reach";
        if (!from.empty()) remedy += ", and this host an address that it has";
        remedy += std::string(". ") + dsm::firewall_remedy;
      }
      throw RunError(fmt::format("the launcher cannot be reached at {}{} ({}){}", request_.launcher, from,
                                 std::strerror(error), remedy));
    }
    return socket;
  }

  void watch_children() {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, nullptr);
    ends_.reset(signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
    if (ends_.get() < 0) throw_errno("cannot watch for the ends of processes");
  }

  void go_to_folder() const {
    std::error_code error;
    std::filesystem::current_path(request_.folder, error);
    if (error) {
      throw RunError(
          fmt::format("the folder {} cannot be entered ({}). All hosts need the folder in which the command "
                      "is started",
                      request_.folder, error.message()));
    }
  }

  void check_files() const {
    for (const SameFile& file : request_.files) {
      std::error_code error;
      if (!std::filesystem::exists(file.path, error)) {
        throw RunError(
            fmt::format("{} is not there. All hosts need the same program and the same sdsm, at the same "
                        "paths: copy it, or share the folder",
                        file.path));
      }
      if (file.is_program && access(file.path.c_str(), X_OK) != 0) {
        throw RunError(fmt::format("{} may not be executed ({})", file.path, std::strerror(errno)));
      }
      if (commands::sha256_of(file.path) != file.sha256) {
        throw RunError(
            fmt::format("{} is another file than on the launcher's machine. Copy that one to all hosts", file.path));
      }
    }
  }

  void start_processes() {
    const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (nothing.get() < 0) throw_errno("/dev/null");
    const Descriptor host_files(memfd_create("sdsm-files", MFD_CLOEXEC));
    ProgramStart start{request_.program, request_.arguments, Environment(request_.environment)};
    for (const std::uint32_t node : request_.nodes) {
      const Descriptor memory(memfd_create("sdsm-node", MFD_CLOEXEC));
      if (memory.get() < 0) {
        const int error = errno;
        throw RunError(
            fmt::format("a node's memory cannot be made: {}{}", std::strerror(error), dsm::remedy_for(error)));
      }
      for (std::uint32_t thread = 0; thread < request_.threads_per_node; ++thread) {
        const std::uint32_t number = node * request_.threads_per_node + thread;
        const Descriptor control = connect(number);
        const int input = number == 0 ? STDIN_FILENO : nothing.get();
        processes_.emplace(number,
                           start_process(start, input, control.get(), {memory.get(), -1, -1, host_files.get()}));
      }
    }
    // The program's input is the program's alone.
    if (!request_.nodes.empty() && request_.nodes.front() == 0) dup2(nothing.get(), STDIN_FILENO);
  }

  void wait_for_news() {
    const short events = static_cast<short>(POLLIN | (control_.has_unsent() ? POLLOUT : 0));
    pollfd polled[] = {{control_.descriptor(), events, 0}, {ends_.get(), POLLIN, 0}};
    // An interruption may come just before the wait.
    constexpr int most_wait_ms = 500;
    if (poll(polled, 2, most_wait_ms) < 0 && errno != EINTR) throw_errno("cannot wait for the launcher");
    signalfd_siginfo ended;
    while (read(ends_.get(), &ended, sizeof ended) > 0) {
    }
  }

  void tell_ends() {
    for (auto process = processes_.begin(); process != processes_.end();) {
      if (const auto status = process->second.poll_for_end()) {
        const dsm::ProcessEnded ended{process->first, *status};
        control_.send(FrameKind::ended, &ended, sizeof ended);
        process = processes_.erase(process);
      } else {
        ++process;
      }
    }
  }

  void listen() {
    control_.flush();
    control_.receive();
    while (const auto frame = control_.next_frame()) {
      if (frame->kind == FrameKind::ping) control_.send(FrameKind::pong);
      if (frame->kind == FrameKind::finish) is_finished_ = true;
    }
  }

  AgentRequest request_;
  Descendants descendants_;
  ControlChannel control_;
  Descriptor ends_;
  std::map<std::uint32_t, Child> processes_;
  bool is_finished_ = false;
};

}  // namespace

int run_agent() {
  std::signal(SIGPIPE, SIG_IGN);
  const AgentRequest request = read_request(STDIN_FILENO);
  std::optional<Agent> agent;
  try {
    agent.emplace(request);
  } catch (const RunError& error) {
    throw RunError(fmt::format("host {}: {}", request.name, error.what()));
  }
  // Until here there is nothing to tidy up.
  catch_interruptions();
  return agent->run();
}

}  // namespace sdsm::run_command
