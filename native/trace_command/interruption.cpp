#include "native/trace_command/interruption.hpp"

#include <csignal>
#include <initializer_list>

#include "native/trace_command/errors.hpp"

namespace sdsm::trace_command {
namespace {

volatile std::sig_atomic_t has_come = 0;

}  // namespace

void catch_interruptions() {
  struct sigaction action {};
  action.sa_handler = [](int) { has_come = 1; };
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART: a blocking read is to return.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

void throw_if_interrupted() {
  if (has_come != 0) throw RunError("interrupted; no trace is written");
}

}  // namespace sdsm::trace_command
