#!/usr/bin/env python3
"""What scripts/bench makes of benchmark programs, with scripts in place of these and of the build."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent.parent / "scripts" / "bench"


class Checkout(unittest.TestCase):
    """A checkout of scripts/bench alone, on a machine whose cmake builds nothing."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="sdsm test ")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "scripts").mkdir()
        shutil.copy(BENCH, self.root / "scripts" / "bench")
        self.program("scripts/setup", "exit 0")
        for name in ("cmake", "c++", "git"):
            self.program(f"bin/{name}", "exit 0")
        self.program("build/benchmarks/first", "echo first figures")

    def program(self, path: str, body: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)

    def bench(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.root / "scripts" / "bench"), *arguments],
            env={**os.environ, "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def test_help_and_wrong_usage(self) -> None:
        self.assertIn("Usage: scripts/bench", self.bench("--help").stdout)
        for wrong in ("--lits", "nothing"):
            result = self.bench(wrong)
            self.assertEqual(result.returncode, 2, wrong)
            self.assertIn(f"'{wrong}'" if wrong == "nothing" else wrong, result.stderr)

    def test_the_list_names_each_program_and_runs_none(self) -> None:
        self.program("build/benchmarks/second", "exit 1")
        result = self.bench("--list")
        self.assertEqual((result.returncode, result.stdout), (0, "first\nsecond\n"))

    def test_all_run_one_after_the_other_or_those_named(self) -> None:
        self.program("build/benchmarks/second", "echo second figures")
        everything = self.bench().stdout
        self.assertIn("\n== first\nfirst figures\n\n== second\nsecond figures\n", everything)
        self.assertNotIn("== bounds", everything)
        self.assertNotIn("== first", self.bench("second").stdout)

    def test_one_that_fails_is_reported_and_the_others_run(self) -> None:
        self.program("build/benchmarks/first", "echo half; exit 3")
        self.program("build/benchmarks/second", "echo second figures")
        result = self.bench()
        self.assertEqual(result.returncode, 1)
        self.assertIn("benchmark first failed with status 3", result.stderr)
        self.assertIn("second figures", result.stdout)

    def test_bounds_of_all_programs_come_at_the_end_with_whether_they_are_kept(self) -> None:
        self.program("build/benchmarks/first", """cat <<'END'
remote (a) / local     53.91  (47.35 .. 54.86; at least 50)
a / b                   6.49  (6.38 .. 6.56; at least 3)
no bound                6.49  (6.38 .. 6.56)
END""")
        self.program("build/benchmarks/second", """cat <<'END'
c, then d / e    1.70  (1.50 .. 1.80; at most 1.6)
f / g            2.10  (2.05 .. 2.20; at most 2)
h / i            0.89  (0.88 .. 2.00; at most 2)
END""")
        result = self.bench()
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.split("\n== bounds\n")[1].splitlines()
        self.assertEqual(
            [" ".join(line.split()) for line in lines],
            [
                "remote (a) / local 53.91 at least 50 kept by the median, not in every round",
                "a / b 6.49 at least 3 kept",
                "c, then d / e 1.70 at most 1.6 NOT kept (in some rounds it is)",
                "f / g 2.10 at most 2 NOT kept",
                "h / i 0.89 at most 2 kept",
                "3 of 5 bounds kept",
            ],
        )


if __name__ == "__main__":
    unittest.main()
