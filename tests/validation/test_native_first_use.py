"""Does a node's first use of memory in `sdsm run` cost it what later uses do not? The simulator knows of first copies
alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.validation.native_runs import ASKED, COMMAND, output_of

PAGES = 1024


def run(folder: Path, how: str, *options: object) -> tuple[str, dict]:
    """Of the program, what it says and the result."""
    result = folder / "run.json"
    said = output_of(COMMAND, "-q", "--nodes", 2, *options, "--json", result, "--", ASKED / "first_use", how)
    return said, json.loads(result.read_text())


def test_a_flush_needs_no_memory_for_the_diffs_of_all_its_pages(tmp_path):
    said, result = run(tmp_path, "writes")
    assert result["threads"][1]["diffs"] >= PAGES
    assert int(said) < 4 * PAGES / 4, "kB more behind the flush than before it"


@pytest.mark.parametrize("placement", ["round-robin", "block"])
def test_home_pages_that_are_read_in_rows_take_one_trap_for_many(tmp_path, placement):
    said, result = run(tmp_path, "reads", "--placement", placement)
    assert said == ""
    for thread in result["threads"]:
        assert thread["traps"] - sum(thread["faults"].values()) < PAGES // 16, thread
