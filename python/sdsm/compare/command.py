"""sdsm compare: the command line."""

from __future__ import annotations

import argparse

from sdsm.base.command_line import BadInput, Parser, command, file_name, say, with_reason
from sdsm.base.output_file import check_figure, check_outputs, json_text, print_or_write
from sdsm.compare.comparison import compare, document
from sdsm.compare.table import csv_text, text
from sdsm.plot.results import read_files

DESCRIPTION = """\
Hold predicted and measured results against each other: times, where the time goes, what was counted.

The first file is the reference; the others are shown by how far they are from it. Any results of `sdsm simulate --json` and
`sdsm run --json` do: a prediction beside a run, before beside after, one platform beside another, one node beside four.
Prints a verdict, then tables."""

EPILOG = """\
examples:
  sdsm compare measured.json predicted.json                 how good is the prediction, and where is it wrong?
  sdsm compare before.json after.json --plot change.svg     what did the change of the program bring?
  sdsm compare good.json new.json --fail-above 5%           in a script: status 1 if times differ by more

Exit status: 0 done, 1 a difference above --fail-above, or a file could not be written, 2 bad usage or input."""


def share(given: str) -> float:
    """Parses "5%" or "0.05". Raises ValueError, also above 1 without a %: 5 may mean 5%."""
    number = given.removesuffix("%")
    try:
        value = float(number) / (100 if given.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise ValueError(f"'{given}' is no share. Write it as 5% or 0.05")
    if value > 1 and not given.endswith("%"):
        raise ValueError(f"'{given}' would be {value:.0%}. Write it as {number}% or {value / 100:g}, or as {value:.0%} if that is meant")
    return value


def parser() -> argparse.ArgumentParser:
    p = Parser(prog="sdsm compare", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("files", nargs="+", metavar="RESULT.json", help="the reference, then what is held against it")
    p.add_argument("--fail-above", type=with_reason(share), metavar="SHARE", help="status 1 if a time differs by more, such as 5%%")
    p.add_argument("--csv", type=file_name, metavar="FILE|-", help="write every figure of every result as CSV")
    p.add_argument("--json", type=file_name, metavar="FILE|-", help="write the same as JSON (docs/result-format.md)")
    p.add_argument("--plot", type=file_name, metavar="FILE", help="draw where the time goes: a .png, .svg or .pdf")
    return p


@command
def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    options = parser().parse_args(arguments)
    if len(options.files) < 2:
        raise BadInput("one result has nothing to be compared with. Name two or more")
    check_figure(options.plot)
    check_outputs([options.csv, options.json, options.plot], options.files)
    comparison = compare(read_files(options.files))
    if options.csv is not None:
        print_or_write(options.csv, csv_text(comparison))
    if options.json is not None:
        print_or_write(options.json, json_text(document(comparison)))
    if options.plot is not None:
        from sdsm.compare.figure import draw
        from sdsm.plot.style import write_figure

        write_figure(draw(comparison), options.plot)
    if "-" not in (str(options.csv), str(options.json)):
        print(text(comparison))
    if options.fail_above is not None and comparison.worst() > options.fail_above:
        far = max(comparison.results, key=lambda one: abs(one.difference))
        say(f"{far.result.file}: its time differs from the reference's by {far.difference:+.1%}, more than {options.fail_above:.1%}")
        return 1
    return 0
