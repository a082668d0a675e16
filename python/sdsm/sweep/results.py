"""Simulates the points of a sweep, several at once, and keeps each result under the hash of its inputs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sdsm.base import run_result
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.output_file import write_output
from sdsm.readers import ReadError
from sdsm.readers.text import Text
from sdsm.sweep.points import Point
from sdsm.sweep.spec import TIME_LIMIT_S


@dataclass(frozen=True)
class Done:
    """result: None if the point failed; then `error` has the reason."""

    point: Point
    result: run_result.Simulation | None
    error: str = ""

    @property
    def computing_s(self) -> float:
        return self.result.computing_s if self.result else 0.0

    def value(self, what: str) -> float:
        """Returns its "time" in seconds, or "speedup" over its computing on one processor."""
        assert self.result is not None
        return self.result.makespan_s if what == "time" else self.computing_s / self.result.makespan_s

    def band_s(self) -> tuple[float, ...]:
        """Returns the ends of the middle 90 %, with --uncertainty or noise; else nothing."""
        return (self.result.band_s if self.result else None) or ()

    def account_s(self) -> dict[str, float]:
        """Returns the mean over threads, by term."""
        return run_result.mean_account_s(self.result.threads) if self.result else {}


class Computer(Protocol):
    """Runs simulations; several threads call it."""

    def compute(self, point: Point) -> str:
        """The point's result as JSON. Raises CommandFailed."""

    def stop(self) -> None:
        """Ends running simulations."""


class Here:
    """Simulates on this machine."""

    def __init__(self, runner: CommandRunner) -> None:
        self._runner = runner
        self.stop = runner.stop

    def compute(self, point: Point) -> str:
        return self._runner.run(point.command(), TIME_LIMIT_S)


class Keeper:
    """Counts finished points, and reports them with the remaining time."""

    def __init__(self, total: int, say: Callable[[str], None]) -> None:
        self._lock = threading.Lock()
        self._say, self._total = say, total
        self._done = self._kept = self._failed = 0
        self._begun = self._last_report = time.monotonic()

    def count(self, was_kept: bool, failed: bool) -> None:
        with self._lock:
            self._done += 1
            self._kept += was_kept
            self._failed += failed
            now = time.monotonic()
            if self._done < self._total and now - self._last_report < 1:
                return
            self._last_report = now
            simulated = self._done - self._kept
            left_s = (now - self._begun) / simulated * (self._total - self._done) if simulated else 0.0
            failed_too = f", {self._failed} failed" if self._failed else ""
            self._say(f"{self._done} of {self._total} points ({self._kept} kept from before{failed_too}), {left_s:.0f} s left")


def simulate(points: Sequence[Point], folder: Path, computer: Computer, jobs: int, say: Callable[[str], None]) -> list[Done]:
    """Simulates in the points' order. folder: of kept results, a file for each. A point that fails stops no other."""
    keeper = Keeper(len(points), say)
    keys = [point.key if not point.error else "" for point in points]
    # Points of equal contents are simulated once.
    locks = {key: threading.Lock() for key in keys}

    def done(point: Point, key: str) -> Done:
        if point.error:
            keeper.count(False, True)
            return Done(point, None, point.error)
        place = folder / f"{key}.json"
        with locks[key]:
            kept = _kept(place, point)
            if kept is not None:
                keeper.count(True, False)
                return kept
            made = _simulated(place, point, computer)
        keeper.count(False, made.result is None)
        return made

    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(done, points, keys))
        except BaseException:
            computer.stop()
            pool.shutdown(cancel_futures=True)
            raise


def _kept(place: Path, point: Point) -> Done | None:
    """Returns a kept result; a damaged one is made again."""
    try:
        return Done(point, kept_result(place))
    except (OSError, UnicodeDecodeError, ReadError):
        return None


def kept_result(place: Path) -> run_result.Simulation:
    """Raises OSError, UnicodeDecodeError, ReadError."""
    return run_result.read(Text(str(place), place.read_text(encoding="utf-8")), run_result.Simulation)


def _simulated(place: Path, point: Point, computer: Computer) -> Done:
    try:
        text = computer.compute(point)
        result = run_result.printed(text, run_result.Simulation)
        if not result.makespan_s > 0:
            return Done(point, None, "the measured region takes no time")
    except CommandFailed as error:
        return Done(point, None, error.said or str(error))
    write_output(place, text)
    return Done(point, result)


def processors() -> int:
    return len(os.sched_getaffinity(0))
