"""Pages of 4 to 64 KiB simulated from one trace, against SCASH played here on the trace's own words: programs with
barriers alone, one process a node. Nothing of the simulator's is used but what it writes."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.traces import traced

BUILD = Path(__file__).resolve().parents[2] / "build"
KINDS = ("WROH", "WROR", "WUMR", "RUMR")
PART = 4096

PROGRAMS = {
    # Rows of 800 bytes: shares and pages meet nowhere but by chance.
    "laplace 1": ("laplace", "--impl", "1", "--size", "100", "--iterations", "3", "--no-check"),
    "laplace 4": ("laplace", "--impl", "4", "--size", "100", "--iterations", "3", "--no-check"),
    "fft 2": ("fft", "--impl", "2", "--points", "2^12", "--no-check"),
}


def trace_of(program: str, threads: int) -> Path:
    name, *arguments = PROGRAMS[program]
    return traced(threads, BUILD / "workloads" / name, *arguments)


def output_of(*command: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


class Process:
    """A process's pages between two barriers, and its counts."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.readable: set[tuple[object, int]] = set()
        self.writable: set[tuple[object, int]] = set()
        self.changes: dict[tuple[object, int], tuple[int, int]] = {}

    def touch(self, page: tuple[object, int], is_home: bool, writes: bool) -> None:
        if page in self.writable or (not writes and (is_home or page in self.readable)):
            return
        if not writes:
            self.counts["RUMR"] += 1
        elif is_home:
            self.counts["WROH"] += 1
        else:
            self.counts["WROR" if page in self.readable else "WUMR"] += 1
        (self.writable if writes else self.readable).add(page)
        if writes and not is_home:
            self.changes[page] = (0, 0)

    def barrier(self) -> None:
        for words, runs in self.changes.values():
            if words:
                self.counts["diffs"] += 1
                self.counts["diff_bytes"] += 8 + 4 * runs + 4 * words
        self.readable, self.writable, self.changes = set(), set(), {}


def lines_of(interval: dict) -> Iterator[dict]:
    for run in interval["lines"]:
        for _ in range(run["pages"]):
            yield run


def played(dump: str, threads: int, page_bytes: int) -> list[Counter[str]]:
    """The counts of each thread over the whole run."""
    parts = page_bytes // PART
    processes = [Process() for _ in range(threads)]
    regions: list[dict] = []

    def place(region: int, part: int) -> tuple[int, bool | int]:
        """The page of the region, and its home."""
        its = regions[region]
        lead = its["lead_pages"] % parts
        pages, page = -(-(lead + its["pages"]) // parts), (lead + part) // parts
        home = {"round_robin": page % threads, "block": page * threads // pages, "initial": 0}[its["placement"]]
        return page, its["owner"] if its["kind"] == "thread_stack" else home

    for line in map(json.loads, dump.splitlines()):
        if line["type"] == "region":
            regions.append(line)
        if line["type"] != "interval":
            continue
        process, number = processes[line["thread"]], line["thread"]
        lines = lines_of(line)
        changed: dict[tuple[int, int], dict[int, tuple[int, int, bool, bool]]] = {}
        for run in line["touches"]:
            writes, words, runs = run["access"] == "write", run["change"]["words"], run["change"]["runs"]
            for part in range(run["first"], run["first"] + run["pages"]):
                page, home = place(run["region"], part)
                process.touch((run["region"], page), home == number, writes)
                if not writes or words == 0:
                    continue
                ends = next(lines) if words < 1024 else {"first_word": True, "last_word": True}
                changed.setdefault((run["region"], page), {})[part] = (
                    words,
                    runs,
                    ends["first_word"],
                    ends["last_word"],
                )
        for key, by_part in changed.items():
            if key not in process.changes:
                continue
            words, runs = process.changes[key]
            for part, (more, in_runs, first, _) in by_part.items():
                before = by_part.get(part - 1)
                words, runs = words + more, runs + in_runs - (first and before is not None and before[3])
            process.changes[key] = (words, runs) if words < page_bytes // 4 else (page_bytes // 4, 1)
        kind = line["end"]["kind"]
        if kind == "fork":  # the region's function and arguments, on a page of process 0
            process.touch(("region", 0), True, True)
        if kind in ("fork", "team_begin", "join", "barrier"):
            process.barrier()
        if kind == "team_begin":
            process.touch(("region", 0), False, False)
        assert kind in ("fork", "team_begin", "join", "barrier", "clock", "loop_begin", "loop_end", "end"), kind
    return [process.counts for process in processes]


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("program", PROGRAMS)
def test_counts_of_larger_pages_are_those_of_the_traces_words(program: str, threads: int) -> None:
    trace = trace_of(program, threads)
    dump = output_of(BUILD / "sdsm-trace", "dump", trace)
    seen = set()
    for kib in (4, 8, 16, 32, 64):
        where = (trace, "-q", "-p", "p3-score", "-n", threads, "--compute-factor", 1, "--page-size", f"{kib}KiB")
        result = json.loads(output_of(BUILD / "sdsm-simulate", *where, "--json", "-"))
        assert result["options"]["page_bytes"] == kib * 1024
        assert ("page-size" in result["extrapolated"]) == (kib != 4)
        simulated = result["whole_run"]["threads"]
        expected = played(dump, threads, kib * 1024)
        for thread, counts in zip(simulated, expected, strict=True):
            found = {kind: thread["faults"][kind] for kind in KINDS} | {
                key: thread[key] for key in ("diffs", "diff_bytes")
            }
            assert found == {key: counts[key] for key in found}, f"{kib} KiB, thread {thread['id']}"
        fetches = sum(counts["RUMR"] + counts["WUMR"] for counts in expected)
        releases = sum(thread["messages_by_kind"]["barrier_release"] for thread in simulated)
        assert sum(thread["served_bytes"] for thread in simulated) == fetches * kib * 1024 + releases * 32
        seen.add(fetches)
    assert len(seen) > 2  # sizes make a difference


def refused(*arguments: object) -> str:
    done = subprocess.run([BUILD / "sdsm-simulate", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 2
    return done.stderr


def test_what_larger_pages_cannot_be_made_of_is_refused_by_name() -> None:
    old = Path(__file__).parents[1] / "workloads" / "trace" / "format_1" / "laplace.trace"
    assert "is of format 1, which does not tell" in refused(old, "-p", "p3-score", "-n", 4, "--page-size", "8KiB")
    under_jiajia = (trace_of("laplace 1", 2), "-p", "p3-jiajia", "-n", 2, "--protocol", "jiajia")
    counts = {}
    for size in ("4096", "64KiB"):
        result = json.loads(
            output_of(BUILD / "sdsm-simulate", *under_jiajia, "-q", "--page-size", size, "--json", "-")
        )
        counts[size] = sum(thread["messages_by_kind"]["GETP"] for thread in result["threads"])
    assert counts["64KiB"] < counts["4096"]


def test_a_platform_says_which_pages_its_faults_were_measured_with() -> None:
    where = (trace_of("laplace 4", 2), "-p", "p3-score", "-n", 2, "--set", "page.size=8KiB", "--json", "-")
    # 8 KiB alone take longer on the wire than a fault on 4 KiB in all.
    assert "raise it, or correct reference" in refused(*where)
    larger = [word for kind in ("RUMR", "WUMR") for word in ("--set", f"fault.{kind}=1ms")]
    result = json.loads(output_of(BUILD / "sdsm-simulate", "-q", *where, *larger))
    assert result["options"]["page_bytes"] == 8192
    assert "page-size" not in result["extrapolated"]
