#include "commands/interruption.hpp"

#include <csignal>
#include <initializer_list>

#include "commands/errors.hpp"

namespace sdsm::commands {
namespace {

volatile std::sig_atomic_t has_come = 0;

}  // namespace

void catch_interruptions() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { has_come = signal; };
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART: a blocking read is to return.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

int interruption() {
  return has_come;
}

void throw_if_interrupted(const char* text) {
  if (has_come != 0) throw RunError(text);
}

}  // namespace sdsm::commands
