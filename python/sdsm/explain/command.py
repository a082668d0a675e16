"""sdsm explain: the command line."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from sdsm.base.children import CommandFailed
from sdsm.base.command_line import BAD_INPUT, BadInput, Parser, command, file_name, platform_name, say, whole
from sdsm.base.output_file import check_figure, check_outputs, json_text, print_or_write
from sdsm.explain.alternatives import PLACEMENTS, Layout, Point
from sdsm.explain.start import Started

DESCRIPTION = """\
Tell where a predicted time goes, which memory costs it, and what would help.

Simulates the trace, apportions faults and diffs to the program's arrays and lines, then simulates what could be otherwise:
padding, needless barriers or all locks left out, parallel initialisation, placements, layouts of the same threads, protocols,
sizes of pages, prefetch, --invalidation changed, the best of these together, faster machines, and the other shape of modelled
barriers. Prints a verdict first."""

EPILOG = """\
examples:
  sdsm trace --lines -n 4 -o cg.trace -- ./cg               (compiled with -g, so that lines have names)
  sdsm explain cg.trace -p p3-score -n 4
  sdsm explain cg.trace -p p3-score -n 4 --sequential-time 7.5s --plot cg.svg
  sdsm explain cg.trace -p p3-score -n 2 -t 2 --placement block --no-gains

These mean the same as in `sdsm simulate`: --network, --memory-bound, --jitter, --seed, --draws (21 runs by default),
--quiet-machine, --atomics, --region, --protocol, --page-size, --prefetch, --max-memory.
Exit status: 0 done, 1 the run failed, 2 bad usage or input."""

#: Options of `sdsm simulate` with a value, which are passed on unchanged.
HANDED_ON = (
    "--memory-bound", "--network", "--jitter", "--seed", "--draws", "--atomics", "--region", "--protocol", "--page-size", "--prefetch", "--max-memory",
)  # fmt: skip
MOST_NODES = 1 << 20
#: Of the runs of each simulation on a machine with noise, or with --jitter, for there are many simulations.
DRAWS = "21"


def parser() -> argparse.ArgumentParser:
    p = Parser(prog="sdsm explain", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("trace", type=file_name, metavar="TRACE", help="made by `sdsm trace`, best with --lines")
    p.add_argument("-p", "--platform", required=True, type=platform_name, help="platform file, or the name of one of sdsm's own")
    p.add_argument("-n", "--nodes", required=True, type=whole(1, MOST_NODES), metavar="N", help="nodes to use")
    p.add_argument("-t", "--threads-per-node", default=1, type=whole(1, MOST_NODES), metavar="T", help="threads on each (1)")
    p.add_argument("--placement", choices=PLACEMENTS, default=PLACEMENTS[0], help="homes of heap blocks and static arrays")
    scale = p.add_mutually_exclusive_group()
    scale.add_argument("--sequential-time", metavar="TIME", help="one-thread time on the target machine, e.g. 7.5s")
    scale.add_argument("--compute-factor", metavar="FACTOR", help="computing on the target for each second of the trace's")
    scale.add_argument("--from-host-speed", action="store_true", help="by the traced machine's speed over that of the platform's hosts")
    p.add_argument("--sequential-trace", type=file_name, metavar="TRACE", help="trace of one thread whose computing takes --sequential-time")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change the platform, as in `sdsm simulate`")
    for name in HANDED_ON:
        p.add_argument(name, help=argparse.SUPPRESS)
    p.add_argument("--quiet-machine", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--no-gains", action="store_true", help="simulate the point alone, no alternatives")
    p.add_argument("--json", type=file_name, metavar="FILE|-", help="write the same as JSON (docs/result-format.md)")
    p.add_argument("--plot", type=file_name, metavar="FILE", help="draw it: a .png, .svg or .pdf")
    p.add_argument("--folded", type=file_name, metavar="FILE|-", help="write the account by construct as folded stacks, for flame graphs; in ns")
    p.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    return p


def _point(options: argparse.Namespace) -> Point:
    scale: list[str] = []
    for name in ("sequential_time", "sequential_trace", "compute_factor"):
        value = getattr(options, name)
        if value is not None:
            scale += [f"--{name.replace('_', '-')}", str(value)]
    if options.from_host_speed:
        scale.append("--from-host-speed")
    given = [(name, getattr(options, name.removeprefix("--").replace("-", "_"))) for name in HANDED_ON]
    others = [word for name, value in given if value is not None for word in (name, value)]
    if options.draws is None:
        others += ["--draws", DRAWS]
    others += ["--quiet-machine"] * options.quiet_machine
    layout = Layout(options.nodes, options.threads_per_node)
    return Point(
        str(options.trace), str(options.platform), layout, options.placement, tuple(scale), tuple(options.set), tuple(others)
    )


@command
def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    options = parser().parse_args(arguments)
    check_figure(options.plot)
    inputs = [options.trace, options.platform, *([options.sequential_trace] if options.sequential_trace else [])]
    check_outputs([options.json, options.plot, options.folded], [str(one) for one in inputs])
    with tempfile.TemporaryDirectory(prefix="sdsm-explain-") as folder:
        try:
            point = _point(options)
            with Started(point, Path(folder)) as started:
                # Slow to load, so the simulation starts before.
                from sdsm.explain.explanation import document, explain
                from sdsm.explain.words import text

                found = explain(point, Path(folder), not options.no_gains, lambda line: None if options.quiet else say(line), started)
        except CommandFailed as error:
            if error.status == BAD_INPUT:
                raise BadInput(error.said) from None
            raise
    if options.json is not None:
        print_or_write(options.json, json_text(document(found)))
    if options.plot is not None:
        from sdsm.explain.figure import draw
        from sdsm.plot.style import write_figure

        write_figure(draw(found), options.plot)
    if options.folded is not None:
        from sdsm.explain.folded import folded

        print_or_write(options.folded, folded(found))
    if "-" not in (str(options.json), str(options.folded)):
        print(text(found))
    return 0
