"""Which locks a trace takes most."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from calibration.children import CommandFailed, clean_environment

_LINE = re.compile(r'"thread":(\d+)')
_TAKEN = re.compile(r'"end":\{"kind":"acquire","detail":"(\w+)","object":(\d+),')


@dataclass(frozen=True)
class Lock:
    """taken: how often in the whole run; threads: how many take it."""

    name: str
    taken: int
    threads: int


def _name(kind: str, number: int) -> str:
    """As docs/tracing.md numbers them: 0 to 2 are the run-time's, others count from 3 by creation or first use."""
    if number == 0:
        return "the unnamed critical section"
    if number == 1:
        return "atomic operations that gcc compiles to calls"
    if number == 2:
        return "ordered regions"
    return f"{'critical section' if kind == 'critical' else kind.replace('_', ' ')} number {number}"


def most_taken(lines: Iterable[str]) -> tuple[Lock, ...]:
    """lines: of `sdsm trace dump`. The most taken first."""
    taken: Counter[tuple[str, int]] = Counter()
    threads: dict[tuple[str, int], set[str]] = {}
    for line in lines:
        if (match := _TAKEN.search(line)) is None:
            continue
        lock = (match[1], int(match[2]))
        taken[lock] += 1
        if (thread := _LINE.search(line)) is not None:
            threads.setdefault(lock, set()).add(thread[1])
    found = [Lock(_name(*lock), count, len(threads.get(lock, ()))) for lock, count in taken.items()]
    return tuple(sorted(found, key=lambda one: (-one.taken, one.name)))


def locks_of(sdsm: str, trace: str) -> tuple[Lock, ...]:
    """Of a trace's file. Raises CommandFailed."""
    command = [sdsm, "trace", "dump", trace]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace", env=clean_environment()) as dump:
        assert dump.stdout is not None
        found = most_taken(dump.stdout)
    if dump.returncode != 0:
        raise CommandFailed(f"sdsm trace dump {trace} ended with status {dump.returncode}", dump.returncode)
    return found
