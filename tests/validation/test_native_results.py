"""A program computes under `sdsm run` what it computes under the compiler's own run-time with as many threads: the same
bits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build"


def run(*command: object, threads: int) -> None:
    arguments = [str(part) for part in command]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    subprocess.run(arguments, check=True, capture_output=True, text=True, timeout=280, env=environment)


def check_same_bits(folder: Path, threads: int, size: int, *program: object) -> None:
    ordinary, executed = folder / "ordinary", folder / "executed"
    run(*program, "--output", ordinary, threads=threads)
    run(BUILD / "sdsm-run", "--quiet", "-n", threads, "--", *program, "--output", executed, threads=threads)
    assert ordinary.stat().st_size == size
    assert executed.read_bytes() == ordinary.read_bytes()


@pytest.mark.parametrize("threads", [2, 3, 4, 8])
@pytest.mark.parametrize("impl", [1, 2, 3, 4, 5, 6])
def test_laplace(tmp_path, impl, threads):
    # As many iterations as change every row, with two hot edges, so that no two rows or columns are the same.
    options = ("--impl", impl, "--size", 64, "--iterations", 200, "--hot", "top,left")
    check_same_bits(tmp_path, threads, 64 * 64 * 8, BUILD / "workloads" / "laplace", *options)


@pytest.mark.parametrize("threads", [2, 4, 8])
@pytest.mark.parametrize("impl", [1, 2, 3, 4])
def test_fft(tmp_path, impl, threads):
    options = ("--impl", impl, "--points", 8192, "--cache-bytes", "16KiB")
    check_same_bits(tmp_path, threads, 8192 * 16, BUILD / "workloads" / "fft", *options)
