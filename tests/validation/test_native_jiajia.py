"""JIAJIA as `sdsm run` plays it: programs are right, both scopes are what they say, and what threads count is what
`sdsm simulate` counts of a trace of the same program."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import BUILD, MEMORY_PROGRAMS, output_of

SDSM = BUILD / "sdsm"
PLATFORM = BUILD.parent / "platforms" / "p3-jiajia.xml"
WORKLOADS = BUILD / "workloads"
COUNTED = MEMORY_PROGRAMS / "counted"
JIAJIA = ("--protocol", "jiajia")

LAYOUTS = ((2, 1), (3, 1), (4, 1), (8, 1), (2, 2))

#: What programs are drawn from: all that does not hand on by plain loads or stores, and no atomic variables side by side
#: in a word that several threads store to by plain moves (under --atomics lock one may be lost, with a warning).
INGREDIENTS = "cells,locks,blocks,constructs,teams,thread-locals,library,flags,copies"

#: Counts that the rules of the protocol decide, whatever the timing.
COUNTS = (
    *("faults", "barriers", "locks", "messages", "messages_by_kind", "diffs", "diff_bytes", "bytes", "served"),
    *("invalidations", "notices", "migrated_in", "migrated_out"),
)


def started(nodes: int, per_node: int, *command: object) -> subprocess.CompletedProcess:
    layout = ("--nodes", nodes, "--threads-per-node", per_node)
    words = [str(word) for word in (SDSM, "run", "--quiet", *JIAJIA, *layout, *command)]
    return subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)


def check_programs(first_seed: int, count: int, nodes: int, per_node: int) -> None:
    options = ("--phases", 8, "--steps", 24, "--locks", 8, "--with", INGREDIENTS)
    program = (MEMORY_PROGRAMS / "random_program", "--seed", first_seed, "--programs", count, *options)
    result = started(nodes, per_node, "--", *program)
    assert (result.returncode, result.stderr) == (0, ""), f"{' '.join(map(str, program))}: {result.stderr}"
    assert result.stdout.startswith(f"{count} programs")


@pytest.mark.parametrize("first_seed", [1, 1040])
@pytest.mark.parametrize(("nodes", "per_node"), LAYOUTS)
def test_random_programs_are_right(nodes, per_node, first_seed):
    check_programs(first_seed + nodes, 3, nodes, per_node)


@pytest.mark.long
@pytest.mark.parametrize("first_seed", range(30_001, 31_001, 20))
def test_a_thousand_random_programs_are_right(first_seed):
    check_programs(first_seed, 20, *LAYOUTS[first_seed // 20 % len(LAYOUTS)])


@pytest.mark.parametrize("rounds", [40, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize(("nodes", "per_node"), LAYOUTS)
def test_litmus_programs_show_no_forbidden_outcome(nodes, per_node, rounds):
    result = started(nodes, per_node, "--", MEMORY_PROGRAMS / "litmus", rounds)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("nodes", [2, 4])
def test_notices_may_be_more_than_a_message_holds(nodes):
    result = started(nodes, 1, "--", MEMORY_PROGRAMS / "alternating", 4000)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 wrong\n", "")


@pytest.mark.parametrize(("nodes", "per_node"), [(2, 1), (4, 1), (2, 2)])
@pytest.mark.parametrize(
    ("scope", "written", "seen"),
    [("openmp", "before", 20), ("openmp", "inside", 20), ("lock", "before", 0), ("lock", "inside", 20)],
)
def test_a_scope_hands_on_what_it_says(tmp_path, nodes, per_node, scope, written, seen):
    json_file = tmp_path / "run.json"
    command = ("--scope", scope, "--json", json_file, "--", MEMORY_PROGRAMS / "scopes", written)
    result = started(nodes, per_node, *command)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"seen {seen} of 20\n", "")
    document = json.loads(json_file.read_text())
    assert document["protocol"] == "jiajia"
    assert (document["options"]["scope"], document["options"]["atomics"]) == (scope, "lock")


@pytest.mark.parametrize(
    ("program", "options", "why"),
    [
        (("flag_litmus", 4), (), "waits in a loop for another thread's plain store"),
        (("counted", "teams"), ("--scope", "lock"), "has a barrier of some of the run's threads"),
        (("counted", "doacross"), ("--scope", "lock"), "Leave out --scope lock"),
        (("counted", "semaphores"), ("--scope", "lock"), "Leave out --scope lock"),
    ],
)
def test_what_cannot_be_right_ends_the_run_by_name(program, options, why):
    name, *arguments = program
    result = started(4, 1, *options, "--", MEMORY_PROGRAMS / name, *arguments)
    assert result.returncode == 1
    assert why in result.stderr


def counted(folder: Path, nodes: int, per_node: int, *program: object, options: tuple = ()) -> tuple[list, list]:
    """By the simulation, and by the run."""
    trace, run = folder / "program.trace", folder / "run.json"
    threads = nodes * per_node
    output_of(SDSM, "trace", "--quiet", "--passes", 1, "-n", threads, "-o", trace, "--", *program)
    layout = ("--nodes", nodes, "--threads-per-node", per_node, *JIAJIA, *options)
    simulation = output_of(SDSM, "simulate", trace, "--platform", PLATFORM, *layout, "--quiet", "--json", "-")
    output_of(SDSM, "run", "--quiet", *layout, "--json", run, "--", *program)
    # Of the whole run: one process leaves a barrier before others, so readings of a clock between count here or there.
    documents = (json.loads(simulation), json.loads(run.read_text()))
    whole_runs = [document["whole_run"]["threads"] for document in documents]
    return whole_runs[0], whole_runs[1]


def check_counts(folder: Path, nodes: int, per_node: int, *program: object, left_out: tuple = (), options: tuple = ()):
    simulation, run = counted(folder, nodes, per_node, *program, options=options)
    compared = [count for count in COUNTS if count not in left_out]
    assert [[thread[count] for count in compared] for thread in run] == [
        [thread[count] for count in compared] for thread in simulation
    ]


SHARED = [
    ("laplace", "--impl", 1, "--size", 256, "--iterations", 5),
    ("laplace", "--impl", 4, "--size", 256, "--iterations", 5),
    ("sor", "--rows", 29, "--columns", 4098, "--iterations", 5),
    ("lu", "--size", 100, "--block", 16),
    ("mm", "--size", 101),
    ("swim", "--size", 61, "--iterations", 5),
]


@pytest.mark.parametrize(("nodes", "per_node"), [(2, 1), (3, 1), (4, 1), (2, 2)])
@pytest.mark.parametrize("program", SHARED, ids=lambda program: "-".join(map(str, program[:3])))
def test_counts_of_programs(tmp_path, program, nodes, per_node):
    name, *arguments = program
    # Sums of doubles have the last bits that the order of the threads gives them.
    left_out = ("diff_bytes", "bytes") if name == "swim" else ()
    check_counts(tmp_path, nodes, per_node, WORKLOADS / name, *arguments, "--no-check", left_out=left_out)


@pytest.mark.parametrize("nodes", [2, 4, 8])
@pytest.mark.parametrize("impl", [1, 4])
def test_counts_of_fft(tmp_path, impl, nodes):
    check_counts(tmp_path, nodes, 1, WORKLOADS / "fft", "--impl", impl, "--points", 16384, "--no-check")
