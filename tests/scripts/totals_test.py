#!/usr/bin/env python3
"""What tests/totals.py makes of reports, in ctest's and pytest's own spellings."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOTALS = Path(__file__).resolve().parent.parent / "totals.py"

CTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)">
  <testcase name="a" status="run"></testcase>
  <testcase name="b" status="fail"><failure message=""/></testcase>
  <testcase name="never built" status="notrun"><skipped message="Unable to find executable"/></testcase>
  <testcase name="c" status="notrun"><skipped message="SKIP_RETURN_CODE=4"/></testcase>
  <testcase name="d" status="disabled"></testcase>
</testsuite>"""
PYTEST = """<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest">
  <testcase name="a"/><testcase name="b"/>
  <testcase name="c"><skipped message="no display"/></testcase>
  <testcase name="d"><failure message="x"/></testcase><testcase name="e"><error message="x"/></testcase>
</testsuite></testsuites>"""
ALL_PASSED = '<testsuite><testcase name="a" status="run"/></testsuite>'


class Sums(unittest.TestCase):
    def answer(self, **reports: str) -> tuple[list[str], int]:
        with tempfile.TemporaryDirectory() as folder:
            arguments = []
            for name, text in reports.items():
                path = Path(folder) / f"{name}.xml"
                if text != "absent":
                    path.write_text(text)
                arguments.append(f"{name}={path}")
            result = subprocess.run([sys.executable, str(TOTALS), *arguments], capture_output=True, text=True)
        return result.stdout.splitlines(), result.returncode

    def test_a_test_that_was_never_built_has_failed(self) -> None:
        self.assertEqual(self.answer(ctest=CTEST), (["ctest: 1 passed, 2 failed, 2 skipped", "1 passed, 2 failed"], 1))

    def test_failures_and_errors_of_pytest_have_failed(self) -> None:
        self.assertEqual(self.answer(pytest=PYTEST)[0][0], "pytest: 2 passed, 2 failed, 1 skipped")

    def test_the_last_line_is_the_sum(self) -> None:
        self.assertEqual(self.answer(ctest=CTEST, pytest=PYTEST)[0][-1], "3 passed, 4 failed")

    def test_a_missing_broken_or_empty_report_is_a_failure(self) -> None:
        self.assertEqual(self.answer(a=ALL_PASSED), (["a: 1 passed, 0 failed", "1 passed, 0 failed"], 0))
        for other in ("absent", "", "<testsuite>", "<testsuite/>"):
            lines, status = self.answer(a=ALL_PASSED, b=other)
            self.assertEqual((lines[-1], status), ("1 passed, 1 failed", 1), other)


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
