"""Is the simulation the real thing? Faults by kind and messages by type of `sdsm run` and of `sdsm simulate` of a trace
of the same program are equal, thread by thread, with one process per node."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import BUILD, MEMORY_PROGRAMS, output_of

SDSM = BUILD / "sdsm"
PLATFORM = BUILD.parent / "platforms" / "p3-score.xml"
WORKLOADS = BUILD / "workloads"
COUNTED = MEMORY_PROGRAMS / "counted"

#: Counts that the rules of the protocol decide, whatever the timing.
COUNTS = ("faults", "barriers", "locks", "messages", "messages_by_kind", "diffs", "diff_bytes", "bytes", "served")


#: Where the two count differently. An idle process of a run hears of the clock's first reading when its next region
#: begins, and does not count what it served in between, as to the serial code before the region. Sums of doubles have the
#: last bits that the order of the threads gives them, and so as many changed words.
NOT_COMPARED = {
    **dict.fromkeys(("teams", "blocks", "large_blocks", "serial_blocks", "changed_back"), ("served",)),
    "swim": ("diff_bytes", "bytes"),
}


def simulated(
    folder: Path, threads: int, *program: object, placement="as-asked", atomics="home", per_node=1, options: tuple = ()
) -> dict:
    trace = folder / "program.trace"
    output_of(SDSM, "trace", "--quiet", "--passes", 1, "-n", threads, "-o", trace, "--", *program)
    return json.loads(
        output_of(
            *(SDSM, "simulate", trace, "--platform", PLATFORM, "--nodes", threads // per_node),
            *("--threads-per-node", per_node, "--placement", placement, "--atomics", atomics, *options),
            *("--quiet", "--json", "-"),
        )
    )


def executed(
    folder: Path, threads: int, *program: object, placement="as-asked", atomics="home", per_node=1, options: tuple = ()
) -> dict:
    path = folder / "run.json"
    layout = ("-n", threads, "--threads-per-node", per_node)
    rules = ("--placement", placement, "--atomics", atomics, *options)
    output_of(SDSM, "run", "--quiet", *layout, *rules, "--json", path, "--", *program)
    return json.loads(path.read_text())


def counts(result: dict, left_out: tuple = ()) -> list[dict]:
    compared = [count for count in COUNTS if count not in left_out]
    return [{count: thread[count] for count in compared} for thread in result["threads"]]


@pytest.mark.parametrize("threads", [2, 3, 4, 8])
@pytest.mark.parametrize("impl", [1, 2, 3, 4, 5, 6])
def test_laplace(tmp_path, impl, threads):
    program = (WORKLOADS / "laplace", "--impl", impl, "--size", 256, "--iterations", 5, "--no-check")
    assert counts(executed(tmp_path, threads, *program)) == counts(simulated(tmp_path, threads, *program))


@pytest.mark.parametrize("threads", [2, 4, 8])
@pytest.mark.parametrize("impl", [1, 2, 3, 4, 5, 6])
def test_fft(tmp_path, impl, threads):
    program = (WORKLOADS / "fft", "--impl", impl, "--points", 16384, "--no-check")
    assert counts(executed(tmp_path, threads, *program)) == counts(simulated(tmp_path, threads, *program))


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize(
    "program",
    [
        ("sor", "--rows", 29, "--columns", 4098, "--iterations", 5),
        ("lu", "--size", 100, "--block", 16),
        ("mm", "--size", 101),
        ("swim", "--size", 61, "--iterations", 5),
    ],
    ids=lambda program: program[0],
)
def test_equal_shares(tmp_path, program, threads):
    name, *arguments = program
    command = (WORKLOADS / name, *arguments, "--no-check")
    left_out = NOT_COMPARED.get(name, ())
    assert counts(executed(tmp_path, threads, *command), left_out) == counts(simulated(tmp_path, threads, *command), left_out)


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize(
    "directive", ["parallel", "for", "parallel-for", "barrier", "critical", "lock", "ordered"]
)
def test_directives_of_which_no_timing_decides(tmp_path, directive, threads):
    options = ("--directive", directive, "--samples", 2, "--repetitions", 8, "--delay", 10)
    program = (WORKLOADS / "epcc", *options)
    assert counts(executed(tmp_path, threads, *program)) == counts(simulated(tmp_path, threads, *program))


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize(
    ("directive", "size"),
    [
        *(("static", 1), ("static", 16), ("affinity", 0)),
        *((clause, size) for clause in ("private", "firstprivate", "copyin") for size in (1, 2187)),
    ],
)
def test_loops_and_clauses(tmp_path, directive, size, threads):
    """With `copyin`, which each of them has, all threads read the initial one's thread-local variables."""
    numbers = ("--samples", 2, "--repetitions", 8, "--delay", 10, "--iterations", 32)
    program = (WORKLOADS / "epcc", "--directive", directive, *(("--size", size) if size else ()), *numbers)
    run, simulation = executed(tmp_path, threads, *program), simulated(tmp_path, threads, *program)
    assert counts(run["whole_run"]) == counts(simulation["whole_run"])


def of_nodes(result: dict, per_node: int) -> list[list]:
    """A node's threads together: which of them comes to a page first differs."""
    threads = result["whole_run"]["threads"]
    summed = ("barriers", "locks", "messages", "diffs", "diff_bytes", "bytes", "served")
    nodes = [threads[first : first + per_node] for first in range(0, len(threads), per_node)]
    faults = [sum(sum(thread["faults"].values()) for thread in node) for node in nodes]
    return [faults, *([sum(thread[count] for thread in node) for node in nodes] for count in summed)]


@pytest.mark.parametrize(
    "directive",
    ["parallel", "for", "parallel-for", "barrier", "static", "affinity", "private", "firstprivate", "copyin"],
)
def test_directives_of_companions(tmp_path, directive):
    sized = ("--size", 2187) if directive in ("private", "firstprivate", "copyin") else ()
    numbers = ("--samples", 2, "--repetitions", 8, "--delay", 10, "--iterations", 32)
    program = (WORKLOADS / "epcc", "--directive", directive, *sized, *numbers)
    run, simulation = executed(tmp_path, 4, *program, per_node=2), simulated(tmp_path, 4, *program, per_node=2)
    assert of_nodes(run, 2) == of_nodes(simulation, 2)


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("rows", [1, 2187])
def test_behind_a_flush(tmp_path, rows, threads):
    """Who wants a page gets it there amid an interval, so how often it is fetched is a matter of timing."""
    numbers = ("--samples", 2, "--repetitions", 8, "--delay", 10)
    program = (WORKLOADS / "epcc", "--directive", "flush", "--size", rows, *numbers)
    run, simulation = executed(tmp_path, threads, *program), simulated(tmp_path, threads, *program)
    decided = [
        [(thread["barriers"], thread["locks"], thread["faults"]["WROH"]) for thread in one["whole_run"]["threads"]]
        for one in (run, simulation)
    ]
    assert decided[0] == decided[1]


@pytest.mark.parametrize("threads", [2, 3, 4, 8])
@pytest.mark.parametrize(
    "name",
    [
        "false_sharing",
        "neighbours",
        "critical",
        "named_critical",
        "own_locks",
        "locks_of_a_region",
        "lock_over_dirty_pages",
        "two_locks_at_once",
        "nested_lock",
        "test_lock",
        "ordered",
        "ordered_blocks",
        "locks_between_barriers",
        "doacross",
        "two_sums",
        "semaphores",
        "library_barriers",
        "read_locks",
        "teams",
        "blocks",
        "large_blocks",
        "mapped_memory",
        "serial_blocks",
        "cleared_blocks",
        "blocks_freed_amid_a_region",
        "stacks",
        "master",
        "changed_back",
    ],
)
def test_what_no_timing_decides(tmp_path, name, threads):
    left_out = NOT_COMPARED.get(name, ())
    run = counts(executed(tmp_path, threads, COUNTED, name), left_out)
    assert run == counts(simulated(tmp_path, threads, COUNTED, name), left_out)


def test_words_that_change_back_beside_a_team_of_one_thread_count_in_the_simulation_alone(tmp_path):
    program = (COUNTED, "changed_back_beside_a_team")
    run, simulation = executed(tmp_path, 2, *program), simulated(tmp_path, 2, *program)
    assert own_faults(run) == own_faults(simulation)
    changed_words = -(-1024 // 7)
    pages_of_thread_1 = 8
    # A run of one word each, twice. The run's only change there is the word that each thread sets at last.
    assert simulation["threads"][0]["diff_bytes"] >= 2 * 8 * changed_words * pages_of_thread_1
    assert run["threads"][0]["diff_bytes"] <= (8 + 8) * pages_of_thread_1


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_a_triangular_system_by_levels_and_in_a_doacross_loop(tmp_path, threads):
    program = (WORKLOADS.parent / "tests" / "whole" / "triangular.c", "counted")
    assert counts(executed(tmp_path, threads, *program)) == counts(simulated(tmp_path, threads, *program))


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize("atomics", ["home", "lock", "relaxed"])
@pytest.mark.parametrize("name", ["atomics", "fences", "whole_objects"])
def test_atomic_operations(tmp_path, name, atomics, threads):
    run = executed(tmp_path, threads, COUNTED, name, atomics=atomics)
    simulation = simulated(tmp_path, threads, COUNTED, name, atomics=atomics)
    assert counts(run) == counts(simulation)
    if name == "whole_objects":
        return  # library calls under a lock
    assert [thread["atomics"] for thread in run["threads"]] == [thread["atomics"] for thread in simulation["threads"]]
    assert run["options"]["atomics"] == simulation["options"]["atomics"] == atomics


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize("atomics", ["home", "lock", "relaxed"])
def test_atomic_functions_of_shared_pointers(tmp_path, atomics, threads):
    """Each is a lock, beside the atomic operations that count owners. Flag mode, behind those, decides by timing what is
    fetched: a run fetched up to a page less for each thread than its simulation."""
    (tmp_path / "pointers.cpp").write_text(
        """
#include <omp.h>
#include <memory>
std::shared_ptr<int> pointers[4];
int main() {
  const int team = omp_get_max_threads();
  for (auto& pointer : pointers) pointer = std::make_shared<int>(0);
  double begin = omp_get_wtime();
#pragma omp parallel
  for (int round = 0; round < 5; ++round) {
    for (int turn = 0; turn < team; ++turn) {
      if (turn == omp_get_thread_num()) {
        for (auto& pointer : pointers) {
          std::shared_ptr<int> seen = std::atomic_load(&pointer);
          std::atomic_compare_exchange_strong(&pointer, &seen, std::make_shared<int>(*seen + 1));
        }
      }
#pragma omp barrier
    }
  }
  begin = omp_get_wtime() - begin;
  for (auto& pointer : pointers) {
    if (*pointer != 5 * team) return 1;
  }
  return 0;
}
"""
    )
    subprocess.run(["g++", "-O2", "-fopenmp", "-o", tmp_path / "pointers", tmp_path / "pointers.cpp"], check=True)
    run, simulation = (of(tmp_path, threads, tmp_path / "pointers", atomics=atomics) for of in (executed, simulated))
    fetches = ("faults", "messages", "messages_by_kind", "bytes", "served") if atomics == "home" else ()
    assert counts(run, fetches) == counts(simulation, fetches)
    calls = 5 * 4 * 2
    assert [thread["locks"] for thread in run["threads"]] == threads * [2 * calls if atomics == "lock" else calls]


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("atomics", ["home", "lock", "relaxed"])
def test_an_operation_on_a_threads_own_stack_takes_no_fault(tmp_path, atomics, threads):
    """Process 0 alone operates on two of its variables; its own stack is open for it."""
    (tmp_path / "own.c").write_text(
        """
int main(void) {
  int sum = 0, count = 0;
#pragma omp parallel
#pragma omp master
  for (int i = 0; i < 5; ++i) {
#pragma omp atomic
    sum += i;
#pragma omp atomic
    ++count;
  }
  return sum != 10 || count != 5;
}
"""
    )
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", tmp_path / "own", tmp_path / "own.c"], check=True)
    run, simulation = (
        of(tmp_path, threads, tmp_path / "own", atomics=atomics)["whole_run"] for of in (executed, simulated)
    )
    assert counts(run) == counts(simulation)
    assert [thread["atomics"] for thread in run["threads"]] == [10, *(threads - 1) * [0]]


@pytest.mark.parametrize(("threads", "per_node"), [(2, 1), (3, 1), (4, 2)])
@pytest.mark.parametrize("atomics", ["home", "lock", "relaxed"])
@pytest.mark.parametrize(
    "name",
    [
        "failing_compares",
        "failing_compares_at_home",
        "compares_that_succeed_at_last",
        "compares_with_what_is_there",
        "compares_beside_stores",
    ],
)
def test_a_thread_that_has_met_others_keeps_its_pages_until_another_wants_them(tmp_path, name, atomics, threads, per_node):
    """Under `home` it enters flag mode when it goes on, so that it fetches a page and sends its changes once."""
    run = executed(tmp_path, threads, COUNTED, name, atomics=atomics, per_node=per_node)
    simulation = simulated(tmp_path, threads, COUNTED, name, atomics=atomics, per_node=per_node)
    if per_node == 1:
        assert counts(run) == counts(simulation)
    else:  # which companion comes first decides who fetches
        assert of_nodes(run, per_node) == of_nodes(simulation, per_node)
    if atomics == "home" and name == "failing_compares":
        assert run["threads"][1]["diffs"] == 2  # one in each of two rounds of 100


#: In these, words change beside a team of one thread, and change back.
CHANGED_BACK = {(61, 3), (161, 2)}


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize("seed", [1, 11, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(21, 221, 10))])
def test_random_programs(tmp_path, seed, threads):
    options = ("--seed", seed, "--programs", 3, "--phases", 10, "--steps", 40, "--with", "cells,teams,thread-locals")
    program = (MEMORY_PROGRAMS / "random_program", *options)
    left_out = ("diff_bytes", "bytes") if (seed, threads) in CHANGED_BACK else ()
    assert counts(executed(tmp_path, threads, *program), left_out) == counts(
        simulated(tmp_path, threads, *program), left_out
    )


RANDOM = ("--seed", 31, "--programs", 3, "--phases", 10, "--steps", 40, "--with", "cells,teams,thread-locals")
SMALL = [
    (WORKLOADS / "laplace", "--impl", 4, "--size", 256, "--iterations", 5, "--no-check"),
    (MEMORY_PROGRAMS / "random_program", *RANDOM),
    (COUNTED, "lock_over_dirty_pages"),
]


def own_faults(result: dict) -> int:
    """On pages at home on the node that touches them."""
    return sum(count for thread in result["threads"] for kind, count in thread["faults"].items() if kind[-1] in "HL")


@pytest.mark.parametrize("threads", [2, 3, 4, 8])
@pytest.mark.parametrize("program", SMALL, ids=lambda program: program[0].name)
def test_open_homes(tmp_path, program, threads):
    protocol = ("--protocol", "home-open")
    run = executed(tmp_path, threads, *program, options=protocol)
    simulation = simulated(tmp_path, threads, *program, options=protocol)
    assert run["protocol"] == simulation["protocol"] == "home-open"
    assert counts(run) == counts(simulation)
    assert own_faults(run) == 0
    assert sum(thread["faults"]["RUMR"] for thread in run["threads"]) > 0


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize(("protocol", "pages"), [("scash", 1), ("scash", 14), ("home-open", 3)])
@pytest.mark.parametrize("program", SMALL, ids=lambda program: program[0].name)
def test_prefetch(tmp_path, program, protocol, pages, threads):
    options = ("--protocol", protocol, "--prefetch", pages)
    run = executed(tmp_path, threads, *program, options=options)
    simulation = simulated(tmp_path, threads, *program, options=options)
    assert run["options"]["prefetch"] == simulation["options"]["prefetch"] == pages
    assert counts(run) == counts(simulation)
    prefetched = [thread["prefetched"] for thread in run["threads"]]
    assert prefetched == [thread["prefetched"] for thread in simulation["threads"]]
    pages_served = sum(thread["pages_served"] for thread in run["whole_run"]["threads"])
    whole = run["whole_run"]["threads"]
    fetched = sum(thread["faults"][kind] for thread in whole for kind in ("RUMR", "WUMR"))
    assert pages_served == fetched + sum(thread["prefetched"] for thread in whole)
    assert sum(prefetched) > 0


@pytest.mark.parametrize("name", ["own_locks", "doacross", "semaphores", "atomics"])
def test_prefetch_among_locks_and_flags(tmp_path, name):
    options = ("--prefetch", 5)
    run = executed(tmp_path, 4, COUNTED, name, options=options)
    simulation = simulated(tmp_path, 4, COUNTED, name, options=options)
    assert counts(run) == counts(simulation)
    prefetched = [thread["prefetched"] for thread in run["threads"]]
    assert prefetched == [thread["prefetched"] for thread in simulation["threads"]]
    assert sum(prefetched) > 0


def fetches(result: dict) -> int:
    return sum(thread["faults"][kind] for thread in result["threads"] for kind in ("RUMR", "WUMR"))


CHANGED = ("--invalidation", "changed")


@pytest.mark.parametrize("threads", [2, 3, 4, 8])
@pytest.mark.parametrize("options", [CHANGED, (*CHANGED, "--prefetch", 4)], ids=["alone", "prefetch"])
@pytest.mark.parametrize("program", SMALL, ids=lambda program: program[0].name)
def test_copies_that_nobody_changed_stay(tmp_path, program, options, threads):
    run = executed(tmp_path, threads, *program, options=options)
    simulation = simulated(tmp_path, threads, *program, options=options)
    assert run["options"]["invalidation"] == simulation["options"]["invalidation"] == "changed"
    assert counts(run) == counts(simulation)


@pytest.mark.long
@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("name", ["neighbours", "teams", "blocks", "stacks", "doacross", "two_sums"])
def test_what_no_timing_decides_where_copies_stay(tmp_path, name, threads):
    left_out = NOT_COMPARED.get(name, ())
    run = executed(tmp_path, threads, COUNTED, name, options=CHANGED)
    assert counts(run, left_out) == counts(simulated(tmp_path, threads, COUNTED, name, options=CHANGED), left_out)


@pytest.mark.long
@pytest.mark.parametrize("atomics", ["home", "lock", "relaxed"])
@pytest.mark.parametrize("name", ["atomics", "fences"])
def test_atomic_operations_tell_who_keeps_copies(tmp_path, name, atomics):
    run = executed(tmp_path, 3, COUNTED, name, atomics=atomics, options=CHANGED)
    assert counts(run) == counts(simulated(tmp_path, 3, COUNTED, name, atomics=atomics, options=CHANGED))


def test_what_nobody_writes_is_fetched_once(tmp_path):
    program = (WORKLOADS / "laplace", "--impl", 1, "--size", 256, "--iterations", 5, "--no-check")
    kept = executed(tmp_path, 4, *program, options=CHANGED)
    assert 0 < fetches(kept) < fetches(executed(tmp_path, 4, *program)) / 2


@pytest.mark.parametrize(("atomics", "each"), [("home", 5), ("relaxed", 1)])
def test_a_reduction_drops_copies_that_nobody_changed(tmp_path, atomics, each):
    """Its operation orders memory as a lock does, and notices come with barriers: nobody can tell which copies are older.
    So each of five rounds fetches the page that a thread writes. (Thread 0 has its own from before.)"""
    program = (COUNTED, "sums_between_writes")
    for result in (
        executed(tmp_path, 4, *program, atomics=atomics, options=CHANGED),
        simulated(tmp_path, 4, *program, atomics=atomics, options=CHANGED),
    ):
        assert [thread["faults"]["WUMR"] for thread in result["threads"][1:]] == [each] * 3


@pytest.mark.parametrize(("options", "atomics"), [(CHANGED, "home"), (("--protocol", "jiajia"), "lock")])
@pytest.mark.parametrize("per_node", [1, 2])
def test_what_came_beside_a_page_of_a_freed_block_is_no_copy_of_the_next_block(tmp_path, options, atomics, per_node):
    """Where copies outlive barriers. The program looks at each value itself."""
    program = (COUNTED, "blocks_with_other_values")
    result = executed(tmp_path, 4, *program, atomics=atomics, per_node=per_node, options=("--prefetch", 14, *options))
    assert sum(thread["prefetched"] for thread in result["threads"]) > 0


def messages(result: dict) -> int:
    return sum(thread["messages"] for thread in result["threads"])


@pytest.mark.parametrize("threads", [3, 4, 8])
def test_a_reduction_costs_its_atomic_operations_alone(tmp_path, threads):
    """A thread that begins late may find the sum changed, and fetches what it has a second time."""
    program = (COUNTED, "scattered")
    assert messages(executed(tmp_path, threads, *program)) <= 1.1 * messages(simulated(tmp_path, threads, *program))


@pytest.mark.parametrize(("threads", "per_node"), [(4, 1), (4, 2), (6, 2)])
def test_what_comes_behind_a_barrier_costs_nothing_for_an_atomic_operation_before_it(tmp_path, threads, per_node):
    """Which companion writes a page first decides who sends a diff."""
    program = (COUNTED, "scattered_behind_a_barrier")
    simulation = simulated(tmp_path, threads, *program, per_node=per_node)
    assert messages(executed(tmp_path, threads, *program, per_node=per_node)) <= 1.2 * messages(simulation)


@pytest.mark.parametrize(("threads", "per_node"), [(4, 1), (7, 1), (8, 2)])
def test_threads_that_store_all_over_behind_an_atomic_operation_take_turns_with_pages(tmp_path, threads, per_node):
    """Each node loses its 16 pages some times before it asks for turns, and gets them all in each turn; then 82,000
    stores need no message. Without turns they are 15,000 messages on four nodes."""
    run = executed(tmp_path, threads, COUNTED, "scattered_behind_an_operation", per_node=per_node)
    all_pages = 16 * 2  # a request and a diff each
    assert messages(run) <= 15 * all_pages * (threads // per_node)


@pytest.mark.parametrize(("threads", "per_node"), [(4, 1), (4, 2), (6, 2)])
def test_copies_that_nobody_changes_stay_at_an_atomic_operation(tmp_path, threads, per_node):
    """Each node has the 16 pages once before other threads' operations are ordered with its reads, and once behind."""
    run = executed(tmp_path, threads, COUNTED, "operations_between_reads", per_node=per_node)
    kinds = [thread["messages_by_kind"] for thread in run["threads"]]
    assert sum(kind["page_request"] + kind["write_request"] for kind in kinds) <= 3 * 16 * threads


PLACEMENTS = ("round-robin", "block", "first-touch")


def check_placed(folder: Path, threads: int, placement: str, *program: object) -> None:
    run = counts(executed(folder, threads, *program, placement=placement))
    assert run == counts(simulated(folder, threads, *program, placement=placement))


@pytest.mark.parametrize("threads", [3, 4])
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize(
    "program", [("laplace", "--impl", 2, "--size", 256, "--iterations", 3), ("fft", "--impl", 4, "--points", 16384)]
)
def test_pages_placed_by_one_rule(tmp_path, program, placement, threads):
    threads = 2 if threads == 3 and program[0] == "fft" else threads
    name, *arguments = program
    check_placed(tmp_path, threads, placement, WORKLOADS / name, *arguments, "--no-check")


@pytest.mark.long
@pytest.mark.parametrize("threads", [2, 3, 4, 8])
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("impl", [1, 2, 3, 4, 5, 6])
def test_laplace_placed_by_one_rule(tmp_path, impl, placement, threads):
    program = (WORKLOADS / "laplace", "--impl", impl, "--size", 256, "--iterations", 5, "--no-check")
    check_placed(tmp_path, threads, placement, *program)


@pytest.mark.long
@pytest.mark.parametrize("threads", [2, 4, 8])
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("impl", [1, 2, 3, 4])
def test_fft_placed_by_one_rule(tmp_path, impl, placement, threads):
    check_placed(tmp_path, threads, placement, WORKLOADS / "fft", "--impl", impl, "--points", 16384, "--no-check")


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("name", ["false_sharing", "neighbours", "own_locks", "blocks"])
def test_small_programs_placed_by_one_rule(tmp_path, name, placement, threads):
    left_out = NOT_COMPARED.get(name, ())
    run = counts(executed(tmp_path, threads, COUNTED, name, placement=placement), left_out)
    assert run == counts(simulated(tmp_path, threads, COUNTED, name, placement=placement), left_out)


def sums(result: dict) -> dict:
    """What the threads together do however they meet: who executes a single or takes a chunk differs."""
    threads = result["threads"]
    return {count: sum(thread[count] for thread in threads) for count in ("barriers", "locks")}


@pytest.mark.parametrize("threads", [2, 3, 4, 8])
@pytest.mark.parametrize("name", ["singles", "copied", "dynamic_loop", "sections"])
def test_what_the_threads_do_together(tmp_path, name, threads):
    assert sums(executed(tmp_path, threads, COUNTED, name)) == sums(simulated(tmp_path, threads, COUNTED, name))


def microbench(tmp_path: Path, *mode: str) -> list[dict]:
    """The threads of a run of two nodes with one sample of each quantity."""
    result = tmp_path / "run.json"
    printed = json.loads(output_of(SDSM, "run", "-q", "-n", 2, "--json", result, "--", BUILD / "microbench", 1, 1, *mode))
    assert printed["burst"] == len(printed["RUMR.single"]) == (64 if mode else 16)
    return json.loads(result.read_text())["whole_run"]["threads"]


@pytest.mark.parametrize("mode", [(), ("together",)])
def test_what_measures_memory_takes_no_faults_on_it(tmp_path, mode):
    """For a sample the microbenchmark's memory-bound loop goes over two pieces of three arrays, 4 MiB each: 6144 pages. All
    other samples together take some 2700 traps, with all nodes at once 4700, beside the first fetch of each of 1024 pages,
    with all nodes at once its first write, too, and the first and second one of each own page, and the pace's: 136 times 510
    pages, in memory of 1025."""
    first_uses = (1 + 1 + 2) * 1024 if mode else 1024
    pace = 136 * 510 + 1025 if mode else 0
    assert 0 < max(thread["traps"] for thread in microbench(tmp_path, *mode)) - first_uses - pace < 6144


def test_companions_twins_have_their_memory_before_their_first_writes_are_timed(tmp_path):
    """Of one node's two threads the second writes the first's 1024 pages once, then 64 of them for each kind of its writes."""
    result = tmp_path / "run.json"
    program = (BUILD / "microbench", 2, 1, "together")
    printed = json.loads(output_of(SDSM, "run", "-q", "-n", 2, "--threads-per-node", 2, "--json", result, "--", *program))
    assert len(printed["WROL.first"]) == 1024 // 64
    _, companion = json.loads(result.read_text())["whole_run"]["threads"]
    assert companion["faults"]["WROL"] >= 1024 + 64


def test_home_pages_that_rest_are_opened_in_rows(tmp_path):
    """256 rows of 2 KiB, two arrays of 128 pages: each thread has 64 home pages of each, and the second reads its own before it
    writes them. One trap that is no fault opens what lies behind. Of those that the initial thread wrote it has no such trap."""
    program = (WORKLOADS / "laplace", "--impl", 4, "--size", 256, "--iterations", 3, "--no-check")
    result = tmp_path / "run.json"
    output_of(SDSM, "run", "-q", "-n", 2, "--json", result, "--", *program)
    first, second = json.loads(result.read_text())["whole_run"]["threads"]
    assert first["traps"] - sum(first["faults"].values()) < 32
    assert 0 < second["traps"] - sum(second["faults"].values()) < 32


def test_together_nodes_take_the_timed_faults_in_turn_and_all_send_diffs(tmp_path):
    """Bursts are of 64 pages. In the one sample the second node takes those of RUMR, WUMR and WROR; both send six sizes of
    diffs, the first of them twice. Else the second node alone takes 16 of each kind, and sends one page's diff of each. Before,
    every node (else the second) fetches each of 1024 pages once, and the second tells the times of each burst of the first's.
    Together, every node also writes each of these pages once, and each of its own twice."""
    alone, other = microbench(tmp_path)
    assert alone["diffs"] == 0
    assert 64 + 16 + 16 + 7 <= other["diffs"] < 2 * 64
    assert other["faults"]["RUMR"] >= 1024 + 16 + 16
    first, second = microbench(tmp_path, "together")
    first_writes = 1024
    assert 7 * 64 <= first["diffs"] - first_writes < 8 * 64
    assert 16 + 64 + 64 + 7 * 64 <= second["diffs"] - first_writes < 64 + 64 + 8 * 64
    assert first["faults"]["RUMR"] >= 1024 + 7 * 64
    assert second["faults"]["WUMR"] >= first_writes + 64 and second["faults"]["RUMR"] >= 1024 + 64 + 64 + 64 + 7 * 64
    for thread in (first, second):
        assert thread["faults"]["WROH"] >= 2 * 1024  # each own page twice


def test_the_runs_account_of_own_writes_has_those_that_are_sampled_and_no_others(tmp_path):
    """Three samples of 510 pages between the readings of omp_get_wtime, and two more to warm up before. All else that traps
    there is each page where the sample and the result lie: it was written by the first thread, or its own."""
    result = tmp_path / "run.json"
    program = (BUILD / "microbench", 1, 3, "own-writes")
    printed = json.loads(output_of(SDSM, "run", "-q", "-n", 2, "--json", result, "--", *program))
    assert len(printed["WROH"]) == 3
    run = json.loads(result.read_text())
    for thread, whole in zip(run["threads"], run["whole_run"]["threads"], strict=True):
        assert 0 <= thread["faults"]["WROH"] - 3 * 510 <= 3 * 3
        assert whole["faults"]["WROH"] >= 5 * 510


@pytest.mark.parametrize(
    ("threads", "per_node", "atomics", "options"),
    [(2, 1, "home", ()), (4, 1, "home", ()), (4, 2, "home", ()), (4, 1, "lock", ("--protocol", "jiajia")), (2, 1, "lock", ())],
)
@pytest.mark.parametrize(
    "program",
    [
        (WORKLOADS / "laplace", "--impl", 4, "--size", 256, "--iterations", 5, "--no-check"),
        (WORKLOADS / "fft", "--impl", 2, "--points", 2048, "--no-check"),
        (COUNTED, "own_locks"),
        (COUNTED, "atomics"),
    ],
    ids=lambda program: Path(program[0]).name + str(program[-1]),
)
def test_a_threads_terms_sum_to_the_time(tmp_path, program, threads, per_node, atomics, options):
    """No term holds what another has: a barrier's none of its diffs, an atomic operation's none of its page faults. What
    counted twice would leave less than nothing for computing, which is told as none."""
    run = executed(tmp_path, threads, *program, per_node=per_node, atomics=atomics, options=options)
    for thread in run["threads"]:
        terms = dict(thread["time_s"])
        total = sum(terms.pop("fault").values()) + sum(terms.values())
        if run["options"]["region"] == "clock" or thread["id"] == 0:
            assert total == pytest.approx(run["makespan_s"], abs=2e-9 * len(terms))


def test_an_atomic_operations_trap_is_the_operations_time(tmp_path):
    """Each is a trap, of which a page at home here needs nothing else: with many of them little is left for computing. Other
    programs of the machine lengthen both, so the best of some runs counts."""
    source = tmp_path / "many.c"
    source.write_text(
        "#include <omp.h>\n"
        "#include <stdio.h>\n"
        "static long counts[2][512] __attribute__((aligned(4096)));\n"
        "int main(void) {\n"
        "  const double begun = omp_get_wtime();\n"
        "#pragma omp parallel\n"
        "  if (omp_get_thread_num() == 0)\n"
        "    for (int i = 0; i < 1000; ++i) __atomic_fetch_add(&counts[0][0], 1, __ATOMIC_SEQ_CST);\n"
        '  printf("%ld %f\\n", counts[0][0], omp_get_wtime() - begun);\n'
        "}\n"
    )
    subprocess.run(["gcc", "-O1", "-fopenmp", source, "-o", tmp_path / "many"], check=True)
    best = 0.0
    for _ in range(40):
        times = executed(tmp_path, 2, tmp_path / "many")["threads"][0]["time_s"]
        best = max(best, times["lock"] / (times["compute"] or 1e-9))
        if best > 2:
            break
    assert best > 2


def test_a_fault_lasts_from_its_trap_to_the_return_from_it(tmp_path):
    """5,000 home pages are written, and little is computed: most of the time is the faults', not computing. Other
    programs of the machine lengthen both, so each thread's best of some runs counts."""
    result = tmp_path / "run.json"
    program = (BUILD / "workloads" / "laplace", "--impl", 4, "--size", 512, "--iterations", 20, "--no-check")
    best = [0.0, 0.0]
    for _ in range(20):
        output_of(SDSM, "run", "-q", "-n", 2, "--json", result, "--", *program)
        for number, thread in enumerate(json.loads(result.read_text())["threads"]):
            assert thread["faults"]["WROH"] > 4000
            best[number] = max(best[number], thread["time_s"]["fault"]["WROH"] / thread["time_s"]["compute"])
        if min(best) > 1:
            break
    assert min(best) > 1


SLICES = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 2; ++i) {
    struct { unsigned size, policy; unsigned long flags; int nice; unsigned priority; unsigned long slice, deadline, period; } its = {0};
    DIR* threads = opendir("/proc/self/task");
#pragma omp ordered
    for (struct dirent* one; (one = readdir(threads));) {
      const int thread = atoi(one->d_name);
      if (thread > 0 && syscall(SYS_sched_getattr, thread, &its, sizeof its, 0) == 0)
        printf("%s %lu\n", thread == (int)syscall(SYS_gettid) ? "application" : "service", its.slice);
    }
  }
}
"""


@pytest.mark.parametrize(("processors", "longer"), [(1, False), (2, True)])
def test_service_threads_have_the_shorter_slices_where_each_process_has_a_processor(tmp_path, processors, longer):
    """So they interrupt who computes there, and a fetch does not wait for it. Application threads that share processors are all
    let in soon, as they wait for each other."""
    version = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])
    usable = sorted(os.sched_getaffinity(0))
    if version < (6, 12) or len(usable) < processors:
        pytest.skip(f"needs Linux 6.12 and {processors} processors")
    (tmp_path / "slices.c").write_text(SLICES)
    subprocess.run(["gcc", "-O1", "-fopenmp", tmp_path / "slices.c", "-o", tmp_path / "slices"], check=True)
    where = ("taskset", "-c", ",".join(map(str, usable[:processors])))
    rows = [row.split() for row in output_of(*where, SDSM, "run", "-q", "-n", 2, "--", tmp_path / "slices").splitlines()]
    found = {who: {int(slice_ns) for name, slice_ns in rows if name == who} for who in ("application", "service")}
    assert len(rows) >= 4 and found["service"] == {100_000}
    assert found["application"] == {1_000_000 if longer else 100_000}
