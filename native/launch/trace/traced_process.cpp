#include "native/launch/trace/traced_process.hpp"

#include "native/launch/program_start.hpp"
#include "native/launch/trace/trace_program.hpp"

namespace sdsm::trace_command {

using namespace commands;

TracedProcess::TracedProcess(const TracedProgram& program, tracer::Mode mode, int schedule, const Streams& streams) {
  // High numbers, so that the program's own files get the numbers that they would have alone.
  constexpr int stream_descriptor = 200;
  constexpr int schedule_descriptor = 201;
  constexpr int readings_descriptor = 202;
  Pipe records = make_pipe();
  program_start::Environment environment;
  environment.preload(program.runtime);
  // Binding a function at its first call would write to the program's memory at odd times.
  environment.set("LD_BIND_NOW", "1");
  environment.set("OMP_NUM_THREADS", std::to_string(program.threads));
  environment.set(tracer::variable::threads, std::to_string(program.threads));
  environment.set(tracer::variable::stream, std::to_string(stream_descriptor));
  environment.set(tracer::variable::schedule, std::to_string(schedule_descriptor));
  environment.set(tracer::variable::mode, std::string(1, static_cast<char>(mode)));
  environment.set(tracer::variable::date, std::to_string(program.date));
  environment.set(tracer::variable::clock_speed, std::to_string(program.clock_speed));
  if (program.readings >= 0) environment.set(tracer::variable::readings, std::to_string(readings_descriptor));
  if (!program.words.empty()) environment.set(tracer::variable::words, program.words);
  if (program.has_sites) environment.set(tracer::variable::sites, "1");
  process_ = execute({.file = program.file,
                      .arguments = program.arguments,
                      .environment = environment.entries(),
                      .files = {{streams.input, 0},
                                {streams.output, 1},
                                {streams.errors, 2},
                                {records.write_end.get(), stream_descriptor},
                                {schedule, schedule_descriptor},
                                {program.readings, readings_descriptor}},
                      // Where that is not allowed, only stored pointers differ from pass to pass.
                      .addresses = Execution::Addresses::fixed_if_allowed});
  stream_ = std::move(records.read_end);
}

ProcessEnd TracedProcess::wait() {
  return process_end(process_.wait(interrupted));
}

}  // namespace sdsm::trace_command
