"""Traces of a few iterations, simulations of them, and the whole run's time from these.

The first iterations move pages to where they are used; each further one takes the same. With T(i) for the end of iteration
i, T(n) = T(b) + (n - b) (T(b) - T(a)) / (b - a). Both ends are of one simulation: in two, the first iterations' requests
meet in another order, and differ by 0.1 s, which the extrapolation would make 10 s.

The initialisation's computing is measured on the tracing machine, where first touches of memory count most. The
published share of sequential computing takes its place.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from sdsm.base import run_result
from sdsm.base.children import CommandRunner
from sdsm.base.command_line import RunFailed
from sdsm.base.output_file import json_text, write_output
from sdsm.base.tracing import Tracer, sha256
from sdsm.readers import ReadError
from sdsm.readers.text import Text
from sdsm.swim.plan import Swim, SwimTrace, Variant

TIME_LIMIT_S = 7200.0
#: Kinds of messages that count requests, by the protocol's name.
REQUEST = "GETP"


@dataclass(frozen=True)
class Simulated:
    """One simulation. ends_s: begin of the first step, then the end of each. Counts are sums over threads, in the whole run."""

    ends_s: tuple[float, ...]
    faults: int
    page_requests: int
    diffs: int
    messages: int
    message_bytes: int

    def time_s(self, first: int, iterations: int) -> float:
        """Returns the time of so many iterations, on the line from the end of step `first` to that of the last."""
        last = len(self.ends_s) - 1
        return self.ends_s[last] + (iterations - last) * (self.ends_s[last] - self.ends_s[first]) / (last - first)

    def unevenness(self, first: int) -> float:
        """Returns the largest relative difference from their mean among the steps after `first`."""
        steps = [end - begin for begin, end in pairwise(self.ends_s[first:])]
        mean = sum(steps) / len(steps)
        return max(abs(step - mean) for step in steps) / mean


@dataclass
class Job:
    """Folders and inputs of the job, and a listener for each step."""

    build: Path
    folder: Path
    swim: Swim
    size: int
    say: Callable[[str], None]
    retrace: bool = False
    runner: CommandRunner = field(default_factory=CommandRunner)
    done: dict[Path, Simulated] = field(default_factory=dict)
    """By the file of its result."""

    def __post_init__(self) -> None:
        self.tracer = Tracer(self.build, self.folder / "traces", self.runner, TIME_LIMIT_S)

    def trace(self, run: SwimTrace) -> None:
        """Makes the trace unless it is kept. Raises CommandFailed, Stopped."""
        if not self.retrace and self.tracer.is_kept(run) and self._balanced(run).exists():
            return self.say(f"{run.name}: kept")
        balanced = self._balanced(run)
        balanced.unlink(missing_ok=True)
        self.tracer.trace(run)
        mend = [str(self.build / "sdsm"), "trace", "mend", str(self.tracer.path(run)), "-o", str(balanced), "--balance"]
        self.runner.run(mend, TIME_LIMIT_S)
        return self.say(f"{run.name}: traced")

    def _balanced(self, run: SwimTrace) -> Path:
        """Returns the trace with even shares. Static shares of rows differ by at most one row: other differences are noise."""
        return self.tracer.path(run).with_suffix(".balanced.trace")

    def simulate(self, run: SwimTrace, variant: Variant, platform: Path) -> Simulated:
        """Keeps a simulation by its command, trace, platform and simulator. Raises CommandFailed, Stopped."""
        trace = self._balanced(run)
        computing_s = self.swim.iteration_s(variant.name, self.size) * run.iterations
        path = self.folder / "simulations" / f"{run.name}-{variant.name.replace(' ', '-')}-{platform.stem}.json"
        if path in self.done:
            return self.done[path]
        readings = path.with_suffix(".readings.csv")
        command = [
            *(str(self.build / "sdsm"), "simulate", str(trace)),
            *("--platform", str(platform), "--nodes", str(run.threads)),
            *("--sequential-time", f"{computing_s!r}s", *variant.options),
            *("--quiet", "--readings", str(readings), "--json", "-"),
        ]
        origin = {"command": command, "sha256": [sha256(file) for file in (trace, platform, self.build / "sdsm-simulate")]}
        made = _kept(path, origin)
        if made is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            made = (self.runner.run(command, TIME_LIMIT_S), readings.read_text(encoding="utf-8"))
            readings.unlink()
            write_output(path, json_text({"origin": origin, "result": made[0], "readings": made[1]}))
            self.say(f"{path.stem}: simulated")
        else:
            self.say(f"{path.stem}: kept")
        self.done[path] = self.simulated(*made, path, variant)
        return self.done[path]

    def simulated(self, text: str, readings: str, path: Path, variant: Variant) -> Simulated:
        """Reads a result's JSON and the clock's readings, as CSV. path: for messages. Raises RunFailed."""
        try:
            result = run_result.read(Text(str(path), text), run_result.Simulation)
        except ReadError as error:
            raise RunFailed(str(error)) from error
        threads = result.whole_run.threads
        outside_s = sum(t.time_s.compute for t in threads) - sum(t.time_s.compute for t in result.threads)
        more_s = self.swim.sequential_s(variant.name, self.size) - outside_s
        # Readings of thread 0: before the first step, after each, and once more at the end.
        *ends_s, _ = [float(row["time_s"]) for row in csv.DictReader(readings.splitlines())]
        return Simulated(
            tuple(end_s + more_s for end_s in ends_s),
            sum(sum(t.faults.values()) for t in threads),
            sum(t.messages_by_kind.get(REQUEST, 0) for t in threads),
            sum(t.diffs for t in threads),
            sum(t.messages + t.served for t in threads),
            sum(t.bytes + t.served_bytes for t in threads),
        )


def _kept(path: Path, origin: dict[str, Any]) -> tuple[str, str] | None:
    """Returns the simulation's JSON and readings."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return (str(record["result"]), str(record["readings"])) if record["origin"] == origin else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def fitted(time_s: Callable[[float], float], wanted_s: float, first: float, second: float) -> float:
    """Returns the cost (us, rounded to 0.01) with which the program takes wanted_s, within 0.05 %: by the secant's rule from
    two costs. A different order of requests changes the time by less. Raises RunFailed if no cost above zero does."""
    at = [(cost, time_s(cost)) for cost in (first, second)]
    for _ in range(8):
        (a, time_a), (b, time_b) = at[-2:]
        if abs(time_b - wanted_s) < 5e-4 * wanted_s:
            return round(b, 2)
        if time_a == time_b:
            break
        cost = b + (wanted_s - time_b) * (b - a) / (time_b - time_a)
        if cost <= 0:
            raise RunFailed(f"the program takes {time_b:.2f} s with {b:.2f} us, and {wanted_s:.2f} s at no cost above zero")
        at.append((cost, time_s(cost)))
    raise RunFailed(f"no cost gives {wanted_s:.2f} s; the last tried, {at[-1][0]:.2f} us, gives {at[-1][1]:.2f} s")


