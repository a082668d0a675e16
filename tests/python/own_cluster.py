"""Outputs of benchmarks as somebody's cluster would give them: EPCC's syncbench over its nodes, and iperf3 between two."""

from __future__ import annotations

import json
from pathlib import Path

DATA = Path(__file__).parent / "data"

_BLOCK = """
--------------------------------------------------------
Computing {name} time using 100 reps

Sample_size       Mean       Median     Min        Max        StdDev     Outliers
 20              {mean:.6f}   {mean:.6f}   {low:.6f}   {high:.6f}   {sd:.6f}   0
"""
_REFERENCE = """reference time 1 mean time    = {mean:.6f} microseconds +/- {half:.6f}
reference time 1 median time  = {mean:.6f} microseconds
"""
_RESULT = """{name} time         = {mean:.6f} microseconds +/- {half:.6f}
{name} overhead     = {over:.6f} microseconds +/- {both:.6f}
{name} median_ovrhd = {over:.6f} microseconds
"""
REFERENCE_US = 0.1


def _block(name: str, mean: float, result: str) -> str:
    sd = 0.01 * mean
    numbers = {"mean": mean, "low": 0.98 * mean, "high": 1.02 * mean, "sd": sd, "half": 1.96 * sd}
    numbers |= {"over": mean - REFERENCE_US, "both": 1.96 * (sd + 0.01 * REFERENCE_US)}
    return _BLOCK.format(name=name, **numbers) + result.format(name=name, **numbers)


def syncbench(threads: int, barrier_us: float, lock_us: float) -> str:
    """A run of EPCC 4.0; overheads in us, each with a deviation of 1 %."""
    banner = f"""Running OpenMP benchmark version 4.0
\t{threads} thread(s)
\t20 outer repetitions
\t300.00 test time (microseconds)
\t186 delay length (iterations)
\t0.100000 delay time (microseconds)
"""
    return "".join(
        (
            banner,
            _block("reference time 1", REFERENCE_US, _REFERENCE),
            _block("BARRIER", barrier_us + REFERENCE_US, _RESULT),
            _block("reference time 2", REFERENCE_US, _REFERENCE.replace("time 1", "time 2")),
            _block("LOCK/UNLOCK", lock_us + REFERENCE_US, _RESULT),
        )
    )


def iperf3(bits_per_second: float, round_trip_us: int) -> str:
    """A run of iperf3 -J."""
    document = json.loads((DATA / "network" / "iperf3.loopback.json").read_text())
    factor = bits_per_second / document["end"]["sum_received"]["bits_per_second"]

    def scaled(value: object) -> object:
        if isinstance(value, list):
            return [scaled(one) for one in value]
        if not isinstance(value, dict):
            return value
        changed = {key: scaled(one) for key, one in value.items()}
        for key in {"bytes", "bits_per_second"} & changed.keys():
            changed[key] = type(value[key])(value[key] * factor)
        times = {"rtt", "max_rtt", "min_rtt", "mean_rtt"} & changed.keys()
        return changed | dict.fromkeys(times, round_trip_us)

    return json.dumps({key: scaled(value) if key != "start" else value for key, value in document.items()})
