"""Is the simulation the real thing? Faults by kind and messages by type of `sdsm run` and of `sdsm simulate` of a trace
of the same program are equal, thread by thread, with one process per node."""

from __future__ import annotations

import functools
import json
import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.validation.counted_runs import (
    COUNTED,
    PLACEMENTS,
    RANDOM,
    WORKLOADS,
    both,
    counts,
    executed,
    total,
)
from tests.validation.native_runs import ASKED, BUILD, COMMAND, MEMORY_PROGRAMS, output_of, thinned


class Case(NamedTuple):
    program: tuple
    teams: tuple = (2, 3, 4, 8)
    left_out: tuple = ()  #: counts in which run and simulation differ
    part: str = "region"


EPCC = (WORKLOADS / "epcc", "--samples", 2, "--repetitions", 8, "--delay", 10, "--directive")
LOOPS = ("--iterations", 32)
#: Of programs/counted, those of which no timing decides.
DECIDED = (
    *("false_sharing", "neighbours", "critical", "named_critical", "own_locks", "locks_alone", "locks_of_a_region", "lock_over_dirty_pages"),
    *("two_locks_at_once", "nested_lock", "test_lock", "ordered", "ordered_blocks", "locks_between_barriers", "doacross"),
    *("two_sums", "semaphores", "library_barriers", "read_locks", "teams", "blocks", "large_blocks", "mapped_memory"),
    *("serial_blocks", "cleared_blocks", "blocks_freed_amid_a_region", "stacks", "master", "changed_back"),
)
#: An idle process of a run learns of the clock's first reading when its next region begins, and does not count what it
#: served in between, as to the serial code before the region.
SERVED_BEFORE = ("teams", "blocks", "large_blocks", "serial_blocks", "changed_back")

CASES = {
    f"laplace {impl}": Case((WORKLOADS / "laplace", "--impl", impl, "--size", 256, "--iterations", 5, "--no-check"))
    for impl in range(1, 7)
}
CASES |= {
    f"fft {impl}": Case((WORKLOADS / "fft", "--impl", impl, "--points", 16384, "--no-check"), (2, 4, 8)) for impl in range(1, 7)
}
CASES |= {
    "sor": Case((WORKLOADS / "sor", "--rows", 29, "--columns", 4098, "--iterations", 5, "--no-check"), (2, 3, 4)),
    "lu": Case((WORKLOADS / "lu", "--size", 100, "--block", 16, "--no-check"), (2, 3, 4)),
    "mm": Case((WORKLOADS / "mm", "--size", 101, "--no-check"), (2, 3, 4)),
    # Sums of doubles have the last bits that the order of the threads gives them, and so as many changed words.
    "swim": Case((WORKLOADS / "swim", "--size", 61, "--iterations", 5, "--no-check"), (2, 3, 4), ("diff_bytes", "bytes")),
    "triangular": Case((BUILD / "tests" / "whole" / "triangular.c", "counted"), (2, 3, 4)),
}
CASES |= {
    f"epcc {directive}": Case((*EPCC, directive), (2, 4))
    for directive in ("parallel", "for", "parallel-for", "barrier", "critical", "lock", "ordered")
}
# With `copyin`, which each of these has, all threads read the initial one's thread-local variables.
CASES |= {
    f"epcc {words}": Case((*EPCC, *words.split(), *LOOPS), (2, 4), part="whole_run")
    for words in (
        *("static --size 1", "static --size 16", "affinity"),
        *(f"{clause} --size {size}" for clause in ("private", "firstprivate", "copyin") for size in (1, 2187)),
    )
}
CASES |= {name: Case((COUNTED, name), left_out=("served",) if name in SERVED_BEFORE else ()) for name in DECIDED}


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        pytest.param(name, threads, marks=pytest.mark.long if column != row % len(CASES[name].teams) else ())
        for row, name in enumerate(CASES)
        for column, threads in enumerate(CASES[name].teams)
    ],
)
def test_run_and_simulation_count_the_same(name, threads):
    case = CASES[name]
    run, simulation = both(threads, *case.program)
    if case.part == "whole_run":
        run, simulation = run["whole_run"], simulation["whole_run"]
    assert counts(run, case.left_out) == counts(simulation, case.left_out)


def of_nodes(result: dict, per_node: int) -> list[list]:
    """A node's threads together: which of them comes to a page first differs."""
    threads = result["threads"]
    summed = ("barriers", "locks", "messages", "diffs", "diff_bytes", "bytes", "served")
    nodes = [threads[first : first + per_node] for first in range(0, len(threads), per_node)]
    faults = [sum(sum(thread["faults"].values()) for thread in node) for node in nodes]
    return [faults, *([sum(thread[count] for thread in node) for node in nodes] for count in summed)]


@pytest.mark.parametrize(
    "directive",
    ["parallel", "for", "parallel-for", "barrier", "static", "affinity", "private", "firstprivate", "copyin"],
)
def test_directives_of_threads_that_share_nodes(directive):
    sized = ("--size", 2187) if directive in ("private", "firstprivate", "copyin") else ()
    run, simulation = both(4, *EPCC, directive, *sized, *LOOPS, per_node=2)
    assert of_nodes(run["whole_run"], 2) == of_nodes(simulation["whole_run"], 2)


@pytest.mark.parametrize(("rows", "threads"), thinned(2, (1, 2187), (2, 4)))
def test_behind_a_flush(rows, threads):
    """A page comes there amid an interval, so how often it is fetched is a matter of timing."""
    decided = [
        [(thread["barriers"], thread["locks"], thread["faults"]["WROH"]) for thread in one["whole_run"]["threads"]]
        for one in both(threads, *EPCC, "flush", "--size", rows)
    ]
    assert decided[0] == decided[1]


def test_words_that_change_back_beside_a_one_thread_team_count_when_simulated():
    run, simulation = both(2, COUNTED, "changed_back_beside_a_team")
    assert own_faults(run) == own_faults(simulation)
    changed_words = -(-1024 // 7)
    pages_of_thread_1 = 8
    # A run of one word each, twice. The run's only change there is the word that each thread sets at last.
    assert simulation["threads"][0]["diff_bytes"] >= 2 * 8 * changed_words * pages_of_thread_1
    assert run["threads"][0]["diff_bytes"] <= (8 + 8) * pages_of_thread_1


ATOMICS = ("home", "lock", "relaxed")


@pytest.mark.parametrize(("name", "atomics", "threads"), thinned(3, ("atomics", "fences", "whole_objects"), ATOMICS, (2, 3, 4)))
def test_atomic_operations(name, atomics, threads):
    run, simulation = both(threads, COUNTED, name, options=("--atomics", atomics))
    assert counts(run) == counts(simulation)
    if name != "whole_objects":  # library calls under a lock
        assert counts(run, counted=("atomics",)) == counts(simulation, counted=("atomics",))
        assert run["options"]["atomics"] == simulation["options"]["atomics"] == atomics


@pytest.mark.parametrize(("atomics", "threads"), thinned(2, ATOMICS, (2, 4)))
def test_an_operation_on_a_threads_own_stack_takes_no_fault(atomics, threads):
    """Process 0 alone operates on two of its variables; its own stack is open for it."""
    run, simulation = (one["whole_run"] for one in both(threads, ASKED / "own_stack", options=("--atomics", atomics)))
    assert counts(run) == counts(simulation)
    assert [thread["atomics"] for thread in run["threads"]] == [10, *(threads - 1) * [0]]


COMPARES = (
    *("failing_compares", "failing_compares_at_home", "compares_that_succeed_at_last", "compares_with_what_is_there"),
    "compares_beside_stores",
)


@pytest.mark.parametrize(("name", "atomics", "layout"), thinned(3, COMPARES, ATOMICS, ((2, 1), (3, 1), (4, 2))))
def test_a_thread_keeps_its_pages_after_meeting_until_another_wants_them(name, atomics, layout):
    """Under `home` it enters single-writer mode when it goes on: it fetches a page and sends its changes once."""
    threads, per_node = layout
    run, simulation = both(threads, COUNTED, name, per_node=per_node, options=("--atomics", atomics))
    if per_node == 1:
        assert counts(run) == counts(simulation)
    else:  # which thread of a node comes first decides who fetches
        assert of_nodes(run["whole_run"], per_node) == of_nodes(simulation["whole_run"], per_node)
    if atomics == "home" and name == "failing_compares":
        assert run["threads"][1]["diffs"] == 2  # one in each of two rounds of 100


@pytest.mark.parametrize("threads", [2, 4])
def test_operations_on_a_page_that_nobody_else_uses_send_next_to_nothing(threads):
    """When single-writer mode begins, each thread may lose its page once; then the page stays with it."""
    for result in both(threads, COUNTED, "operations_on_own_pages", options=("--atomics", "home")):
        assert max(thread["messages"] for thread in result["threads"]) <= 24
        assert total(result, "atomics") == 2000 * threads


def test_scattered_updates_by_atomic_operations_take_less_than_three_messages_each():
    """Beside each, the thread reads eight pages that the others update, and keeps the page that it has updated: 2.4
    messages each. Without that page it were 3.05."""
    run, simulation = both(4, COUNTED, "scattered_updates", options=("--atomics", "home"))
    assert total(run, "atomics") == total(simulation, "atomics") == 4 * 500
    assert 2 * total(simulation, "atomics") < total(simulation, "messages") < 2.75 * total(simulation, "atomics")


#: In these, words change beside a team of one thread, and change back.
CHANGED_BACK = {(61, 3), (161, 2)}


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize("seed", [1, 11, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(21, 221, 10))])
def test_random_programs(seed, threads):
    left_out = ("diff_bytes", "bytes") if (seed, threads) in CHANGED_BACK else ()
    run, simulation = both(threads, MEMORY_PROGRAMS / "random_program", *RANDOM[2:], "--seed", seed)
    assert counts(run, left_out) == counts(simulation, left_out)


SMALL = {
    "laplace": CASES["laplace 4"].program,
    "random programs": (MEMORY_PROGRAMS / "random_program", *RANDOM),
    "locks": (COUNTED, "lock_over_dirty_pages"),
}
CHANGED = ("--invalidation", "changed")
VARIANTS = (
    ("--protocol", "home-open"),
    ("--protocol", "home-open", "--prefetch", 3),
    ("--prefetch", 1),
    ("--prefetch", 14),
    CHANGED,
    (*CHANGED, "--prefetch", 4),
)


def own_faults(result: dict) -> int:
    """On pages at home on the node that touches them."""
    return sum(count for thread in result["threads"] for kind, count in thread["faults"].items() if kind[-1] in "HL")


@pytest.mark.parametrize(("name", "options", "threads"), thinned(3, SMALL, VARIANTS, (2, 3, 4, 8)))
def test_variants_of_the_protocol(name, options, threads):
    run, simulation = both(threads, *SMALL[name], options=options)
    assert counts(run) == counts(simulation)
    for result in (run, simulation):
        assert result["protocol"] == ("home-open" if "home-open" in options else "scash")
        assert result["options"].get("invalidation", "all") == ("changed" if "changed" in options else "all")
        assert result["options"].get("prefetch", 0) == (options[-1] if "--prefetch" in options else 0)
    assert sum(thread["faults"]["RUMR"] for thread in run["threads"]) > 0
    if "home-open" in options:
        assert own_faults(run) == 0
    if "--prefetch" in options:
        assert counts(run, counted=("prefetched",)) == counts(simulation, counted=("prefetched",))
        assert total(run, "prefetched") > 0
        whole = run["whole_run"]
        assert total(whole, "pages_served") == fetches(whole) + total(whole, "prefetched")


@pytest.mark.parametrize("name", ["own_locks", "doacross", "semaphores", "atomics"])
def test_prefetch_among_locks_and_flags(name):
    run, simulation = both(4, COUNTED, name, options=("--prefetch", 5))
    assert counts(run) == counts(simulation)
    assert counts(run, counted=("prefetched",)) == counts(simulation, counted=("prefetched",))
    assert total(run, "prefetched") > 0


def fetches(result: dict) -> int:
    return sum(thread["faults"][kind] for thread in result["threads"] for kind in ("RUMR", "WUMR"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "threads", "atomics"),
    [
        *((name, threads, "home") for name in ("neighbours", "teams", "blocks", "stacks", "doacross", "two_sums") for threads in (2, 4)),
        *((name, 3, atomics) for name in ("atomics", "fences") for atomics in ATOMICS),
    ],
)
def test_programs_where_copies_that_nobody_changed_stay(name, threads, atomics):
    left_out = CASES[name].left_out if name in CASES else ()
    run, simulation = both(threads, COUNTED, name, options=(*CHANGED, "--atomics", atomics))
    assert counts(run, left_out) == counts(simulation, left_out)


def test_what_nobody_writes_is_fetched_once():
    program = CASES["laplace 1"].program
    kept = executed(4, *program, options=CHANGED)
    assert 0 < fetches(kept) < fetches(executed(4, *program)) / 2


@pytest.mark.parametrize(("atomics", "each"), [("home", 5), ("relaxed", 1)])
def test_a_reduction_drops_copies_that_nobody_changed(atomics, each):
    """Its operation orders memory as a lock does, and notices come with barriers: nobody can tell which copies are older.
    So each of five rounds fetches the page that a thread writes. (Thread 0 has its own from before.)"""
    for result in both(4, COUNTED, "sums_between_writes", options=(*CHANGED, "--atomics", atomics)):
        assert [thread["faults"]["WUMR"] for thread in result["threads"][1:]] == [each] * 3


@pytest.mark.parametrize(("options", "per_node"), thinned(1, (CHANGED, ("--protocol", "jiajia", "--atomics", "lock")), (1, 2)))
def test_what_was_prefetched_of_a_freed_block_is_not_the_next_blocks(options, per_node):
    """Where copies outlive barriers. The program checks each value itself."""
    result = executed(4, COUNTED, "blocks_with_other_values", per_node=per_node, options=("--prefetch", 14, *options))
    assert total(result, "prefetched") > 0


@pytest.mark.parametrize("threads", [3, 4, 8])
def test_a_reduction_costs_its_atomic_operations_alone(threads):
    """A thread that begins late may find the sum changed, and fetches what it has a second time."""
    run, simulation = both(threads, COUNTED, "scattered")
    assert total(run, "messages") <= 1.1 * total(simulation, "messages")


@pytest.mark.parametrize(("threads", "per_node"), [(4, 1), (4, 2), (6, 2)])
def test_a_barrier_after_an_atomic_operation_costs_nothing_for_it(threads, per_node):
    """Which thread of a node writes a page first decides who sends a diff."""
    run, simulation = both(threads, COUNTED, "scattered_behind_a_barrier", per_node=per_node)
    assert total(run, "messages") <= 1.2 * total(simulation, "messages")


@pytest.mark.parametrize(("threads", "per_node"), [(4, 1), (7, 1), (8, 2)])
def test_threads_that_store_after_an_atomic_operation_take_turns_with_pages(threads, per_node):
    """Each node loses its 16 pages some times before it asks for turns, and gets them all in each turn; then 82,000
    stores need no message. Without turns they are 15,000 messages on four nodes."""
    run = executed(threads, COUNTED, "scattered_behind_an_operation", per_node=per_node)
    all_pages = 16 * 2  # a request and a diff each
    assert total(run, "messages") <= 15 * all_pages * (threads // per_node)


@pytest.mark.parametrize(("threads", "per_node"), [(4, 1), (4, 2), (6, 2)])
def test_copies_that_nobody_changes_stay_at_an_atomic_operation(threads, per_node):
    """Each node has the 16 pages once before other threads' operations are ordered with its reads, and once behind."""
    run = executed(threads, COUNTED, "operations_between_reads", per_node=per_node)
    kinds = [thread["messages_by_kind"] for thread in run["threads"]]
    assert sum(kind["page_request"] + kind["write_request"] for kind in kinds) <= 3 * 16 * threads


PLACED = [
    (name, placement, threads)
    for name in (*(f"laplace {i}" for i in range(1, 7)), *(f"fft {i}" for i in range(1, 5)), "false_sharing", "neighbours", "own_locks", "blocks")
    for placement in PLACEMENTS
    for threads in CASES[name].teams
]


@pytest.mark.parametrize(
    ("name", "placement", "threads"),
    [pytest.param(*case, marks=pytest.mark.long if number % 9 else ()) for number, case in enumerate(PLACED)],
)
def test_pages_placed_by_one_rule(name, placement, threads):
    case = CASES[name]
    # A block that is larger than the one before it has other homes then, which need not have what was in that one.
    of_content = ("diffs", "diff_bytes", "messages", "messages_by_kind", "bytes") if (name, placement) == ("blocks", "block") else ()
    run, simulation = both(threads, *case.program, options=("--placement", placement))
    left_out = (*case.left_out, *of_content)
    assert counts(run, left_out) == counts(simulation, left_out)


@pytest.mark.parametrize(("name", "threads"), thinned(2, ("singles", "copied", "dynamic_loop", "sections"), (2, 3, 4, 8)))
def test_what_the_threads_do_together(name, threads):
    """Who executes a single or takes a chunk differs."""
    run, simulation = both(threads, COUNTED, name)
    assert [total(run, count) for count in ("barriers", "locks")] == [total(simulation, count) for count in ("barriers", "locks")]


def printed_and_result(*command: object) -> tuple[dict, dict]:
    """What the program of a run prints, and the run's result."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "run.json"
        printed = json.loads(output_of(COMMAND, "-q", "-n", 2, "--json", result, *command))
        return printed, json.loads(result.read_text())


@functools.cache
def microbench(*mode: str) -> list[dict]:
    """The threads of a run of two nodes with one sample of each quantity."""
    printed, result = printed_and_result("--", BUILD / "microbench", 1, 1, *mode)
    assert printed["burst"] == len(printed["RUMR.single"]) == (64 if mode else 16)
    return result["whole_run"]["threads"]


@pytest.mark.parametrize("mode", [(), ("together",)])
def test_what_measures_memory_takes_no_faults_on_it(mode):
    """For a sample the microbenchmark's memory-bound loop goes over two pieces of three arrays, 4 MiB each: 6144 pages. All
    other samples together take some 2700 traps, with all nodes at once 4700, beside the first fetch of each of 1024 pages,
    with all nodes at once its first write, too, and the first and second one of each own page, and the pace's: 136 times 510
    pages, in memory of 1025."""
    first_uses = (1 + 1 + 2) * 1024 if mode else 1024
    pace = 136 * 510 + 1025 if mode else 0
    assert 0 < max(thread["traps"] for thread in microbench(*mode)) - first_uses - pace < 6144


def test_twins_have_memory_before_their_first_writes_are_timed():
    """Of one node's two threads the second writes the first's 1024 pages once, then 64 of them for each kind of its writes."""
    printed, result = printed_and_result("--threads-per-node", 2, "--", BUILD / "microbench", 2, 1, "together")
    assert len(printed["WROL.first"]) == 1024 // 64
    _, second = result["whole_run"]["threads"]
    assert second["faults"]["WROL"] >= 1024 + 64


def test_protected_home_pages_are_opened_in_rows():
    """256 rows of 2 KiB, two arrays of 128 pages: each thread has 64 home pages of each, and the second reads its own before it
    writes them. One trap that is no fault opens what lies behind. Of those that the initial thread wrote it has no such trap."""
    program = (WORKLOADS / "laplace", "--impl", 4, "--size", 256, "--iterations", 3, "--no-check")
    first, second = executed(2, *program)["whole_run"]["threads"]
    assert first["traps"] - sum(first["faults"].values()) < 32
    assert 0 < second["traps"] - sum(second["faults"].values()) < 32


def test_together_nodes_take_the_timed_faults_in_turn_and_all_send_diffs():
    """Bursts are of 64 pages. In the one sample the second node takes those of RUMR, WUMR and WROR; both send six sizes of
    diffs, the first of them twice. Else the second node alone takes 16 of each kind, and sends one page's diff of each. Before,
    every node (else the second) fetches each of 1024 pages once, and the second tells the times of each burst of the first's.
    Together, every node also writes each of these pages once, and each of its own twice."""
    alone, other = microbench()
    assert alone["diffs"] == 0
    assert 64 + 16 + 16 + 7 <= other["diffs"] < 2 * 64
    assert other["faults"]["RUMR"] >= 1024 + 16 + 16
    first, second = microbench("together")
    first_writes = 1024
    assert 7 * 64 <= first["diffs"] - first_writes < 8 * 64
    assert 16 + 64 + 64 + 7 * 64 <= second["diffs"] - first_writes < 64 + 64 + 8 * 64
    assert first["faults"]["RUMR"] >= 1024 + 7 * 64
    assert second["faults"]["WUMR"] >= first_writes + 64 and second["faults"]["RUMR"] >= 1024 + 64 + 64 + 64 + 7 * 64
    for thread in (first, second):
        assert thread["faults"]["WROH"] >= 2 * 1024  # each own page twice


def test_the_account_of_own_writes_has_the_sampled_ones_only():
    """Three samples of 510 pages between the readings of omp_get_wtime, and two more to warm up before. All else that traps
    there is each page where the sample and the result lie: it was written by the first thread, or its own."""
    printed, run = printed_and_result("--", BUILD / "microbench", 1, 3, "own-writes")
    assert len(printed["WROH"]) == 3
    for thread, whole in zip(run["threads"], run["whole_run"]["threads"], strict=True):
        assert 0 <= thread["faults"]["WROH"] - 3 * 510 <= 3 * 3
        assert whole["faults"]["WROH"] >= 5 * 510


ACCOUNTED = {
    "laplace 4": CASES["laplace 4"].program,
    "fft 2": (WORKLOADS / "fft", "--impl", 2, "--points", 2048, "--no-check"),
    "own locks": (COUNTED, "own_locks"),
    "atomics": (COUNTED, "atomics"),
}
LAYOUTS = ((2, 1, ()), (4, 1, ()), (4, 2, ()), (4, 1, ("--atomics", "lock", "--protocol", "jiajia")), (2, 1, ("--atomics", "lock")))


@pytest.mark.parametrize(("name", "layout"), thinned(2, ACCOUNTED, LAYOUTS))
def test_a_threads_terms_sum_to_the_time(name, layout):
    """No term holds what another has: a barrier's none of its diffs, an atomic operation's none of its page faults. What
    counted twice would leave less than nothing for computing, which is told as none."""
    threads, per_node, options = layout
    run = executed(threads, *ACCOUNTED[name], per_node=per_node, options=options)
    for thread in run["threads"]:
        terms = dict(thread["time_s"])
        all_s = sum(terms.pop("fault").values()) + sum(terms.values())
        if run["options"]["region"] == "clock" or thread["id"] == 0:
            assert all_s == pytest.approx(run["makespan_s"], abs=2e-9 * len(terms))


def test_an_atomic_operations_trap_is_the_operations_time():
    """Of 1000, each is a trap, of which a page at home needs nothing else. No processor takes a trap in half a us."""
    assert executed(2, ASKED / "many_operations")["threads"][0]["time_s"]["lock"] > 1000 * 0.5e-6


def test_a_fault_lasts_from_its_trap_to_the_return_from_it():
    """5,000 home pages are written, and little is computed: most of the time is the faults', not computing. Other
    programs of the machine lengthen both, so each thread's best of some runs counts."""
    program = (WORKLOADS / "laplace", "--impl", 4, "--size", 512, "--iterations", 20, "--no-check")
    best = [0.0, 0.0]
    for _ in range(20):
        for number, thread in enumerate(executed(2, *program)["threads"]):
            assert thread["faults"]["WROH"] > 4000
            best[number] = max(best[number], thread["time_s"]["fault"]["WROH"] / thread["time_s"]["compute"])
        if min(best) > 1:
            break
    assert min(best) > 1


@pytest.mark.parametrize(("processors", "longer"), [(1, False), (2, True)])
def test_service_threads_have_the_shorter_slices_where_each_process_has_a_processor(processors, longer):
    """So they interrupt who computes there, and a fetch does not wait for it. Application threads that share processors are all
    let in soon, as they wait for each other."""
    version = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])
    usable = sorted(os.sched_getaffinity(0))
    if version < (6, 12) or len(usable) < processors:
        pytest.skip(f"needs Linux 6.12 and {processors} processors")
    where = ("taskset", "-c", ",".join(map(str, usable[:processors])))
    rows = [row.split() for row in output_of(*where, COMMAND, "-q", "-n", 2, "--", ASKED / "slices").splitlines()]
    found = {who: {int(slice_ns) for name, slice_ns in rows if name == who} for who in ("application", "service")}
    assert len(rows) >= 4 and found["service"] == {100_000}
    assert found["application"] == {1_000_000 if longer else 100_000}
