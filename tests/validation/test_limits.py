"""What a program and the commands get from the shell: a limit that is too low is reported as that limit, in one line."""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import ASKED, BUILD


def call(folder: Path, command: str, program: Path, limits: dict[int, int] | None = None) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        for kind, value in (limits or {}).items():
            resource.setrlimit(kind, (value, value))

    options = ["-o", "a.trace"] if command == "sdsm-trace" else []
    words = [str(BUILD / command), "-q", "-n", "2", *options, "--", str(program)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600, preexec_fn=limit)


@pytest.mark.parametrize(("full", "remedy"), [(0, "ulimit -s"), (1, "OMP_STACKSIZE")])
def test_a_full_stack_is_reported_with_its_size_and_the_remedy(tmp_path, full, remedy):
    done = call(tmp_path, "sdsm-trace", ASKED / f"recursion_{full}")
    assert done.returncode == 1
    assert done.stderr.startswith(f"sdsm: the stack of thread {full} is full (") and done.stderr.count("\n") == 1
    assert f"Give it more by {remedy}" in done.stderr


@pytest.mark.parametrize("command", ["sdsm-run", "sdsm-trace"])
def test_the_least_stack_is_enough_for_the_commands(tmp_path, command):
    done = call(tmp_path, command, ASKED / "one_region", {resource.RLIMIT_STACK: 64 << 10})
    assert done.returncode == 0 or (done.returncode == 1 and done.stderr.count("\n") == 1), (done.returncode, done.stderr)


@pytest.mark.parametrize("gigabytes", [1, 4, 20, 80])
@pytest.mark.parametrize("command", ["sdsm-run", "sdsm-trace"])
def test_too_little_address_space_is_reported_as_that(tmp_path, command, gigabytes):
    done = call(tmp_path, command, ASKED / "one_region", {resource.RLIMIT_AS: gigabytes << 30})
    if done.returncode != 0:
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
        assert "ulimit -v" in done.stderr and "ulimit -u" not in done.stderr


def test_closing_the_tracers_file_is_reported_as_a_closed_file(tmp_path):
    done = call(tmp_path, "sdsm-trace", ASKED / "closes_files")
    assert done.returncode == 1 and "closed files that it did not open" in done.stderr
