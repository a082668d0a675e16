"""sdsm validate: the command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sdsm.base import costs
from sdsm.base.children import CommandRunner
from sdsm.base.command_line import BadInput, Parser, RunFailed, command, file_name, platform_name, say, whole
from sdsm.base.output_file import json_text, write_output
from sdsm.base.places import PLATFORMS, PROGRAMS, RESULTS
from sdsm.base.progress import Progress
from sdsm.validate import epcc, plan, tables
from sdsm.validate.measure import Cluster, Effort, Measurer, steps
from sdsm.validate.outcome import Line, accuracy

NETWORK = PLATFORMS / "p3-score.xml"
LOCAL = PLATFORMS / "one-machine.xml"
NODES, EPCC_NODES = (2, 4, 8), (2, 4)
#: Clusters with SCASH's costs.
PROTOCOLS = ("scash", "home-open")

DESCRIPTION = """\
Validate the simulator against the native DSM: predict programs from their traces, run them, compare.

Two clusters: an emulated one (real protocol, emulated network and processors: eight slow nodes on a few processors), and
this machine as it is, each process bound to a processor (`sdsm run --bind`). On each, Laplace 3, 4, 6 and FFT 2, 4, 5, 6 are
traced; then `sdsm microbench` measures what SCASH costs and the programs are really run, in turn, as machines change from
minute to minute; a platform file is made of the costs, and the programs are simulated. No program's time goes into the file.
On the emulated cluster the program epcc (EPCC's ten directives) is traced, run and simulated, too, on 2 and 4 nodes:
the table that it prints by the predicted clock (`sdsm simulate --output`) is held against the one that it prints when
really run.

Prints the tables; writes tables (text, CSV, JSON), the plots of predicted against measured speedup and overhead (PNG,
SVG), platform files, traces and every run's JSON to RESULTS. About 25 minutes on an idle machine; other work disturbs it."""

EPILOG = """\
The interval holds the true median of the runs with the confidence beside it. Exit status: 0 done, 1 something failed
(the rest is there), 2 bad usage."""


def counts(text: str) -> tuple[int, ...]:
    """Parses node counts such as "2,4,8"."""
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() and 2 <= int(part) <= 64 for part in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of node counts from 2 to 64, such as 2,4,8")
    return tuple(sorted({int(part) for part in parts}))


def parser() -> argparse.ArgumentParser:
    p = Parser(prog="sdsm validate", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("--only", choices=("emulated", "as-is", "epcc"), help="one of the two clusters, or EPCC's table alone")
    p.add_argument("--emulate", type=platform_name, default=NETWORK, metavar="PLATFORM", help=f"network to emulate ({NETWORK.name})")
    p.add_argument("--nodes", type=counts, metavar="LIST", help="of the emulated cluster (default: 2,4,8; of epcc 2,4)")
    p.add_argument("--protocol", default="scash", metavar="scash|home-open", help="protocol of runs and simulations (scash)")
    p.add_argument("--repeat", type=whole(1, 1000), metavar="N", help="runs of each program (default: 10, with --quick 3)")
    p.add_argument("--seeds", type=whole(1, 1000), metavar="N", help="simulations of each (default: 10, with --quick 3)")
    p.add_argument("--quick", action="store_true", help="less work in each program: a tenth of the time, larger errors")
    slower = "emulated processors slower by this factor (default: 1)"
    p.add_argument("--slower", type=float, default=1.0, metavar="FACTOR", help=slower)
    p.add_argument("--results", type=file_name, default=RESULTS / "validation", help="folder (results/validation/)")
    p.add_argument("--build", type=file_name, default=PROGRAMS, help="folder of the built commands (default: this sdsm's)")
    return p


@command
def main(arguments: list[str] | None = None) -> int:
    """Runs the campaign. Returns the exit status."""
    options = parser().parse_args(arguments)
    if problem := _problem(options):
        raise BadInput(problem)
    size = plan.QUICK if options.quick else plan.WHOLE
    laplace_s, fft_s = size.laplace_sequential_s * options.slower, size.fft_sequential_s * options.slower
    size = replace(size, laplace_sequential_s=laplace_s, fft_sequential_s=fft_s)
    repeat = options.repeat or (3 if options.quick else 10)
    seeds = options.seeds or (3 if options.quick else 10)

    def effort(nodes: tuple[int, ...], samples: int, programs: bool = True) -> Effort:
        return Effort(size, nodes, repeat, seeds, samples, tuple(plan.cases(nodes)) if programs else ())

    clusters = []
    if options.only != "as-is":
        only_epcc = options.only == "epcc"
        nodes = options.nodes or (EPCC_NODES if only_epcc else NODES)
        clusters.append((Cluster("emulated", options.emulate.resolve(), True, options.protocol), effort(nodes, 20 if options.quick else 60, not only_epcc)))
    if options.only in (None, "as-is"):
        # The simulator gives each node processors of its own, so more processes than processors are another machine.
        nodes = tuple(count for count in NODES if count <= len(os.sched_getaffinity(0)))
        if nodes:
            clusters.append((Cluster("as-is", LOCAL, False, options.protocol), effort(nodes, 20 if options.quick else 100)))
        else:
            say("this machine has one processor: nothing can be compared on it as it is")
    load = os.getloadavg()[0]
    if load > 0.7:
        say(f"the load average is {load:.1f}: other work disturbs what is measured")
    epcc_nodes = (options.nodes or EPCC_NODES) if options.only in (None, "epcc") else ()
    suite = epcc.QUICK if options.quick else epcc.WHOLE
    return _campaign(clusters, epcc_nodes, suite, options.build.resolve(), options.results)


#: Programs whose absence a campaign would otherwise notice only after its microbenchmarks.
NEEDED = ("sdsm", "sdsm-run", "sdsm-costs", "microbench")
#: Errors that cost a cluster its lines, and are reported.
FAILURES = (BadInput, RunFailed, OSError)


def _problem(options: argparse.Namespace) -> str | None:
    for name in NEEDED:
        if not (options.build / name).is_file():
            return f"{options.build / name} does not exist. Build it: cmake --preset release && cmake --build --preset release"
    if options.protocol not in PROTOCOLS:
        return (
            f"--protocol {options.protocol}: validated are {' and '.join(PROTOCOLS)}, whose costs microbench measures. It "
            "measures no other protocol's"
        )
    if not options.emulate.is_file():
        return f"{options.emulate} is no file. Name a platform file with --emulate"
    if not 0.01 <= options.slower <= 1000:
        return f"--slower {options.slower:g} is not from 0.01 to 1000"
    return None


@dataclass
class Done:
    """The results of a cluster's campaign."""

    protocol: str
    lines: list[Line] = field(default_factory=list)
    rows: list[epcc.Row] = field(default_factory=list)


def _campaign(
    clusters: Sequence[tuple[Cluster, Effort]], epcc_nodes: Sequence[int], suite: epcc.Suite, build: Path, results: Path
) -> int:
    results.mkdir(parents=True, exist_ok=True)
    costs.use(build)
    runner = CommandRunner()
    done: dict[str, Done] = {}
    failed = False
    total = sum(steps(effort, cluster.emulated) for cluster, effort in clusters) + len(epcc_nodes)
    try:
        with Progress(total) as progress:
            for cluster, effort in clusters:
                made = done[cluster.name] = Done(cluster.protocol)
                measurer = Measurer(build, results / cluster.name, cluster, effort, runner, progress.finish)
                try:
                    calibration = measurer.measure()
                except FAILURES as error:
                    progress.say(f"{cluster.name}: no platform file: {error}")
                    failed = True
                    continue
                for why in calibration.left_out:
                    progress.say(f"{cluster.name}: left out, as it cannot be: {why}")
                for case in effort.cases:
                    outcome = measurer.line(case, calibration)
                    if isinstance(outcome, str):
                        progress.say(f"{case.name} failed: {outcome}")
                        failed = True
                    else:
                        made.lines.append(outcome)
                if not cluster.emulated:
                    continue
                folder = results / EPCC_FOLDER
                table = epcc.Table(build, folder, cluster, calibration.platform, effort.repeat, suite, runner)
                for count in epcc_nodes:
                    try:
                        made.rows += table.rows(count)
                    except (*FAILURES, ValueError) as error:
                        progress.say(f"epcc on {count} nodes failed: {error}")
                        failed = True
                    progress.finish(f"epcc on {count} nodes: traced, run {effort.repeat} times, simulated")
    except KeyboardInterrupt:
        runner.stop()
        say("interrupted; writing what is done")
        failed = True
    _write(done, results)
    say(f"results are in {results}")
    return 1 if failed else 0


TITLES = {
    "emulated": "Emulated cluster (network and processors emulated, protocol real)",
    "as-is": "This machine as it is",
}
EPCC_FOLDER = "epcc"


def _write(done: Mapping[str, Done], results: Path) -> None:
    text: list[str] = []
    summary: dict[str, Any] = {}
    for name, made in done.items():
        rows = tables.document(made.lines)
        if made.lines or not made.rows:
            text.append(
                f"{TITLES[name]}\nProtocol: {made.protocol}. Costs: measured by microbench on it. Times of programs: predicted.\n{tables.text(made.lines)}\n"
            )
            if accounts := tables.accounts(made.lines):
                text.append(f"{accounts}\n")
        write_output(results / f"{name}.csv", tables.comma_separated(rows))
        error: Any = accuracy(made.lines)
        summary[name] = {"protocol": made.protocol, "lines": rows, "accuracy": vars(error) if error else None}
        if made.rows:
            directives = epcc.document(made.rows)
            agreement: Any = epcc.agreement(made.rows)
            summary["epcc"] = {"rows": directives, "agreement": vars(agreement)}
            text.append(f"EPCC's directives on the emulated cluster: overheads that the program printed\n{epcc.text(made.rows)}\n")
            write_output(results / "epcc.csv", tables.comma_separated(directives))
    write_output(results / "validation.json", json_text(summary))
    write_output(results / "tables.txt", "\n".join(text))
    print("\n".join(text), flush=True)
    from sdsm.plot.style import save
    from sdsm.validate.figure import draw

    figure = draw([(TITLES[name].split(" (")[0], made.lines) for name, made in done.items()])
    if figure is not None:
        save(figure, results, "predicted_measured")
    if measured := [row for made in done.values() for row in made.rows]:
        epcc.draw(results / EPCC_FOLDER, sorted({row.nodes for row in measured}), results)
