"""sdsm epcc: the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sdsm.base.command_line import BadInput, Parser, command, file_name, say, with_reason
from sdsm.base.output_file import check_outputs, print_or_write
from sdsm.calibrate.copies import copies
from sdsm.epcc.clock import megahertz
from sdsm.epcc.groups import Collection, collect
from sdsm.epcc.tables import as_csv, as_json, as_text, beside, tables
from sdsm.readers import ReadError, Reading, epcc
from sdsm.readers.epcc import ENVIRONMENT, Run
from sdsm.readers.text import Text, load

DESCRIPTION = """\
Make tables and plots of EPCC OpenMP microbenchmark outputs.

Reads any number of outputs of syncbench, schedbench, arraybench and taskbench (versions 2.0, 3.1 and 4.0), each of one
or several runs, and puts together what was measured alike: same directive, number of threads, chunk or array size,
suite and machine. Prints a table for each number of threads: mean, overhead, and how far they spread over all samples
and from run to run. Several runs of a benchmark tell more than one long one: the second spread is often the larger.
"""

EPILOG = """\
examples:
  sdsm epcc syncbench.*.out                        tables on the terminal
  sdsm epcc -o report results/*.out                report/index.html, epcc.csv, epcc.json and the plots
  sdsm epcc --clock 550MHz --html p3.html sync.out a page in clock cycles
  sdsm epcc --by threads --plots figures sched.*   overhead against threads instead of chunk size
  sdsm epcc --apart -o both gcc.out clang.out      two files side by side instead of put together
  sdsm epcc --predicted p.out -o both measured.out what a simulated cluster printed, beside what a real one did
  cat run1 run2 | sdsm epcc --csv - -              from standard input, as CSV

What is not in the outputs can be given by options, or by lines before a banner in the files themselves; runs
for which they differ are kept apart:
  # platform: p3-score, 4 nodes
  # os: Linux 2.4
  # compiler: Omni 1.6
  # clock: 550MHz

Exit status: 0 done; 1 a result could not be written; 2 bad usage or input. The page has the formulas.
"""


def clock(text: str) -> str:
    megahertz(text)
    return text


def words(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise argparse.ArgumentTypeError("the text is empty or not printable")
    return text.strip()


def parser() -> argparse.ArgumentParser:
    p = Parser(prog="sdsm epcc", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("files", nargs="+", metavar="FILE", help="outputs of the benchmarks; - is standard input")
    out = p.add_argument_group("results (without any of these: tables on the terminal)")
    out.add_argument("-o", "--output", type=file_name, metavar="FOLDER", help="everything below, in one folder")
    for option, metavar, text in (
        ("--html", "FILE", "one page with tables and plots that needs no other file"),
        ("--csv", "FILE", "a row per result; - prints it"),
        ("--json", "FILE", "the same as JSON; - prints it"),
        ("--plots", "FOLDER", "the plots as SVG and PNG"),
    ):
        out.add_argument(option, type=file_name, metavar=metavar, help=text)
    how = p.add_argument_group("how")
    units = "unit of all times (default: cycles with --clock, else us)"
    how.add_argument("--unit", choices=("us", "cycles"), help=units)
    against = "what overhead is plotted against (default: chunk or array size where a directive has one, else threads)"
    how.add_argument("--by", choices=("auto", "threads", "chunk", "array-size"), default="auto", help=against)
    beside = "an output that `sdsm simulate --output` wrote: shown beside the measured ones; may be given several times"
    how.add_argument("--predicted", type=file_name, action="append", default=[], metavar="FILE", help=beside)
    how.add_argument("--apart", action="store_true", help="compare files: put together runs of one file only, or of files whose names differ by the number of threads alone")
    unsaid = p.add_argument_group("what the outputs do not say")
    unsaid.add_argument("--platform", type=words, metavar="TEXT", help="the machine")
    unsaid.add_argument("--os", type=words, metavar="TEXT", help="its operating system")
    unsaid.add_argument("--compiler", type=words, metavar="TEXT", help="the compiler, with its options")
    frequency = "the processor's clock, such as 500MHz"
    unsaid.add_argument("--clock", type=with_reason(clock), metavar="FREQUENCY", help=frequency)
    return p


def read_files(names: list[str]) -> tuple[dict[str, list[Run]], list[str]]:
    """Runs by file, and warnings. Raises BadInput."""
    files: dict[str, list[Run]] = {}
    warnings: list[str] = []
    readings: list[Reading] = []
    for name in names:
        try:
            source = load(name)
        except OSError as error:
            raise BadInput(f"{name}: {error.strerror or error}") from None
        if source.file in files or (name != "-" and _same_file(name, files)):
            raise ReadError(source.file, 1, "named twice: its runs would count twice. Name it once")
        files[source.file], more = _runs(source)
        readings.append(epcc.read(source))
        warnings += more
    return files, warnings + [f"{what}, whole or in part, so its runs count twice. Leave one out" for what in copies(readings)]


def _same_file(name: str, files: Iterable[str]) -> bool:
    return any(Path(other).exists() and Path(name).samefile(other) for other in files)


def _runs(source: Text) -> tuple[list[Run], list[str]]:
    if not epcc.recognises(source):
        source.refuse(1, "no output of the EPCC OpenMP microbenchmarks. Give what syncbench or its siblings printed")
    return epcc.runs_and_warnings(source)


@command
def main(arguments: list[str] | None = None) -> int:
    """Runs the command. Returns the exit status."""
    options = parser().parse_args(arguments)
    name_files(options)
    predicted = [str(file) for file in options.predicted]
    if predicted and options.apart:
        raise BadInput("--predicted goes beside the measured files, all of them together. Leave --apart out")
    files, warnings = read_files([*options.files, *predicted])
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
    check_outputs((options.html, options.csv, options.json), [*options.files, *predicted])
    given = {name: getattr(options, name) for name in ENVIRONMENT if getattr(options, name)}
    collection = collect(files, given, options.apart, predicted)
    unit = options.unit or ("cycles" if options.clock else "us")
    try:
        tables(collection, unit)  # so that a missing clock is reported before anything is written
    except ValueError as error:
        raise BadInput(str(error)) from None
    collection = replace(collection, warnings=tuple(dict.fromkeys((*warnings, *collection.warnings))))
    for warning in collection.warnings:
        say(warning)
    return write(options, collection, unit)


def name_files(options: argparse.Namespace) -> None:
    """Sets the files that --output FOLDER means."""
    if options.output is not None:
        for name, file in (("html", "index.html"), ("csv", "epcc.csv"), ("json", "epcc.json"), ("plots", "")):
            setattr(options, name, getattr(options, name) or options.output / file)


def write(options: argparse.Namespace, collection: Collection, unit: str) -> int:
    """Writes the requested files, or prints the tables. Raises OSError."""
    html, csv, as_document, plots = options.html, options.csv, options.json, options.plots
    found = tables(collection, unit)
    if not any((html, csv, as_document, plots)):
        sys.stdout.write(as_text(found, unit) + beside(collection, unit))
        return 0
    drawn = []
    if html or plots:
        from sdsm.epcc.plots import draw

        say("drawing the plots")
        drawn = draw(collection, unit, options.by.replace("-", "_"))
        if not drawn:
            say(f"no result has a {options.by.replace('-', ' ')} to plot against: no plot is drawn")
    if html:
        from sdsm.epcc.page import page

        print_or_write(html, page(collection, found, drawn, unit))
    if csv:
        print_or_write(csv, as_csv(collection, unit))
    if as_document:
        print_or_write(as_document, as_json(collection, unit))
    if plots:
        from sdsm.plot.style import save

        for plot in drawn:
            save(plot.figure, plots, plot.name)
    return 0

