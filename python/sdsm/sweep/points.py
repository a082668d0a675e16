"""Makes the combinations of a sweep, each with the trace for its threads."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sdsm.base import places
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.command_line import BadInput
from sdsm.base.output_file import write_output
from sdsm.base.tracing import sha256
from sdsm.explain.memory import parse_info
from sdsm.sweep.spec import TIME_LIMIT_S, Spec, is_file, options

MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class Point:
    """values: by axis, and the trace's name under "trace" if several have as many threads. error: why there is no trace."""

    values: Mapping[str, str]
    trace: Path
    error: str = ""

    def command(self) -> list[str]:
        words = [str(places.PROGRAMS / "sdsm"), "simulate", "--quiet", str(self.trace), "--json", "-"]
        for axis, value in self.values.items():
            if axis.startswith("set "):
                words += ["--set", f"{axis.removeprefix('set ')}={value}"]
            elif axis != "trace" and value != "false":
                words += [f"--{axis.replace('_', '-')}", *([value] if options()[axis] else [])]
        return words

    def files(self) -> list[Path]:
        """Files that its options name."""
        return [Path(value) for axis, value in self.values.items() if axis != "trace" and is_file(axis)]

    @cached_property
    def key(self) -> str:
        """Hash of everything behind the result: simulator, contents of files, options."""
        options_used = {axis: sha256(Path(value)) if is_file(axis) else value for axis, value in self.values.items() if axis != "trace"}
        origin = {"simulator": sha256(places.PROGRAMS / "sdsm-simulate"), "trace": sha256(self.trace), "options": options_used}
        return hashlib.sha256(json.dumps(origin, sort_keys=True).encode()).hexdigest()


def threads_of(values: Mapping[str, str], spec: Path) -> int:
    product = 1
    for axis in ("nodes", "threads_per_node"):
        text = values.get(axis, "1")
        if not (text.isascii() and text.isdigit() and 0 < int(text) < 1 << 20):
            raise BadInput(f"{spec}: {axis} = {text} is not a whole number from 1 to {(1 << 20) - 1}")
        product *= int(text)
    return product


def points(spec: Spec, runner: CommandRunner, folder: Path, say: Callable[[str], None]) -> list[Point]:
    """Returns points in the order of the axes. Makes the traces of a program. Raises BadInput if files are missing,
    CommandFailed."""
    file = spec.file
    for axis in filter(is_file, spec.axes):
        for name in spec.axes[axis]:
            _check_file(file, name)
    count = math.prod(len(values) for values in spec.axes.values())
    if count > MOST_POINTS:
        raise BadInput(f"{file}: makes {count} points. Sweep over {MOST_POINTS} at most: give fewer values")
    combinations = [dict(zip(spec.axes, values, strict=True)) for values in itertools.product(*spec.axes.values())]
    for axis, given in spec.axes.items():
        _check_names(file, axis, [value.rsplit("/", 1)[-1] for value in given])
    threads = {threads_of(values, file) for values in combinations}
    errors: dict[Path, str] = {}
    if spec.program:
        traces, errors = _made(spec.program, threads, runner, folder, say)
    else:
        traces = _given(spec.traces, file, runner)
    if missing := sorted(threads - set(traces)):
        raise BadInput(f"{file}: no trace has {missing[0]} threads, as nodes x threads_per_node need. Make one: sdsm trace -n {missing[0]}")
    found = []
    for values in combinations:
        fitting = traces[threads_of(values, file)]
        _check_names(file, "traces", [trace.name for trace in fitting])
        for trace in fitting:
            named = {"trace": trace.name} if len(fitting) > 1 else {}
            found.append(Point(named | values, trace, errors.get(trace, "")))
    return found


def _check_names(spec: Path, axis: str, names: Sequence[str]) -> None:
    """Checks names, as tables and pictures name files without their folders."""
    same = [name for name in names if names.count(name) > 1]
    if same:
        raise BadInput(f"{spec}: {axis}: two files are called {same[0]}, and results would have one name. Rename one")


def _check_file(spec: Path, name: str) -> None:
    if not Path(name).is_file():
        raise BadInput(f"{spec}: there is no file {name}. Names are relative to {spec.name}'s folder")


def _given(traces: tuple[Path, ...], spec: Path, runner: CommandRunner) -> dict[int, list[Path]]:
    """Returns traces by their threads."""
    found: dict[int, list[Path]] = {}
    programs: dict[int, set[str]] = {}
    for trace in traces:
        _check_file(spec, str(trace))
        info = parse_info(runner.run([str(places.PROGRAMS / "sdsm"), "trace", "info", str(trace), "--json", "-"], TIME_LIMIT_S))
        found.setdefault(info.header.threads, []).append(trace)
        programs.setdefault(info.header.threads, set()).add(Path(info.header.program[0]).name)
    (first, of_first), *others = programs.items()
    for threads, of_others in others:
        if of_others != of_first:
            raise BadInput(
                f"{spec}: traces: those of {first} threads are of {', '.join(sorted(of_first))}, those of {threads} of "
                f"{', '.join(sorted(of_others))}, so times would be of different programs. Give each program's trace for each "
                "number of threads, or a sweep of its own"
            )
    return found


def _is_whole(trace: Path, record: Path) -> bool:
    try:
        return record.read_text(encoding="ascii") == sha256(trace)
    except (OSError, UnicodeDecodeError):
        return False


def _made(
    program: tuple[str, ...], threads: set[int], runner: CommandRunner, folder: Path, say: Callable[[str], None]
) -> tuple[dict[int, list[Path]], dict[Path, str]]:
    """Makes traces of the program, kept by its content and arguments; and says why one could not be made."""
    errors: dict[Path, str] = {}
    file = Path(program[0])
    if not file.is_file():
        raise BadInput(f"program: there is no file {file}")
    found = {}
    for count in sorted(threads):
        origin = json.dumps([sha256(file), sha256(places.PROGRAMS / "sdsm-trace"), program[1:], count])
        trace = folder / f"{hashlib.sha256(origin.encode()).hexdigest()}.trace"
        record = trace.with_suffix(".trace.sha256")
        if not _is_whole(trace, record):
            if trace.exists():
                say(f"{trace} is not as it was made, so that the program is traced again")
            record.unlink(missing_ok=True)
            say(f"tracing {' '.join([file.name, *program[1:]])} with {count} threads")
            command = [str(places.PROGRAMS / "sdsm"), "trace", "-q", "-n", str(count), "-o", str(trace), "--", str(file), *program[1:]]
            folder.mkdir(parents=True, exist_ok=True)
            try:
                runner.run(command, TIME_LIMIT_S)
                write_output(record, sha256(trace))
            except CommandFailed as error:
                trace.unlink(missing_ok=True)
                errors[trace] = f"{file.name} with {count} threads cannot be traced: {error.said or error}"
        found[count] = [trace]
    return found, errors
