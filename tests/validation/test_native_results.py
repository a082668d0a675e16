"""A program computes under `sdsm run` what it computes under the compiler's own run-time with as many threads: the same
bits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import BUILD, thinned


def run(*command: object, threads: int) -> None:
    arguments = [str(part) for part in command]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    subprocess.run(arguments, check=True, capture_output=True, text=True, timeout=600, env=environment)


def check_same_bits(folder: Path, threads: int, size: int, *program: object, options: tuple[object, ...] = ()) -> None:
    ordinary, executed = folder / "ordinary", folder / "executed"
    run(*program, "--output", ordinary, threads=threads)
    layout = ("-n", threads, *options)
    run(BUILD / "sdsm-run", "--quiet", *layout, "--", *program, "--output", executed, threads=threads)
    assert ordinary.stat().st_size == size
    assert executed.read_bytes() == ordinary.read_bytes()


def laplace(impl: int) -> tuple[object, ...]:
    """As many iterations as change every row, with two hot edges, so that no two rows or columns are the same."""
    options = ("--size", 64, "--iterations", 200, "--hot", "top,left")
    return (BUILD / "workloads" / "laplace", "--impl", impl, *options)


def fft(impl: int) -> tuple[object, ...]:
    return (BUILD / "workloads" / "fft", "--impl", impl, "--points", 8192, "--cache-bytes", "16KiB")


LAPLACE_BYTES = 64 * 64 * 8
FFT_BYTES = 8192 * 16


@pytest.mark.parametrize(("impl", "threads"), thinned(2, range(1, 7), (1, 2, 3, 4, 8)))
def test_laplace(tmp_path, impl, threads):
    check_same_bits(tmp_path, threads, LAPLACE_BYTES, *laplace(impl))


@pytest.mark.parametrize(("impl", "threads"), thinned(2, range(1, 5), (1, 2, 4, 8)))
def test_fft(tmp_path, impl, threads):
    check_same_bits(tmp_path, threads, FFT_BYTES, *fft(impl))


#: Whose threads share as JIAJIA's programs do, and the bytes of their results: sizes that no team divides.
SHARED = {
    "sor": (29 * 2050 * 4, "--rows", 29, "--columns", 2050, "--iterations", 9),
    "lu": (100 * 100 * 8, "--size", 100, "--block", 16),
    "mm": (101 * 101 * 4, "--size", 101),
    "swim": (3 * 61 * 61 * 8, "--size", 61, "--iterations", 5),
}


TWO_A_NODE = ("--threads-per-node", 2)


@pytest.mark.parametrize(("name", "layout"), thinned(2, SHARED, ((2, ()), (3, ()), (2, TWO_A_NODE), (4, ()), (4, TWO_A_NODE))))
def test_equal_shares(tmp_path, name, layout):
    threads, options = layout
    size, *arguments = SHARED[name]
    check_same_bits(tmp_path, threads, size, BUILD / "workloads" / name, *arguments, options=options)


@pytest.mark.parametrize(("program", "size"), [(laplace(0), LAPLACE_BYTES), (fft(0), FFT_BYTES)])
def test_sequential_programs(tmp_path, program, size):
    for threads in (1, 2, 3, 4, 8):
        check_same_bits(tmp_path, threads, size, *program)


@pytest.mark.parametrize("threads", [4, 8])
@pytest.mark.parametrize(("program", "size"), [(laplace(2), LAPLACE_BYTES), (fft(2), FFT_BYTES)])
def test_two_threads_on_a_node(tmp_path, program, size, threads):
    check_same_bits(tmp_path, threads, size, *program, options=("--threads-per-node", 2))


PLACEMENTS = ("as-asked", "round-robin", "block", "first-touch")
LAYOUTS = ((1, 1), (2, 1), (3, 1), (4, 1), (8, 1), (2, 2), (4, 2))


@pytest.mark.long
@pytest.mark.parametrize("transport", ["unix", "tcp"])
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize(("nodes", "per_node"), LAYOUTS)
def test_every_layout_placement_and_transport(tmp_path, nodes, per_node, placement, transport):
    options = ("--threads-per-node", per_node, "--placement", placement, "--transport", transport)
    for impl in range(7):
        check_same_bits(tmp_path, nodes * per_node, LAPLACE_BYTES, *laplace(impl), options=options)
    if nodes == 3:
        return  # the FFT takes powers of two
    for impl in range(5):
        check_same_bits(tmp_path, nodes * per_node, FFT_BYTES, *fft(impl), options=options)


def test_bound_processes_have_a_processor_each_and_are_served_first():
    """On one machine's processors, counted round; without --bind the system chooses among all."""
    allowed = sorted(os.sched_getaffinity(0))
    program = BUILD / "tests" / "memory" / "processors"

    def printed(*options: str) -> list[str]:
        command = [BUILD / "sdsm-run", "--quiet", "-n", "3", *options, "--", program]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
        return done.stdout.splitlines()

    all_of_them = " ".join(map(str, allowed))
    assert printed() == [f"thread {i}: {all_of_them}, served by a usual one" for i in range(3)]
    may_be_first = subprocess.run(["chrt", "-f", "1", "true"], capture_output=True, check=False).returncode == 0
    served = "real-time" if may_be_first else "usual"
    assert printed("--bind") == [f"thread {i}: {allowed[i % len(allowed)]}, served by a {served} one" for i in range(3)]
