"""sdsm sweep: the command line."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sdsm.base import places
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.command_line import BAD_INPUT, BadInput, Parser, command, file_name, say, whole, with_reason
from sdsm.base.output_file import csv_text, json_text, write_output
from sdsm.base.run_result import why_doubtful
from sdsm.sweep import kept, parquet, slurm
from sdsm.sweep.points import Point, points
from sdsm.sweep.results import Computer, Done, Here, processors, simulate
from sdsm.sweep.spec import Spec, read_spec
from sdsm.sweep.table import rows

DESCRIPTION = """\
Simulate every combination of platforms, layouts, placements and costs that a file asks for.

Writes points.csv (a row each), sweep.json, time.svg and .png (time over one axis) and, over two axes, heat.svg and .png, and
answers what the file asks. Results are kept
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
Further axes: all options of `sdsm simulate`, with _ for - (threads_per_node, protocol, network, jitter, seed, ...; true or
false for those without a value). Seeds are drawn as samples. x = "AXIS" is what to draw over, panels = "AXIS" what gets a
panel for each value.

examples:
  sdsm sweep nodes.toml                    writes into nodes-sweep/
  sdsm sweep nodes.toml -o results/nodes -j 8 --parquet
  sdsm sweep nodes.toml --dask tcp://head:8786
  sdsm sweep nodes.toml --slurm 20 && sbatch nodes-sweep/sweep.sbatch

Exit status: 0 done, 1 every point failed or a file could not be written, 2 bad usage or input."""


def address(text: str) -> str:
    if not re.fullmatch(r"(tcp|tls|ws|wss|inproc|ucx)://\S+", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no address of a Dask scheduler. Write it as tcp://HOST:8786")
    return text


def part(text: str) -> tuple[int, int]:
    """Parses "2/8". Raises ValueError."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if not match or not 0 < int(match[1]) <= int(match[2]):
        raise ValueError(f"'{text}' is no part. Write the second of eight as 2/8")
    return int(match[1]), int(match[2])


def parser() -> argparse.ArgumentParser:
    p = Parser(prog="sdsm sweep", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("spec", type=file_name, metavar="SPEC.toml", help="what to sweep over")
    p.add_argument("-o", "--output", type=file_name, metavar="FOLDER", help="for all that it writes (default: NAME-sweep, of NAME.toml, here)")
    p.add_argument("-j", "--jobs", type=whole(1, 1024), metavar="N", help="simulations at once (default: the processors)")
    p.add_argument("--parquet", action="store_true", help="write points.parquet, too (needs pyarrow)")
    where = p.add_mutually_exclusive_group()
    where.add_argument("--dask", type=address, metavar="tcp://HOST:PORT", help="simulate on the workers of this Dask scheduler, which have the same files at the same paths")
    where.add_argument("--slurm", type=whole(1, slurm.MOST_TASKS), metavar="TASKS", help="only write an array job, sweep.sbatch, of so many tasks (at most one for each point)")
    p.add_argument("--part", type=with_reason(part), metavar="K/N", help="simulate only the K-th of N parts, and write no table (what a task does)")
    p.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    return p


@command
def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    options = parser().parse_args(arguments)
    if options.parquet:
        parquet.check()
    spec = read_spec(options.spec)
    folder: Path = options.output or Path(f"{options.spec.stem}-sweep")

    def tell(line: str) -> None:
        if not options.quiet:
            say(line)

    if options.slurm:
        todo = _points(spec, folder, tell)
        tasks = min(options.slurm, len(todo))
        write_output(folder / "sweep.sbatch", slurm.script(places.PROGRAMS / "sdsm", options.spec, folder, tasks))
        print(f"{folder}/sweep.sbatch: {len(todo)} points in {tasks} tasks. Submit it with sbatch, then call this again without --slurm")
        return 0
    with computer(options.dask, options.jobs) as (here, jobs):
        if options.part:
            return _simulate_part(_points(spec, folder, tell), options.part, folder, here, jobs, tell)
        done, answers = swept(spec, folder, here, jobs, tell)
    print(f"{folder}/points.csv: {len(done)} points{_doubtful(done)}")
    if options.parquet:
        write_output(folder / "points.parquet", parquet.content(rows(done)))
        print(f"{folder}/points.parquet")
    _draw(spec, done, folder)
    for sentence in answers:
        print(sentence)
    return _status(done)


def _doubtful(done: Sequence[Done]) -> str:
    results = [one.result for one in done if one.result is not None and one.result.doubts]
    if not results:
        return ""
    return f", {len(results)} of them {why_doubtful(dict.fromkeys(name for one in results for name in one.doubts))}"


def _status(done: Sequence[Done]) -> int:
    failed = [one for one in done if one.result is None]
    if failed:
        say(f"{len(failed)} of {len(done)} points failed; points.csv says why of each. The first: {failed[0].error}")
    return 1 if failed and len(failed) == len(done) else 0


def _simulate_part(
    todo: Sequence[Point], part: tuple[int, int], folder: Path, here: Computer, jobs: int, tell: Callable[[str], None]
) -> int:
    number, parts = part
    return _status(simulate(todo[number - 1 :: parts], folder / kept.RESULTS, here, jobs, tell))


@contextlib.contextmanager
def computer(dask: str | None, jobs: int | None) -> Iterator[tuple[Computer, int]]:
    """Yields the computer for simulations, and how many run at once. Raises BadInput."""
    if dask is None:
        yield Here(CommandRunner()), jobs or processors()
        return
    from sdsm.sweep.cluster import cluster

    with cluster(dask) as found:
        yield found, jobs or 2 * found.threads


def _points(spec: Spec, folder: Path, tell: Callable[[str], None]) -> list[Point]:
    """Makes missing traces. Raises BadInput, CommandFailed."""
    results = folder / kept.RESULTS
    try:
        found = points(spec, CommandRunner(), results, tell)
    except CommandFailed as error:
        raise (BadInput(error.said) if error.status == BAD_INPUT else error) from None
    tell(f"{len(found)} point{'' if len(found) == 1 else 's'}")
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be made a folder ({error.strerror}). Name another by -o") from None
    return found


def swept(
    spec: Spec, folder: Path, here: Computer, jobs: int, tell: Callable[[str], None]
) -> tuple[list[Done], list[str]]:
    """Simulates what `folder` lacks, writes points.csv and sweep.json there, and answers. Raises BadInput, CommandFailed,
    OSError."""
    done = simulate(_points(spec, folder, tell), folder / kept.RESULTS, here, jobs, tell)
    write_output(folder / "points.csv", csv_text(rows(done)))
    document = kept.document(spec, done)
    write_output(folder / kept.NAME, json_text(document))
    return done, document["answers"]


def _draw(spec: Spec, done: Sequence[Done], folder: Path) -> None:
    from sdsm.plot.style import write_figure
    from sdsm.sweep.figure import pictures

    for name, figure in pictures(spec, done).items():
        for ending in (".svg", ".png"):
            write_figure(figure, folder / f"{name}{ending}")
        print(f"{folder}/{name}.svg, {name}.png")
