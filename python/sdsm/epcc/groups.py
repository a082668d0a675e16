"""Pools EPCC runs from any number of files where they measured the same thing."""

from __future__ import annotations

import contextlib
import re
import statistics
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sdsm.calibrate.pooling import Pooled, RunSummary, pool, spread_of_runs, weighted_mean
from sdsm.epcc.clock import megahertz
from sdsm.readers import ReadError
from sdsm.readers.epcc import ENVIRONMENT, HALF_WIDTH_SDS, Block, Run

#: Settings that results must share to be pooled. Delay lengths are tuned anew in each run.
COMPARED = ("test time", "delay time", "iterations per thread")


@dataclass(frozen=True, slots=True)
class Environment:
    """A run's machine and suite. Runs of different environments are never pooled."""

    platform: str = ""
    os: str = ""
    compiler: str = ""
    clock: str = ""
    suite: str = ""
    file: str = ""  # where files are kept apart: their name, of which * is the number of threads; "measured" or "predicted"

    @property
    def clock_mhz(self) -> float | None:
        return megahertz(self.clock) if self.clock else None


@dataclass(frozen=True, slots=True)
class Key:
    """The properties that pooled results share."""

    environment: Environment
    threads: int
    program: str
    directive: str
    size_kind: str  # "chunk", "array_size" or ""
    size: int  # 0 where there is none
    occurrence: int
    is_reference: bool

    @property
    def label(self) -> str:
        name = self.directive if self.occurrence == 1 else f"{self.directive} (no. {self.occurrence})"
        if self.is_reference:  # each program has its own, under the same name
            return f"{name} ({self.program})"
        return f"{name} {self.size}" if self.size_kind else name


@dataclass(frozen=True, slots=True)
class Group:
    """One directive under one key, over all its runs. Microseconds."""

    key: Key
    time: Pooled
    time_half_width: float | None
    overhead: float | None
    overhead_half_width: float | None
    overhead_sd_runs: float | None
    median_overhead: float | None  # median of the runs' medians; versions before 4.0 print none


@dataclass(frozen=True, slots=True)
class Collection:
    """All groups, with the order of directives in the files, and messages for the user."""

    groups: tuple[Group, ...]
    environments: tuple[Environment, ...]
    files: tuple[tuple[str, int], ...]  # name, number of runs
    warnings: tuple[str, ...]


MEASURED, PREDICTED = "measured", "predicted"


def collect(
    files: Mapping[str, Sequence[Run]], given: Mapping[str, str], apart: bool = False, predicted: Container[str] = ()
) -> Collection:
    """Returns groups of all runs of all files (by name).

    given: platform, os, compiler, clock as given by options; they hold for runs whose file does not say. Raises
    ReadError if a file says something else, or has a run without its number of threads. apart: only runs of one file, or
    of files whose names differ by their numbers of threads alone, belong together. predicted: the files whose times are predictions; they are kept apart from all others.
    """
    members: dict[Key, list[tuple[str, Run, Block]]] = {}
    warnings: list[str] = []
    series_of = _series(files)
    for file, runs in files.items():
        for run in runs:
            kept_as = (PREDICTED if file in predicted else MEASURED) if predicted else series_of[file] if apart else ""
            environment = replace(_environment(file, run, given, warnings), file=kept_as)
            if run.threads is None:
                why = "a run without banner: its number of threads is not known. Give the whole output"
                raise ReadError(file, run.line, why)
            for block in run.blocks:
                kind, size = block.size or ("", 0)
                name = block.name if block.is_reference else block.directive
                key = Key(environment, run.threads, run.program, name, kind, size, block.occurrence, block.is_reference)
                members.setdefault(key, []).append((file, run, block))
    warnings += _settings_that_differ(members.values())
    warnings += _files_that_differ(members)
    groups = tuple(_group(key, blocks) for key, blocks in members.items())
    environments = tuple(dict.fromkeys(key.environment for key in members))
    counts = tuple((file, len(runs)) for file, runs in files.items())
    return Collection(groups, environments, counts, tuple(dict.fromkeys(warnings)))


def _environment(file: str, run: Run, given: Mapping[str, str], warnings: list[str]) -> Environment:
    values = {}
    for name in ENVIRONMENT:
        in_file, by_option = run.environment.get(name, ""), given.get(name, "")
        if in_file and by_option and _plain(name, in_file) != _plain(name, by_option):
            why = f"the file says {name} {in_file!r}, the option {by_option!r}. Take one of them back"
            raise ReadError(file, run.line, why)
        values[name] = in_file or by_option
    assumed = run.setting("assumed clock")
    if not values["clock"] and isinstance(assumed, (int, float)):
        values["clock"] = f"{assumed:g} MHz"
        built = f"the clock, {assumed:g} MHz, is what schedbench was built to assume"
        warnings.append(f"{file}:{run.line}: {built}. --clock corrects")
    if values["clock"]:
        try:
            megahertz(values["clock"])
        except ValueError as error:
            raise ReadError(file, run.line, f"{error}. Correct the line '# clock:'") from None
    suite = f"EPCC {run.suite}{' Fortran' if run.is_fortran else ''}"
    return Environment(**values, suite=suite)


def _plain(name: str, text: str) -> object:
    with contextlib.suppress(ValueError):
        return megahertz(text) if name == "clock" else text
    return text


def _settings_that_differ(pooled: Iterable[Sequence[tuple[str, Run, Block]]]) -> list[str]:
    warnings = []
    for blocks in pooled:
        for name in COMPARED:
            values = {run.setting(name): f"{file}:{run.line}" for file, run, _ in blocks}
            if len(values) > 1:
                listed = ", ".join(f"{value} ({place})" for value, place in values.items())
                differ = f"runs are put together that differ in {name}: {listed}"
                warnings.append(f"{differ}. Give them apart unless that is meant")
    return warnings


def _series(files: Mapping[str, Sequence[Run]]) -> dict[str, str]:
    """Returns by file the name of what belongs together: of files whose names differ by their numbers of threads alone, with *
    for the number; else the file's own."""
    found: dict[str, list[tuple[int, str]]] = {}
    for file, runs in files.items():
        threads = {run.threads for run in runs}
        if len(threads) == 1 and (count := threads.pop()) is not None:
            folder, slash, name = file.rpartition("/")
            number = rf"(?<!\d){count}(?!\d)"
            series = folder + slash + re.sub(rf"{number}(?!.*{number})", "*", name)
            found.setdefault(series, []).append((count, file))
    together = {series: own for series, own in found.items() if len(own) > 1 and len(dict(own)) == len(own)}
    return dict(zip(files, files, strict=True)) | {file: series for series, own in together.items() for _, file in own}


#: Overheads of two files that are put together, so many times as long and so many half widths apart, get a warning.
TIMES_APART, WIDTHS_APART = 2.0, 3.0


def _files_that_differ(members: Mapping[Key, Sequence[tuple[str, Run, Block]]]) -> list[str]:
    """Returns one warning, with the greatest difference between files whose runs are put together."""
    found: list[tuple[float, str]] = []
    for key, blocks in members.items():
        ends = sorted(((block.overhead, block.overhead_half_width or 0.0, file) for file, _, block in blocks if block.overhead is not None))
        if not ends or ends[0][2] == ends[-1][2]:
            continue
        (low, low_width, low_file), (high, high_width, high_file) = ends[0], ends[-1]
        if high - low > WIDTHS_APART * (low_width + high_width) and high > TIMES_APART * low and high > 0:
            ratio = high / max(low, low_width, 1e-9)
            text = f"{key.label}, {key.threads} thread{'s' if key.threads > 1 else ''}: {low:.3g} us in {low_file}, {high:.3g} us in {high_file}"
            found.append((ratio, text))
    if not found:
        return []
    advice = "If two machines or compilers made them, keep them apart: --apart, or '# compiler: NAME' in the files"
    return [f"runs are put together whose overheads differ ({max(found)[1]}). {advice}"]


def _group(key: Key, members: Sequence[tuple[str, Run, Block]]) -> Group:
    blocks = [block for _, _, block in members]
    time = pool([_summary(block) for block in blocks])
    weights = [block.samples for block in blocks]
    overheads = [block.overhead for block in blocks if block.overhead is not None]
    overhead = weighted_mean(overheads, weights) if overheads else None
    medians = [block.median_overhead for block in blocks if block.median_overhead is not None]
    return Group(
        key=key,
        time=time,
        time_half_width=_half_width(time.sd_samples),
        overhead=overhead,
        overhead_half_width=_overhead_half_width(time, blocks) if overheads else None,
        overhead_sd_runs=spread_of_runs(overheads, overhead) if overhead is not None else None,
        median_overhead=statistics.median(medians) if medians else None,
    )


def _half_width(*deviations: float | None) -> float | None:
    known = [deviation for deviation in deviations if deviation is not None]
    return HALF_WIDTH_SDS * sum(known) if len(known) == len(deviations) else None


def _overhead_half_width(time: Pooled, blocks: Sequence[Block]) -> float | None:
    references = [block.reference for block in blocks if block.reference is not None]
    if len(references) == len(blocks):
        return _half_width(time.sd_samples, pool([_summary(reference) for reference in references]).sd_samples)
    # A file without a reference keeps its printed values, if there are no others.
    return blocks[0].overhead_half_width if len(blocks) == 1 else None


def _summary(block: Block) -> RunSummary:
    return RunSummary(block.samples, block.mean, block.standard_deviation, block.minimum, block.maximum, block.outliers)
