#include "native/run_command/cluster_process.hpp"

namespace sdsm::run_command {

commands::Child start_process(const ProgramStart& start, int input, int control, const InheritedFiles& files) {
  return commands::execute({.file = start.file,
                            .arguments = start.arguments,
                            .environment = start.environment.entries(),
                            .files = {{input, 0},
                                      {control, control_descriptor},
                                      {files.node_memory, memory_descriptor},
                                      {files.wires, wires_descriptor},
                                      {files.schedule, schedule_descriptor}},
                            .addresses = commands::Execution::Addresses::fixed});
}

}  // namespace sdsm::run_command
