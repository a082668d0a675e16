#include "commands/interruption.hpp"

#include <array>

#include "commands/errors.hpp"

namespace sdsm::commands {
namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t has_come = 0;

}  // namespace

void catch_interruptions() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { has_come = signal; };
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART, so that a blocking read returns.
  for (const int signal : signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

int interruption() {
  return has_come;
}

HeldInterruptions::HeldInterruptions() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : signals) sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

HeldInterruptions::~HeldInterruptions() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void throw_if_interrupted(const char* text) {
  if (has_come != 0) throw RunError(text);
}

}  // namespace sdsm::commands
