/// sdsm-run: runs an OpenMP program on a cluster of processes that share their memory by software.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "commands/command_line.hpp"
#include "commands/errors.hpp"
#include "commands/protocol_option.hpp"
#include "models/page_size.hpp"
#include "models/protocol/tables.hpp"
#include "native/launch/run/agent.hpp"
#include "native/launch/run/run_program.hpp"
#include "platforms/file/platform.hpp"

namespace {

using namespace sdsm;
using namespace sdsm::commands;
using namespace sdsm::run_command;

constexpr const char* help =
    "Run an OpenMP program on a cluster of processes, one for each thread, whose shared memory is made in "
    "software.\n\n"
    "sdsm run -n THREADS [OPTIONS] -- PROGRAM [ARGUMENTS...]\n\n"
    "PROGRAM is built with gcc, g++ or gfortran -fopenmp and nothing else. Processes of one node share pages directly; "
    "those of different nodes by messages, as on a real cluster.\n"
    "Standard output is the program's. How long it ran, and what each thread did, goes to stderr.\n\n"
    "  sdsm run -n 4 -- ./program                                4 nodes of one thread\n"
    "  sdsm run --nodes 2 --threads-per-node 2 -- ./program      2 nodes of two threads\n"
    "  sdsm run -n 4 --repeat 5 --json times.json -- ./program   5 times, results for scripts\n"
    "  sdsm run --hosts a,b,c --listen 10.0.0.1 -- ./program     a node on each of three machines";

constexpr const char* footer =
    "Exit status: the program's own; else 1 the run failed, 2 bad input or usage. See docs/running.md.";

struct Size {
  std::optional<std::uint32_t> threads;
  std::optional<std::uint32_t> nodes;
  std::optional<std::uint32_t> threads_per_node;
};

/// hosts: on which it runs; 0: this machine alone. Throws BadInput if the numbers contradict each other.
Layout layout_of(Size size, std::uint32_t hosts) {
  // A host is a node unless the user says otherwise.
  if (hosts > 0 && !size.nodes && !(size.threads && size.threads_per_node)) size.nodes = hosts;
  if (!size.threads && !size.nodes) {
    throw BadInput("how many threads? Say -n THREADS, or --nodes N and --threads-per-node T: sdsm run -n 4 -- PROGRAM");
  }
  Layout layout;
  if (size.threads) {
    const std::uint32_t divisor = size.nodes ? *size.nodes : size.threads_per_node.value_or(1);
    if (*size.threads % divisor != 0) {
      throw BadInput(fmt::format(
          "{} threads cannot be laid out evenly, {}. Give -n a multiple of {}.", *size.threads,
          size.nodes ? fmt::format("over {} nodes", divisor) : fmt::format("{} per node", divisor), divisor));
    }
    layout.nodes = size.nodes.value_or(*size.threads / divisor);
    layout.threads_per_node = *size.threads / layout.nodes;
    if (size.threads_per_node && *size.threads_per_node != layout.threads_per_node) {
      throw BadInput(fmt::format("-n {} is not --nodes {} times --threads-per-node {}. Leave one of the three out.",
                                 *size.threads, *size.nodes, *size.threads_per_node));
    }
  } else {
    layout.nodes = *size.nodes;
    layout.threads_per_node = size.threads_per_node.value_or(1);
  }
  if (layout.processes() > dsm::most_processes) {
    throw BadInput(fmt::format("{} nodes of {} threads are more than the {} processes that a run may have.",
                               layout.nodes, layout.threads_per_node, dsm::most_processes));
  }
  if (hosts > layout.nodes) {
    throw BadInput(fmt::format("{} hosts for {} nodes: some would have none. Name fewer hosts, or give --nodes {}.",
                               hosts, layout.nodes, hosts));
  }
  return layout;
}

/// Options of a run on several hosts.
struct HostsRequest {
  std::string names;
  std::string file;
  std::string exported;
  HostsOptions options;
  std::string transport;
  std::string only_with_hosts;  ///< an option given that has no meaning without
};

/// The parts between commas. Throws BadInput if one is empty.
std::vector<std::string> parts_of(const std::string& list, const std::string& option) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end == begin) throw BadInput(fmt::format("{} '{}': a name between the commas is empty.", option, list));
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string check_variable(const std::string& name) {
  const auto fits = [](char sign) { return std::isalnum(static_cast<unsigned char>(sign)) != 0 || sign == '_'; };
  if (!std::all_of(name.begin(), name.end(), fits) || std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
    throw BadInput(fmt::format(
        "--export: '{}' is no name of an environment variable. Give names alone, with commas between.", name));
  }
  return name;
}

/// Throws BadInput if they do not go together.
void set_hosts(HostsRequest& hosts, Size& size, RunRequest& request) {
  if (!hosts.file.empty()) {
    HostFile file = read_hostfile(hosts.file);
    hosts.options.hosts = std::move(file.hosts);
    // A node on each host, with a thread for each slot.
    const bool has_layout = size.threads || size.threads_per_node ||
                            size.nodes.value_or(hosts.options.hosts.size()) != hosts.options.hosts.size();
    if (!file.slots.empty() && !has_layout) {
      size.threads_per_node = file.slots.front();
      if (std::ranges::adjacent_find(file.slots, std::not_equal_to<>()) != file.slots.end()) {
        throw BadInput(fmt::format(
            "{}: the hosts' slots differ ({}), but all nodes need the same number of threads. Give -n THREADS "
            "or --threads-per-node T",
            hosts.file, fmt::join(file.slots, ", ")));
      }
    }
  } else if (!hosts.names.empty()) {
    for (const std::string& name : parts_of(hosts.names, "--hosts")) {
      hosts.options.hosts.push_back(parse_host(name, "--hosts"));
    }
  } else if (!hosts.only_with_hosts.empty()) {
    throw BadInput(
        fmt::format("{} is for several hosts: name them by --hosts a,b,c or --hostfile FILE", hosts.only_with_hosts));
  } else {
    request.cluster.transport = hosts.transport == "tcp" ? dsm::Transport::tcp : dsm::Transport::unix_sockets;
    return;
  }
  if (!hosts.exported.empty()) {
    for (const std::string& name : parts_of(hosts.exported, "--export"))
      request.exported.push_back(check_variable(name));
  }
  check_address(hosts.options.listen, "--listen");
  if (hosts.transport == "unix") {
    throw BadInput("--transport unix reaches no other host. Leave it out with --hosts: the transport is tcp then.");
  }
  request.cluster.transport = dsm::Transport::tcp;
  if (request.cluster.emulation) {
    throw BadInput(
        "--emulate is for one machine: its processes look at the emulated network in memory that they share, which "
        "hosts do not. Leave --hosts or --emulate out.");
  }
  request.cluster.hosts = hosts.options;
}

/// What the command line says, as far as the request does not hold it itself.
struct Options {
  explicit Options(const RunRequest& request)
      : placement(name_of(request.cluster.placement)), timeout(request.cluster.timeout.count()) {}

  Size size;
  HostsRequest hosts;
  std::string placement;
  std::string atomics;
  std::string asked_of_jiajia;  ///< an option that only it has
  std::string simulated_only;   ///< an option of sdsm simulate's that this command does not have
  std::string page_size;
  std::optional<Invalidation> invalidation;
  double timeout;  ///< seconds
  std::string emulated_platform;
  std::string emulated_trace;
  trace::ComputeScale scale;
};

void add_size(CommandLine& app, Size& size) {
  const Check count = whole_number(1, dsm::most_processes);
  app.add_option("-n,--threads", size.threads, "OpenMP threads (OMP_NUM_THREADS of the program), each a process")
      .check(count)
      .type_name("THREADS");
  app.add_option("--nodes", size.nodes, "nodes of the cluster (as many as threads)").check(count).type_name("N");
  app.add_option("--threads-per-node", size.threads_per_node, "threads of each node (1)").check(count).type_name("T");
}

void add_hosts(CommandLine& app, HostsRequest& hosts) {
  const Option on_hosts =
      app.add_option("--hosts", hosts.names,
                     "run the nodes on these machines, which have sdsm, the program and this folder at the same paths: "
                     "one node on each, or --nodes dealt out in turn. ADDRESS: IPv4, of the host in the nodes' network")
          .check(&name_problem)
          .type_name("HOST[=ADDRESS],...");
  add_name(
      app, "--hostfile", hosts.file,
      "read the hosts from this file instead, one a line: HOST[=ADDRESS] [slots=N] or HOST:N. Each host gets one node "
      "with N threads; -n or --threads-per-node overrides N")
      .excludes(on_hosts);
  const auto only_with_hosts = [&](const std::string& option, const Check& check) {
    return [&hosts, option, check](const std::string& text) {
      hosts.only_with_hosts = option;
      return check(text);
    };
  };
  app.add_option("--launcher", hosts.options.launcher,
                 "shell command that starts a command on a host and passes its standard streams on")
      .capture_default_str()
      .check(only_with_hosts("--launcher", &name_problem))
      .type_name("'ssh {host}'");
  app.add_option("--listen", hosts.options.listen, "IPv4 address of this machine at which the hosts reach it")
      .capture_default_str()
      .check(only_with_hosts("--listen", &name_problem))
      .type_name("ADDRESS");
  app.add_option("--export", hosts.exported,
                 "names of environment variables for the program on the hosts, beside OMP_*, GOMP_*, SDSM_*, LD_*, "
                 "LC_*, LANG, PATH, HOME, USER, TZ, TMPDIR")
      .check(only_with_hosts("--export", &name_problem))
      .type_name("NAME,...");
  app.add_option("--transport", hosts.transport,
                 "sockets that nodes exchange messages through [unix; tcp with --hosts]")
      .check(one_of({"unix", "tcp"}))
      .type_name("unix|tcp");
}

void add_emulation(CommandLine& app, Options& options) {
  const Option emulate = add_name(app, "--emulate", options.emulated_platform,
                                  "put the network of this platform (a file, or a name of sdsm's own) between the "
                                  "nodes: reference.*, frame.*",
                                  "PLATFORM");
  add_name(app, "--trace", options.emulated_trace,
           "trace of this program with as many threads: each interval of computing takes as long as in the trace, "
           "scaled (the process sleeps for the rest)",
           "TRACE")
      .needs(emulate);
  trace::add_options(app, options.scale);
}

void add_outputs(CommandLine& app, RunRequest& request) {
  add_output(app, "--json", request.json, "write the results to this file, or to stdout with -");
  add_output(app, "--pages", request.pages,
             "write what each page cost each process to this file (or - for stdout), as a CSV table");
  add_output(app, "--order", request.order,
             "write the order in which each node's processes took their faults and locks to this file, for "
             "sdsm simulate --order");
  timelines::add_options(app, request.timeline);
  app.add_flag("-q,--quiet", request.is_quiet, "no report on stderr");
}

/// Throws BadInput if the outputs name pages of another size.
void check_page_size(const RunRequest& request) {
  if (request.cluster.page == least_page) return;
  const auto refuse = [&](const char* option, const char* why) {
    throw BadInput(
        fmt::format("pages of {} bytes (--page-size): {} {} pages of {} bytes. Leave it out, or give "
                    "--page-size {}",
                    request.cluster.page.count, option, why, least_page.count, least_page.count));
  };
  if (!request.order.empty()) refuse("--order", "is of");
  if (!request.pages.empty()) refuse("--pages", "names");
}

/// What sdsm simulate has under jiajia and this command does not, so that it can say so. The help does not show them.
void add_simulated_only(CommandLine& app, Options& options) {
  for (const char* option : {"--first-touch-migration", "--fork", "--quirks", "--privatize"}) {
    app.add_option_function<std::string>(option,
                                         [&options, option](const std::string&) { options.simulated_only = option; })
        .group("");
  }
}

/// Throws BadInput where JIAJIA is asked for what it does not have, or sdsm run does not have of it.
void check_jiajia(const RunRequest& request, const Options& options) {
  if (!options.simulated_only.empty()) {
    throw BadInput(
        fmt::format("{} is simulated only: of JIAJIA's own rules sdsm run has --scope, --home-migration and "
                    "--adaptive-write-detection. Leave it out, or give it to sdsm simulate",
                    options.simulated_only));
  }
  check_order(!request.order.empty(), request.cluster.protocol);
  check_asked_of_jiajia(options.asked_of_jiajia, request.cluster.protocol);
  if (!tables_of(request.cluster.protocol).traits.has_scopes) return;
  const auto refuse = [](const std::string& what) {
    throw BadInput(what + " is not run under jiajia. Leave it out, or give --protocol scash");
  };
  if (!options.atomics.empty() && options.atomics != "lock" && options.atomics != "refuse") {
    refuse("--atomics " + options.atomics);
  }
  if (request.cluster.hosts && request.cluster.layout.threads_per_node > 1) {
    refuse("--hosts with several threads a node");
  }
}

void add_rules(CommandLine& app, Options& options, RunRequest& request) {
  add_size(app, options.size);
  add_protocol(app, request.cluster.protocol, [](const ProtocolRow& row) { return row.why_not_run; });
  add_prefetch(app, request.cluster.prefetch);
  add_invalidation(app, options.invalidation, "all");
  app.add_option("--placement", options.placement,
                 "homes of heap blocks and static arrays: as the program asks, or one rule for all [as-asked]")
      .check(one_of({"as-asked", "round-robin", "block", "first-touch"}))
      .type_name("as-asked|round-robin|block|first-touch");
  app.add_option("--page-size", options.page_size,
                 "size of a page: 4096 bytes times a power of two, up to 64KiB. Larger pages have several of the "
                 "machine's [4096]")
      .check(&page_size_text_problem)
      .type_name("BYTES");
  app.add_option(
         "--atomics", options.atomics,
         "do inline atomic operations (omp atomic, a reduction over one variable, std::atomic, omp flush) at the "
         "page's home, under one lock as Omni does, or at the home without ordering other memory; or refuse "
         "programs that have any, and show their places [home; under jiajia lock]")
      .check(one_of({"home", "lock", "relaxed", "refuse"}))
      .type_name("home|lock|relaxed|refuse");
  add_jiajia_rules(app, request.cluster.jiajia, options.asked_of_jiajia);
}

int run(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--agent") return run_agent();
  Arguments arguments(argc, argv);
  RunRequest request;
  Options options(request);
  CommandLine app(help, "sdsm run");
  app.footer(footer);
  add_rules(app, options, request);
  add_simulated_only(app, options);
  add_hosts(app, options.hosts);
  app.add_option("--timeout", options.timeout,
                 "end the run when a process has not answered for this long. A process that computes answers, so a "
                 "program may run for ever")
      .check(number(0.1, 1e6))
      .capture_default_str()
      .type_name("SECONDS");
  app.add_flag("--bind", request.cluster.is_bound,
               "run each process on one processor of its machine, in turn, so that times differ less from run to run: "
               "as sdsm microbench --bind measures");
  app.add_option("--repeat", request.repeat, "number of runs, one after another; the results are the median run's")
      .check(whole_number(1, 10'000))
      .capture_default_str()
      .type_name("N");
  add_emulation(app, options);
  add_outputs(app, request);
  if (!app.parse(std::move(arguments.own))) return done;
  request.program = std::move(arguments.program);
  request.cluster.placement = *heap_placement_named(options.placement);
  if (options.atomics.empty()) {
    request.cluster.atomics =
        tables_of(request.cluster.protocol).traits.operates_in_lock ? Atomics::lock : Atomics::home;
  } else {
    request.cluster.atomics = atomics_named(options.atomics);
  }
  if (request.program.empty()) {
    throw BadInput("no program to run. Put it behind --: sdsm run -n 4 -- PROGRAM ARGUMENTS");
  }
  request.cluster.wants_page_figures = !request.pages.empty();
  request.cluster.wants_order = !request.order.empty();
  if (!options.page_size.empty()) request.cluster.page = parse_page_size(options.page_size);
  check_page_size(request);
  check_invalidation(options.invalidation, request.cluster.protocol);
  request.cluster.invalidation = options.invalidation.value_or(Invalidation::all);
  check_prefetch(request.cluster.prefetch, request.cluster.wants_order);
  request.cluster.timeout = std::chrono::duration<double>(options.timeout);
  trace::check_scale(options.scale);
  if (options.scale.is_given() && options.emulated_trace.empty()) {
    throw BadInput("--sequential-time and --compute-factor scale the compute times of a trace. Name it with --trace");
  }
  if (!options.emulated_platform.empty()) {
    request.cluster.emulation = {find_platform(options.emulated_platform), std::nullopt, options.scale};
    if (!options.emulated_trace.empty()) request.cluster.emulation->trace = options.emulated_trace;
  }
  set_hosts(options.hosts, options.size, request);
  request.cluster.layout = layout_of(options.size, static_cast<std::uint32_t>(options.hosts.options.hosts.size()));
  check_jiajia(request, options);
  const timelines::Selection shown = selection_of(request.timeline, request.cluster.layout.processes());
  if (!request.timeline.file.empty()) {
    if (request.cluster.hosts) {
      throw BadInput(
          "--timeline needs processes that share a clock, and those of several --hosts do not. Leave one of both out");
    }
    request.cluster.timeline_events = shown.most_events;
  }
  return run_program(request);
}

}  // namespace

int main(int argc, char** argv) {
  return exit_status_of([&] { return run(argc, argv); });
}
