#include "native/dsm/process/connections.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "native/dsm/process/admission.hpp"
#include "native/dsm/process/launcher.hpp"
#include "native/dsm/wire/sockets.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

using program::Decimal;
using program::end_run;

struct Listening {
  std::uint8_t secret[secret_bytes] = {};
  int listener = -1;
};
constinit Listening listening GUARDED_BY(starting);

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<int> connect_to_others(const std::vector<std::string>& addresses, std::uint64_t fingerprint)
    REQUIRES(starting) {
  std::vector<int> sockets(processes(), -1);
  Hello hello;
  std::memcpy(hello.secret, listening.secret, sizeof hello.secret);
  hello.process = index_of(self.process);
  hello.fingerprint = fingerprint;
  for (std::uint32_t other = 0; other < processes(); ++other) {
    if (ProcessId{other} == self.process) continue;
    sockets[other] = connect_to(addresses[other]);
    if (sockets[other] < 0 || !send_all(sockets[other], &hello, sizeof hello)) {
      const char* const remedy = remedy_for(errno);
      const bool may_be_firewall = *remedy == '\0' && addresses[other].starts_with("tcp:");
      end_run({"process ", Decimal(other), " cannot be reached at ", addresses[other].c_str(), ": ",
               std::strerror(errno), may_be_firewall ? ". " : "", may_be_firewall ? firewall_remedy : remedy});
    }
  }
  return sockets;
}

std::vector<int> accept_others(std::uint64_t fingerprint) REQUIRES(starting) {
  std::vector<int> sockets(processes(), -1);
  Admission admission(listening.listener, listening.secret);
  constexpr int round_ms = 1000;
  for (std::uint32_t missing = processes() - 1; missing > 0;) {
    const auto arrival = admission.next(round_ms);
    if (admission.error() != 0) {
      end_run({"no connection can be accepted: ", std::strerror(admission.error()), remedy_for(admission.error())});
    }
    if (!arrival) continue;
    const Hello& hello = arrival->hello;
    if (hello.process >= processes() || sockets[hello.process] >= 0) {
      close(arrival->socket);
      continue;
    }
    if (hello.fingerprint != fingerprint) {
      end_run({"the program, a library, a stack or the heap lies at other addresses in process ",
               Decimal(hello.process),
               ". All hosts need the same program, libraries and limits (`ulimit -s`, `ulimit -v`), and address "
               "randomisation has to be off."});
    }
    sockets[hello.process] = arrival->socket;
    --missing;
  }
  return sockets;
}

}  // namespace

void listen_for_others(const Welcome& welcome) {
  set_patience(welcome.patience_ms);
  std::memcpy(listening.secret, welcome.secret, sizeof listening.secret);
  std::string address;
  listening.listener = listen_on(welcome.transport, welcome.listen_host, address);
  if (listening.listener < 0) {
    end_run({"no socket to listen on ", welcome.listen_host, ": ", std::strerror(errno), remedy_for(errno)});
  }
  send_to_launcher(FrameKind::listening, address.data(), address.size());
}

Connections meet_others(std::uint64_t fingerprint) {
  if (self.control < 0) return {};
  const std::vector<std::string> addresses = lines_of(receive_from_launcher(FrameKind::peers));
  if (addresses.size() != processes()) end_run({"the launcher tells too few addresses"});
  Connections connections;
  connections.asking = connect_to_others(addresses, fingerprint);
  connections.answering = accept_others(fingerprint);
  send_to_launcher(FrameKind::connected);
  receive_from_launcher(FrameKind::go);
  return connections;
}

}  // namespace sdsm::dsm
