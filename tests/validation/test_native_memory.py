"""Is what `sdsm run` keeps coherent a memory? Random programs that check each value they read against a model of their
own, and litmus programs that count outcomes which no memory may show (tests/native/programs-random)."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess

import pytest

from tests.validation.native_runs import ASKED, BUILD
from tests.validation.native_runs import MEMORY_PROGRAMS as PROGRAMS

LAYOUTS = ((2, 1), (3, 1), (4, 1), (8, 1), (1, 3), (2, 2), (2, 4), (3, 2))
PLACEMENTS = ("as-asked", "round-robin", "block", "first-touch")
TRANSPORTS = ("unix", "tcp")
#: What the programs do is drawn with these: few pages that everybody meets in, many, many locks, none.
SHAPES = (
    ("--pages", 2, "--steps", 60, "--locks", 4),
    ("--pages", 1, "--steps", 120, "--locks", 8),
    ("--pages", 6, "--steps", 60, "--locks", 0),
    ("--pages", 1, "--steps", 20, "--locks", 1, "--phases", 60),
)


#: Small programs of all that does not hand on data by plain loads or stores of a flag.
MIXED = ("--phases", 8, "--steps", 24, "--locks", 8, "--with", "all-but-plain")
OPTIMISED = ("random_program", "random_program_O0")


def run(*command: object, **environment: str) -> subprocess.CompletedProcess:
    arguments = [str(part) for part in command]
    return subprocess.run(
        arguments, capture_output=True, text=True, timeout=600, env={**os.environ, **environment}, check=False
    )


def on_cluster(nodes: int, threads_per_node: int, placement: str, transport: str, *program: object, options: tuple = ()):
    layout = ("--nodes", nodes, "--threads-per-node", threads_per_node, "--placement", placement, *options)
    return run(BUILD / "sdsm-run", "--quiet", *layout, "--transport", transport, "--", *program)


def random_programs(first_seed: int, count: int, shape: tuple) -> tuple:
    distribution = ("round-robin", "block")[first_seed % 2]
    options = ("--seed", first_seed, "--programs", count, *shape, "--placement", distribution)
    return (PROGRAMS / "random_program", *options)


def check_random_programs(case: int, count: int, nodes: int, threads_per_node: int, placement: str, transport: str):
    shape = SHAPES[case % len(SHAPES)]
    program = random_programs(1 + case * 10_000, count, shape)
    result = on_cluster(nodes, threads_per_node, placement, transport, *program)
    assert result.returncode == 0, f"{' '.join(map(str, program))}: {result.stderr}"
    assert result.stdout.startswith(f"{count} programs")


CASES = [
    (case, nodes, threads_per_node, placement, transport)
    for case, ((nodes, threads_per_node), placement, transport) in enumerate(
        itertools.product(LAYOUTS, PLACEMENTS, TRANSPORTS)
    )
]


@pytest.mark.parametrize(("case", "nodes", "threads_per_node", "placement", "transport"), CASES)
def test_random_programs(case, nodes, threads_per_node, placement, transport):
    check_random_programs(case, 2, nodes, threads_per_node, placement, transport)


@pytest.mark.long
@pytest.mark.parametrize(("case", "nodes", "threads_per_node", "placement", "transport"), CASES)
def test_many_random_programs(case, nodes, threads_per_node, placement, transport):
    for shape in range(len(SHAPES)):
        check_random_programs(100 + case * len(SHAPES) + shape, 40, nodes, threads_per_node, placement, transport)


def check_mixed_programs(
    first_seed: int, count: int, nodes: int, threads_per_node: int, program: str, options: tuple = ()
):
    command = (PROGRAMS / program, "--seed", first_seed, "--programs", count, *MIXED)
    result = on_cluster(nodes, threads_per_node, "as-asked", "unix", *command, options=options)
    assert (result.returncode, result.stderr) == (0, ""), f"{' '.join(map(str, command))}: {result.stderr}"
    assert result.stdout.startswith(f"{count} programs")


@pytest.mark.parametrize("program", OPTIMISED)
@pytest.mark.parametrize(("nodes", "threads_per_node"), [(2, 1), (4, 1), (1, 3), (2, 2)])
def test_programs_of_atomic_operations_library_locks_and_flags(nodes, threads_per_node, program):
    check_mixed_programs(1, 5, nodes, threads_per_node, program)


#: What the protocol of the shared memory is, beside SCASH as published.
VARIANTS = (
    ("--protocol", "home-open"),
    ("--prefetch", 3),
    ("--protocol", "home-open", "--prefetch", 14),
    ("--invalidation", "changed"),
    ("--invalidation", "changed", "--prefetch", 5),
)


@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: " ".join(map(str, options)))
@pytest.mark.parametrize(("nodes", "threads_per_node"), [(2, 1), (3, 1), (4, 1), (8, 1), (2, 2)])
def test_programs_are_right_under_each_variant(nodes, threads_per_node, options):
    check_mixed_programs(1 + nodes, 8 // nodes, nodes, threads_per_node, "random_program", options)


@pytest.mark.long
def test_a_page_that_its_own_threads_operation_took_away_is_shut():
    """Once in a hundred runs the home's thread met others by a touch of a page, operated on it, and went on with the page."""
    shape = ("--phases", 8, "--steps", 24, "--locks", 8, "--with", "library,atomics,cells,locks,teams")
    program = (PROGRAMS / "random_program", "--seed", 20_015, "--programs", 2, *shape)
    for _ in range(400):
        result = on_cluster(2, 1, "as-asked", "unix", *program, options=("--protocol", "home-open"))
        assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.long
@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: " ".join(map(str, options)))
@pytest.mark.parametrize("first_seed", range(20_001, 22_001, 50))
def test_two_thousand_programs_are_right_under_each_variant(first_seed, options):
    nodes, threads_per_node = LAYOUTS[first_seed // 50 % len(LAYOUTS)]
    check_mixed_programs(first_seed, 50, nodes, threads_per_node, "random_program", options)


@pytest.mark.long
@pytest.mark.parametrize("first_seed", range(1, 10_001, 50))
def test_ten_thousand_programs_of_atomic_operations_library_locks_and_flags(first_seed):
    number = first_seed // 50
    nodes, threads_per_node = LAYOUTS[number % len(LAYOUTS)]
    check_mixed_programs(first_seed, 50, nodes, threads_per_node, OPTIMISED[number // len(LAYOUTS) % 2])


@pytest.mark.parametrize("program", OPTIMISED)
def test_programs_of_atomic_operations_library_locks_and_flags_trace(tmp_path, program):
    command = (PROGRAMS / program, "--programs", 5, *MIXED)
    result = run(BUILD / "sdsm-trace", "--quiet", "--passes", 2, "-n", 4, "-o", tmp_path / "trace", "--", *command)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("5 programs")


@pytest.mark.parametrize("threads", [1, 3, 4])
def test_random_programs_are_right_about_an_ordinary_memory(threads):
    for number, shape in enumerate(SHAPES):
        program = random_programs(number * 100, 20, shape)
        result = run(*program, OMP_NUM_THREADS=str(threads))
        assert (result.returncode, result.stderr) == (0, "")
    for name in OPTIMISED:
        everything = (PROGRAMS / name, "--programs", 4, *MIXED, "--with", "+read-flags,plain-flags")
        result = run(*everything, OMP_NUM_THREADS=str(threads))
        assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("rounds", [40, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(("nodes", "threads_per_node"), [(2, 1), (3, 1), (4, 1), (7, 1), (2, 2), (1, 4)])
def test_litmus_programs_show_no_forbidden_outcome(nodes, threads_per_node, transport, rounds):
    result = on_cluster(nodes, threads_per_node, "as-asked", transport, PROGRAMS / "litmus", rounds)
    assert (result.returncode, result.stderr) == (0, "")
    # Each program ran as often as it should.
    lines = result.stdout.splitlines()
    assert len(lines) >= 14
    assert {sum(int(times) for times in re.findall(r": (\d+)", line)) for line in lines} == {rounds}


@pytest.mark.parametrize("rounds", [8, pytest.param(24, marks=pytest.mark.long)])
@pytest.mark.parametrize(("nodes", "threads_per_node"), [(2, 1), (3, 1), (4, 1), (8, 1), (1, 2), (2, 2), (1, 4)])
def test_flags_show_no_forbidden_outcome(nodes, threads_per_node, rounds):
    result = on_cluster(nodes, threads_per_node, "round-robin", "unix", PROGRAMS / "flag_litmus", rounds)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) >= 11


@pytest.mark.parametrize("pause", ["yield", "usleep", "nanosleep"])
def test_who_comes_to_a_loop_that_pauses_sees_nothing_older_though_it_looks_but_once(tmp_path, pause):
    program = (PROGRAMS / "looks_once", pause, tmp_path / "read", tmp_path / "written")
    result = on_cluster(2, 1, "as-asked", "unix", *program)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 older\n", "")


FRACTIONS = ("double", "float", "long-double", "integer", "twelfth")
#: Programs of waits, what each tells, and its ways to wait. The first are known by their code, though nothing looks alike in
#: two turns of them; the others by questions to other nodes. Else they turn for ever, or until they give up.
WAITS = {
    "counts_turns": ("0 older\n", ["plainly", "backing-off", "in-memory", "starting-anew"]),
    "blind_waits": ("0 older, 0 late\n", ["calls", "deadline", "deadline-by-calls", "histogram", "turns", "sleeps", "pauses", *FRACTIONS]),
}


@pytest.mark.parametrize(("program", "how"), [(program, how) for program, (_, ways) in WAITS.items() for how in ways])
@pytest.mark.parametrize("level", ["O0", "O2"])
@pytest.mark.parametrize(("nodes", "threads_per_node"), [(3, 1), (2, 2)])
def test_a_wait_that_looks_alike_in_no_two_turns_ends(nodes, threads_per_node, level, program, how):
    result = on_cluster(nodes, threads_per_node, "as-asked", "unix", PROGRAMS / f"{program}_{level}", how)
    assert (result.returncode, result.stdout, result.stderr) == (0, WAITS[program][0], "")


@pytest.mark.parametrize(("nodes", "threads_per_node"), [(2, 1), (2, 2)])
def test_readers_of_a_sequence_lock_see_whole_updates(nodes, threads_per_node):
    for _ in range(4):
        result = on_cluster(nodes, threads_per_node, "as-asked", "unix", PROGRAMS / "sequence_lock_O2")
        assert (result.returncode, result.stdout, result.stderr) == (0, "whole\n", "")


def test_long_computing_on_pages_that_others_change_is_no_wait(tmp_path):
    """A thread computes for 0.4 s of its processor's time at a time, so it is followed and others are asked."""
    figures = tmp_path / "result.json"
    result = on_cluster(2, 1, "as-asked", "unix", ASKED / "shares_pages", options=("--json", figures))
    assert (result.returncode, result.stdout) == (0, f"{2 * (2 + 2)}\n")
    threads = json.loads(figures.read_text())["threads"]
    assert [thread["waits"] for thread in threads] == [0, 0]


ORDERS = {
    "a page that comes while flag mode begins keeps what is written to it": (3, 2, "late_page", "0 wrong"),
    "what comes late, older than an earlier copy, is not seen beside a later store": (2, 2, "asked_at_once", "0 older"),
    "processes whose changes go to each other's pages do not wait in a circle": (6, 1, "crossing_changes", "0 wrong"),
    "one look at a page of one's own sees what was stored before an operation on it": (2, 1, "operated_at_home", "0 older"),
    "who takes a lock sees what a companion told its holder by a flag": (2, 2, "companions_lock", "0 wrong"),
    "a thread asks for a page whose home is a companion outside of the team": (2, 2, "home_outside_team", "0 missed"),
    "who begins to wait amid another gang's barrier sees what was stored before it": (4, 1, "gang_flags", "0 older"),
}


@pytest.mark.parametrize(("nodes", "threads_per_node", "program", "said"), ORDERS.values(), ids=ORDERS)
def test_what_comes_in_an_unusual_order_is_right(nodes, threads_per_node, program, said):
    result = on_cluster(nodes, threads_per_node, "as-asked", "unix", PROGRAMS / program)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{said}\n", "")


@pytest.mark.parametrize(("nodes", "threads_per_node"), [(3, 1), (2, 2)])
def test_notices_may_be_more_than_a_message_holds(nodes, threads_per_node):
    """Each node writes pages that do not lie side by side, hundreds in each region."""
    program = (PROGRAMS / "alternating", 4000)
    result = on_cluster(nodes, threads_per_node, "as-asked", "unix", *program, options=("--invalidation", "changed"))
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 wrong\n", "")


@pytest.mark.parametrize("sender", ["recall", "barrier"])
def test_of_two_changes_that_companions_send_home_the_later_one_stays(sender):
    for _ in range(3):
        result = on_cluster(2, 3, "as-asked", "unix", PROGRAMS / "companions_diffs", sender)
        assert (result.returncode, result.stdout, result.stderr) == (0, "3\n", "")


def test_a_companion_sees_nothing_older_behind_a_flag_that_its_node_is_being_told_of():
    for _ in range(8):  # without the rule about one in two is wrong
        result = on_cluster(3, 2, "as-asked", "unix", PROGRAMS / "companions_flag")
        assert (result.returncode, result.stdout, result.stderr) == (0, "0 older\n", "")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_changes_that_go_home_at_once_may_be_more_than_a_connection_holds(transport):
    result = on_cluster(2, 1, "as-asked", transport, PROGRAMS / "late_diffs")
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 wrong\n", "")


def test_who_sees_a_flag_sees_what_its_thread_stored_before_though_that_has_shut_its_pages_since():
    for _ in range(3):
        result = on_cluster(3, 1, "as-asked", "unix", PROGRAMS / "stored_before_meeting")
        assert (result.returncode, result.stdout, result.stderr) == (0, "0 wrong\n", "")


@pytest.mark.parametrize(
    ("nodes", "threads_per_node", "waiting", "storing"), [(2, 1, 0, 1), (2, 2, 0, 3), (2, 2, 1, 3), (2, 1, 1, 0)]
)
def test_who_sees_the_second_of_two_stores_to_a_page_of_a_stack_sees_the_first(nodes, threads_per_node, waiting, storing):
    """The page is open for its owner and for companions while the diff that has both stores changes it: without standing
    still, they saw the second one first in 60 to 320 of 1000 rounds."""
    result = on_cluster(nodes, threads_per_node, "as-asked", "unix", PROGRAMS / "stack_pairs", waiting, storing, 300)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 older\n", "")


@pytest.mark.parametrize(
    ("case", "nodes", "threads_per_node", "rounds"),
    [
        ("fetched", 2, 1, 100),
        ("third", 3, 1, 100),
        ("own", 2, 1, 300),
        ("own", 2, 2, 300),
        ("own-atomic", 2, 1, 300),
        ("operated", 2, 1, 100),
        ("behind", 2, 1, 300),
        ("behind", 2, 2, 300),
        ("two-atomic", 3, 1, 3000),
        ("two-pages", 3, 1, 3000),
        ("two-plain", 3, 1, 300),
        ("encoded", 2, 2, 300),
        ("companions", 2, 2, 100),
    ],
)
def test_who_sees_a_later_store_to_a_stack_sees_the_earlier_one(case, nodes, threads_per_node, rounds):
    result = on_cluster(nodes, threads_per_node, "as-asked", "unix", PROGRAMS / "stack_order", case, rounds)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 older\n", "")


@pytest.mark.parametrize("how", ["poll", "ppoll", "pselect", "epoll_pwait2"])
def test_a_poll_is_not_interrupted_when_its_thread_stands_still(how):
    """Without a handler of its own the program expects no EINTR: 80 to 300 of 1000 polls of a millisecond ended so."""
    result = on_cluster(2, 1, "as-asked", "unix", PROGRAMS / "polls", how)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 interrupted, 0 early\n", "")


def test_a_thread_that_waits_for_a_flag_leaves_its_processor_to_others():
    """400 ms of waiting; a loop that turns uses them all where nobody else wants the processor."""
    processor = min(os.sched_getaffinity(0))
    result = subprocess.run(
        ["taskset", "-c", str(processor), BUILD / "sdsm-run", "--quiet", "-n", "2", "--", PROGRAMS / "rests"],
        capture_output=True, text=True, check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    # Resting takes 2 ms. A loop that turns takes 68 ms and more, even where 20 others want the processors.
    assert float(result.stdout.split()[0]) < 20


def test_turns_by_variables_on_a_stack_go_on_where_threads_rest():
    """Nobody is told of an owner's stores to its stack, so nobody may rest until it is."""
    result = on_cluster(2, 1, "as-asked", "unix", PROGRAMS / "flags_on_stacks")
    assert (result.returncode, result.stdout, result.stderr) == (0, "60 turns\n", "")


@pytest.mark.parametrize(("nodes", "threads_per_node"), [(4, 1), (2, 2)])
def test_who_gets_a_lock_by_a_store_to_its_own_stack_sees_what_it_guards_in_others(nodes, threads_per_node):
    """Without the news of such stores 3 of 4 such runs on 2x2 lose an addition."""
    for _ in range(3):
        result = on_cluster(nodes, threads_per_node, "as-asked", "unix", PROGRAMS / "queue_lock", 40)
        assert (result.returncode, result.stdout, result.stderr) == (0, "right\n", "")


@pytest.mark.parametrize("atomics", ["home", "relaxed", "lock"])
@pytest.mark.parametrize(("nodes", "threads_per_node"), [(3, 1), (2, 2)])
def test_a_flush_orders_memory_however_operations_are_done(nodes, threads_per_node, atomics):
    """Each thread waits for the one before it, by looks with a flush between them."""
    options = ("--atomics", atomics)
    result = on_cluster(nodes, threads_per_node, "as-asked", "unix", ASKED / "chain_of_flushes", options=options)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 wrong\n", "")


@pytest.mark.parametrize(("nodes", "threads_per_node"), [(2, 2), (2, 3), (3, 2)])
def test_companions_operations_that_overtake_each_other_show_no_older_value(nodes, threads_per_node):
    """Nor does a page that a companion fetches meanwhile."""
    options = ("--atomics", "relaxed")
    result = on_cluster(nodes, threads_per_node, "as-asked", "unix", ASKED / "overtaking", options=options)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 older, 1500\n", "")


@pytest.mark.parametrize(("nodes", "threads_per_node"), [(2, 1), (2, 2)])
def test_a_thread_sees_nothing_older_in_a_variable_than_its_own_operation_found(nodes, threads_per_node):
    """Copies stay under relaxed operations: a thread that compared with its old copy would do so for ever."""
    options = ("--atomics", "relaxed")
    result = on_cluster(nodes, threads_per_node, "as-asked", "unix", ASKED / "own_operations", options=options)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{20 * nodes * threads_per_node}, 0 older\n", "")


@pytest.mark.parametrize("atomics", ["home", "relaxed", "lock"])
def test_an_atomic_operation_at_a_home_outside_the_team_is_told_where_copies_stay(atomics):
    options = ("--invalidation", "changed", "--atomics", atomics)
    result = on_cluster(4, 1, "as-asked", "unix", PROGRAMS / "operations_elsewhere", options=options)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 wrong\n", "")


def test_no_home_serves_pages_for_longer_than_the_run_takes(tmp_path):
    result = tmp_path / "result.json"
    done = on_cluster(2, 2, "as-asked", "unix", PROGRAMS / "flag_litmus", 8, options=("--json", result))
    assert done.returncode == 0, done.stderr
    run = json.loads(result.read_text())
    served = [thread["page_service_s"] for thread in run["threads"]]
    assert all(0 <= seconds <= run["makespan_s"] for seconds in served) and any(served)


def test_a_change_that_may_be_lost_in_a_word_is_told_of_with_its_address():
    result = on_cluster(3, 1, "as-asked", "unix", PROGRAMS / "torn")
    assert (result.returncode, result.stdout) == (0, "done\n")
    assert re.fullmatch(r"sdsm: warning: two nodes changed the 4 bytes at address 0x[0-9a-f]+ at the same time.*\n", result.stderr)


@pytest.mark.parametrize("options", [("--atomics", "lock"), ("--protocol", "jiajia")])
def test_such_a_change_ends_a_run_that_orders_no_plain_stores(options):
    result = on_cluster(3, 1, "as-asked", "unix", PROGRAMS / "torn", options=options)
    assert (result.returncode, result.stdout) == (1, "")
    assert re.search(r"two nodes changed the 4 bytes at address 0x[0-9a-f]+ .* Align them to 4 bytes", result.stderr)


@pytest.mark.parametrize("options", [("--atomics", "lock"), ("--protocol", "jiajia")])
def test_in_a_program_without_shorter_variables_a_word_is_what_somebody_stored(options):
    result = on_cluster(3, 1, "as-asked", "unix", PROGRAMS / "torn_words", options=options)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 wrong\n", "")


WARNING = r"sdsm: warning: two nodes changed the 4 bytes at address 0x30[0-9a-f]+ at the same time.*\n"


@pytest.mark.parametrize(("values", "said"), [(("any",), WARNING), ((), "")], ids=["any", "that-differ-in-each-byte"])
def test_of_what_threads_store_at_once_to_a_word_on_a_stack_one_stays_whole(values, said):
    """By their bytes, stores of values that have one in common look like those of shorter variables."""
    result = on_cluster(3, 1, "as-asked", "unix", PROGRAMS / "stack_words", *values)
    assert (result.returncode, result.stdout) == (0, "0 wrong\n")
    assert re.fullmatch(said, result.stderr), result.stderr


@pytest.mark.long
def test_random_programs_store_nothing_at_once_that_looks_like_a_lost_change():
    """In one of 20 runs of this program, threads stored values to a word on a stack that had a byte in common."""
    for _ in range(150):
        check_mixed_programs(5_781, 1, 8, 1, "random_program")


@pytest.mark.parametrize("program", ["litmus", "flag_litmus"])
def test_litmus_programs_hold_under_the_compilers_own_run_time(program):
    result = run(PROGRAMS / program, OMP_NUM_THREADS="4")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_arrays_that_are_placed_late_or_again_keep_their_contents(threads):
    done = on_cluster(threads, 1, "as-asked", "unix", PROGRAMS / "placed_again")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_that_forks_is_ended_with_a_word_about_it():
    done = on_cluster(2, 1, "as-asked", "unix", PROGRAMS / "forks")
    assert done.returncode == 1
    assert "fork" in done.stderr


def traced(tmp_path, *program: object) -> subprocess.CompletedProcess:
    command = [BUILD / "sdsm-trace", "--quiet", "-n", 2, "-o", tmp_path / "t.trace", "--", *program]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("layout", [(2, 1), (3, 1), (2, 2), None])
def test_system_calls_reach_shared_memory_wherever_it_is_and_what_nobody_serves_ends_the_run(tmp_path, layout):
    """Without a layout: traced."""

    def done(*program: object) -> subprocess.CompletedProcess:
        return on_cluster(*layout, "as-asked", "unix", *program) if layout else traced(tmp_path, *program)

    served = done(PROGRAMS / "system_calls")
    assert (served.returncode, served.stdout[:8]) == (0, "through,"), served.stdout + served.stderr
    ended = done(PROGRAMS / "system_calls", "unknown")
    assert ended.returncode == 1
    assert "gives shared memory to the kernel by syscall(SYS_io_setup" in ended.stderr


@pytest.mark.parametrize(("nodes", "threads_per_node"), [(2, 2), (2, 3)])
def test_what_the_kernel_tells_once_is_not_lost_where_a_companion_shuts_the_page(nodes, threads_per_node):
    done = on_cluster(nodes, threads_per_node, "as-asked", "unix", PROGRAMS / "told_once")
    assert (done.returncode, done.stdout) == (0, "through\n"), done.stdout + done.stderr


@pytest.mark.parametrize(("nodes", "threads_per_node"), [(2, 2), (2, 3)])
def test_a_regular_file_is_read_and_written_whole_where_a_companion_shuts_pages(nodes, threads_per_node):
    done = on_cluster(nodes, threads_per_node, "as-asked", "unix", PROGRAMS / "whole_files")
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stdout + done.stderr


@pytest.mark.parametrize(("nodes", "threads_per_node"), [(2, 2), (2, 3)])
def test_companions_locks_do_not_fail_system_calls(nodes, threads_per_node):
    for _ in range(3):
        done = on_cluster(nodes, threads_per_node, "as-asked", "unix", PROGRAMS / "kernel_buffers")
        assert (done.returncode, done.stdout) == (0, "through\n"), done.stderr
