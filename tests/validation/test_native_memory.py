"""Is what `sdsm run` keeps coherent a memory? Random programs that check each value they read against a model of their
own, and litmus programs that count outcomes which no memory may show (tests/native/programs-random)."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
from typing import NamedTuple

import pytest

from tests.validation.native_runs import ASKED, BUILD, thinned
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


CASES = list(itertools.product(LAYOUTS, PLACEMENTS, TRANSPORTS))


@pytest.mark.parametrize(("layout", "placement", "transport"), thinned(4, LAYOUTS, PLACEMENTS, TRANSPORTS))
def test_random_programs(layout, placement, transport):
    check_random_programs(CASES.index((layout, placement, transport)), 2, *layout, placement, transport)


@pytest.mark.long
@pytest.mark.parametrize(("layout", "placement", "transport"), CASES)
def test_many_random_programs(layout, placement, transport):
    case = CASES.index((layout, placement, transport))
    for shape in range(len(SHAPES)):
        check_random_programs(100 + case * len(SHAPES) + shape, 40, *layout, placement, transport)


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


#: In a network of its own, where a connection's buffers are the smallest that setsockopt gives.
LEAST_BUFFERS = (
    *("unshare", "--map-root-user", "--net", "sh", "-c"),
    "ip link set lo up && sysctl -qw net.ipv4.tcp_rmem='2304 2304 2304' net.ipv4.tcp_wmem='4608 4608 4608' && exec \"$@\"",
    "sh",
)


@pytest.mark.parametrize(
    ("protocol", "layout", "program"),
    thinned(
        5,
        ("scash", "scash --invalidation changed", "scash --atomics lock", "home-open --prefetch 14", "jiajia"),
        ((2, 1), (4, 1), (2, 2)),
        ("all_at_once 2048", "late_diffs", "litmus 2", f"{OPTIMISED[0]} --seed 3 --programs 2 {' '.join(map(str, MIXED))}"),
    ),
)
def test_nothing_waits_in_a_circle_where_connections_hold_next_to_nothing(protocol, layout, program):
    if subprocess.run([*LEAST_BUFFERS, "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine lets nobody make networks of namespaces")
    nodes, per_node = layout
    name, *arguments = program.split()
    layout = ("--nodes", nodes, "--threads-per-node", per_node)
    command = (BUILD / "sdsm-run", "-q", *layout, "--transport", "tcp", "--protocol", *protocol.split())
    words = [str(word) for word in (*LEAST_BUFFERS, *command, "--", PROGRAMS / name, *arguments)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=200, check=False)
    assert (done.returncode, done.stderr) == (0, ""), f"{' '.join(words)}: {done.stderr}"


#: What the protocol of the shared memory is, beside SCASH as published.
VARIANTS = (
    ("--protocol", "home-open"),
    ("--prefetch", 3),
    ("--protocol", "home-open", "--prefetch", 14),
    ("--invalidation", "changed"),
    ("--invalidation", "changed", "--prefetch", 5),
)


@pytest.mark.parametrize(("layout", "options"), thinned(3, ((2, 1), (3, 1), (4, 1), (8, 1), (2, 2)), VARIANTS))
def test_programs_are_right_under_each_variant(layout, options):
    nodes, threads_per_node = layout
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
@pytest.mark.parametrize(("layout", "transport"), thinned(2, ((2, 1), (3, 1), (4, 1), (7, 1), (2, 2), (1, 4)), TRANSPORTS))
def test_litmus_programs_show_no_forbidden_outcome(layout, transport, rounds):
    result = on_cluster(*layout, "as-asked", transport, PROGRAMS / "litmus", rounds)
    assert (result.returncode, result.stderr) == (0, "")
    # Each program ran as often as it should.
    lines = result.stdout.splitlines()
    assert len(lines) >= 14
    assert {sum(int(times) for times in re.findall(r": (\d+)", line)) for line in lines} == {rounds}


@pytest.mark.parametrize("rounds", [8, pytest.param(24, marks=pytest.mark.long)])
@pytest.mark.parametrize(("nodes", "threads_per_node"), [(2, 1), (3, 1), (4, 1), (1, 2), (2, 2), (1, 4), pytest.param(8, 1, marks=pytest.mark.long)])
def test_flags_show_no_forbidden_outcome(nodes, threads_per_node, rounds):
    result = on_cluster(nodes, threads_per_node, "round-robin", "unix", PROGRAMS / "flag_litmus", rounds)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) >= 11


@pytest.mark.parametrize("pause", ["yield", "usleep", "nanosleep"])
def test_a_loop_that_pauses_sees_nothing_older_at_its_first_poll(tmp_path, pause):
    program = (PROGRAMS / "polls_once", pause, tmp_path / "read", tmp_path / "written")
    result = on_cluster(2, 1, "as-asked", "unix", *program)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 older\n", "")


FRACTIONS = ("double", "float", "long-double", "integer", "twelfth")
#: Programs of waits, what each prints, and its ways to wait. The first are known by their code, though no two turns of them
#: are alike; the others by questions to other nodes. Else they turn for ever, or until their limit.
WAITS = {
    "counts_turns": ("0 older\n", ["plainly", "backing-off", "in-memory", "starting-anew"]),
    "blind_waits": ("0 older, 0 late\n", ["calls", "deadline", "deadline-by-calls", "histogram", "turns", "sleeps", "pauses", *FRACTIONS]),
}


@pytest.mark.parametrize("layout", [(3, 1), pytest.param((2, 2), marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("wait", "level"), thinned(2, [(program, how) for program, (_, ways) in WAITS.items() for how in ways], ("O0", "O2"))
)
def test_a_wait_ends_whose_turns_are_never_alike(wait, level, layout):
    program, how = wait
    result = on_cluster(*layout, "as-asked", "unix", PROGRAMS / f"{program}_{level}", how)
    assert (result.returncode, result.stdout, result.stderr) == (0, WAITS[program][0], "")


class Shown(NamedTuple):
    layouts: str
    program: str | tuple  #: of programs-random, or ASKED with its arguments
    said: str
    options: tuple = ()
    runs: int = 1
    transport: str = "unix"


#: Of a store to a stack and a later one: by case, layouts and rounds.
STACK_ORDERS = (
    *(("fetched", "2x1", 100), ("third", "3x1", 100), ("own", "2x1 2x2", 300), ("own-atomic", "2x1", 300)),
    *(("operated", "2x1", 100), ("behind", "2x1 2x2", 100), ("two-atomic", "3x1", 1000), ("two-pages", "3x1", 1000)),
    *(("two-plain", "3x1", 300), ("encoded", "2x2", 100), ("local-peers", "2x2", 100)),
)
ATOMICS = ("home", "relaxed", "lock")
SHOWN = {
    "readers of a sequence lock see whole updates": Shown("2x1 2x2", "sequence_lock_O2", "whole", runs=4),
    "a page fetched while single-writer mode begins keeps its writes": Shown("3x2", "late_page", "0 wrong"),
    "a page that comes late is not seen beside later stores": Shown("2x2", "asked_at_once", "0 older"),
    "processes that change each other's pages do not deadlock": Shown("6x1", "crossing_changes", "0 wrong"),
    "a home's read sees what was stored before an operation": Shown("2x1", "operated_at_home", "0 older"),
    "a lock hands on what its holder's local peer stored": Shown("2x2", "local_peers_lock", "0 wrong"),
    "a thread requests a page whose home is outside the team": Shown("2x2", "home_outside_team", "0 missed"),
    "who begins to wait amid another gang's barrier sees earlier stores": Shown("4x1", "gang_flags", "0 older"),
    # Each node writes pages that do not lie side by side, hundreds in each region.
    "notices may be more than a message holds": Shown(
        "3x1 2x2", "alternating 4000", "0 wrong", ("--invalidation", "changed")),
    "of a node's two changes the later stays, sent on request": Shown("2x3", "local_peers_diffs request", "3", runs=3),
    "of a node's two changes the later stays, sent at barriers": Shown("2x3", "local_peers_diffs barrier", "3", runs=3),
    # Without the rule about one in two is wrong.
    "a thread sees nothing older behind a flag that its node fetches": Shown("3x2", "local_peers_flag", "0 older", runs=8),
    "changes sent at once may be more than a connection holds": Shown("2x1", "late_diffs", "0 wrong"),
    "so may they by TCP": Shown("2x1", "late_diffs", "0 wrong", transport="tcp"),
    # Each waited for the rest of a message that the other was to send once it had received its own.
    **{
        f"all may send each other megabytes at once, by {transport} under {protocol}": Shown(
            "2x1 4x1", "all_at_once 16384", "right", ("--protocol", protocol), transport=transport)
        for transport, protocol in (("unix", "jiajia"), ("tcp", "jiajia"), ("unix", "scash"))
    },
    "a flag shows what its thread stored before shutting its pages": Shown("3x1", "stored_before_meeting", "0 wrong", runs=3),
    # The page is open for its owner's node while the diff that has both stores changes it: unless its threads are stopped, they saw
    # the second one first in 60 to 320 of 1000 rounds.
    **{
        f"the first of two stores to a stack is seen, {waiting} of {storing}": Shown(
            layout, f"stack_pairs {waiting} {storing} 100", "0 older")
        for layout, waiting, storing in (("2x1", 0, 1), ("2x2", 0, 3), ("2x2", 1, 3), ("2x1", 1, 0))
    },
    **{
        f"who sees a later store to a stack sees the earlier one, {case}": Shown(layouts, f"stack_order {case} {rounds}", "0 older")
        for case, layouts, rounds in STACK_ORDERS
    },
    # Without a handler of its own the program expects no EINTR: 80 to 300 of 1000 polls of a millisecond ended so.
    **{
        f"{how} is not interrupted when its thread is stopped": Shown("2x1", f"polls {how}", "0 interrupted, 0 early")
        for how in ("poll", "pselect")
    },
    # Nobody is sent an owner's stores to its stack, so nobody may sleep until it is.
    "turns by variables on a stack go on where threads sleep": Shown("2x1", "flags_on_stacks", "60 turns"),
    # Without write notices of such stores 3 of 4 such runs on 2x2 lose an addition.
    "a lock handed on by a stack shows what it guards": Shown("4x1 2x2", "queue_lock 40", "right", runs=2),
    # Each thread waits for the one before it, by reads with a flush between them.
    **{
        f"a flush orders memory with {atomics} operations": Shown(
            "3x1 2x2", (ASKED / "chain_of_flushes",), "0 wrong", ("--atomics", atomics))
        for atomics in ATOMICS
    },
    # Nor does a page that a thread of the node fetches meanwhile.
    "operations of a node that overtake each other show no older value": Shown(
        "2x2 2x3 3x2", (ASKED / "overtaking",), "0 older, 1500", ("--atomics", "relaxed")),
    # Copies stay under relaxed operations: a thread that compared with its old copy would do so for ever.
    "a thread sees nothing older than its own operation found": Shown(
        "2x1", (ASKED / "own_operations",), "40, 0 older", ("--atomics", "relaxed")),
    "on a shared node nothing is older than one's own operation": Shown(
        "2x2", (ASKED / "own_operations",), "80, 0 older", ("--atomics", "relaxed")),
    **{
        f"{atomics} operations at a home outside the team are noticed where copies stay": Shown(
            "4x1", "operations_elsewhere", "0 wrong", ("--invalidation", "changed", "--atomics", atomics))
        for atomics in ATOMICS
    },
    "a word without shorter variables is what somebody stored, by locks": Shown("3x1", "torn_words", "0 wrong", ("--atomics", "lock")),
    "a word without shorter variables is what somebody stored, under JIAJIA": Shown(
        "3x1", "torn_words", "0 wrong", ("--protocol", "jiajia")),
    "what the kernel returns once survives shutting its page": Shown("2x2 2x3", "received_once", "through"),
    "a regular file is read and written whole where pages are shut": Shown("2x2 2x3", "whole_files", "whole"),
    "locks of a node's other threads do not fail system calls": Shown("2x2 2x3", "kernel_buffers", "through", runs=3),
}  # fmt: skip


@pytest.mark.parametrize(("name", "layout"), [(name, layout) for name, case in SHOWN.items() for layout in case.layouts.split()])
def test_a_program_shows_that_memory_is_one(name, layout):
    case, size = SHOWN[name], [int(number) for number in layout.split("x")]
    program = case.program if isinstance(case.program, tuple) else (PROGRAMS / case.program.split()[0], *case.program.split()[1:])
    for _ in range(case.runs):
        result = on_cluster(*size, "as-asked", case.transport, *program, options=case.options)
        assert (result.returncode, result.stdout, result.stderr) == (0, f"{case.said}\n", "")


def test_long_computing_on_pages_that_others_change_is_no_wait(tmp_path):
    """A thread computes for 0.4 s of its processor's time at a time, so it is followed and others are asked."""
    figures = tmp_path / "result.json"
    result = on_cluster(2, 1, "as-asked", "unix", ASKED / "shares_pages", options=("--json", figures))
    assert (result.returncode, result.stdout) == (0, f"{2 * (2 + 2)}\n")
    threads = json.loads(figures.read_text())["threads"]
    assert [thread["waits"] for thread in threads] == [0, 0]


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


def test_no_home_serves_pages_for_longer_than_the_run_takes(tmp_path):
    result = tmp_path / "result.json"
    done = on_cluster(2, 2, "as-asked", "unix", PROGRAMS / "flag_litmus", 2, options=("--json", result))
    assert done.returncode == 0, done.stderr
    run = json.loads(result.read_text())
    served = [thread["page_service_s"] for thread in run["threads"]]
    assert all(0 <= seconds <= run["makespan_s"] for seconds in served) and any(served)


def test_a_change_that_may_be_lost_is_reported_with_its_address():
    result = on_cluster(3, 1, "as-asked", "unix", PROGRAMS / "torn")
    assert (result.returncode, result.stdout) == (0, "done\n")
    assert re.fullmatch(r"sdsm: warning: two nodes changed the 4 bytes at address 0x[0-9a-f]+ at the same time.*\n", result.stderr)


@pytest.mark.parametrize("options", [("--atomics", "lock"), ("--protocol", "jiajia")])
def test_such_a_change_ends_a_run_that_orders_no_plain_stores(options):
    result = on_cluster(3, 1, "as-asked", "unix", PROGRAMS / "torn", options=options)
    assert (result.returncode, result.stdout) == (1, "")
    assert re.search(r"two nodes changed the 4 bytes at address 0x[0-9a-f]+ .* Align them to 4 bytes", result.stderr)


WARNING = r"sdsm: warning: two nodes changed the 4 bytes at address 0x30[0-9a-f]+ at the same time.*\n"


@pytest.mark.parametrize(("values", "said"), [(("any",), WARNING), ((), "")], ids=["any", "that-differ-in-each-byte"])
def test_one_of_several_stores_at_once_to_a_stack_word_stays_whole(values, said):
    """Stores of values that have a byte in common cannot be distinguished from those of shorter variables."""
    result = on_cluster(3, 1, "as-asked", "unix", PROGRAMS / "stack_words", *values)
    assert (result.returncode, result.stdout) == (0, "0 wrong\n")
    assert re.fullmatch(said, result.stderr), result.stderr


@pytest.mark.long
def test_random_programs_store_nothing_at_once_that_is_reported_as_lost():
    """In one of 20 runs of this program, threads stored values to a word on a stack that had a byte in common."""
    for _ in range(150):
        check_mixed_programs(5_781, 1, 8, 1, "random_program")


@pytest.mark.parametrize(("program", "rounds"), [("litmus", 40), ("flag_litmus", 4)])
def test_litmus_programs_hold_under_the_compilers_own_run_time(program, rounds):
    result = run(PROGRAMS / program, rounds, OMP_NUM_THREADS="4")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_arrays_that_are_placed_late_or_again_keep_their_contents(threads):
    done = on_cluster(threads, 1, "as-asked", "unix", PROGRAMS / "placed_again")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_that_forks_is_ended_with_a_message():
    done = on_cluster(2, 1, "as-asked", "unix", PROGRAMS / "forks")
    assert done.returncode == 1
    assert "fork" in done.stderr


def traced(tmp_path, *program: object) -> subprocess.CompletedProcess:
    command = [BUILD / "sdsm-trace", "--quiet", "-n", 2, "-o", tmp_path / "t.trace", "--", *program]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("layout", [(2, 1), (3, 1), (2, 2), None])
def test_system_calls_reach_shared_memory_or_end_the_run(tmp_path, layout):
    """Without a layout: traced."""

    def done(*program: object) -> subprocess.CompletedProcess:
        return on_cluster(*layout, "as-asked", "unix", *program) if layout else traced(tmp_path, *program)

    served = done(PROGRAMS / "system_calls")
    assert (served.returncode, served.stdout[:8]) == (0, "through,"), served.stdout + served.stderr
    ended = done(PROGRAMS / "system_calls", "unknown")
    assert ended.returncode == 1
    assert "gives shared memory to the kernel by syscall(SYS_io_setup" in ended.stderr
