"""The commands as functions. Further keyword arguments are a command's options under their own names, with _ for -."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from sdsm.api.options import text, words
from sdsm.api.results import Comparison, Explanation, Result, Sweep, Trace
from sdsm.base import places
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.command_line import BAD_INPUT, BadInput, RunFailed, platform_name
from sdsm.compare.comparison import compare as compared
from sdsm.explain import explanation
from sdsm.explain.alternatives import PLACEMENTS, Layout, Point
from sdsm.explain.start import Started
from sdsm.plot.results import NAME_A_RESULT, result_of
from sdsm.readers.text import Text, load_input
from sdsm.sweep import command as sweeping
from sdsm.sweep.spec import read_spec, spec_of

Name = str | PathLike[str]
TIME_LIMIT_S = 7 * 24 * 3600.0


def trace(program: Name | Sequence[Name], output: Name, threads: int, **options: Any) -> Trace:
    """Records a program with `threads` threads into the file `output`. program: its file, or its command line as a list.

    Raises BadInput, RunFailed.
    """
    _called("trace", ["-n", text(threads), "-o", text(output), *words(options, ("quiet",)), "--", *_command_line(program)])
    info, _ = _called("trace info", [text(output), "--json", "-"])
    return Trace(Path(output), json.loads(info))


def simulate(trace: Name, platform: Name, nodes: int, threads_per_node: int = 1, *, pages: bool = False, **options: Any) -> Result:
    """Plays a trace on a platform: a file, or the name of one of sdsm's own. pages: whether to return each page's costs for
    each thread. Raises BadInput, RunFailed."""
    layout = ["-p", text(platform), "-n", text(nodes), "-t", text(threads_per_node)]
    return _result("simulate", [text(trace), *layout], options, pages, ())


def run(program: Name | Sequence[Name], nodes: int, threads_per_node: int = 1, *, pages: bool = False, **options: Any) -> Result:
    """Runs a program on processes that share pages by messages. Raises BadInput, RunFailed."""
    layout = ["--nodes", text(nodes), "--threads-per-node", text(threads_per_node)]
    return _result("run", layout, options, pages, ["--", *_command_line(program)])


def sweep(spec: Name | Mapping[str, Any], folder: Name, jobs: int | None = None, dask: str | None = None) -> Sweep:
    """Simulates every point of a file, or of a mapping with the same names, whose files are relative to the current folder.
    `folder` keeps finished points. dask: address of a scheduler. Raises BadInput; RunFailed if every point failed."""
    asked = spec_of(Path("the sweep"), dict(spec)) if isinstance(spec, Mapping) else read_spec(Path(spec))
    with sweeping.computer(dask, jobs) as (here, at_once):
        done, answers = sweeping.swept(asked, Path(folder), here, at_once, lambda line: None)
    table = pd.read_csv(Path(folder) / "points.csv", keep_default_na=False, na_values={"makespan_s": [""]})
    if all(one.result is None for one in done):
        raise RunFailed(f"every point of the sweep failed. The first: {done[0].error}")
    return Sweep(table, tuple(answers), Path(folder))


def explain(
    trace: Name, platform: Name, nodes: int, threads_per_node: int = 1, *, placement: str = PLACEMENTS[0],
    gains: bool = True, **options: Any,
) -> Explanation:  # fmt: skip
    """Explains a prediction: its time by term, the causes and, with gains, what would help. Options are those of simulate().
    Raises BadInput, RunFailed."""
    scale = {name: options.pop(name, None) for name in ("sequential_time", "sequential_trace", "compute_factor", "from_host_speed")}
    settings = words({"set": options.pop("set", None)})[1::2]
    point = Point(
        text(trace), str(platform_name(text(platform))), Layout(nodes, threads_per_node), placement, tuple(words(scale)),
        tuple(settings), tuple(words(options, ("quiet", "json", "pages"))),
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="sdsm-explain-") as scratch:
        try:
            with Started(point, Path(scratch)) as started:
                return Explanation(explanation.explain(point, Path(scratch), gains, lambda line: None, started))
        except CommandFailed as error:
            raise _as_exception(error) from None


def compare(*results: Result | Name) -> Comparison:
    """Compares results, or files of them, with the first. Raises BadInput."""
    if len(results) < 2:
        raise BadInput("one result has nothing to be compared with. Give two or more")
    found = [one if isinstance(one, Result) else load(one) for one in results]
    return Comparison(compared([result_of(Text(one.name, one.text)) for one in found]))


def load(file: Name) -> Result:
    """Reads the output of `sdsm simulate --json` or `sdsm run --json`. Raises BadInput."""
    source = load_input(text(file), NAME_A_RESULT)
    return Result(source.file, source.text)


def _called(command: str, arguments: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Returns what the command printed, and its messages on stderr."""
    notes: list[str] = []
    try:
        printed = CommandRunner().run([str(places.PROGRAMS / "sdsm"), *command.split(), *arguments], TIME_LIMIT_S, notes.append)
    except CommandFailed as error:
        raise _as_exception(error) from None
    return printed, tuple(notes)


def _as_exception(error: CommandFailed) -> BadInput | RunFailed:
    # `sdsm run` hands on the program's own status, which may be any.
    is_bad_input = error.status == BAD_INPUT and not error.said.startswith("the program ended with status")
    return BadInput(error.said) if is_bad_input else RunFailed(error.said or str(error))


def _command_line(program: Name | Sequence[Name]) -> list[str]:
    return [text(program)] if isinstance(program, str | PathLike) else [text(word) for word in program]


def _result(command: str, arguments: Sequence[str], options: Mapping[str, Any], with_pages: bool, program: Sequence[str]) -> Result:
    with tempfile.TemporaryDirectory(prefix="sdsm-") as folder:
        json_file, table = Path(folder) / "result.json", Path(folder) / "pages.csv"
        outputs = ["--quiet", "--json", str(json_file), *(["--pages", str(table)] if with_pages else [])]
        given = words(options, ("quiet", "json"))
        printed, notes = _called(command, [*arguments, *given, *outputs, *program])
        pages = pd.read_csv(table, encoding_errors="replace") if with_pages else None
        name = f"sdsm {command} {' '.join([*arguments, *given, *program])}"
        return Result(name, json_file.read_text(encoding="utf-8"), printed, notes, pages)
