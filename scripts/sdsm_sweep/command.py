"""sdsm sweep: the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from calibration.children import CommandFailed, CommandRunner
from calibration.command_line import BAD_INPUT, BadInput, Parser, command, file_name, say, whole
from calibration.output_file import json_text, write_output
from sdsm_sweep import kept
from sdsm_sweep.points import points
from sdsm_sweep.results import Done, processors, simulate
from sdsm_sweep.spec import Spec, read_spec
from sdsm_sweep.table import text

DESCRIPTION = """\
Simulate every combination of platforms, layouts, placements and costs that a file asks for.

Writes points.csv (a row each), sweep.json and time.svg and .png (time over one axis), and answers what the file asks. Results are kept
in the same folder under the hash of all that they come from: a sweep that was interrupted goes on where it was, and one
whose file has grown simulates what is new. A point that fails is recorded and stops no other."""

EPILOG = """\
A file, nodes.toml (TOML; each value may be a list; names of files are relative to it):
  program = ["./cg", "1000"]               # traced for each number of threads; or traces = ["2.trace", "4.trace"]
  platform = "p3-score"
  nodes = [2, 4, 8]
  placement = ["as-asked", "block"]
  find = "nodes at which time is least"    # or speedup, greatest
  [set]                                    # properties of the platform, as --set of sdsm simulate has them
  "network.bandwidth" = ["100Mbps", "1Gbps"]
Further axes: threads_per_node, network, protocol, atomics, region, sequential_time, sequential_trace, compute_factor,
memory_bound, jitter, seed (drawn as samples); x = "AXIS" is what to draw over.

examples:
  sdsm sweep nodes.toml                    writes into nodes-sweep/
  sdsm sweep nodes.toml -o results/nodes -j 8

Exit status: 0 done, 1 every point failed or a file could not be written, 2 bad usage or input."""


def parser() -> argparse.ArgumentParser:
    p = Parser(prog="sdsm sweep", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("spec", type=file_name, metavar="SPEC.toml", help="what to sweep over")
    p.add_argument("-o", "--output", type=file_name, metavar="FOLDER", help="for all that it writes (default: NAME-sweep, of NAME.toml, here)")
    p.add_argument("-j", "--jobs", type=whole(1, 1024), metavar="N", help="simulations at once (default: the processors)")
    p.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    return p


@command
def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    options = parser().parse_args(arguments)
    spec = read_spec(options.spec)
    folder: Path = options.output or Path(f"{options.spec.stem}-sweep")
    done, told = swept(spec, folder, options.jobs, lambda line: None if options.quiet else say(line))
    print(f"{folder}/points.csv: {len(done)} points")
    _draw(spec, done, folder)
    for sentence in told:
        print(sentence)
    failed = [one for one in done if one.result is None]
    if failed:
        say(f"{len(failed)} of {len(done)} points failed; points.csv says why of each. The first: {failed[0].error}")
    return 1 if len(failed) == len(done) else 0


def swept(spec: Spec, folder: Path, jobs: int | None, tell: Callable[[str], None]) -> tuple[list[Done], list[str]]:
    """Simulates what is not kept in `folder`, writes points.csv there, and answers. Raises BadInput, CommandFailed, OSError."""
    results = folder / kept.RESULTS
    runner = CommandRunner()
    try:
        todo = points(spec, runner, results, tell)
    except CommandFailed as error:
        raise (BadInput(error.said) if error.status == BAD_INPUT else error) from None
    tell(f"{len(todo)} point{'' if len(todo) == 1 else 's'}")
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be made a folder ({error.strerror}). Name another by -o") from None
    done = simulate(todo, results, runner, jobs or processors(), tell)
    write_output(folder / "points.csv", text(done))
    told = kept.document(spec, done)
    write_output(folder / kept.NAME, json_text(told))
    return done, told["answers"]


def _draw(spec: Spec, done: Sequence[Done], folder: Path) -> None:
    from sdsm_report.figures.style import write_figure
    from sdsm_sweep.figure import draw

    figure = draw(spec, done)
    if figure is not None:
        for ending in (".svg", ".png"):
            write_figure(figure, folder / f"time{ending}")
        print(f"{folder}/time.svg, time.png")
