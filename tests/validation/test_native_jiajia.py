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
    words = [str(word) for word in (SDSM, "run", "--quiet", *JIAJIA, *layout, *command)]
    return subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)


def check_programs(first_seed: int, count: int, nodes: int, per_node: int, rules: tuple = ()) -> None:
    options = ("--phases", 8, "--steps", 24, "--locks", 8, "--with", INGREDIENTS)
    program = (MEMORY_PROGRAMS / "random_program", "--seed", first_seed, "--programs", count, *options)
    result = started(nodes, per_node, *rules, "--", *program)
    assert (result.returncode, result.stderr) == (0, ""), f"{' '.join(map(str, program))}: {result.stderr}"
    assert result.stdout.startswith(f"{count} programs")


@pytest.mark.parametrize("first_seed", [1, 1040])
@pytest.mark.parametrize(("nodes", "per_node"), [(1, 1), *LAYOUTS])
def test_random_programs_are_right(nodes, per_node, first_seed):
    check_programs(first_seed + nodes, 3, nodes, per_node)


@pytest.mark.parametrize("rules", [*LARGER, *BESIDE, TOGETHER], ids=named)
@pytest.mark.parametrize(("nodes", "per_node"), LAYOUTS)
def test_random_programs_are_right_with_other_pages(nodes, per_node, rules):
    check_programs(3080 + 10 * nodes + len(rules), 1, nodes, per_node, rules)


@pytest.mark.parametrize("rules", MOVING, ids=named)
@pytest.mark.parametrize(("nodes", "per_node"), LAYOUTS)
def test_random_programs_are_right_where_homes_move(nodes, per_node, rules):
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


@pytest.mark.parametrize("rules", [(), MIGRATION + DETECTION], ids=named)
@pytest.mark.parametrize("rounds", [40, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize(("nodes", "per_node"), LAYOUTS)
def test_litmus_programs_show_no_forbidden_outcome(nodes, per_node, rounds, rules):
    result = started(nodes, per_node, *rules, "--", MEMORY_PROGRAMS / "litmus", rounds)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("nodes", [2, 4])
def test_notices_may_be_more_than_a_message_holds(nodes):
    result = started(nodes, 1, "--", MEMORY_PROGRAMS / "alternating", 4000)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 wrong\n", "")


#: Thread 1 changes 4 MiB of process 0's.
MANY_CHANGES = r"""
#include <omp.h>
#include <stdio.h>
enum { ints = 1 << 20 };
static int numbers[ints];
int main(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1)
    for (int i = 0; i < ints; ++i) numbers[i] = i + 1;
  int wrong = 0;
  for (int i = 0; i < ints; ++i) wrong += numbers[i] != i + 1;
  printf("%d wrong\n", wrong);
  return 0;
}
"""


def test_few_diffs_to_a_home_are_underway_at_once(tmp_path):
    """Else the rest is kept in memory, and an emulated cable has no room for it."""
    (tmp_path / "many.c").write_text(MANY_CHANGES)
    program, timeline = tmp_path / "many", tmp_path / "many.json"
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", program, tmp_path / "many.c"], check=True)
    result = started(2, 1, "--timeline", timeline, "--", program)
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


#: While threads 0 and 2 wait at the barrier at which thread 1's page moves to it from process 0, handlers store to it.
STORED_MEANWHILE = r"""
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int page[1024] __attribute__((aligned(4096)));
static void store(int number) { page[1 + omp_get_thread_num()] = 7; }
int main(void) {
#pragma omp parallel num_threads(3)
  {
    const int self = omp_get_thread_num();
    const struct itimerval once = {{0, 0}, {0, 200000}};
    signal(SIGALRM, store);
    if (self == 1) page[0] += 5;
    if (self == 1) usleep(600000);
    else setitimer(ITIMER_REAL, &once, NULL);
#pragma omp barrier
#pragma omp barrier
    if (self == 1) printf("%d %d %d\n", page[0], page[1], page[3]);
#pragma omp barrier
    if (self == 0) printf("%d %d %d\n", page[0], page[1], page[3]);
  }
  return 0;
}
"""


@pytest.mark.parametrize("rules", [(), *MOVING], ids=named)
def test_what_handlers_store_at_a_barrier_goes_where_the_page_moves(tmp_path, rules):
    (tmp_path / "meanwhile.c").write_text(STORED_MEANWHILE)
    program = tmp_path / "meanwhile"
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", program, tmp_path / "meanwhile.c"], check=True)
    result = started(3, 1, *rules, "--", program)
    assert (result.returncode, result.stdout, result.stderr) == (0, "5 7 7\n5 7 7\n", "")


#: Process 2's handler stores to its page while it waits at a barrier, and holds it up. Meanwhile thread 1's change comes,
#: the page moves to thread 1, and that changes the same word once more.
CHANGED_TWICE = r"""
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
#include <sdsm/placement.h>
static volatile int (*pages)[1024];
static void store(int number) {
  pages[2][1] = 7;
  usleep(1200000);
}
int main(void) {
  pages = sdsm_galloc(3 * sizeof *pages, sdsm_block);
#pragma omp parallel num_threads(3)
  {
    const int self = omp_get_thread_num();
    const struct itimerval once = {{0, 0}, {0, 200000}};
    signal(SIGALRM, store);
    if (self == 2) pages[2][0] = 1;
#pragma omp barrier
    if (self == 1) pages[2][0] += 4;
    if (self == 1) usleep(600000);
    if (self == 2) setitimer(ITIMER_REAL, &once, NULL);
#pragma omp barrier
    if (self == 1) pages[2][0] += 1;
#pragma omp barrier
    if (self == 1) printf("%d %d\n", pages[2][0], pages[2][1]);
#pragma omp barrier
    if (self == 0) printf("%d %d\n", pages[2][0], pages[2][1]);
  }
  return 0;
}
"""


@pytest.mark.parametrize("rules", [(), *MOVING], ids=named)
def test_what_others_change_at_a_home_is_no_change_of_its_own(tmp_path, rules):
    (tmp_path / "twice.c").write_text(CHANGED_TWICE)
    program = tmp_path / "twice"
    flags = ("-O2", "-fopenmp", "-I", BUILD.parent / "workloads" / "include")
    subprocess.run(["gcc", *flags, "-o", program, tmp_path / "twice.c"], check=True)
    result = started(3, 1, *rules, "--", program)
    assert (result.returncode, result.stdout, result.stderr) == (0, "6 7\n6 7\n", "")


#: The initial thread notes its change of a block that goes, and another comes to its place before it tells of that. Each
#: block's pages have the home that touched them first.
SAME_PLACE = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
enum { ints = 3 * 1024 };
static int *block, *before;
static void fill_in_thread(int thread, int value) {
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == thread)
    for (int i = 0; i < ints; ++i) block[i] = value;
}
int main(void) {
  block = before = malloc(ints * sizeof *block);
  fill_in_thread(1, 1);
  for (int i = 0; i < ints; ++i) block[i] = 2;
  free(block);
  block = malloc(ints * sizeof *block);
  fill_in_thread(2, 3);
  int wrong = 0;
  for (int i = 0; i < ints; ++i) wrong += block[i] != 3;
  printf("%s, %d wrong\n", block == before ? "same place" : "elsewhere", wrong);
  return 0;
}
"""


@pytest.mark.parametrize("rules", [(), *MOVING], ids=named)
@pytest.mark.parametrize("scope", ["lock", "openmp"])
def test_a_block_has_homes_of_its_own_where_another_was(tmp_path, scope, rules):
    (tmp_path / "place.c").write_text(SAME_PLACE)
    program = tmp_path / "place"
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", program, tmp_path / "place.c"], check=True)
    result = started(3, 1, "--scope", scope, "--placement", "first-touch", *rules, "--", program)
    assert (result.returncode, result.stdout, result.stderr) == (0, "same place, 0 wrong\n", "")


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
        (("../constructs/cpp", "shared_pointers"), ("--scope", "lock"), "has an atomic function of std::shared_ptr"),
    ],
)
def test_what_cannot_be_right_ends_the_run_by_name(program, options, why):
    name, *arguments = program
    result = started(4, 1, *options, "--", MEMORY_PROGRAMS / name, *arguments)
    assert result.returncode == 1
    assert why in result.stderr


TOLD_BEFORE = """
#include <sched.h>
#include <stdio.h>
static int flag;
int main(void) {
  int wrong = 0;
  flag = 1;
#pragma omp parallel reduction(+ : wrong)
  {
    while (flag == 0) sched_yield();
    wrong += flag != 1;
  }
  printf("%d wrong\\n", wrong);
  return 0;
}
"""


def test_a_loop_that_need_not_wait_ends_no_run(tmp_path):
    (tmp_path / "told.c").write_text(TOLD_BEFORE)
    program = tmp_path / "told"
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", program, tmp_path / "told.c"], check=True)
    result = started(3, 1, "--", program)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 wrong\n", "")


#: Of the measured region: without what a process answers to others, as who asks may have heard of a reading before it.
OF_THE_REGION = tuple(count for count in COUNTS if count not in ("served", "messages_by_kind"))
REPLIES = ("GETPGRANT", "DIFFGRANT", "ACQGRANT", "BARRGRANT", "INVLD")


def documents_of(folder: Path, nodes: int, per_node: int, *program: object, options: tuple = ()) -> tuple[dict, dict]:
    """By the simulation, and by the run."""
    trace, run = folder / "program.trace", folder / "run.json"
    threads = nodes * per_node
    output_of(SDSM, "trace", "--quiet", "--passes", 1, "-n", threads, "-o", trace, "--", *program)
    layout = ("--nodes", nodes, "--threads-per-node", per_node, *JIAJIA, *options)
    simulation = output_of(SDSM, "simulate", trace, "--platform", PLATFORM, *layout, "--quiet", "--json", "-")
    output_of(SDSM, "run", "--quiet", *layout, "--json", run, "--", *program)
    return json.loads(simulation), json.loads(run.read_text())


def counted(folder: Path, nodes: int, per_node: int, *program: object, options: tuple = ()) -> tuple[list, list]:
    """Threads of the whole run."""
    documents = documents_of(folder, nodes, per_node, *program, options=options)
    whole_runs = [document["whole_run"]["threads"] for document in documents]
    return whole_runs[0], whole_runs[1]


def check_counts(folder: Path, nodes: int, per_node: int, *program: object, left_out: tuple = (), options: tuple = ()):
    simulation, run = documents_of(folder, nodes, per_node, *program, options=options)
    further = ["prefetched"] if "--prefetch" in options else []
    compared = [count for count in (*COUNTS, *further) if count not in left_out]
    assert [[thread[count] for count in compared] for thread in run["whole_run"]["threads"]] == [
        [thread[count] for count in compared] for thread in simulation["whole_run"]["threads"]
    ]
    compared = [count for count in (*OF_THE_REGION, *further) if count not in left_out]
    regions = [
        [([thread[count] for count in compared], asked_by_kind(thread)) for thread in document["threads"]]
        for document in (simulation, run)
    ]
    assert regions[1] == regions[0]


def asked_by_kind(thread: dict) -> dict[str, int]:
    return {kind: count for kind, count in thread["messages_by_kind"].items() if kind not in REPLIES}


SHARED = [
    ("laplace", "--impl", 1, "--size", 256, "--iterations", 5),
    ("laplace", "--impl", 4, "--size", 256, "--iterations", 5),
    ("sor", "--rows", 29, "--columns", 4098, "--iterations", 5),
    ("lu", "--size", 100, "--block", 16),
    ("mm", "--size", 101),
    ("swim", "--size", 61, "--iterations", 5),
]


def check_program(folder: Path, nodes: int, per_node: int, program: tuple, rules: tuple = ()) -> None:
    name, *arguments = program
    # Sums of doubles have the last bits that the order of the threads gives them.
    left_out = ("diff_bytes", "bytes") if name == "swim" else ()
    command = (WORKLOADS / name, *arguments, "--no-check")
    check_counts(folder, nodes, per_node, *command, left_out=left_out, options=rules)


@pytest.mark.parametrize(("nodes", "per_node"), [(2, 1), (3, 1), (4, 1), (2, 2)])
@pytest.mark.parametrize("program", SHARED, ids=lambda program: "-".join(map(str, program[:3])))
def test_counts_of_programs(tmp_path, program, nodes, per_node):
    check_program(tmp_path, nodes, per_node, program)


@pytest.mark.parametrize("rules", MOVING, ids=named)
@pytest.mark.parametrize(("nodes", "per_node"), [(2, 1), (3, 1), (2, 2)])
@pytest.mark.parametrize("program", SHARED, ids=lambda program: "-".join(map(str, program[:3])))
def test_counts_of_programs_where_homes_move(tmp_path, program, nodes, per_node, rules):
    check_program(tmp_path, nodes, per_node, program, rules)


@pytest.mark.parametrize("rules", [(), MIGRATION + DETECTION], ids=named)
@pytest.mark.parametrize("nodes", [2, 4, 8])
@pytest.mark.parametrize("impl", [1, 4])
def test_counts_of_fft(tmp_path, impl, nodes, rules):
    check_program(tmp_path, nodes, 1, ("fft", "--impl", impl, "--points", 16384), rules)


@pytest.mark.parametrize("rules", [*LARGER, *BESIDE, TOGETHER], ids=named)
@pytest.mark.parametrize(("nodes", "per_node"), [(2, 1), (3, 1), (2, 2)])
@pytest.mark.parametrize("program", [SHARED[1], *SHARED[2:4]], ids=lambda program: program[0])
def test_counts_of_programs_with_other_pages(tmp_path, program, nodes, per_node, rules):
    check_program(tmp_path, nodes, per_node, program, rules)


@pytest.mark.parametrize("rules", [(), MIGRATION], ids=named)
@pytest.mark.parametrize("nodes", [2, 3])
def test_homes_count_the_answers_to_diffs_of_blocks_that_are_freed(tmp_path, nodes, rules):
    check_counts(tmp_path, nodes, 1, COUNTED, "serial_blocks", options=rules)


@pytest.mark.parametrize(("nodes", "per_node"), [(2, 1), (3, 1), (4, 1), (2, 2)])
@pytest.mark.parametrize("scope", ["openmp", "lock"])
@pytest.mark.parametrize("name", ["ordered_blocks", "locks_between_barriers"])
def test_counts_where_the_order_of_grants_is_the_programs(tmp_path, name, nodes, per_node, scope):
    """Ordered regions go in the loop's order. What a process gave back before a barrier is no news behind it."""
    check_counts(tmp_path, nodes, per_node, COUNTED, name, options=("--scope", scope))


@pytest.mark.parametrize("rules", [(), *LARGER, *BESIDE, TOGETHER], ids=named)
@pytest.mark.parametrize("part", ["block", "globals"])
@pytest.mark.parametrize("nodes", [2, 3])
def test_counts_where_changes_straddle_pages(tmp_path, nodes, part, rules):
    check_counts(tmp_path, nodes, 1, MEMORY_PROGRAMS / "straddling", part, options=rules)


def test_pages_come_beside_others(tmp_path):
    """Thread 1 waits for two of the block's 20 pages that are at home elsewhere to write them, and for 3 to read: all else
    comes beside these, four at a time. (test_native_page_sizes.py has the program.)"""
    for part in counted(tmp_path, 2, 1, MEMORY_PROGRAMS / "straddling", "block", options=("--prefetch", 4)):
        assert part[1]["prefetched"] == 15
        assert part[1]["faults"]["WUMR"] + part[1]["faults"]["RUMR"] < 20


@pytest.mark.parametrize("rules", [(), MIGRATION, BESIDE[0]], ids=named)
@pytest.mark.parametrize(("nodes", "per_node"), [(2, 1), (2, 2)])
def test_figures_of_pages_are_those_of_the_simulation(tmp_path, nodes, per_node, rules):
    program, trace = (MEMORY_PROGRAMS / "straddling", "block"), tmp_path / "program.trace"
    output_of(SDSM, "trace", "--quiet", "--passes", 1, "-n", nodes * per_node, "-o", trace, "--", *program)
    layout = ("--nodes", nodes, "--threads-per-node", per_node, *JIAJIA, *rules)
    simulated, run = tmp_path / "simulated.csv", tmp_path / "run.csv"
    output_of(SDSM, "simulate", trace, "--platform", PLATFORM, *layout, "--quiet", "--pages", simulated)
    output_of(SDSM, "run", "--quiet", *layout, "--pages", run, "--", *program)
    assert run.read_text() == simulated.read_text()
    assert len(run.read_text().splitlines()) > 10


def test_pages_do_move_and_stay_writable(tmp_path):
    """The comparisons above would pass if nothing moved anywhere."""
    swim = SHARED[-1]
    plain, moving = (
        counted(tmp_path, 2, 1, WORKLOADS / swim[0], *swim[1:], "--no-check", options=rules)[1]
        for rules in ((), MIGRATION + DETECTION)
    )
    assert sum(thread["migrated_in"] for thread in plain) == 0
    assert sum(thread["migrated_in"] for thread in moving) > 0
    assert sum(thread["faults"]["WROH"] for thread in moving) < sum(thread["faults"]["WROH"] for thread in plain)
