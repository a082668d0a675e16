"""JIAJIA as `sdsm run` plays it: programs are right, both scopes are what they say, and what threads count is what
`sdsm simulate` counts of a trace of the same program."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.traces import traced
from tests.validation.counted_runs import COUNTED, WORKLOADS, both, counts, executed, total
from tests.validation.native_runs import ASKED, BUILD, COMMAND, MEMORY_PROGRAMS, output_of, thinned

PLATFORM = BUILD.parent / "platforms" / "p3-jiajia.xml"
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


#: JIAJIA's options that move homes and leave pages writable.
MIGRATION = ("--home-migration",)
DETECTION = ("--adaptive-write-detection",)
MOVING = (MIGRATION, DETECTION, MIGRATION + DETECTION)
#: Larger pages, and those that come beside others.
LARGER = tuple(("--page-size", size) for size in ("8KiB", "16KiB", "32KiB", "64KiB"))
BESIDE = (("--prefetch", 1), ("--prefetch", 14))
TOGETHER = (*MIGRATION, *DETECTION, "--page-size", "8KiB", "--prefetch", 4)


def named(options: tuple) -> str:
    return " ".join(map(str, options)) or "plain"


def started(nodes: int, per_node: int, *command: object) -> subprocess.CompletedProcess:
    layout = ("--nodes", nodes, "--threads-per-node", per_node)
    words = [str(word) for word in (COMMAND, "--quiet", *JIAJIA, *layout, *command)]
    return subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)


def check_programs(first_seed: int, count: int, nodes: int, per_node: int, rules: tuple = ()) -> None:
    options = ("--phases", 8, "--steps", 24, "--locks", 8, "--with", INGREDIENTS)
    program = (MEMORY_PROGRAMS / "random_program", "--seed", first_seed, "--programs", count, *options)
    result = started(nodes, per_node, *rules, "--", *program)
    assert (result.returncode, result.stderr) == (0, ""), f"{' '.join(map(str, program))}: {result.stderr}"
    assert result.stdout.startswith(f"{count} programs")


@pytest.mark.parametrize(("layout", "first_seed"), thinned(2, ((1, 1), *LAYOUTS), (1, 1040)))
def test_random_programs_are_right(layout, first_seed):
    nodes, per_node = layout
    check_programs(first_seed + nodes, 3, nodes, per_node)


@pytest.mark.parametrize(("layout", "rules"), thinned(3, LAYOUTS, (*LARGER, *BESIDE, TOGETHER)))
def test_random_programs_are_right_with_other_pages(layout, rules):
    nodes, per_node = layout
    check_programs(3080 + 10 * nodes + len(rules), 1, nodes, per_node, rules)


@pytest.mark.parametrize(("layout", "rules"), thinned(2, LAYOUTS, MOVING))
def test_random_programs_are_right_where_homes_move(layout, rules):
    nodes, per_node = layout
    check_programs(2080 + 10 * nodes + len(rules), 2, nodes, per_node, rules)


@pytest.mark.long
@pytest.mark.parametrize("first_seed", range(40_001, 40_601, 20))
def test_many_random_programs_are_right_where_homes_move(first_seed):
    number = first_seed // 20
    check_programs(first_seed, 20, *LAYOUTS[number % len(LAYOUTS)], MOVING[number % len(MOVING)])


@pytest.mark.long
@pytest.mark.parametrize("first_seed", range(30_001, 31_001, 20))
def test_a_thousand_random_programs_are_right(first_seed):
    check_programs(first_seed, 20, *LAYOUTS[first_seed // 20 % len(LAYOUTS)])


@pytest.mark.parametrize("rounds", [40, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize(("layout", "rules"), thinned(2, LAYOUTS, ((), MIGRATION + DETECTION)))
def test_litmus_programs_show_no_forbidden_outcome(layout, rules, rounds):
    result = started(*layout, *rules, "--", MEMORY_PROGRAMS / "litmus", rounds)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("nodes", [2, 4])
def test_notices_may_be_more_than_a_message_holds(nodes):
    result = started(nodes, 1, "--", MEMORY_PROGRAMS / "alternating", 4000)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 wrong\n", "")


def test_few_diffs_to_a_home_are_underway_at_once(tmp_path):
    """Else the rest is kept in memory, and an emulated cable has no room for it."""
    timeline = tmp_path / "many.json"
    result = started(2, 1, "--timeline", timeline, "--", ASKED / "many_changes")
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 wrong\n", "")
    events = json.loads(timeline.read_text())["traceEvents"]
    steps = [(e["ts"], 1) for e in events if (e["name"], e["ph"]) == ("DIFF", "s")]
    steps += [(e["ts"], -1) for e in events if (e["name"], e["ph"]) == ("DIFFGRANT", "f")]
    assert len(steps) == 2 * -(-1024 // (40928 // (12 + 8 + 4096)))
    underway, most = 0, 0
    for _, step in sorted(steps):
        underway += step
        most = max(most, underway)
    assert (underway, most) == (0, 16)


#: On three nodes, with its options, and what each prints.
PRINTED = {
    "what handlers store at a barrier goes where the page moves": ("stored_meanwhile", (), "5 7 7\n5 7 7"),
    "what others change at a home is no change of its own": ("changed_twice", (), "6 7\n6 7"),
    "a new block in an old place has its homes, by scope openmp": (
        "same_place", ("--scope", "openmp", "--placement", "first-touch"), "same place, 0 wrong"),
    "a new block in an old place has its homes, by scope lock": (
        "same_place", ("--scope", "lock", "--placement", "first-touch"), "same place, 0 wrong"),
    "a loop that need not wait ends no run": ("stored_before", (), "0 wrong"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "rules"), thinned(2, PRINTED, ((), *MOVING)))
def test_a_program_prints_what_it_should_wherever_homes_move(name, rules):
    program, options, expected = PRINTED[name]
    result = started(3, 1, *options, *rules, "--", ASKED / program)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{expected}\n", "")


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
        (("counted", "locks_alone"), ("--scope", "lock"), "has a parallel region that begins within a lock"),
        (("counted", "semaphores"), ("--scope", "lock"), "Leave out --scope lock"),
    ],
)
def test_what_cannot_be_right_ends_the_run_by_name(program, options, why):
    name, *arguments = program
    result = started(4, 1, *options, "--", MEMORY_PROGRAMS / name, *arguments)
    assert result.returncode == 1
    assert why in result.stderr


#: Of the measured region: without what a process answers to others, as who asks may have heard of a reading before it.
OF_THE_REGION = tuple(count for count in COUNTS if count not in ("served", "messages_by_kind"))
REPLIES = ("GETPGRANT", "DIFFGRANT", "ACQGRANT", "BARRGRANT", "INVLD")


def documents_of(nodes: int, per_node: int, *program: object, options: tuple = ()) -> tuple[dict, dict]:
    """By the run, and by the simulation."""
    return both(nodes * per_node, *program, per_node=per_node, options=(*JIAJIA, *options), platform=PLATFORM)


def check_counts(nodes: int, per_node: int, *program: object, left_out: tuple = (), options: tuple = ()):
    run, simulation = documents_of(nodes, per_node, *program, options=options)
    further = ("prefetched",) if "--prefetch" in options else ()
    counted = (*COUNTS, *further)
    assert counts(run["whole_run"], left_out, counted) == counts(simulation["whole_run"], left_out, counted)
    regions = [
        (counts(result, left_out, (*OF_THE_REGION, *further)), [asked_by_kind(thread) for thread in result["threads"]])
        for result in (run, simulation)
    ]
    assert regions[0] == regions[1]


def asked_by_kind(thread: dict) -> dict[str, int]:
    return {kind: count for kind, count in thread["messages_by_kind"].items() if kind not in REPLIES}


SHARED: dict[str, tuple] = {
    "laplace 1": ("laplace", "--impl", 1, "--size", 256, "--iterations", 5),
    "laplace 4": ("laplace", "--impl", 4, "--size", 256, "--iterations", 5),
    "sor": ("sor", "--rows", 29, "--columns", 4098, "--iterations", 5),
    "lu": ("lu", "--size", 100, "--block", 16),
    "mm": ("mm", "--size", 101),
    "swim": ("swim", "--size", 61, "--iterations", 5),
    "fft 1": ("fft", "--impl", 1, "--points", 16384),
    "fft 4": ("fft", "--impl", 4, "--points", 16384),
}


def check_program(layout: tuple[int, int], name: str, rules: tuple = ()) -> None:
    program, *arguments = SHARED[name]
    # Sums of doubles have the last bits that the order of the threads gives them.
    left_out = ("diff_bytes", "bytes") if name == "swim" else ()
    command = (WORKLOADS / program, *arguments, "--no-check")
    check_counts(*layout, *command, left_out=left_out, options=rules)


@pytest.mark.parametrize(
    ("name", "layout", "rules"), thinned(4, (*SHARED,)[:6], ((2, 1), (3, 1), (4, 1), (2, 2)), ((), *MOVING))
)
def test_counts_of_programs(name, layout, rules):
    check_program(layout, name, rules)


@pytest.mark.parametrize(("name", "nodes", "rules"), thinned(2, ("fft 1", "fft 4"), (2, 4, 8), ((), MIGRATION + DETECTION)))
def test_counts_of_fft(name, nodes, rules):
    check_program((nodes, 1), name, rules)


@pytest.mark.parametrize(
    ("name", "layout", "rules"), thinned(3, ("laplace 4", "sor", "lu"), ((2, 1), (3, 1), (2, 2)), (*LARGER, *BESIDE, TOGETHER))
)
def test_counts_of_programs_with_other_pages(name, layout, rules):
    check_program(layout, name, rules)


@pytest.mark.parametrize("rules", [(), MIGRATION], ids=named)
@pytest.mark.parametrize("nodes", [2, 3])
def test_homes_count_the_answers_to_diffs_of_blocks_that_are_freed(nodes, rules):
    check_counts(nodes, 1, COUNTED, "serial_blocks", options=rules)


@pytest.mark.parametrize(
    ("name", "scope", "layout"),
    thinned(2, ("ordered_blocks", "locks_between_barriers"), ("openmp", "lock"), ((2, 1), (3, 1), (4, 1), (2, 2))),
)
def test_counts_where_the_order_of_grants_is_the_programs(name, scope, layout):
    """Ordered regions go in the loop's order. What a process gave back before a barrier needs no write notice behind it."""
    check_counts(*layout, COUNTED, name, options=("--scope", scope))


@pytest.mark.parametrize(("rules", "part", "nodes"), thinned(2, ((), *LARGER, *BESIDE, TOGETHER), ("block", "globals"), (2, 3)))
def test_counts_where_changes_straddle_pages(rules, part, nodes):
    check_counts(nodes, 1, MEMORY_PROGRAMS / "straddling", part, options=rules)


def test_pages_come_beside_others():
    """Thread 1 waits for two of the block's 20 pages that are at home elsewhere to write them, and for 3 to read: all else
    comes beside these, four at a time. (test_native_page_sizes.py has the program.)"""
    for result in documents_of(2, 1, MEMORY_PROGRAMS / "straddling", "block", options=("--prefetch", 4)):
        thread = result["whole_run"]["threads"][1]
        assert thread["prefetched"] == 15
        assert thread["faults"]["WUMR"] + thread["faults"]["RUMR"] < 20


@pytest.mark.parametrize("rules", [(), MIGRATION, BESIDE[0]], ids=named)
@pytest.mark.parametrize(("nodes", "per_node"), [(2, 1), (2, 2)])
def test_figures_of_pages_are_those_of_the_simulation(tmp_path, nodes, per_node, rules):
    program = (MEMORY_PROGRAMS / "straddling", "block")
    trace = traced(nodes * per_node, *program)
    layout = ("--nodes", nodes, "--threads-per-node", per_node, *JIAJIA, *rules)
    simulated, run = tmp_path / "simulated.csv", tmp_path / "run.csv"
    output_of(BUILD / "sdsm-simulate", trace, "--platform", PLATFORM, *layout, "--quiet", "--pages", simulated)
    output_of(COMMAND, "--quiet", *layout, "--pages", run, "--", *program)
    assert run.read_text() == simulated.read_text()
    assert len(run.read_text().splitlines()) > 10


def test_pages_do_move_and_stay_writable():
    """The comparisons above would pass if nothing moved anywhere."""
    name, *arguments = SHARED["swim"]
    plain, moving = (
        executed(2, WORKLOADS / name, *arguments, "--no-check", options=(*JIAJIA, *rules))["whole_run"]
        for rules in ((), MIGRATION + DETECTION)
    )
    assert total(plain, "migrated_in") == 0 < total(moving, "migrated_in")
    own_writes = [sum(thread["faults"]["WROH"] for thread in result["threads"]) for result in (plain, moving)]
    assert own_writes[1] < own_writes[0]
