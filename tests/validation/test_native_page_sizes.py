"""Pages of 8 to 64 KiB in `sdsm run`: the same counts as `sdsm simulate` has from a trace, thread by thread; by hand where
changes straddle pages; and memory stays a memory."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from tests.traces import traced
from tests.validation.counted_runs import COUNTED, RANDOM, WORKLOADS, both, counts, executed, simulated
from tests.validation.native_runs import BUILD, MEMORY_PROGRAMS, thinned
from tests.validation.test_native_memory import MIXED, on_cluster

SIZES = ("4KiB", "8KiB", "16KiB", "32KiB", "64KiB")
VARIANTS = (
    (),
    ("--protocol", "home-open"),
    ("--invalidation", "changed"),
    ("--prefetch", 4),
    ("--protocol", "home-open", "--prefetch", 14),
    ("--invalidation", "changed", "--prefetch", 3),
)
STRADDLING = MEMORY_PROGRAMS / "straddling"


def name_of(options: tuple) -> str:
    return " ".join(map(str, options)) or "scash"


def check_same_counts(threads: int, *program: object, size: str, options: tuple = (), left_out: tuple = ()) -> None:
    run, simulation = both(threads, *program, options=("--page-size", size, *options))
    assert run["options"]["page_bytes"] == simulation["options"]["page_bytes"] == int(size[:-3]) * 1024
    assert counts(run, left_out) == counts(simulation, left_out)


#: What thread 1 of 2 does with a block of 40 parts of 4096 bytes, homes in turn, where it writes the last word of part 0 and
#: the first of part 1, word 3 of part 1, and the words from two before part 15 to two behind part 16. With 4 KiB: part 0
#: (one word: 8 + 4 + 4 bytes), 14 (two: 20) and 16 (all: 4108) are at home elsewhere. With 8 to 32 KiB parts 0 and 1 are
#: of one page (3 words in 2 runs: 28), and parts 16 and 17 of one (1026 words: 4116), and parts 14 and 15 are of its own.
#: With 64 KiB parts 0, 1, 14 and 15 are of one page (1029 words in 3 runs: 4136), and all else is of its own. Then it reads
#: the pages that are at home elsewhere.
BY_HAND = {
    "4KiB": {"WUMR": 3, "WROH": 3, "diff_bytes": 16 + 20 + 4108, "diff": 1 + 1 + 3, "reads": 20},
    "8KiB": {"WUMR": 2, "WROH": 1, "diff_bytes": 28 + 4116, "diff": 1 + 3, "reads": 10},
    "16KiB": {"WUMR": 2, "WROH": 1, "diff_bytes": 28 + 4116, "diff": 1 + 3, "reads": 5},
    "32KiB": {"WUMR": 2, "WROH": 1, "diff_bytes": 28 + 4116, "diff": 1 + 3, "reads": 3},
    "64KiB": {"WUMR": 1, "WROH": 1, "diff_bytes": 4136, "diff": 3, "reads": 2},
}
#: Besides it reads the region's page and the initial thread's stack, and behind a lock writes the sum there: one word.
OTHER_READS, OTHER_WRITES, OTHER_DIFF_BYTES = 2, 1, 16


#: With four following pages of the same home: how often it waits for pages of the block to write (WUMR) and to read, how
#: often it writes one that came beside another (WROR), and how many came so.
PREFETCHED_BY_HAND = {
    "4KiB": {"WUMR": 2, "WROR": 1, "reads": 4, "prefetched": 4 + 4 + 16},
    "8KiB": {"WUMR": 1, "WROR": 1, "reads": 2, "prefetched": 4 + 8},
    "16KiB": {"WUMR": 1, "WROR": 1, "reads": 1, "prefetched": 4 + 4},
    "32KiB": {"WUMR": 1, "WROR": 1, "reads": 1, "prefetched": 2 + 2},
    "64KiB": {"WUMR": 1, "WROR": 0, "reads": 1, "prefetched": 1 + 1},
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("prefetched", [False, True])
def test_changes_that_straddle_pages_by_hand(size, prefetched):
    own = BY_HAND[size]
    expected = PREFETCHED_BY_HAND[size] if prefetched else {**own, "WROR": 0, "prefetched": 0}
    run, simulation = both(2, STRADDLING, "block", options=("--page-size", size, "--prefetch", 4 if prefetched else 0))
    for result in (run, simulation):
        thread = result["threads"][1]
        assert thread["diff_bytes"] == own["diff_bytes"] + OTHER_DIFF_BYTES
        assert thread.get("prefetched", 0) == expected["prefetched"]
        assert thread["faults"]["WUMR"] == expected["WUMR"] + OTHER_WRITES
        assert thread["faults"]["WROR"] == expected["WROR"]
        assert thread["faults"]["RUMR"] == expected["reads"] + OTHER_READS
        if not prefetched:
            assert thread["messages_by_kind"]["diff"] == own["diff"] + OTHER_WRITES
            assert thread["faults"]["WROH"] == own["WROH"]
    assert counts(run) == counts(simulation)


PROGRAMS = {
    "laplace 1": (WORKLOADS / "laplace", "--impl", 1, "--size", 100, "--iterations", 3, "--no-check"),
    "laplace 4": (WORKLOADS / "laplace", "--impl", 4, "--size", 200, "--iterations", 3, "--no-check"),
    "fft 2": (WORKLOADS / "fft", "--impl", 2, "--points", 4096, "--no-check"),
    "globals": (STRADDLING, "globals"),
    "locks": (COUNTED, "lock_over_dirty_pages"),
    "random programs": (MEMORY_PROGRAMS / "random_program", *RANDOM),
}


@pytest.mark.parametrize(("name", "threads", "size"), thinned(2, PROGRAMS, (2, 4), SIZES[1:]))
def test_counts_are_those_of_the_simulation(name, threads, size):
    check_same_counts(threads, *PROGRAMS[name], size=size)


@pytest.mark.parametrize(("program", "options", "size"), thinned(2, ("laplace 4", "globals", "own_locks"), VARIANTS[1:], ("8KiB", "64KiB")))
def test_counts_under_each_variant(program, options, size):
    check_same_counts(3, *PROGRAMS.get(program, (COUNTED, program)), size=size, options=options)


@pytest.mark.parametrize("size", ["16KiB", "64KiB"])
@pytest.mark.parametrize(
    ("name", "placement"),
    [
        *itertools.product(["globals", "neighbours", "large_blocks"], ["round-robin", "block"]),
        # Not globals: several threads touch a larger page of theirs at once, so that timing decides who is first.
        *itertools.product(["neighbours", "large_blocks"], ["first-touch"]),
    ],
)
def test_homes_are_placed_by_larger_pages(name, placement, size):
    left_out = ("served",) if name == "large_blocks" else ()
    program = PROGRAMS.get(name, (COUNTED, name))
    check_same_counts(3, *program, size=size, options=("--placement", placement), left_out=left_out)


@pytest.mark.parametrize(("size", "atomics"), thinned(2, ("8KiB", "64KiB"), ("home", "lock", "relaxed")))
def test_atomic_operations(size, atomics):
    check_same_counts(3, COUNTED, "atomics", size=size, options=("--atomics", atomics))


LAYOUTS = ((2, 1), (3, 1), (4, 1), (8, 1), (2, 2))


def check_random_programs(seed: int, nodes: int, threads_per_node: int, size: str, options: tuple) -> None:
    own = ("--page-size", size, *options)
    for program in (("--pages", 40, "--steps", 60, "--locks", 4), MIXED):
        command = (MEMORY_PROGRAMS / "random_program", "--seed", seed, "--programs", 1, *program)
        done = on_cluster(nodes, threads_per_node, "as-asked", "unix", *command, options=own)
        assert (done.returncode, done.stderr) == (0, ""), f"{command}: {done.stderr}"


@pytest.mark.parametrize(("number", "layout"), thinned(4, range(len(VARIANTS)), LAYOUTS))
def test_random_programs_are_right(number, layout):
    nodes, threads_per_node = layout
    check_random_programs(7 + nodes, nodes, threads_per_node, SIZES[1 + (number + nodes) % 4], VARIANTS[number])


@pytest.mark.long
@pytest.mark.parametrize("options", VARIANTS, ids=name_of)
@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize(("nodes", "threads_per_node"), LAYOUTS)
@pytest.mark.parametrize("seed", range(100, 1100, 100))
def test_many_random_programs_are_right(seed, nodes, threads_per_node, size, options):
    check_random_programs(seed + nodes, nodes, threads_per_node, size, options)


OF_MEMORY = (
    *("straddling globals", "litmus 40", "flag_litmus 8", "late_diffs", "flags_on_stacks", "operations_elsewhere"),
    *("placed_again", "kernel_buffers"),
)


@pytest.mark.parametrize(("program", "layout", "size"), thinned(3, OF_MEMORY, ((2, 1), (4, 1), (2, 2)), ("8KiB", "64KiB")))
def test_memory_stays_a_memory(program, layout, size):
    name, *arguments = program.split()
    options = ("--page-size", size)
    done = on_cluster(*layout, "as-asked", "unix", MEMORY_PROGRAMS / name, *arguments, options=options)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_an_emulated_cluster_computes_as_long_as_in_the_trace():
    """Touches of larger pages are found in the trace, and the run ends as one of 4096 bytes does."""
    program, larger = PROGRAMS["laplace 4"], ("--page-size", "16KiB")
    options = ("--emulate", "p3-score", "--trace", traced(2, *program), "--compute-factor", 1, *larger)
    assert counts(executed(2, *program, options=options)) == counts(simulated(2, *program, options=larger))


def refused(*arguments: object) -> str:
    command = [BUILD / "sdsm-run", *arguments, "--", STRADDLING, "globals"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-n", 2, "--page-size", "12KiB"), "12288 bytes are not 4096 times a power of two"),
        (("-n", 2, "--page-size", "128KiB"), "Give at most 64KiB"),
        (("-n", 2, "--page-size", "2048"), "are smaller than a trace's"),
        (("-n", 2, "--page-size", "8KiB", "--order", "-"), "--order is of pages of 4096 bytes"),
        (("-n", 2, "--page-size", "8KiB", "--pages", "-"), "--pages names pages of 4096 bytes"),
    ],
)
def test_what_does_not_go_with_larger_pages_is_refused_before_the_start(arguments, why):
    assert why in refused(*arguments)


def test_an_old_trace_has_no_larger_pages_to_emulate():
    old = Path(__file__).parents[1] / "workloads" / "trace" / "format_1" / "laplace.trace"
    options = ("-n", 4, "--emulate", "p3-score", "--trace", old, "--compute-factor", 1)
    assert "is of format 1, which does not tell" in refused(*options, "--page-size", "8KiB")
