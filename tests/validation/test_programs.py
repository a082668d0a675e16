"""Whole programs in the style of the NAS kernels, mini-apps and task suites (tests/native/programs-whole): each
checks itself and ends with 0, unmodified, under libgomp, `sdsm trace` and `sdsm run`, in every layout."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import BUILD
from tests.validation.whole_programs import ARGUMENTS, PROGRAMS

LAYOUTS = ((1, 1), (2, 1), (3, 1), (4, 1), (8, 1), (2, 2))
REPEATS = 20


def verify(folder: Path, program: str, *command: object) -> None:
    words = (*command, BUILD / "tests" / "whole" / program, *ARGUMENTS.get(program, ()))
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "4"},
        check=False,
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    assert "verified" in done.stdout
    assert "WRONG" not in done.stdout


def run_on(folder: Path, program: str, nodes: int, threads_per_node: int) -> None:
    layout = ("--nodes", nodes, "--threads-per-node", threads_per_node)
    verify(folder, program, BUILD / "sdsm-run", "--quiet", *layout, "--")


def trace(folder: Path, program: str, threads: int, passes: int) -> None:
    options = ("--quiet", "--passes", passes, "-n", threads, "-o", folder / "program.trace")
    verify(folder, program, BUILD / "sdsm-trace", *options, "--")


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_verifies(tmp_path, program):
    trace(tmp_path, program, 3, 1)
    for nodes, threads_per_node in ((3, 1), (2, 2)):
        run_on(tmp_path, program, nodes, threads_per_node)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.long
def test_every_program_verifies_everywhere(tmp_path, program):
    verify(tmp_path, program)
    for threads in (1, 2, 4, 8):
        trace(tmp_path, program, threads, 2)
    for nodes, threads_per_node in LAYOUTS * REPEATS:
        run_on(tmp_path, program, nodes, threads_per_node)


def test_the_initial_thread_uses_atomics_before_other_processes_serve():
    program = (BUILD / "tests" / "constructs" / "cpp", "atomics_before_regions")
    layout = ("--nodes", "2", "--threads-per-node", "2")
    for _ in range(8):
        subprocess.run([BUILD / "sdsm-run", "--quiet", *layout, "--", *program], check=True, timeout=600)
