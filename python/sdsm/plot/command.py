"""sdsm plot: the command line."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from sdsm.base.command_line import Parser, command, file_name, say, with_reason
from sdsm.calibrate.network import TIMES_US, quantity
from sdsm.plot.results import read_files
from sdsm.plot.series import Series, by_program

NAME = "speedup"

DESCRIPTION = """\
Plot speedup over threads from results of `sdsm simulate --json` (predicted) and `sdsm run --json` (measured).

A panel for each program, by its command line. Predictions made with --uncertainty have their middle 90 % as a
band; several predictions of the same thing (other seeds) and runs have the range from the least to the greatest, around
their median. A result of one thread begins every line whose other settings do not change its time: one
is enough for several placements. Prints the same as a table; writes speedup.png and speedup.svg."""

EPILOG = """\
examples:
  for n in 1 2 4; do
    sdsm trace -n $n -o $n.trace -- ./program
    sdsm simulate $n.trace -p machine.xml -n $n --uncertainty 100 --json predicted-$n.json
    sdsm run --bind -n $n --repeat 10 --json measured-$n.json -- ./program
  done
  sdsm plot predicted-*.json measured-*.json -o plots

Exit status: 0 done, 1 the figure could not be written, 2 bad usage or input."""


def seconds(text: str) -> float | None:
    """Returns None for an empty text: a script's unset variable."""
    if not text:
        return None
    value = quantity(text, TIMES_US) * 1e-6
    if not 0 < value < 1e9:
        raise ValueError(f"'{text}' is not a time above zero")
    return value


def parser() -> argparse.ArgumentParser:
    p = Parser(prog="sdsm plot", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("files", nargs="+", metavar="RESULT.json", help="of sdsm simulate --json, sdsm run --json")
    p.add_argument("-o", "--output", type=file_name, required=True, metavar="FOLDER", help="for speedup.png and .svg")
    p.add_argument(
        "--sequential-time", type=with_reason(seconds), metavar="TIME",
        help="what speedups refer to, such as 7.5s (default: each program's one-thread result)",
    )  # fmt: skip
    p.add_argument("--by", choices=("threads", "nodes"), default="threads", help="the axis (default: threads)")
    return p


@command
def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    options = parser().parse_args(arguments)
    results = read_files(options.files, [options.output / f"{NAME}.{ending}" for ending in ("png", "svg")])
    programs, notes = by_program(results, options.sequential_time, options.by)
    for note in notes:
        say(note)
    from sdsm.plot.figure import draw
    from sdsm.plot.style import save

    given_s = options.sequential_time
    reference = "the one-thread time" if given_s is None else f"{given_s:g} s (--sequential-time)"
    save(draw(programs, options.by, reference), options.output, NAME)
    print(table(programs))
    return 0


def table(programs: Mapping[str, Sequence[Series]]) -> str:
    """Returns each point: time with its least and greatest, and speedup with the same."""
    lines = [
        f"{'layout':>8} {'samples':>7} {'time, s':>12} {'from':>12} {'to':>12} {'speedup':>8} {'from':>8} {'to':>8}"
    ]
    for program, series in programs.items():
        for one in series:
            lines.append(f"{program}: {one.kind}{', ' + one.label if one.label else ''}")
            for point in one.points:
                middle, low, high = one.speedup(point)
                lines.append(
                    f"{point.nodes:>6}x{point.threads_per_node:<1} {point.samples:>7} {point.time_s:>12.6g} "
                    f"{point.low_s:>12.6g} {point.high_s:>12.6g} {middle:>8.3f} {low:>8.3f} {high:>8.3f}"
                )
    return "\n".join(lines)
