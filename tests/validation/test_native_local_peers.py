"""With several processes on a node, timing decides which of them comes to a page first, and so who fetches it and which
kinds of faults the others take. What is equal all the same between `sdsm run` and `sdsm simulate` of a trace of the same
program? The sums that no timing changes, page by page; and everything, if the order of the run is repeated."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.traces import shared, traced
from tests.validation import counted_runs
from tests.validation.counted_runs import COUNTED, WORKLOADS
from tests.validation.counted_runs import PLATFORM as P3_SCORE
from tests.validation.native_runs import BUILD, COMMAND, output_of

#: Nodes, and threads of each.
LAYOUTS = ((2, 2), (4, 2), (1, 2), (2, 3))

#: What a thread counts under the protocol's rules and the recorded order. Diffs are compared page by page instead:
#: those of local pages hold what the home happened to change meanwhile, and cross no network.
COUNTS = ("faults", "barriers", "locks", "messages", "messages_by_kind", "bytes", "served")

LAPLACE = [("laplace", "--impl", impl, "--size", 256, "--iterations", 5, "--no-check") for impl in range(1, 7)]
FFT = [("fft", "--impl", impl, "--points", 16384, "--no-check") for impl in range(1, 5)]
DIVIDED_FFT = [("fft", "--impl", impl, "--points", 16384, "--no-check") for impl in (5, 6)]
EQUAL_SHARES = [
    ("sor", "--rows", 29, "--columns", 4098, "--iterations", 5, "--no-check"),
    ("lu", "--size", 100, "--block", 16, "--no-check"),
    ("mm", "--size", 101, "--no-check"),
]
BARRIERS_ONLY = [("false_sharing",), ("neighbours",), ("teams",), ("blocks",), ("stacks",), ("master",)]
#: What a thread changes, it changes with a lock. A local peer that asks for a lock or gives one back meanwhile may flush
#: before or after the write that follows a fault: so it is open which of the two sends the change, and whether it goes
#: with a change of the peer's in one diff.
LOCKS: list[tuple] = [("critical",), ("named_critical",), ("two_locks_at_once",), ("nested_lock",), ("ordered",), ("two_sums",)]
LOCKS += [("swim", "--size", 61, "--iterations", 5, "--no-check")]
#: A local peer's lock falls into the midst of a thread's interval. A trace has the interval's changes as one, so that
#: diffs cannot be compared; faults can.
LOCKS_IN_BETWEEN = [("own_locks",), ("lock_over_dirty_pages",), ("test_lock",)]

#: Local peers change neighbouring words of a page: one run of changed words for the run, two for a trace, which does not
#: say where they lie. So their diffs' bytes differ, by 4 for each.
NEIGHBOURING_WORDS = ("teams", "blocks", "stacks")
#: An idle process of a run learns late of the clock's first reading (test_native_counts.py).
NOT_SERVED = ("teams", "blocks")


def table(path: Path) -> dict[tuple, dict[str, int]]:
    """Figures by node, process, region's number and name, and page."""
    with path.open() as file:
        return {
            (row["node"], row["process"], row["region"], row["name"], row["page"]): {
                figure: int(row[figure])
                for figure in ("read_faults", "write_faults", "fetches", "twins", "diffs", "diff_bytes")
            }
            for row in csv.DictReader(file)
        }


def traps(pages: dict) -> dict:
    """Of each process on each page, on reads and on writes."""
    rows = {key[1:]: (row["read_faults"], row["write_faults"]) for key, row in pages.items()}
    return {key: row for key, row in rows.items() if row != (0, 0)}


def node_sums(pages: dict) -> Counter:
    """What the processes of a node fetched, twinned and sent together, of each page."""
    sums: Counter = Counter()
    for (node, _, *page), row in pages.items():
        for figure in ("fetches", "twins", "diffs"):
            sums[(node, figure, *page)] += row[figure]
    return +sums


def columns(pages: dict, left_out: tuple = ()) -> dict:
    rows = {key: {figure: row[figure] for figure in row if figure not in left_out} for key, row in pages.items()}
    return {key: row for key, row in rows.items() if any(row.values())}


def counts(result: dict, left_out: tuple = ()) -> list[dict]:
    return counted_runs.counts(result, left_out, COUNTS)


class Compared:
    """A program traced, run with its order recorded, and simulated with that order; asked for, also without."""

    def __init__(self, folder: Path, layout: tuple[int, int], name: str, *arguments: object, options: tuple = ()):
        program = (WORKLOADS / name, *arguments) if arguments else (COUNTED, name)
        nodes, threads = layout
        # The published cluster has two processors a node.
        platform = folder / "platform.xml"
        platform.write_text(re.sub(r'core="\d+"', f'core="{threads}"', P3_SCORE.read_text()))
        size = ("--nodes", nodes, "--threads-per-node", threads, *options)
        outputs = ("--json", folder / "run.json", "--pages", folder / "run.csv", "--order", folder / "order")
        output_of(COMMAND, "-q", *size, *outputs, "--", *program)
        simulate = (BUILD / "sdsm-simulate", traced(nodes * threads, *program), "--platform", platform, *size, "--quiet")
        self._folder, self._simulate = folder, simulate
        ordered = ("--json", folder / "ordered.json", "--pages", folder / "ordered.csv", "--order", folder / "order")
        output_of(*simulate, *ordered)
        self.run, self.ordered = (json.loads((folder / f"{name}.json").read_text()) for name in ("run", "ordered"))
        self.run_pages, self.ordered_pages = (table(folder / f"{name}.csv") for name in ("run", "ordered"))

    @property
    def free_pages(self) -> dict:
        """Of a simulation without the order."""
        output_of(*self._simulate, "--pages", self._folder / "free.csv")
        return table(self._folder / "free.csv")


def check_sums(compared: Compared):
    free_pages = compared.free_pages
    assert traps(compared.run_pages) == traps(free_pages)
    assert node_sums(compared.run_pages) == node_sums(free_pages)


#: Who of a node sends a diff, and with what else, where that is open.
SENT = ("messages", "messages_by_kind", "bytes")


def sent(result: dict) -> dict:
    """By each node's threads together, but for the diffs."""
    sums: dict[int, Counter] = {}
    for thread in result["threads"]:
        sums.setdefault(thread["node"], Counter()).update(thread["messages_by_kind"])
    for kinds in sums.values():
        del kinds["diff"]
    return sums


def check_diffs_are_of_flushes(result: dict, pages: dict):
    """A process flushes when it takes or gives back a lock, and at barriers: each page at most once then."""
    flushes = {thread["id"]: 2 * thread["locks"] + thread["barriers"] for thread in result["threads"]}
    assert all(row["diffs"] <= flushes[int(process)] for (_, process, *_), row in pages.items())


def pages_sent(pages: dict) -> set:
    """By nodes that changed them."""
    return {key[:1] + key[2:] for key, row in pages.items() if row["diffs"]}


def check_order_with_locks(compared: Compared):
    assert counts(compared.run, SENT) == counts(compared.ordered, SENT)
    assert sent(compared.run) == sent(compared.ordered)
    left_out = ("diffs", "diff_bytes")
    assert columns(compared.run_pages, left_out) == columns(compared.ordered_pages, left_out)
    assert pages_sent(compared.run_pages) == pages_sent(compared.ordered_pages)
    check_diffs_are_of_flushes(compared.run, compared.run_pages)
    check_diffs_are_of_flushes(compared.ordered, compared.ordered_pages)


def check_order(compared: Compared, name: str):
    bytes_differ = name in NEIGHBOURING_WORDS
    left_out = (("bytes",) if bytes_differ else ()) + (("served",) if name in NOT_SERVED else ())
    assert counts(compared.run, left_out) == counts(compared.ordered, left_out)
    left_out = ("diff_bytes",) if bytes_differ else ()
    assert columns(compared.run_pages, left_out) == columns(compared.ordered_pages, left_out)


def check(folder: Path, layout: tuple[int, int], program: tuple, options: tuple = ()):
    compared = Compared(folder, layout, *program, options=options)
    if program in LOCKS_IN_BETWEEN:
        assert counts(compared.run, (*SENT, "served")) == counts(compared.ordered, (*SENT, "served"))
    elif program in LOCKS:
        check_order_with_locks(compared)
    else:
        check_sums(compared)
        check_order(compared, program[0])


PROGRAMS = LAPLACE + FFT + EQUAL_SHARES + BARRIERS_ONLY + LOCKS + LOCKS_IN_BETWEEN + DIVIDED_FFT


def possible(layout: tuple[int, int], program: tuple) -> bool:
    """FFT wants a power of two of threads."""
    return program[0] != "fft" or layout != (2, 3)


def named(programs: list) -> list:
    return ["-".join(map(str, program[:3])).replace("--impl-", "") for program in programs]


@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("program", PROGRAMS, ids=named(PROGRAMS))
def test_several_processes_on_a_node(tmp_path, program, turn):
    layout = LAYOUTS[(PROGRAMS.index(program) + turn) % 4]
    check(tmp_path, layout if possible(layout, program) else (2, 2), program)


@pytest.mark.long
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=named(PROGRAMS))
@pytest.mark.parametrize("repetition", range(5))
def test_several_processes_on_a_node_again_and_again(tmp_path, layout, program, repetition):
    if possible(layout, program):
        check(tmp_path, layout, program)


@pytest.mark.parametrize("program", DIVIDED_FFT, ids=named(DIVIDED_FFT))
def test_gangs_on_four_nodes_of_two(tmp_path, program):
    """A gang of two is a node's threads; the larger ones go over several nodes."""
    check(tmp_path, (4, 2), program)


@pytest.mark.parametrize("program", [LAPLACE[3], ("neighbours",), ("critical",)], ids=lambda program: program[0])
def test_under_open_homes(tmp_path, program):
    check(tmp_path, (2, 2), program, ("--protocol", "home-open"))


CHANGED = [LAPLACE[0], LAPLACE[3], FFT[3], *EQUAL_SHARES, *BARRIERS_ONLY, ("critical",), ("two_sums",), *LOCKS_IN_BETWEEN]


@pytest.mark.parametrize("program", CHANGED, ids=named(CHANGED))
def test_where_copies_that_nobody_changed_stay(tmp_path, program):
    check(tmp_path, LAYOUTS[CHANGED.index(program) % 2], program, ("--invalidation", "changed"))


def test_one_process_a_node_repeats_its_order_too(tmp_path):
    compared = Compared(tmp_path, (3, 1), "lock_over_dirty_pages")
    assert counts(compared.run) == counts(compared.ordered)
    assert columns(compared.run_pages) == columns(compared.ordered_pages)


@pytest.mark.parametrize(
    ("program", "layout", "said"),
    [
        ("master", (2, 2), "Record it and trace again"),
        ("neighbours", (4, 1), "the order is of 2 nodes of 2 threads"),
        ("ordered", (2, 2), "Record it and trace again"),
        ("singles", (2, 2), "it asks for the run-time's lock of single, but"),
        ("dynamic_loop", (2, 2), "it asks for the run-time's lock of dynamic loops, but"),
        ("critical", (2, 2), "it asks for lock 0, but"),
    ],
)
def test_an_order_of_something_else_is_refused(program, layout, said):
    recorded = (COMMAND, "-q", "--nodes", 2, "--threads-per-node", 2, "--order")
    order = shared("order of neighbours", lambda file: output_of(*recorded, file, "--", COUNTED, "neighbours"))
    size = ("--nodes", layout[0], "--threads-per-node", layout[1])
    command = (BUILD / "sdsm-simulate", traced(4, COUNTED, program), "--platform", P3_SCORE, *size, "-q", "--order", order)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("sdsm: ")
    assert said in done.stderr
    assert done.stdout == ""
