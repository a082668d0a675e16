/// The launcher's side of a run on several hosts. It starts an agent on each, which reports how the processes end.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "commands/descriptor.hpp"
#include "models/ids.hpp"
#include "native/dsm/process/admission.hpp"
#include "native/launch/run/cluster_process.hpp"
#include "native/launch/run/host_output.hpp"
#include "native/launch/run/logs/control_channel.hpp"

namespace sdsm::run_command {

struct Host {
  std::string name;     ///< stands for {host} in the launcher
  std::string address;  ///< IPv4 address at which the others reach it; "": that from which it reaches the launcher
};

struct HostsOptions {
  std::vector<Host> hosts;
  std::string launcher = "ssh {host}";  ///< for sh; the agent's command line is appended
  std::string listen = "127.0.0.1";     ///< IPv4 address of this machine for the hosts' agents and processes
};

/// Parses "NAME" or "NAME=ADDRESS". Throws BadInput, which names `where`, if a shell or a launcher might misread it.
Host parse_host(const std::string& text, const std::string& where);

struct HostFile {
  std::vector<Host> hosts;
  std::vector<std::uint32_t> slots;  ///< of each host, 1 where its line has none; empty if no line has any
};
/// Reads a file as MPI's launchers do: a line "HOST", "HOST slots=N" or "HOST:N" for each host, # before comments.
/// Throws BadInput with file and line.
HostFile read_hostfile(const std::string& path);
/// Throws BadInput, which names `option`, if `text` is no IPv4 address.
void check_address(const std::string& text, const std::string& option);

/// The host of a node: nodes are dealt out to the hosts in turn.
inline std::uint32_t host_of(std::uint32_t node, std::size_t hosts) {
  return node % static_cast<std::uint32_t>(hosts);
}

class Hosts {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Secret = std::array<std::uint8_t, dsm::secret_bytes>;
  struct Listener {
    virtual ~Listener() = default;
    virtual void ended(std::uint32_t process, int wait_status) = 0;
    /// The host's agent itself ends the run. is_death: it is gone; else it does not answer.
    virtual void lost(const std::string& what, bool is_death) = 0;
  };

  /// Starts the agents. input: the program's standard input, for node 0. Throws RunError, BadInput, std::system_error.
  Hosts(const HostsOptions& options, const Layout& layout, const ProgramStart& start, const Secret& secret, int input,
        std::chrono::duration<double> timeout);
  /// Ends all agents, which end their processes, and waits for them.
  ~Hosts();
  Hosts& operator=(Hosts&&) = delete;

  /// Waits until all processes have started. Returns the connections to them, by process. Throws RunError that names
  /// the host if one cannot start.
  std::vector<ControlChannel> gather();

  /// Adds the descriptors that the launcher has to wait for besides the processes'.
  void add_to(std::vector<pollfd>& polled) const;
  /// Takes what the agents say and passes the program's input and output on.
  void check(Time now, Listener& listener);
  void ping();
  /// The launcher was stopped for so long: agents get that much more time to answer.
  void forgive(std::chrono::steady_clock::duration pause);
  /// The run is done. Throws RunError if a host does not come to an end.
  void finish();

  /// The host's name, and its address where it has one of its own.
  const std::string& name_of(std::uint32_t node) const;
  const std::string& address_of(std::uint32_t node) const;

 private:
  class Agent;

  void take_connection(int socket, std::uint32_t host, std::uint32_t process,
                       std::vector<std::optional<ControlChannel>>& connected);

  Layout layout_;
  std::chrono::duration<double> timeout_;
  Secret secret_;
  std::optional<dsm::Admission> admission_;  ///< until all processes are connected
  HostOutput output_{STDOUT_FILENO};
  std::vector<std::unique_ptr<Agent>> agents_;
};

}  // namespace sdsm::run_command
