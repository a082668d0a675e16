#include "native/launch/run/cluster.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "commands/errors.hpp"
#include "commands/interruption.hpp"
#include "native/dsm/wire/sockets.hpp"
#include "native/launch/run/blame.hpp"

namespace sdsm::run_command {

using namespace commands;
using namespace program_start;

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using dsm::FrameKind;

[[noreturn]] void fail_with_remedy(const char* what) {
  const int error = errno;
  throw RunError(fmt::format("{}: {}{}", what, std::strerror(error), dsm::remedy_for(error)));
}

/// What all processes have to have done before the next step.
enum class Stage { listening, connecting, running };

class Cluster final : private Hosts::Listener {
 public:
  explicit Cluster(const ClusterOptions& options) : options_(options) {
    if (options.timeline_events) timeline_.emplace(options.layout, options.protocol, *options.timeline_events);
    if (wants_page_log() || timeline_) logs_.emplace(options.layout, tables_of(options.protocol), options.wants_order);
  }
  ~Cluster() override {
    // All before the first is waited for.
    for (const Member& member : members_) {
      if (member.process) member.process->send(SIGKILL);
    }
    const bool has_failed = !is_finished_;
    members_.clear();
    hosts_.reset();
    if (has_failed) descendants_.kill_all();
  }

  ClusterResult run(ProgramStart& start, int input) {
    make_secret();
    if (options_.emulation) emulated_ = emulate(*options_.emulation, options_.layout, options_.protocol, options_.page);
    start_processes(start, input);
    last_round_ = stage_began_ = Clock::now();
    for (std::uint32_t i = 0; i < size(); ++i) welcome(i);
    while (!is_everybody_through()) {
      wait_for_news();
      const auto now = Clock::now();
      forgive_pause(now);
      // Before the processes are checked: Ctrl-C on a terminal kills them too.
      if (interruption() != 0) {
        throw RunError(fmt::format("interrupted by signal {} ({}): all processes are stopped", interruption(),
                                   strsignal(interruption())));
      }
      if (hosts_) hosts_->check(now, *this);
      for (std::uint32_t i = 0; i < size(); ++i) check_member(i, now);
      if (blame_.is_decided(now) && !is_pardoned()) throw RunError(blame_.text());
      go_on(now);
    }
    // A process that failed and had a result all the same.
    if (blame_.is_any() && !is_pardoned()) throw RunError(blame_.text());
    if (hosts_) hosts_->finish();
    is_finished_ = true;
    return result();
  }

 private:
  struct Member {
    explicit Member(ControlChannel channel, std::optional<Child> started = std::nullopt)
        : process(std::move(started)), control(std::move(channel)), last_message(Clock::now()) {}

    std::optional<Child> process;  ///< none on another host
    ControlChannel control;
    std::optional<ProcessEnd> end;
    bool is_ready = false;  ///< has done what the stage asks for
    bool is_blamed = false;
    bool was_closed = false;  ///< its end of the socket
    bool was_judged = false;  ///< its end
    std::optional<Clock::time_point> known_to_have_ended;
    std::string address;
    Clock::time_point last_message;
    std::optional<dsm::Result> result;
  };

  /// An agent's word of an end may take its time.
  static constexpr std::chrono::milliseconds remote_patience{1000};

  std::uint32_t size() const { return options_.layout.processes(); }

  std::string name_of(std::uint32_t process) const {
    const std::uint32_t node = index_of(options_.layout.node_of(ProcessId{process}));
    return fmt::format("process {} on node {}{}", process, node,
                       hosts_ ? fmt::format(" (host {})", hosts_->name_of(node)) : "");
  }

  bool is_everybody_through() const {
    if (is_leaving_ && program_ended_ && members_[0].result) {
      return !members_[0].end->was_killed && Clock::now() - *program_ended_ > Blame::patience;
    }
    return members_.size() == size() && std::all_of(members_.begin(), members_.end(), [](const Member& member) {
             return member.result && member.end && !member.end->was_killed;
           });
  }

  /// The program has ended in the middle of something: a process that loses another then has no reason to complain.
  bool is_pardoned() const { return is_leaving_ && blame_.is_of_leaving(); }

  void make_secret() {
    std::size_t have = 0;
    while (have < secret_.size()) {
      const ssize_t count = getrandom(secret_.data() + have, secret_.size() - have, 0);
      if (count < 0 && errno != EINTR) throw_errno("cannot get random bytes");
      if (count > 0) have += static_cast<std::size_t>(count);
    }
  }

  void start_processes(ProgramStart& start, int input) {
    if (options_.hosts) {
      hosts_.emplace(*options_.hosts, options_.layout, start, secret_, input, options_.timeout);
      for (ControlChannel& control : hosts_->gather()) members_.emplace_back(std::move(control));
      return;
    }
    const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (nothing.get() < 0) throw_errno("/dev/null");
    const Descriptor host_files(memfd_create("sdsm-files", MFD_CLOEXEC));
    members_.reserve(size());
    const Layout memory_layout = dsm::layout_of_memory(options_.protocol, options_.layout);
    for (std::uint32_t node = 0; node < memory_layout.nodes; ++node) {
      // Its processes inherit it: a name in a file system would have to be removed.
      const Descriptor memory(memfd_create("sdsm-node", MFD_CLOEXEC));
      if (memory.get() < 0) fail_with_remedy("a node's memory cannot be made");
      for (std::uint32_t thread = 0; thread < memory_layout.threads_per_node; ++thread) {
        throw_if_interrupted("interrupted during the start: all processes are stopped");
        const InheritedFiles files{memory.get(), emulated_.wires.get(), emulated_.schedule.get(), host_files.get()};
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail_with_remedy("a socket cannot be made");
        const Descriptor process_end(ends[1]);
        ControlChannel control{Descriptor(ends[0])};
        members_.emplace_back(std::move(control),
                              start_process(start, members_.empty() ? input : nothing.get(), process_end.get(), files));
      }
    }
  }

  bool wants_page_log() const { return options_.wants_page_figures || options_.wants_order; }

  /// The processes of the run on this one's host (nodes go to hosts in turn, and a host may be named twice), and how
  /// many of them come before it.
  struct OnHost {
    std::uint32_t all = 0;
    std::uint32_t before = 0;
  };
  OnHost on_host_of(std::uint32_t number) const {
    const auto name_of_host = [&](std::uint32_t node) {
      return options_.hosts ? options_.hosts->hosts[node % options_.hosts->hosts.size()].name : "";
    };
    const std::uint32_t own = index_of(options_.layout.node_of(ProcessId{number})),
                        each = options_.layout.threads_per_node;
    OnHost found{0, number % each};
    for (std::uint32_t node = 0; node < options_.layout.nodes; ++node) {
      if (name_of_host(node) != name_of_host(own)) continue;
      found.all += each;
      if (node < own) found.before += each;
    }
    return found;
  }

  void welcome(std::uint32_t number) {
    dsm::Welcome welcome;
    welcome.process = number;
    welcome.nodes = options_.layout.nodes;
    welcome.threads_per_node = options_.layout.threads_per_node;
    welcome.transport = options_.transport;
    welcome.placement = options_.placement;
    welcome.atomics = options_.atomics;
    welcome.protocol = options_.protocol;
    welcome.jiajia = options_.jiajia;
    welcome.invalidation = options_.invalidation;
    welcome.prefetch = options_.prefetch;
    welcome.page_bytes = static_cast<std::uint32_t>(options_.page.count);
    welcome.patience_ms = static_cast<std::uint32_t>(std::clamp(options_.timeout.count() * 1e3, 1., 1e9));
    rlimit stack{};
    getrlimit(RLIMIT_STACK, &stack);
    welcome.stack_limit = stack.rlim_cur;
    welcome.node_memory = memory_descriptor;
    welcome.files = files_descriptor;
    welcome.emulation = emulated_.emulation;
    if (emulated_.wires.get() >= 0) welcome.emulation.wires = wires_descriptor;
    if (emulated_.schedule.get() >= 0) welcome.emulation.schedule = schedule_descriptor;
    const OnHost on_host = on_host_of(number);
    welcome.processes_on_host = on_host.all;
    welcome.wants_page_log = wants_page_log() ? 1 : 0;
    welcome.wants_timeline = timeline_ ? 1 : 0;
    if (options_.is_bound) welcome.processor = static_cast<std::int32_t>(on_host.before);
    std::memcpy(welcome.secret, secret_.data(), secret_.size());
    const std::string host =
        hosts_ ? hosts_->address_of(index_of(options_.layout.node_of(ProcessId{number}))) : "127.0.0.1";
    host.copy(welcome.listen_host, sizeof welcome.listen_host - 1);
    members_[number].control.send(FrameKind::welcome, &welcome, sizeof welcome);
  }

  void wait_for_news() {
    // Each round checks for an end; only the closed socket shows it.
    bool is_ending = blame_.is_any();
    polled_.clear();
    for (Member& member : members_) {
      const ControlChannel& control = member.control;
      if (!control.is_open() && !member.end) is_ending = true;
      const short events = static_cast<short>(POLLIN | (control.has_unsent() ? POLLOUT : 0));
      polled_.push_back({control.descriptor(), events, 0});
    }
    if (hosts_) hosts_->add_to(polled_);
    const int milliseconds = is_ending ? 5 : 50;
    if (poll(polled_.data(), polled_.size(), milliseconds) < 0 && errno != EINTR)
      throw_errno("cannot wait for the processes");
  }

  /// A stopped launcher (Ctrl-Z) has received nothing, which is not the processes' fault.
  void forgive_pause(Clock::time_point now) {
    const auto pause = now - last_round_;
    last_round_ = now;
    if (pause < std::chrono::seconds(1)) return;
    stage_began_ += pause;
    if (program_ended_) *program_ended_ += pause;
    for (Member& member : members_) member.last_message += pause;
    if (hosts_) hosts_->forgive(pause);
  }

  void ended(std::uint32_t process, int wait_status) override {
    if (process >= size()) throw ProtocolError("tells of a process that does not exist");
    members_[process].end = process_end(wait_status);
  }

  void lost(const std::string& what, bool is_death) override {
    blame_.add(is_death ? BlameKind::death : BlameKind::silence, what, Clock::now());
  }

  void blame(std::uint32_t number, BlameKind kind, const std::string& what, Clock::time_point now) {
    members_[number].is_blamed = true;
    blame_.add(kind, fmt::format("{} {}", name_of(number), what), now);
  }

  /// From another host what it said before its end may come later than the agent's word of it.
  static bool has_said_all(Member& member, Clock::time_point now) {
    if (!member.known_to_have_ended) member.known_to_have_ended = now;
    return !member.control.is_open() || now - *member.known_to_have_ended > remote_patience;
  }

  void check_member(std::uint32_t number, Clock::time_point now) {
    Member& member = members_[number];
    ControlChannel& control = member.control;
    // The end first: what a process said before it must be in the socket by then.
    if (member.process && !member.end) {
      if (const auto status = member.process->poll_for_end()) member.end = process_end(*status);
    }
    const auto& end = member.end;
    control.flush();
    control.receive();
    try {
      while (const auto frame = control.next_frame()) {
        member.last_message = now;
        take(number, *frame, now);
      }
    } catch (const ProtocolError& error) {
      blame(number, BlameKind::silence,
            fmt::format("{}. Does the program write to files that it did not open? If not, build sdsm again: its "
                        "libsdsm-run.so may be of another build",
                        error.what()),
            now);
    }
    if (end && !member.was_judged && (member.process || has_said_all(member, now))) {
      member.was_judged = true;
      if (number == 0) program_ended_ = now;
      judge_end(number, *end, now);
    }
    if (!control.is_open() && !member.was_closed) {
      member.was_closed = true;
      member.last_message = now;
    }
    if (!end) check_for_silence(number, now);
  }

  void take(std::uint32_t number, const Frame& frame, Clock::time_point now) {
    Member& member = members_[number];
    const auto expect = [&](bool is_expected) {
      if (!is_expected) throw ProtocolError("sent the launcher a message that has no place there");
    };
    switch (frame.kind) {
      case FrameKind::listening:
        expect(stage_ == Stage::listening && !member.is_ready && !frame.payload.empty() &&
               frame.payload.find('\n') == std::string::npos);
        member.address = frame.payload;
        member.is_ready = true;
        return;
      case FrameKind::connected:
        expect(stage_ == Stage::connecting && !member.is_ready && frame.payload.empty());
        member.is_ready = true;
        return;
      case FrameKind::pong: return expect(stage_ == Stage::running);
      case FrameKind::page_events:
      case FrameKind::regions:
        expect(stage_ == Stage::running && !member.result && logs_);
        if (frame.kind == FrameKind::page_events) return logs_->take_events(number, frame.payload);
        expect(number == 0);
        return logs_->take_regions(frame.payload);
      case FrameKind::timed_events:
        expect(stage_ == Stage::running && !member.result && timeline_);
        return timeline_->take(number, frame.payload);
      case FrameKind::result: {
        expect(stage_ == Stage::running && !member.result && frame.payload.size() == sizeof(dsm::Result));
        dsm::Result result;
        std::memcpy(&result, frame.payload.data(), sizeof result);
        member.result = result;
        return;
      }
      case FrameKind::leaving:
        expect(stage_ == Stage::running && number == 0 && frame.payload.empty());
        is_leaving_ = true;
        return;
      case FrameKind::failed:
        return blame(number, BlameKind::report, fmt::format("ended the run: {}", one_line(frame.payload)), now);
      case FrameKind::lost_peer: {
        dsm::LostPeer lost;
        expect(frame.payload.size() == sizeof lost);
        std::memcpy(&lost, frame.payload.data(), sizeof lost);
        expect(lost.process < size());
        return blame(
            number, BlameKind::lost_peer,
            fmt::format("lost its connection to {}, which still runs. {}", name_of(lost.process),
                        hosts_ ? "Is the network between their hosts cut? Run it again when they reach each other; a "
                                 "larger --timeout waits longer"
                               : "Run it again; if that does not help, try the other --transport"),
            now);
      }
      case FrameKind::welcome:
      case FrameKind::peers:
      case FrameKind::go:
      case FrameKind::ping:
      case FrameKind::started:
      case FrameKind::ended:
      case FrameKind::finish: break;
    }
    expect(false);
  }

  void judge_end(std::uint32_t number, const ProcessEnd& end, Clock::time_point now) {
    const Member& member = members_[number];
    // One that said why it ends has been blamed for that.
    if (member.is_blamed) return;
    if (end.was_killed) {
      return blame(number, BlameKind::death,
                   fmt::format("was killed by signal {} ({}){}. {}", end.signal, strsignal(end.signal), when(),
                               hint_for(end.signal)),
                   now);
    }
    if (member.result) return;
    const char* hint =
        stage_ == Stage::listening
            ? "The run-time has not taken over (is there a message of the dynamic linker above?), or the "
              "program ended before its main function"
            : "Programs must not close the descriptors of the run-time (docs/contract.md), and must not replace "
              "themselves by exec";
    blame(number, BlameKind::death, fmt::format("ended with status {} and no word{}. {}", end.status, when(), hint),
          now);
  }

  std::string when() const { return stage_ == Stage::running ? "" : " before the program began"; }

  static const char* hint_for(int signal) {
    switch (signal) {
      case SIGKILL: return "Was it killed by hand, or for want of memory (dmesg tells)?";
      case SIGBUS: return "Is the machine out of memory? Else look for the reason in the program";
      case SIGXFSZ: return "A node's memory counts as a file: lift the limit of their size by ulimit -f unlimited";
      case SIGXCPU: return "Lift the limit of computing time by ulimit -t unlimited";
      case SIGPIPE: return "What it wrote to was closed: had the command that reads its output (head, say) ended?";
      case SIGINT:
      case SIGTERM:
      case SIGHUP: return "Somebody has stopped it; the run can be repeated";
      case SIGUSR1:
      case SIGUSR2:
      case SIGALRM:
      case SIGVTALRM:
      case SIGPROF:
      case SIGIO:
        return "A signal's handler is there for the thread that set it: set it in a parallel region, by each thread "
               "(docs/contract.md, \"What is not shared\")";
      default: return "If it does so without sdsm run too, look for the reason there first; else please report it";
    }
  }

  void check_for_silence(std::uint32_t number, Clock::time_point now) {
    const Member& member = members_[number];
    if (member.is_blamed) return;
    // Without a socket it has to end, soon unless it has said its result: what programs do at their exit takes time.
    if (!member.control.is_open() && !member.result) {
      if (now - member.last_message < (hosts_ ? remote_patience : Blame::patience)) return;
      return blame(number, BlameKind::silence,
                   fmt::format("has closed its connection to the launcher (file descriptor {}){}. Programs must not "
                               "close files that they did not open",
                               control_descriptor, when()),
                   now);
    }
    const std::string limit = fmt::format("{:g} s", options_.timeout.count());
    if (program_ended_ && Seconds(now - *program_ended_) > options_.timeout) {
      return blame(number, BlameKind::silence,
                   fmt::format("has not ended within {} of the initial thread's process. Please report it, with the "
                               "program",
                               limit),
                   now);
    }
    const bool is_starting = stage_ != Stage::running;
    if (is_starting && member.is_ready) return;
    if (Seconds(now - (is_starting ? stage_began_ : member.last_message)) <= options_.timeout) return;
    const std::string what = stage_ == Stage::listening ? fmt::format("has not reported within {} of its start", limit)
                             : stage_ == Stage::connecting
                                 ? fmt::format("has not connected to the others within {}", limit)
                             : member.result ? fmt::format("has not ended within {} of its result", limit)
                                             : fmt::format("has not answered for {}", limit);
    blame(number, BlameKind::silence,
          what + ". Is it stopped, or the machine overloaded? A larger --timeout gives it more time", now);
  }

  bool is_everybody_ready() const {
    return std::all_of(members_.begin(), members_.end(), [](const Member& member) { return member.is_ready; });
  }

  void go_on(Clock::time_point now) {
    ping(now);
    if (stage_ == Stage::running) return;
    if (blame_.is_any() || !is_everybody_ready()) return;
    if (stage_ == Stage::listening) {
      std::string peers;
      for (const Member& member : members_) peers += member.address + "\n";
      enter(Stage::connecting, now);
      for (Member& member : members_) member.control.send(FrameKind::peers, peers.data(), peers.size());
    } else {
      enter(Stage::running, now);
      last_ping_ = now;
      for (Member& member : members_) member.control.send(FrameKind::go);
    }
  }

  void enter(Stage stage, Clock::time_point now) {
    stage_ = stage;
    stage_began_ = now;
    for (Member& member : members_) {
      member.is_ready = false;
      member.last_message = now;
    }
  }

  void ping(Clock::time_point now) {
    const Seconds interval = std::min(Seconds(1), options_.timeout / 4);
    if (now - last_ping_ < interval) return;
    last_ping_ = now;
    if (hosts_) hosts_->ping();
    // The others do not check for it before they run.
    if (stage_ != Stage::running) return;
    for (Member& member : members_) {
      // One that takes nothing has enough to answer.
      ControlChannel& control = member.control;
      if (!control.has_unsent()) control.send(FrameKind::ping);
    }
  }

  ClusterResult result() {
    ClusterResult result;
    result.logs = std::move(logs_);
    result.timeline = std::move(timeline_);
    for (std::uint32_t i = 0; i < size(); ++i) {
      if (!members_[i].result || members_[i].result->processors == 0 || emulated_.schedule.get() >= 0) continue;
      const double shared =
          static_cast<double>(on_host_of(i).all) / static_cast<double>(members_[i].result->processors);
      result.processes_per_processor = std::max(result.processes_per_processor, shared);
    }
    for (const Member& member : members_) {
      if (!member.result) result.silent.push_back(static_cast<std::uint32_t>(result.processes.size()));
      result.processes.push_back(member.result.value_or(dsm::Result{}));
      if (result.status == 0 && member.result && member.end) result.status = member.end->status;
    }
    return result;
  }

  const ClusterOptions& options_;
  EmulatedCluster emulated_;
  std::optional<PageLogs> logs_;
  std::optional<TimelineLogs> timeline_;
  Descendants descendants_;
  std::array<std::uint8_t, dsm::secret_bytes> secret_{};
  std::optional<Hosts> hosts_;
  std::vector<Member> members_;
  bool is_finished_ = false;
  bool is_leaving_ = false;
  std::vector<pollfd> polled_;
  Stage stage_ = Stage::listening;
  Blame blame_;
  Clock::time_point stage_began_;
  std::optional<Clock::time_point> program_ended_;  ///< process 0
  Clock::time_point last_round_;
  Clock::time_point last_ping_;
};

}  // namespace

ClusterResult run_cluster(ProgramStart& start, const ClusterOptions& options, int input) {
  return Cluster(options).run(start, input);
}

}  // namespace sdsm::run_command
