"""sdsm report: the command line."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from sdsm.base import places
from sdsm.base.command_line import BadInput, Parser, command, file_name, say, with_reason
from sdsm.base.output_file import check_outputs, print_or_write
from sdsm.calibrate.network import TIMES_US, quantity
from sdsm.plot.results import NAME_A_RESULT
from sdsm.readers.text import load_input
from sdsm.sweep import kept

DESCRIPTION = """\
Make one HTML page of a result, of several side by side, or of a sweep.

Says how long it takes and why, which pages of which arrays cost it, what would help, from which inputs and parameters it
comes, and how to make it again. The page needs no other file and fetches nothing. A prediction whose trace and platform
are here is simulated again, to explain it."""

EPILOG = """\
examples:
  sdsm report predicted.json -o predicted.html             (of sdsm simulate --json, or sdsm run --json)
  sdsm report measured.json predicted.json -o both.html    several are held against the first
  sdsm report nodes-sweep -o sweep.html                    the folder of a sweep
  sdsm report predicted.json --anonymous -o shown.html

Exit status: 0 done, 1 the run failed, 2 bad usage or input."""


def parser() -> argparse.ArgumentParser:
    p = Parser(prog="sdsm report", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("inputs", nargs="+", type=file_name, metavar="RESULT.json|SWEEP", help="what the page is of")
    p.add_argument("-o", "--output", default=Path("-"), type=file_name, metavar="FILE|-", help="the page, .html (default: standard output)")
    p.add_argument("--anonymous", action="store_true", help="leave out paths and names of programs, arrays and machines")
    p.add_argument(
        "--timeline", type=file_name, metavar="FILE.json",
        help="take the timeline excerpt from what --timeline FILE.json of the run wrote (a prediction that is simulated again needs none)",
    )  # fmt: skip
    p.add_argument("--window", type=with_reason(window), metavar="FROM:TO", help="the excerpt's part of the run, such as 1.2s:1.5s (default: around the costliest barrier)")
    p.add_argument("--no-gains", action="store_true", help="do not simulate what would help")
    p.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    return p


@command
def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    options = parser().parse_args(arguments)
    check_outputs([options.output], [*(one for one in options.inputs if not one.is_dir()), *([options.timeline] if options.timeline else [])])
    if (options.timeline or options.window) and (len(options.inputs) > 1 or options.inputs[0].is_dir()):
        raise BadInput("--timeline and --window are of one result's page. Name that result alone")
    page, made_from = page_of(options.inputs, options.anonymous, not options.no_gains, options.quiet, options.timeline, options.window)
    check_outputs([options.output], made_from)
    print_or_write(options.output, page)
    return 0


def window(text: str) -> tuple[float, float]:
    """Returns begin and end, s."""
    first, colon, last = text.partition(":")
    if not colon:
        raise ValueError(f"'{text}' is no part of a run. Write two times, such as 1.2s:1.5s")
    begin_s, end_s = (quantity(one, TIMES_US) * 1e-6 for one in (first, last))
    if begin_s >= end_s:
        raise ValueError(f"'{text}' ends before it begins")
    return begin_s, end_s


def page_of(
    inputs: list[Path], is_anonymous: bool, with_gains: bool, is_quiet: bool, timeline: Path | None = None,
    window_s: tuple[float, float] | None = None,
) -> tuple[str, list[str]]:  # fmt: skip
    """Returns the page, and the files that its results were made from. Raises BadInput."""
    from sdsm.report import sections
    from sdsm.report.naming import Naming
    from sdsm.report.template import render

    naming, advice = Naming(is_anonymous), f"{NAME_A_RESULT}, or the folder of a sweep"
    sweeps = [one for one in inputs if one.is_dir()]
    if sweeps and len(inputs) > 1:
        raise BadInput(f"{sweeps[0]}: a sweep has a page of its own. Name it alone")
    if sweeps:
        page = sections.of_sweep(kept.read(sweeps[0]), naming)
    elif len(inputs) == 1:
        with tempfile.TemporaryDirectory(prefix="sdsm-report-") as folder:
            wanted = sections.Wanted(with_gains, Path(folder), lambda line: None if is_quiet else say(line), timeline, window_s)
            page = sections.of_result(load_input(inputs[0], advice), naming, wanted)
    else:
        page = sections.of_results([load_input(one, advice) for one in inputs], naming)
    text = render(
        "page.html.jinja", Path(__file__).parent, title=page.title, verdict=page.verdict, sections=page.sections,
        footer=f"Made by sdsm {places.version()}.",
    )  # fmt: skip
    return text, page.made_from

