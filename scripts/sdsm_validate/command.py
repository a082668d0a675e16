"""sdsm validate: the command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calibration import costs
from calibration.children import CommandRunner
from calibration.command_line import BadInput, Parser, RunFailed, command, file_name, platform_name, say, whole
from calibration.output_file import json_text, write_output
from calibration.places import PLATFORMS, PROGRAMS, RESULTS
from sdsm_report.progress import Progress
from sdsm_validate import plan, tables
from sdsm_validate.measure import Cluster, Effort, Measurer, attempt, steps
from sdsm_validate.outcome import Line, accuracy

NETWORK = PLATFORMS / "p3-score.xml"
LOCAL = PLATFORMS / "one-machine.xml"

DESCRIPTION = """\
Validate the simulator against the native DSM: predict programs from their traces, run them, compare.

Two clusters: an emulated one (real protocol, emulated network and processors: eight slow nodes on a few processors), and
this machine as it is. On each, `sdsm microbench` measures what the protocol costs, a platform file is made of that, and
Laplace 3, 4, 6 and FFT 2, 4 are traced, simulated and really run. No program's time goes into the platform file.

Prints both tables; writes tables (text, CSV, JSON), the plot of predicted against measured speedup (PNG, SVG), platform
files, traces and every run's JSON to RESULTS. About 15 minutes on an idle machine; other work disturbs it."""

EPILOG = """\
The interval is a confidence interval of the measured median (order statistics). Exit status: 0 done, 1 something failed
(the rest is there), 2 bad usage."""


def counts(text: str) -> tuple[int, ...]:
    """Node counts of "2,4,8"."""
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() and 2 <= int(part) <= 64 for part in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of node counts from 2 to 64, such as 2,4,8")
    return tuple(sorted({int(part) for part in parts}))


def parser() -> argparse.ArgumentParser:
    p = Parser(
        prog="sdsm validate", description=DESCRIPTION, epilog=EPILOG
    )
    p.add_argument("--only", choices=("emulated", "as-is"), help="one of the two clusters")
    p.add_argument("--emulate", type=platform_name, default=NETWORK, metavar="PLATFORM", help=f"network to emulate ({NETWORK.name})")
    p.add_argument("--nodes", type=counts, default=(2, 4, 8), metavar="LIST", help="of the emulated cluster (default: 2,4,8)")
    p.add_argument("--repeat", type=whole(1, 1000), metavar="N", help="runs of each program (default: 10, with --quick 3)")
    p.add_argument("--seeds", type=whole(1, 1000), metavar="N", help="simulations of each (default: 10, with --quick 3)")
    p.add_argument("--quick", action="store_true", help="less work in each program: a tenth of the time, larger errors")
    p.add_argument(
        "--slower", type=float, default=1.0, metavar="FACTOR", help="emulated processors slower by this factor (default: 1)"
    )
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
    size = plan.Size(
        size.laplace_iterations,
        size.fft_points,
        size.laplace_sequential_s * options.slower,
        size.fft_sequential_s * options.slower,
    )
    repeat = options.repeat or (3 if options.quick else 10)
    seeds = options.seeds or (3 if options.quick else 10)
    samples = 20 if options.quick else 60
    clusters = []
    if options.only != "as-is":
        clusters.append(
            (Cluster("emulated", options.emulate.resolve(), True), Effort(size, options.nodes, repeat, seeds, samples))
        )
    if options.only != "emulated":
        # The simulator gives each node processors of its own: more processes than processors are another machine.
        nodes = tuple(count for count in (2, 4, 8) if count <= len(os.sched_getaffinity(0)))
        if nodes:
            clusters.append((Cluster("as-is", LOCAL, False), Effort(size, nodes, repeat, seeds, samples)))
        else:
            say("this machine has one processor: nothing can be compared on it as it is")
    load = os.getloadavg()[0]
    if load > 0.7:
        say(f"the load average is {load:.1f}: other work disturbs what is measured")
    return _campaign(clusters, options.build.resolve(), options.results)


#: What costs a cluster its lines, and is told.
FAILURES = (BadInput, RunFailed, OSError)


def _problem(options: argparse.Namespace) -> str | None:
    if not (options.build / "sdsm").is_file():
        return f"{options.build / 'sdsm'} does not exist. Build it: cmake --preset release && cmake --build --preset release"
    if not options.emulate.is_file():
        return f"{options.emulate} is no file. Name a platform file with --emulate"
    if not 0.01 <= options.slower <= 1000:
        return f"--slower {options.slower:g} is not from 0.01 to 1000"
    return None


def _campaign(clusters: Sequence[tuple[Cluster, Effort]], build: Path, results: Path) -> int:
    results.mkdir(parents=True, exist_ok=True)
    costs.use(build)
    runner = CommandRunner()
    done: list[tuple[str, list[Line]]] = []
    failed = False
    total = sum(steps(effort, plan.cases(effort.nodes), cluster.emulated) for cluster, effort in clusters)
    try:
        with Progress(total) as progress:
            for cluster, effort in clusters:
                lines: list[Line] = []
                done.append((cluster.name, lines))
                measurer = Measurer(build, results / cluster.name, cluster, effort, runner, progress.finish)
                try:
                    calibration = measurer.calibrate()
                except FAILURES as error:
                    progress.say(f"{cluster.name}: no platform file: {error}")
                    failed = True
                    continue
                for why in calibration.left_out:
                    progress.say(f"{cluster.name}: left out, as it cannot be: {why}")
                for case in plan.cases(effort.nodes):
                    outcome = attempt(measurer, case, calibration)
                    if isinstance(outcome, str):
                        progress.say(f"{case.name} failed: {outcome}")
                        failed = True
                    else:
                        lines.append(outcome)
    except KeyboardInterrupt:
        runner.stop()
        say("interrupted; writing what is done")
        failed = True
    _write(done, results)
    say(f"results are in {results}")
    return 1 if failed else 0


def _write(done: Sequence[tuple[str, Sequence[Line]]], results: Path) -> None:
    names = {
        "emulated": "Emulated cluster (network and processors emulated, protocol real)",
        "as-is": "This machine as it is",
    }
    text, summary = [], {}
    for name, lines in done:
        rows = tables.document(lines)
        text.append(f"{names[name]}\nCosts: measured by microbench on it. Times of programs: predicted.\n{tables.text(lines)}\n")
        write_output(results / f"{name}.csv", tables.comma_separated(rows))
        error: Any = accuracy(lines)
        summary[name] = {"lines": rows, "accuracy": vars(error) if error else None}
    write_output(results / "validation.json", json_text(summary))
    write_output(results / "tables.txt", "\n".join(text))
    print("\n".join(text), flush=True)
    from sdsm_report.figures.style import save
    from sdsm_validate.figure import draw

    figure = draw([(names[name].split(" (")[0], lines) for name, lines in done])
    if figure is not None:
        save(figure, results, "predicted_measured")
