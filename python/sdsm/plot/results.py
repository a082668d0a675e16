"""Reads results of `sdsm simulate --json` and `sdsm run --json`, as far as plots and comparisons need them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdsm.base import run_result
from sdsm.base.accounts import mean_over_threads
from sdsm.base.output_file import utf8
from sdsm.readers import ReadError
from sdsm.readers.text import Text, load_input

NAME_A_RESULT = "Name what sdsm simulate --json or sdsm run --json wrote"
PREDICTED, MEASURED = "predicted", "measured"
#: Settings that may change a time, beside platform and network. Not the seed: results that differ in nothing else are
#: samples of one thing.
_SETTINGS = {
    PREDICTED: ("placement", "full_page_diffs", "region", "jitter", "memory_bound",
                "scope", "home_migration", "adaptive_write_detection", "first_touch_moves", "fork", "privatized",
                "page_bytes", "invalidation", "prefetch", "atomics", "quirks"),
    MEASURED: ("placement", "transport", "atomics", "page_bytes", "invalidation", "prefetch", "scope"),
}
#: Defaults of settings that results of older versions lack.
_USUAL = {"page_bytes": 4096, "invalidation": "all", "prefetch": 0, "scope": "openmp", "quirks": []}


@dataclass(frozen=True)
class Result:
    """One file. Seconds.

    program:  the command line, without the folder that the program was in.
    settings: what else may make a time differ (platform, network, placement, ...), by name.
    variant:  what mostly differs from layout to layout, but may not between samples of one: trace or program, by name and
              hash, and compute factor (unless a sequential time gave it, which is a setting).
    doubts: costs that the platform lacks for a prediction, or assumes (Simulation.doubts).
    times_s:  the predicted time, or that of each run.
    band_s:   the middle 90 % of a prediction, where it was made with --uncertainty, or the platform has noise.
    account_s: where the time went, mean over threads, by term; of several runs that of the one of median time.
    run_account_s: the same in the terms that a run can tell: what is stolen is part of what the thread did meanwhile.
    counts:   of all threads together, by name.
    processes_per_processor: of a run, on the host that has most.
    """

    file: str
    kind: str
    program: str
    nodes: int
    threads_per_node: int
    settings: tuple[tuple[str, str], ...]
    variant: tuple[tuple[str, str], ...]
    times_s: tuple[float, ...]
    doubts: tuple[str, ...] = ()
    band_s: tuple[float, float] | None = None
    account_s: tuple[tuple[str, float], ...] = ()
    run_account_s: tuple[tuple[str, float], ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    processes_per_processor: float = 0

    @property
    def threads(self) -> int:
        return self.nodes * self.threads_per_node


def result_of(source: Text) -> Result:
    """Raises ReadError."""
    run: run_result.Run = run_result.read(source, run_result.Simulation, run_result.Native)
    kind = PREDICTED if isinstance(run, run_result.Simulation) else MEASURED
    settings = {
        name.replace("_", " "): str(run.options[name])
        for name in _SETTINGS[kind]
        if name in run.options and run.options[name] != _USUAL.get(name)
    }
    settings["protocol"] = run.protocol
    named = [f"{Path(one.path).name} {one.sha256[:6]}" for one in run.inputs]
    variant = {f"input {number}": name for number, name in enumerate(named, start=1)}
    times: tuple[float, ...] = (run.makespan_s,)
    band = None
    if isinstance(run, run_result.Simulation):
        # sdsm simulate names the trace, then the platform.
        if "network" not in run.versions:
            source.refuse(source.json_line("versions"), "no network is named. Simulate again")
        platform = run.inputs[1]
        settings |= {"platform": Path(platform.path).name, "hash": platform.sha256[:6], "network": run.versions["network"]}
        settings["set"] = ", ".join(run.set) or "nothing"
        variant = {"trace": named[0]}
        sequential_s = run.options.get("sequential_time_s")
        if isinstance(sequential_s, int | float):
            of = " of one thread's trace" if run.options.get("compute_from") == "sequential-trace" else ""
            settings["sequential time"] = f"{sequential_s:g} s{of}"
        else:
            settings["sequential time"] = "by the hosts' speed" if run.options.get("compute_from") == "host-speed" else "not given"
            variant["compute factor"] = f"{run.options.get('compute_factor', 1):g}"
        band = run.band_s
    elif isinstance(run, run_result.Native):
        times = tuple(one.makespan_s for one in run.runs)
    if min(*times, *(band or times)) <= 0:
        line = source.json_line("makespan_s" if kind == PREDICTED else "runs")
        source.refuse(line, "a time of 0 s, of which no speedup can be made. Leave out the file")
    program = printable(" ".join([Path(run.program[0]).name, *run.program[1:]]))
    doubts = run.doubts if isinstance(run, run_result.Simulation) else ()
    chosen = tuple(sorted(settings.items()))
    layout = (run.nodes, run.threads_per_node)
    share = run.options.get("processes_per_processor", 0)
    return Result(
        printable(utf8(source.file)), kind, program, *layout, chosen, tuple(variant.items()), times, doubts, band,
        tuple(run_result.mean_account_s(run.threads).items()), tuple(mean_over_threads(run.threads).items()),
        _counts(run.threads), share if isinstance(share, int | float) else 0,
    )  # fmt: skip


def _counts(threads: Sequence[run_result.Thread]) -> tuple[tuple[str, int], ...]:
    tables = [{f"faults {kind}": n for kind, n in thread.faults.items()} | thread.counts() for thread in threads]
    names = dict.fromkeys(name for table in tables for name in table)
    return tuple((name, sum(table.get(name, 0) for table in tables)) for name in names)


def read_files(names: Iterable[str], written: Iterable[Path] = ()) -> list[Result]:
    """written: figures that must not be among the inputs. Raises BadInput, ReadError."""
    figures = {path.resolve() for path in written}
    seen: set[Path] = set()
    results = []
    for name in names:
        place = Path(name).resolve()
        if place in seen:
            raise ReadError(name, 1, "given twice: its times would count twice. Name it once")
        if place in figures:
            raise ReadError(name, 1, "the figure would overwrite this input. Give another folder")
        seen.add(place)
        results.append(result_of(load_input(name, NAME_A_RESULT)))
    return results


def printable(text: str) -> str:
    """Returns text with control characters as escapes: no font has them, and XML allows none."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
