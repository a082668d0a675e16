#!/usr/bin/env python3
"""Adds up test runs: tests/totals.py NAME=JUNIT_XML..., one line each and the sum as the last line.

An executable of unit tests counts as one test of ctest. What a runner skipped stands in its own line only. A report
that is missing, cannot be read or holds no test counts as one failed test, so that a runner that died is never taken
for one that passed.
Exit status: 0 nothing failed and something passed, 1 otherwise, 2 bad usage.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree


class Totals(NamedTuple):
    """Numbers of test cases."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def plus(self, other: Totals) -> Totals:
        return Totals(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


def read(report: Path) -> Totals:
    """Totals of one JUnit file of ctest or pytest. Raises OSError or ValueError when it holds no test."""
    try:
        root = ElementTree.parse(report).getroot()
    except ElementTree.ParseError as error:
        raise ValueError(f"not XML ({error})") from error
    totals = Totals()
    for case in root.iter("testcase"):
        totals = totals.plus(outcome(case))
    if totals == Totals():
        raise ValueError("no test was run")
    return totals


def outcome(case: ElementTree.Element) -> Totals:
    """One test case. Only ctest gives a status: run, fail, notrun or disabled."""
    status = case.get("status", "run")
    skipped = case.find("skipped")
    # ctest also writes "skipped" for a test whose program was never built or whose fixture failed.
    wanted = skipped is not None and (status == "run" or skipped.get("message", "").startswith("SKIP_"))
    if wanted or status == "disabled":
        return Totals(skipped=1)
    if status != "run" or case.find("failure") is not None or case.find("error") is not None:
        return Totals(failed=1)
    return Totals(passed=1)


def main(arguments: list[str]) -> int:
    if not arguments or any("=" not in argument for argument in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    total = Totals()
    for argument in arguments:
        name, _, report = argument.partition("=")
        try:
            totals = read(Path(report))
            skipped = f", {totals.skipped} skipped" if totals.skipped else ""
            print(f"{name}: {totals.passed} passed, {totals.failed} failed{skipped}")
        except (OSError, ValueError) as error:
            totals = Totals(failed=1)
            print(f"{name}: no report, counted as 1 failed: {report}: {error}")
        total = total.plus(totals)
    print(f"{total.passed} passed, {total.failed} failed")
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
