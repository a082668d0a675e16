"""Can a program be simulated whose threads hold a lock while they try for another, in different orders? In its trace each
of them got both; in simulated time another thread may have one just then."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import ASKED, BUILD

PLATFORM = BUILD.parent / "platforms" / "p3-score.xml"


def done(*command: object, folder: Path) -> str:
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600, check=True).stdout


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("name", ["transfers", "forks"])
def test_threads_that_hold_a_lock_and_try_for_another_go_on(tmp_path, name, threads):
    program = ASKED / name
    said = done(BUILD / "sdsm-run", "-q", "-n", threads, "--", program, folder=tmp_path)
    assert done(BUILD / "sdsm-trace", "-q", "-n", threads, "-o", "a.trace", "--", program, folder=tmp_path) == said
    traced = json.loads(done(BUILD / "sdsm-trace", "info", "a.trace", "--json", "-", folder=tmp_path))
    for factor in (1, 20):
        options = ("--platform", PLATFORM, "--nodes", threads, "--compute-factor", factor, "--json", "a.json")
        done(BUILD / "sdsm-simulate", "-q", "a.trace", *options, folder=tmp_path)
        simulated = json.loads((tmp_path / "a.json").read_text())["whole_run"]["threads"]
        for number, thread in enumerate(simulated):
            assert thread["locks"] >= traced["threads"][number]["events"].get("acquire", 0)
