"""`sdsm explain`: does it find the fault that was planted, at its line, and do its costs add up?"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from elftools.elf.elffile import ELFFile

from run_results import simulation, thread
from sdsm.base import places, run_result
from sdsm.base.children import Stopped
from sdsm.base.result_types import LockUse, RegionTouches, SiteUse, TraceInfo
from sdsm.explain.alternatives import MENDINGS, PARALLEL_INIT, Alternative, Layout, Point, alternatives, together
from sdsm.explain.command import _point, main, parser
from sdsm.explain.explanation import Outcome, _mendings, _together, findings
from sdsm.explain.locks import most_taken
from sdsm.explain.memory import Array, _by_lines, arrays, known_of
from sdsm.explain.source import Line, _parsed, demangled, is_passed_on, lines_of_calls, variable_of
from sdsm.explain.start import Started
from sdsm.explain.symbols import symbols_of
from sdsm.explain.words import _outcome
from sdsm.readers.text import Text
from tests import traces

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
SOURCES = ROOT / "tests" / "native" / "planted"
#: By the fault that is planted: the program and its arguments.
PROGRAMS = {"first": ("planted_cxx", "first"), "copies": ("planted_cxx", "copies"), "rows": ("planted_fortran",)}
PROGRAMS |= {name: (f"planted_{name}",) for name in ("cyclic", "ring", "table", "list", "module", "grid", "common", "names")}
PROGRAMS |= {"filled": ("planted_filled",), "filled mended": ("planted_filled", "mended")}
PROGRAMS |= {"found": ("planted_found",), "found mended": ("planted_found", "mended")}
PROGRAMS |= {name: ("planted_constructs", name) for name in ("needless", "locks", "loops", "single", "critical", "helper")}
PROGRAMS |= {name: ("planted_constructs_cxx", name) for name in ("members", "mutex", "dynamic")}
PROGRAMS |= {name: ("planted_constructs_fortran", name) for name in ("triangle", "sum", "waits")}
TITLE = "node,process,region,name,page,read_faults,write_faults,fetches,twins,diffs,diff_bytes\n"


def line_of(comment: str) -> str:
    """The source's name, and the number of the line that ends in the comment, from 1."""
    for source in sorted(SOURCES.iterdir()):
        for number, line in enumerate(source.read_text().splitlines(), start=1):
            if re.search(rf"(/\* |// |! )(.*, )?{comment}(, .*?)?( \*/)?$", line):
                return f"{source.name}:{number}"
    raise AssertionError(f"no line has the comment {comment}")


def traced(planted: str, lines: bool = True) -> Path:
    """planted: a fault, or a fault and "mended"."""
    fault, *mended = planted.split()
    program, *arguments = PROGRAMS.get(planted) or (*PROGRAMS.get(fault, ("planted", fault)), *mended)
    if not (BUILD / "tests" / "planted" / program).exists():
        pytest.skip(f"{program} is not built: there is no compiler of its language")
    return traces.traced(4, BUILD / "tests" / "planted" / program, *arguments, options=("--lines",) if lines else ())


def explained(planted: str, *options: str) -> dict[str, Any]:
    words = [str(traced(planted)), "-q", "-p", "p3-score", "-n", "4", *options]

    def make(file: Path) -> None:
        assert main([*words, "--json", str(file)]) == 0

    return json.loads(traces.shared(" ".join(["explain", *words]), make).read_text())


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("parts", "False sharing: [a-z]+ [(]heap #1[)], allocated at LINE"),
        ("counters", "Threads write the same pages: [a-z]+ [(]heap #1[)], allocated at LINE"),
        ("homes", "Pages are at home elsewhere than where they are written: [a-z]+ [(]heap #1[)], allocated at LINE"),
        ("first --placement first-touch", "Pages are at home elsewhere than where they are written: [a-z]+ [(]heap #2[)], allocated at LINE"),
        ("columns", r"False sharing: [a-z]+ [(]heap #1[)], allocated at LINE .*share out the other loop"),
        ("rows", r"False sharing: [a-z]+ [(]heap #1[)], allocated at LINE .*share out the other loop"),
        ("copies", r"Blocks are allocated again and again: 80 blocks, allocated at LINE"),
        ("lock", "Locks, atomic operations and flags take .* The most taken is the unnamed critical section: "),
        ("barriers", "Most of it is what barriers themselves take"),
        ("uneven --compute-factor 20", "Most of it is waiting for others: thread 3 comes last most. It spends "),
        ("cyclic", "Threads write the same pages: [a-z]+ [(]heap #1[)], allocated at LINE"),
        ("table", "Pages that nobody writes in parallel regions are fetched again and again: [a-z]+ [(]heap #1[)], allocated at LINE"),
        ("module", "Pages are at home elsewhere than where they are written: [a-z]+ [(]heap #1[)], allocated at LINE"),
        ("filled", "Pages are at home elsewhere than where they are written: heap #1, allocated at LINE"),
        ("grid", r"Threads write the same pages: \d+ blocks, allocated at LINE .*share out the other loop"),
    ],
)
def test_a_planted_fault_is_found_first_and_its_lines_are_the_sources(planted, found):
    planted, *options = planted.split()
    reported = explained(planted, "--no-gains", *options)
    allocated = line_of(f"planted: {planted}")
    assert re.search(found.replace("LINE", re.escape(allocated)), reported["findings"][0])
    costliest = reported["memory"][0]
    assert f"{Path(costliest['line']['file']).name}:{costliest['line']['number']}" == allocated
    assert line_of(f"touched: {planted}") in [touch["place"] for touch in costliest["touches"]]


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("ring", r'Locks, .* The most taken is critical section "queue": 1200 of 1204 times.* touches globals at (ring.c:21 and LINE|LINE and ring.c:21)'),
        ("list", r"Threads write the same pages: small heap blocks"),
    ],
)
def test_what_has_no_line_of_allocation_has_the_lines_that_touch_it(planted, found):
    """Which threads wait for the lock of `ring`, and so where it ranks, is a matter of who came first in the trace."""
    reported = explained(planted, "--no-gains")
    touched = line_of(f"touched: {planted}")
    assert any(re.search(found.replace("LINE", re.escape(touched)), finding) for finding in reported["findings"])
    assert any(touched in [touch["place"] for touch in one["touches"]] for one in reported["memory"])


@pytest.mark.parametrize(
    ("planted", "name", "found"),
    [
        ("static", "hits", r"Threads write the same pages: hits \("),
        ("common", "/fields/", r"False sharing: /fields/ \(.*share out the other loop"),
    ],
)
def test_a_static_array_has_its_symbol(planted, name, found):
    reported = explained(planted, "--no-gains")
    assert re.match(found, reported["findings"][0])
    assert reported["memory"][0]["name"] == name
    assert line_of(f"touched: {planted}") in [touch["place"] for touch in reported["memory"][0]["touches"]]


def test_a_variable_that_is_changed_atomically_has_its_name():
    first = explained("found", "--no-gains")["findings"][0]
    assert first.startswith("Locks") and "The most taken is the atomic variable found: 699 of 699 times" in first


@pytest.mark.parametrize(
    ("planted", "before", "found"),
    [
        (
            "counters", "Threads write the same pages",
            r"False sharing, .*: [a-z]+ [(]heap #1[)], allocated at .* On 64 pages .* thread 0 writes bytes 0 to 7 at TOUCHED, thread 1 writes bytes 8 to 15 at TOUCHED",
        ),
        (
            "lock", "Threads write the same pages",
            r"True sharing, .*: sum [(]heap #1[)], .* On 1 page .* bytes 0 to 3, is written by threads 0, 1, 2, 3 at TOUCHED and read by threads 0, 1, 2, 3 at TOUCHED",
        ),
    ],
)  # fmt: skip
def test_recorded_words_settle_what_lines_leave_open(tmp_path, planted, before, found):
    reported = explained(planted, "--no-gains")
    possible = next((finding for finding in reported["findings"] if finding.startswith(before)), "")
    asked = re.search(r"`sdsm trace --words '([^']+)'` settles it", possible)
    trace, answer = tmp_path / "words.trace", tmp_path / "words.json"
    program = [BUILD / "tests" / "planted" / "planted", planted]
    command = [BUILD / "sdsm", "trace", "-q", "-n", "4", "--words", asked[1] if asked else "heap #1", "-o", trace, "--", *program]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    assert main([str(trace), "-q", "-p", "p3-score", "-n", "4", "--no-gains", "--json", str(answer)]) == 0
    settled = [one for one in json.loads(answer.read_text())["findings"] if "word by word" in one]
    assert len(settled) == 1
    assert re.search(found.replace("TOUCHED", re.escape(line_of(f"touched: {planted}"))), settled[0])


@pytest.mark.parametrize(
    ("planted", "choice"),
    [
        ("parts", "padding: a page of its own for each thread's part"),
        ("homes", "--placement block"),
        ("barriers", "without barriers that nothing needs"),
        ("lock", "without locks and atomic operations (an upper bound)"),
        ("found", "without locks and atomic operations (an upper bound)"),
    ],
)
def test_the_mended_program_gains_what_is_reported(planted, choice):
    reported = explained(planted)
    alone = [one for one in reported["alternatives"] if ", and " not in one["what"]]
    number, promised = next((number, one["gain"]) for number, one in enumerate(alone) if one["what"] == choice)
    # Of homes, initialising in parallel gains a little more.
    assert number <= (planted == "homes")
    command = [BUILD / "sdsm", "simulate", "-q", traced(f"{planted} mended"), "-p", "p3-score", "-n", "4", "--json", "-"]
    mended = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert reported["makespan_s"] / mended["makespan_s"] == pytest.approx(promised, rel=0.1)
    assert promised > 2


@pytest.mark.parametrize(
    ("planted", "what"),
    [
        ("needless", "barrier"), ("locks", "lock"), ("loops", "loop"), ("single", "single"), ("critical", "critical section"),
        ("helper", "barrier"), ("members", "particles.charge (heap #2), allocated"), ("mutex", "lock"), ("dynamic", "loop"), ("triangle", "loop"),
        ("sum", "critical section"), ("waits", "barrier"),
    ],
)  # fmt: skip
def test_the_construct_that_is_at_fault_comes_first_with_its_line_and_what_mending_it_gains(planted, what):
    reported = explained(planted)
    first = reported["causes"][0]
    assert first["what"].replace(" near ", " at ") == f"{what} at {line_of(f'planted: {planted}')}"
    command = [BUILD / "sdsm", "simulate", "-q", traced(f"{planted} mended"), "-p", "p3-score", "-n", "4", "--json", "-"]
    mended = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert first["gain"] == pytest.approx(reported["makespan_s"] / mended["makespan_s"], rel=0.1)
    assert first["advice"]


def test_what_the_tracers_clocks_shared_out_is_said_of_every_result():
    command = [BUILD / "sdsm", "simulate", "-q", traced("dynamic"), "-p", "p3-score", "-n", "4", "--json", "-"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    share = json.loads(done.stdout)["decided_when_traced"]["dynamic loops"]
    assert 0.5 < share < 1
    said = f"{share * 100:.0f} % in loops whose threads take chunks as they come"
    assert said in done.stderr and any(said in note for note in explained("dynamic")["notes"])


def test_accounts_of_constructs_sum_to_the_account():
    reported = explained("needless", "--no-gains")
    for number in range(4):
        own = [share["time_s"] for one in reported["constructs"] for share in one["threads"] if share["id"] == number]
        assert sum(sum(terms.values()) for terms in own) == pytest.approx(reported["makespan_s"], abs=1e-12)
    assert sum(reported["account_s"].values()) == pytest.approx(reported["makespan_s"])


def test_a_program_that_initialises_in_parallel_gains_what_is_reported_under_first_touch():
    reported = {one["what"]: one for one in explained("filled")["alternatives"]}
    promised = reported["parallel initialising and --placement first-touch"]["gain"]
    command = [BUILD / "sdsm", "simulate", "-q", traced("filled mended"), "-p", "p3-score", "-n", "4", "--placement", "first-touch", "--json", "-"]
    mended = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert explained("filled")["makespan_s"] / mended["makespan_s"] == pytest.approx(promised, rel=0.1)
    assert promised > 1.5 * reported["--placement block"]["gain"] > 3


def test_without_debug_information_arrays_have_addresses_and_symbols(tmp_path, capsys):
    program, trace = tmp_path / "bare", tmp_path / "a.trace"
    subprocess.run(["objcopy", "--strip-debug", str(BUILD / "tests" / "planted" / "planted"), str(program)], check=True)
    command = [BUILD / "sdsm", "trace", "-q", "-n", "4", "--lines", "-o", trace, "--", program, "parts"]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    assert main([str(trace), "-q", "-p", "p3-score", "-n", "4", "--no-gains"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"heap #1 \(256\.0 KiB, bare\+0x[0-9a-f]+\)", printed) and re.search(r"touched at bare\+0x[0-9a-f]+: 5120 reads", printed)
    assert "bare has no debug information, so lines are given by address" in printed


def test_costs_of_memory_sum_to_faults_and_diffs_of_the_account():
    reported = explained("homes", "--no-gains")
    faults_s = sum(value for term, value in reported["account_s"].items() if re.search(r"\([RW]\w{3}\)|^diffs", term))
    assert sum(one["cost_s"] for one in reported["memory"]) == pytest.approx(4 * faults_s)
    assert sum(reported["account_s"].values()) == pytest.approx(reported["makespan_s"])


def test_an_alternative_is_what_the_simulator_says_of_it():
    reported = {one["what"]: one for one in explained("homes")["alternatives"]}
    command = [BUILD / "sdsm", "simulate", "-q", traced("homes"), "-p", "p3-score", "-n", "4", "--json", "-"]
    for what, options in {
        "--placement block": ["--placement", "block"],
        "network of twice the bandwidth": ["--set", "network.bandwidth=x2"],
        "processors compute twice as fast": ["--compute-factor", "0.5"],
        "2 nodes x 2 threads": ["-n", "2", "-t", "2"],
    }.items():
        words = [word for word in command if word not in ("-n", "4")] if "-n" in options else command
        result = json.loads(subprocess.run([*words, *options], check=True, capture_output=True).stdout)
        assert reported[what]["time_s"] == pytest.approx(result["makespan_s"], rel=1e-12)
        assert reported[what]["extrapolated"] == result["extrapolated"]
    # Each thread's block is where it works: the field costs nothing but its first and last visit.
    assert reported["--placement block"]["gain"] > 2


def test_the_verdict_names_the_choice_that_gains_most(capsys):
    assert main([str(traced("homes")), "-q", "-p", "p3-score", "-n", "4"]) == 0
    printed = capsys.readouterr().out
    verdict = printed.splitlines()[0]
    assert re.match(r"4 nodes x 1 thread: [\d.]+ s, [\d,]+ times as long as its computing on one processor", verdict)
    assert "compute times are those of the machine that traced" in printed
    assert re.search(r"Of what you can choose, parallel initialising and --placement first-touch makes it [\d.]+ s, 2\.\d\d times as fast\.$", verdict)


def test_the_verdict_names_a_choice_where_the_platform_has_no_costs_of_the_layout_and_says_so(tmp_path, capsys):
    assert main([str(traced("homes")), "-q", "-p", "gigabit", "-n", "4", "--json", str(tmp_path / "e.json")]) == 0
    printed = capsys.readouterr().out
    verdict = printed.splitlines()[0]
    assert re.search(r"--placement first-touch makes it [\d.]+ s, [\d.]+ times as fast\. \(It rests on the same costs\.\)$", verdict)
    # Nobody measured JIAJIA there, so it is not recommended, however fast it is.
    alternatives = {one["what"]: one for one in json.loads((tmp_path / "e.json").read_text())["alternatives"]}
    assert "jiajia.message.fixed" in alternatives["--protocol jiajia"]["assumed"] and not alternatives["--placement first-touch"]["assumed"]
    assert re.search(r"--protocol jiajia .*\(built on costs that nobody measured: jiajia\.", printed) and "jiajia" not in verdict


def test_the_verdict_of_a_modelled_barrier_names_what_it_assumes_and_the_other_shape(tmp_path, capsys):
    def verdict(*options: str) -> str:
        assert main([str(traced("homes")), "-q", "-p", "gigabit", "-n", "4", "--json", str(tmp_path / "e.json"), *options]) == 0
        return capsys.readouterr().out.splitlines()[0]

    # As the file says nothing of it, barriers are flat.
    shapes = {}
    for given, assumed, other in (((), "flat", "tree"), (("--set", "barrier.shape=tree"), "tree", "flat")):
        reported = verdict(*given)
        assert "The prediction is extrapolated: the platform has no costs of barriers and locks of this layout." in reported
        explained = json.loads((tmp_path / "e.json").read_text())
        shapes[assumed] = explained["makespan_s"]
        assert explained["extrapolated"] == ["barrier", "lock"]
        (one,) = [one for one in explained["alternatives"] if "barrier.shape" in one["what"]]
        assert one["what"] == f"{other} barriers (barrier.shape={other})" and not one["is_choice"]
        assert f"Its barriers are modelled: {one['what']} would make it {one['time_s']:.4g} s." in reported
        shapes.setdefault(other, one["time_s"])
        assert shapes[other] == pytest.approx(one["time_s"], rel=1e-12)
    assert shapes["flat"] != shapes["tree"]
    assert main([str(traced("homes")), "-q", "-p", "p3-score", "-n", "4", "--no-gains"]) == 0
    assert "extrapolated" not in capsys.readouterr().out.splitlines()[0]


def test_a_protocol_that_the_platform_has_no_costs_of_is_reported_and_why(capsys):
    assert main([str(traced("barriers")), "-q", "-p", "p3-score", "-n", "4"]) == 0
    (row,) = re.findall(r"  --protocol jiajia .*", capsys.readouterr().out)
    assert "not simulated: " in row and "no costs for protocol jiajia (it has scash)" in row


def test_without_lines_in_the_trace_it_says_how_to_have_them(capsys):
    assert main([str(traced("parts", lines=False)), "-q", "-p", "p3-score", "-n", "4", "--no-gains"]) == 0
    assert "sdsm trace --lines" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (["-n", "3"], r"has 4 threads, but 3 nodes"),
        (["-n", "4", "--set", "nonsense=1"], r"nonsense"),
        (["-n", "4", "--plot", "a.txt"], r"a figure's name ends in"),
        (["-n", "4", "--network", "none"], r"none"),
    ],
)
def test_what_cannot_be_explained_is_refused_in_one_line(capsys, options, reported):
    assert main([str(traced("parts")), "-q", "-p", "p3-score", *options]) == 2
    errors = capsys.readouterr().err
    assert re.search(reported, errors) and errors.count("\n") == 1


def test_a_picture_is_drawn(tmp_path):
    picture = tmp_path / "p.svg"
    assert main([str(traced("parts")), "-q", "-p", "p3-score", "-n", "4", "--no-gains", "--plot", str(picture)]) == 0
    assert "Which memory costs it" in picture.read_text()


# By hand: two threads. Of the first, a fetch takes 2 s, another fault 0.5 s, a diff 3 s; the second only takes a fetch, of 4 s.
RESULT = simulation(
    2, 10.0,
    threads=[
        thread(0, 0, {"fault": {"RUMR": 4.0, "WROH": 0.5}, "diff": 3.0, "idle": 2.5}, faults={"RUMR": 2, "WROH": 1}, diffs=1),
        thread(1, 1, {"fault": {"WUMR": 4.0}, "idle": 6.0}, faults={"WUMR": 1}),
    ],
)  # fmt: skip
WHOLE = {"first_phase": 0, "last_phase": 0}
INFO = {
    "header": {"program": ["p"], "threads": 2, "sites": [], "call_sites": [], "program_sha256": ""},
    "regions": [
        {"id": 0, "kind": "heap_block", "name": "a", "pages": 2, "placements": {"as-asked": "block"}},
        {"id": 1, "kind": "globals", "name": "b", "pages": 1, "placements": {"as-asked": "initial"}},
    ],
    "uses": [
        {"region": 0, "written_by_one": 0, "written_apart": 2, "written_together": 0, "sites": []} | WHOLE,
        {"region": 1, "written_by_one": 1, "written_apart": 0, "written_together": 0, "sites": []} | WHOLE,
    ],
    "locks": [],
    "atomics": [],
}


def test_a_page_costs_what_its_threads_took_for_what_they_did_there(tmp_path):
    pages = tmp_path / "pages.csv"
    rows = ["0,0,5,a,0,1,1,1,0,0,0", "1,1,5,a,0,0,1,1,1,0,0", "0,0,1,b,0,1,0,1,0,1,64"]
    pages.write_text(TITLE + "".join(f"{row}\n" for row in rows))
    result = run_result.read(Text("result", json.dumps(RESULT)), run_result.Simulation)
    first, second = arrays(result, pages, known_of(msgspec.convert(INFO, TraceInfo), pages, lambda _: None))
    # The first thread's fetch and fault, and the second's fetch; each writes it as often.
    assert (first.name, first.cost_s, first.shared_s, first.away_s) == ("a", 2 + 0.5 + 4, 6.5, 0)
    assert (first.pages, first.faults, first.fetches, first.diffs, first.written_apart) == (2, 3, 2, 0, 2)
    # Its only diff is the first thread's.
    assert (second.name, second.cost_s, second.shared_s, second.away_s) == ("b", 2 + 3, 0, 5)
    # Both fetch the page of "a". The second's fetch of the next page, which nobody else has, takes 4 s.
    assert (first.read_away_s, second.read_away_s) == (0, 0)
    pages.write_text(TITLE + "".join(f"{row}\n" for row in [*rows, "1,1,5,a,1,1,0,1,0,0,0"]))
    assert arrays(result, pages, known_of(msgspec.convert(INFO, TraceInfo), pages, lambda _: None))[0].read_away_s == 4


def test_parallel_initialising_is_tried_for_what_one_thread_only_reads():
    # Two threads, 4 s: of 8 s in all, 4 s go to ten pages that one of them fetches.
    result = parsed(simulation(2, 4.0))
    assert PARALLEL_INIT in _mendings(result, [read_only(40, read_away_s=4.0)])
    assert PARALLEL_INIT not in _mendings(result, [read_only(40)])


def test_of_files_that_have_changed_since_the_trace_those_alone_are_reported(tmp_path):
    own = tmp_path / "libown.so"
    own.touch()
    pages = tmp_path / "pages.csv"
    pages.write_text(TITLE)
    os.utime(pages, (1, 1))  # stands for the trace, too
    libc = next(path for path in Path("/lib").rglob("libc.so.6"))
    sites = [{"file": str(file), "address": 16} for file in (libc, own)]
    program = tmp_path / "p"
    program.write_text("built again")
    info = INFO | {"header": INFO["header"] | {"sites": sites, "program": [str(program)], "program_sha256": "0"}}
    reported = []
    known_of(msgspec.convert(info, TraceInfo), pages, reported.append)
    assert sorted(line.partition(" ")[0] for line in reported if "has changed" in line) == ["libown.so", "p"]
    os.utime(own, (0, 0))
    reported.clear()
    known_of(msgspec.convert(info, TraceInfo), pages, reported.append)
    assert [line.partition(" ")[0] for line in reported if "has changed" in line] == ["p"]


def test_of_an_inlined_call_all_lines_are_known_the_innermost_first(tmp_path):
    source = tmp_path / "a.c"
    source.write_text("one\ntwo\n  three\n")
    text = f"0x0000000000000010\nallocate\n{source}:1\nmain\n{source}:3 (discriminator 2)\n0x0000000000000020\n??\n??:0\n"
    traced = source.stat().st_mtime
    lines = _parsed(text, traced)
    assert [(line.function, line.number, line.text) for line in lines[16]] == [("allocate", 1, "one"), ("main", 3, "three")]
    # A source that has changed since is not quoted.
    assert [line.text for line in _parsed(text, traced - 1)[16]] == ["", ""]


WRAPPERS = """double* first_of(long count) {
  return malloc(count);
}
void set_up(long count) {
  a = malloc(count);
}
Matrix::Matrix(long count)
    : data(new double[count]) {}
int main() {
  b = first_of(1);
  set_up(1);
  Matrix c(1);
}
"""


def test_the_line_of_an_array_is_past_what_hands_it_on(tmp_path):
    source = tmp_path / "a.cpp"
    source.write_text(WRAPPERS)

    def at(function: str, number: int, file: str = str(source)) -> Line:
        return Line(function, file, number, WRAPPERS.splitlines()[number - 1] if file == str(source) else "")

    wrapper, set_up, constructor = at("first_of", 2), at("set_up(long)", 5), at("Matrix::Matrix(long)", 8)
    b, calls, c = at("main", 10), at("main", 11), at("main", 12)
    system = at("std::vector<double, std::allocator<double> >::vector(unsigned long)", 40, "/usr/include/c++/12/bits/stl_vector.h")
    chains = {"b": (system, wrapper, b), "a": (set_up, calls), "c": (constructor, c), "only": (wrapper,)}
    assert lines_of_calls(chains) == {"b": b, "a": set_up, "c": c, "only": wrapper}
    # A line that allocates for several others is no array's.
    assert lines_of_calls({"a": (set_up, calls), "b": (set_up, c)}) == {"a": calls, "b": c}


HANDED_ON = """static Grid make(int n) { return Grid(n); }
Grid filled(int n) {
  Grid grid(n);
  fill(grid);
  return grid;
}
double sum(int n) {
  std::vector<double> values(n);
  return total(values);
}
Grid other(int n) {
  Grid one(n), two(n);
  return join(one, two);
}
"""


def test_what_a_function_of_any_type_returns_is_its_callers(tmp_path):
    source = tmp_path / "a.cpp"
    source.write_text(HANDED_ON)
    lines = HANDED_ON.splitlines()
    passed = {
        number: is_passed_on(Line(function, str(source), number, lines[number - 1].strip()))
        for function, number in (("make(int)", 1), ("filled(int)", 3), ("sum(int)", 8), ("sum(int)", 9), ("other(int)", 12))
    }
    # A sum holds no memory, and of `one` and `two` another function makes what is returned.
    assert passed == {1: True, 3: True, 8: False, 9: False, 12: False}


def test_lines_of_a_program_that_was_built_again_are_not_reported(tmp_path, capsys):
    program = tmp_path / "planted"
    shutil.copy(BUILD / "tests" / "planted" / "planted", program)
    trace = tmp_path / "a.trace"
    command = [BUILD / "sdsm", "trace", "-q", "-n", "2", "--lines", "-o", trace, "--", program, "parts"]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    arguments = [str(trace), "-q", "-p", "p3-score", "-n", "2", "--no-gains"]
    assert main(arguments) == 0
    assert "planted.c:" in capsys.readouterr().out
    later = trace.stat().st_mtime + 1
    os.utime(program, (later, later))
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "planted.c:" not in printed
    assert "planted has changed since it was traced, so its lines are not shown" in printed
    program.unlink()
    assert main(arguments) == 0
    assert f"{program} is not here, so its lines are not shown" in capsys.readouterr().out


def test_the_placement_reported_of_an_array_is_the_one_in_force():
    def of_the_array(*options: str) -> str:
        memory = explained("homes", "--no-gains", *options)["memory"]
        return next(one["placement"] for one in memory if one["name"].startswith("heap #1 "))

    assert (of_the_array(), of_the_array("--placement", "block")) == ("round_robin", "block")


def test_alternatives_leave_out_what_is_so_already():
    point = Point("a.trace", "p.xml", Layout(2, 4), "block")
    found = [one.what for one in alternatives(point, 1.0) if one.is_choice]
    assert found == [
        "--placement as-asked", "--placement first-touch", "--placement round-robin",
        "8 nodes x 1 thread", "4 nodes x 2 threads", "--protocol home-open", "--protocol jiajia",
        "--page-size 8KiB", "--page-size 16KiB", "--page-size 64KiB", "--prefetch 1", "--prefetch 4", "--invalidation changed",
    ]  # fmt: skip


def test_choices_that_change_different_things_are_tried_together():
    point = Point("a.trace", "p.xml", Layout(4, 1), others=("--full-page-diffs",))
    known = {one.what: one for one in alternatives(point, 1.0, ("--pad", "--without-locks", "--parallel-init"))}
    by_block, two_a_node, first_touch = known["--placement block"], known["2 nodes x 2 threads"], known[MENDINGS["--parallel-init"]]
    both = together(point, by_block, two_a_node)
    assert both is not None and both.what == "--placement block, and 2 nodes x 2 threads"
    both = together(point, both, known["--prefetch 4"])
    assert both is not None
    assert both.point == Point("a.trace", "p.xml", Layout(2, 2), "block", others=("--full-page-diffs", "--prefetch", "4"))
    assert together(point, both, known["--prefetch 1"]) is None
    assert together(point, by_block, known["--placement round-robin"]) is None
    # Who initialises matters under first touch alone.
    assert together(point, by_block, first_touch) is None
    mended = together(point, known["--protocol home-open"], first_touch)
    assert mended is not None and (mended.mending, mended.point.placement) == ("--parallel-init", "first-touch")
    assert mended.point.others == ("--full-page-diffs", "--protocol", "home-open")
    assert together(point, mended, known[MENDINGS["--pad"]]) is None
    assert together(point, known[MENDINGS["--without-locks"]], two_a_node) is None


def test_what_gains_beside_the_best_choice_is_reported_with_it():
    point = Point("a.trace", "p.xml", Layout(4, 1))
    gains = {"--placement block": 2.0, "--placement first-touch": 1.9, "--protocol home-open": 1.5, "--prefetch 4": 1.3, "--page-size 8KiB": 0.5}
    done = [Outcome(one, 12 / gains[one.what], gains[one.what]) for one in alternatives(point, 1.0) if one.what in gains]

    def simulated(one: Alternative, of: dict[str, float]) -> Outcome:
        tried.append(one.what)
        return Outcome(one, 12 / of[one.what], of[one.what])

    tried: list[str] = []
    gained = {"--placement block, and --protocol home-open": 3.0, "--placement block, and --protocol home-open, and --prefetch 4": 3.0}
    (found,) = _together(point, done, (), lambda one: simulated(one, gained))
    assert (found.alternative.what, found.gain) == ("--placement block, and --protocol home-open", 3.0)
    assert tried == list(gained)
    tried.clear()
    lost = {"--placement block, and --protocol home-open": 1.8, "--placement block, and --prefetch 4": 2.01}
    assert _together(point, done, (), lambda one: simulated(one, lost)) == [] and tried == list(lost)
    # What the platform has not measured is not recommended beside what it has.
    guessed = [replace(one, doubts=("barrier",)) for one in done]
    assert _together(point, guessed, (), lambda one: simulated(one, {})) == []


def test_host_speed_scales_the_point_and_its_alternatives():
    options = parser().parse_args(["a.trace", "-p", "p3-score", "-n", "4", "--from-host-speed"])
    point = _point(options)
    assert point.scale == ("--from-host-speed",) and "--from-host-speed" in point.command()
    placed, *_ = (one for one in alternatives(point, 4.0) if one.what == "--placement block")
    assert "--from-host-speed" in placed.point.command()
    faster, *_ = (one for one in alternatives(point, 4.0) if one.what == "processors compute twice as fast")
    assert faster.point.scale == ("--compute-factor", "2.0")


def test_a_trace_keeps_how_fast_its_machine_was_and_so_does_a_mended_one(tmp_path):
    mended = tmp_path / "mended.trace"
    subprocess.run([BUILD / "sdsm", "trace", "mend", traced("parts"), "-o", mended, "--pad"], check=True, capture_output=True)
    speeds = []
    for trace in (traced("parts"), mended):
        reported = subprocess.run([BUILD / "sdsm", "trace", "info", trace, "--json", "-"], check=True, capture_output=True)
        speeds.append(json.loads(reported.stdout)["header"]["speed_flops"])
    # No machine of the last thirty years is slower than 10 Mf, and none makes four additions in a tenth of a nanosecond.
    assert speeds[0] == speeds[1] and 1e7 < speeds[0] < 4e10


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("double *u = malloc(n * sizeof *u);", "u"), ("  p->field = calloc(n, 8);", "p->field"), ("grid.cells[i] = new double[n];", "grid.cells[i]"),
        ("std::vector<double> u(n, 0.0);", "u"), ("u.resize(n);", "u"), ("data->u.assign(n, 0);", "data->u"),
        ("if (posix_memalign((void**)&u, 64, n)) return 1;", "u"), ("auto u = std::make_unique<double[]>(n); // v = the plate", "u"),
        ("for (int i = 0; i < n; i++) rows[i] = malloc(m);", "rows[i]"), ("  allocate(a(n,n))", "a"), ("ALLOCATE(this%x(n), STAT=ierr)", "this%x"),
        ("allocate(integer :: k(n))", "k"), ("  allocate(a(n), b(n))", ""), ("a = malloc(1), b = malloc(2);", ""), ("return malloc(n);", ""),
        ("if (x == malloc(3))", ""), ("", ""), ("rc = posix_memalign((void**)&grid, 64, n);", "grid"), ("ok = init_grid(&grid, n);", ""),
        ("status = grid.resize(n);", "grid"), ("allocate(a, source=b)", ""), ("allocate(character(len=n) :: s(m))", "s"), ("call init(a(1), n = 3)", ""),
        ("if (n > m (3)) grid_init(n);", ""), ("a->b(c)->d = malloc(3)", ""), ("std::vector<double> v(n,1.0), w(m);", ""),
        ("double *u = malloc(n), *v = malloc(n);", ""), ("u = new double[n]; v = 0;", ""),
    ],
)  # fmt: skip
def test_a_line_of_source_names_the_variable_that_it_gives_memory(text, variable):
    assert variable_of(text) == variable


def test_variables_have_the_names_that_debug_information_knows():
    reported = explained("names", "--no-gains")
    finding = next(text for text in reported["findings"] if "atomic" in text)
    assert "the atomic variable counters[5].parts[2].high: 8 of 12 times" in finding
    named = [name for one in reported["memory"] for page in one["variables"] for name in page["names"]]
    assert {"main::table", "counters"} <= set(named) and not any(re.search(r"[.]\d|completed", name) for name in named)
    # A common block has its name in the source; `--words` wants the symbol's.
    assert "/fields/" in [one["name"].partition(" ")[0] for one in explained("common", "--no-gains")["memory"]]


def test_names_of_cxx_and_modules_are_reported_as_the_source_has_them():
    names = ["_ZN4grid5cellsE", "_ZZ4mainE5cells (64.0 KiB)", "cells", "heap #1", "__grid_MOD_cells (64.0 KiB)"]
    shown = ["grid::cells", "main::cells (64.0 KiB)", "cells", "heap #1", "grid::cells (64.0 KiB)"]
    assert demangled(names) == dict(zip(names, shown, strict=True))


def test_folded_stacks_add_up_to_all_threads_time(tmp_path):
    file, reported = tmp_path / "p.folded", tmp_path / "p.json"
    assert main([str(traced("helper")), "-q", "-p", "p3-score", "-n", "4", "--no-gains", "--folded", str(file), "--json", str(reported)]) == 0
    stacks = [(frames.split(";"), int(ns)) for frames, _, ns in (line.rpartition(" ") for line in file.read_text().splitlines())]
    explained = json.loads(reported.read_text())
    assert sum(ns for _, ns in stacks) == pytest.approx(4e9 * explained["makespan_s"], abs=len(stacks))
    threads = {frames[0] for frames, _ in stacks}
    assert threads == {f"thread {number}" for number in range(4)}
    # The costliest construct stands below the calls that led to it, the outermost first.
    first = next(one for one in explained["constructs"] if one["title"] == explained["causes"][0]["what"])
    frames = next(frames for frames, _ in stacks if first["title"] in frames)
    assert frames[1:-2] == list(reversed(first["callers"][0] if first["callers"] else [])) and frames[-2] == first["title"]


def test_damaged_debug_information_names_less_and_stops_nothing(tmp_path):
    """Bytes of a program's debug information changed at random, a hundred times."""
    whole = (BUILD / "tests" / "planted" / "planted_names").read_bytes()
    with io.BytesIO(whole) as file:
        section = ELFFile(file).get_section_by_name(".debug_info")
        begin, size = section["sh_offset"], section["sh_size"]
    random = Random(48)
    program = tmp_path / "program"
    for _ in range(100):
        damaged = bytearray(whole)
        for _ in range(8):
            damaged[begin + random.randrange(size)] = random.randrange(256)
        program.write_bytes(damaged)
        symbols = symbols_of(str(program), 1e12)
        assert symbols is not None
        for one in symbols.variables:
            assert one.name and (one.named is None or isinstance(one.named.member(17), str))


def test_what_an_alternative_lacks_is_reported_by_its_kind():
    options = parser().parse_args(["a.trace", "-p", "p3-score", "-n", "4"])
    one = next(one for one in alternatives(_point(options), 1.0) if one.what == "--page-size 8KiB")
    assert "(extrapolated: the platform has no costs of pages of this size)" in _outcome(Outcome(one, 2.0, 1.5, ("page-size",)))
    both = _outcome(Outcome(one, 2.0, 1.5, ("barrier", "lock")))
    assert "no costs of barriers and locks of this layout)" in both
    assert "extrapolated" not in _outcome(Outcome(one, 2.0, 1.5))


def test_a_machine_whose_hardware_shares_memory_is_refused_by_its_own_reason(capsys):
    assert main(["a.trace", "-p", "v1280", "-n", "1", "-t", "4", "--protocol", "hardware"]) == 2
    error = capsys.readouterr().err
    assert "hardware shares memory" in error and "--pages" not in error and error.count("\n") == 1


def parsed(document: dict[str, Any]) -> run_result.Simulation:
    return run_result.read(Text("made", json.dumps(document)), run_result.Simulation)


def test_what_a_late_thread_does_more_is_held_against_the_others_alone():
    # Thread 2 computes 5.9 s where the others compute 1 and 3 s: 3.9 s more than their mean, and they wait for it.
    computing_s = (1.0, 3.0, 5.9)
    threads = [thread(number, number, {"compute": own_s, "barrier": 6.0 - own_s}) for number, own_s in enumerate(computing_s)]
    reported = next(one for one in findings(parsed(simulation(3, 6.0, threads=threads)), []) if one.startswith("Barriers"))
    assert "thread 2 comes last most. It spends 3.9 s more than others on computing" in reported


def test_what_one_processor_computes_is_the_one_thread_time_where_a_trace_of_one_thread_stands_for_it():
    # Each of three threads computes 3.3 s, 9.9 s in all, as each begins blocks of its own; one thread took 7 s.
    for compute_from, computing_s in (("sequential-time", 9.9), ("sequential-trace", 7.0)):
        options = {"placement": "as-asked", "compute_from": compute_from, "sequential_time_s": 7.0}
        result = parsed(simulation(3, 3.3, options=options))
        assert result.computing_s == pytest.approx(computing_s)


def test_what_costs_of_the_platform_add_is_no_computing_of_the_program():
    threads = [thread(number, number, {"compute": 3.0}) | {"added_computing_s": added_s} for number, added_s in enumerate((0.5, 1.0))]
    assert parsed(simulation(2, 3.0, threads=threads)).computing_s == pytest.approx(4.5)


def read_only(fetches: int, **changed: Any) -> Array:
    """Ten pages whose faults cost 4 s."""
    figures = {"cost_s": 4.0, "shared_s": 0.0, "away_s": 0.0, "faults": fetches, "fetches": fetches, "diffs": 0, "line": None}
    counts = {"written_by_one": 0, "written_apart": 0, "written_together": 0}
    return Array(**({"name": "table", "pages": 10, "placement": "block", **figures, **counts, "touches": ()} | changed))


def test_pages_that_nobody_writes_are_named_where_copies_are_dropped():
    def reported(array: Array, **more: Any) -> list[str]:
        document = simulation(2, 4.0, **more)
        return [one for one in findings(parsed(document), [array]) if one.startswith("Pages that nobody writes")]

    # One other node fetches 10 pages once; of 40 fetches 30 come again, and cost 3 of 8 s.
    (again,) = reported(read_only(40))
    assert "table (37.5% of all time)" in again and "--invalidation changed keeps them at barriers" in again
    assert reported(read_only(10)) == []
    assert reported(read_only(40, written_by_one=1)) == []
    # Each change that the initial thread sends home is a fetch more for the other node: 20 of 40 still come again.
    assert "table (25.0% of all time)" in reported(read_only(40, diffs=10))[0]
    assert reported(read_only(40, diffs=30)) == []
    assert reported(read_only(40), protocol="jiajia") == []
    # Under home-open nobody knows what homes write, so barriers drop all.
    (without_choice,) = reported(read_only(40), protocol="home-open")
    assert "by barriers" in without_choice and "--invalidation" not in without_choice


def test_a_table_that_threads_only_read_needs_no_other_home():
    def reported(array: Array) -> list[str]:
        return [one for one in findings(parsed(simulation(2, 4.0)), [array]) if one.startswith("Pages are at home elsewhere")]

    assert reported(read_only(40, diffs=10, away_s=3.0)) == []
    assert "table (37.5% of all time)" in reported(read_only(40, diffs=30, away_s=3.0))[0]
    assert "table (37.5% of all time)" in reported(read_only(40, diffs=10, away_s=3.0, written_by_one=10))[0]


def test_options_that_stand_alone_stay_beside_those_with_values():
    point = Point("a.trace", "p3-score", Layout(2, 1), others=("--full-page-diffs", "--prefetch", "1"))
    assert (point.option("--prefetch", "0"), point.option("--page-size", "4KiB")) == ("1", "4KiB")
    assert point.having("--prefetch", "4").others == ("--full-page-diffs", "--prefetch", "4")
    assert {"--prefetch 0", "--prefetch 4"} <= {one.what for one in alternatives(point, 1.0)}


def lock(kind: str, number: int, taken: int, threads: int, regions: tuple = (), sites: tuple = ()) -> LockUse:
    of_regions = tuple(RegionTouches(region=region, reads=reads, writes=writes) for region, reads, writes in regions)
    of_sites = tuple(SiteUse(site=site, reads=reads, writes=writes) for site, reads, writes in sites)
    return LockUse(class_=kind, lock=number, taken=taken, threads=threads, regions=of_regions, sites=of_sites)


def test_the_most_taken_lock_is_reported_by_its_class_and_number():
    lines = [lock("critical", 0, 1, 1), lock("lock", 4, 3, 2), lock("atomic", 1, 1, 1)]
    assert [(one.name, one.taken, one.threads) for one in most_taken(lines)] == [
        ("lock number 4", 3, 2), ("atomic operations that gcc compiles to calls", 1, 1), ("the unnamed critical section", 1, 1),
    ]  # fmt: skip


def test_a_lock_is_reported_with_what_is_touched_under_it_the_most_frequent_first():
    use = lock("critical", 3, 5, 2, ((0, 1, 0), (2, 3, 4)), ((0, 1, 0), (1, 3, 3), (2, 0, 1)))
    names, places = {0: "stack", 2: "heap #1, allocated at a.c:3"}, ["a.c:8", "a.c:7", "a.c:7"]
    (own,) = most_taken([use], ("queue",), names, places, {1})
    assert (own.name, own.arrays, own.lines) == (
        'critical section "queue"', ("heap #1, allocated at a.c:3", "stack"), ("a.c:7", "a.c:8"),
    )  # fmt: skip
    # Under a library's lock the program's code may touch nothing.
    assert most_taken([use], ("queue",), names, places, {9})[0].name == 'critical section probably "queue"'


def blocks_of(*phases: tuple[int, int]) -> list[Array]:
    return [read_only(1, name=f"heap #{number} (8.0 KiB)", line=Line("f", "a.c", 3, ""), phases=one) for number, one in enumerate(phases)]


def test_blocks_that_are_used_at_the_same_time_are_not_allocated_again_and_again():
    def reported(blocks: list[Array]) -> list[str]:
        return [one for one in findings(parsed(simulation(2, 4.0)), list(_by_lines(blocks))) if "again and again" in one and "Blocks" in one]

    assert reported(blocks_of(*[(0, 3)] * 5, *[(2, 3)] * 5)) == []
    # One after the other, and each in one phase only.
    assert len(reported(blocks_of(*[(number, number + 1) for number in range(10)]))) == 1
    assert len(reported(blocks_of(*[(1, 1)] * 10))) == 1


def test_waiting_for_a_thread_that_faults_hold_up_is_reported_behind_the_memory_that_costs_them():
    def reported(term: dict[str, Any]) -> list[str]:
        threads = [thread(0, 0, {"barrier": 6.0, "fault": {"RUMR": 0.0}}), thread(1, 1, {"fault": {"RUMR": 0.0}} | term)]
        shared = read_only(10, shared_s=5.0, written_together=10)
        return [one.partition(" ")[0] for one in findings(parsed(simulation(2, 6.0, threads=threads)), [shared])]

    assert reported({"fault": {"RUMR": 6.0}}) == ["Threads", "Barriers"]
    assert reported({"compute": 6.0}) == ["Barriers", "Threads"]


OWN_PAGES = """
#include <omp.h>
static double array[64 * 512];
int main(void) {
  double begin = omp_get_wtime();
  for (int k = 0; k < 4; ++k)
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 64 * 512; ++i) array[i] += i;
  return omp_get_wtime() < begin;
}
"""

CRITICALS = """
#include <omp.h>
%s
int main(void) {
  double begin = omp_get_wtime();
#pragma omp parallel
  for (int i = 0; i < 50; ++i) {
#pragma omp critical (queue)
    ++hot;
%s
  }
  return omp_get_wtime() < begin;
}
"""


def explained_source(folder: Path, source: str, *options: str) -> dict[str, Any]:
    (folder / "a.c").write_text(source)
    subprocess.run(["gcc", "-g", "-O1", "-fopenmp", "-o", "a", "a.c"], cwd=folder, check=True)
    subprocess.run([BUILD / "sdsm", "trace", "-q", "--lines", "--passes", "1", "-n", "2", "-o", "a.trace", "--", folder / "a"], cwd=folder, check=True)
    command: list[str | Path] = [BUILD / "sdsm", "explain", "-q", "a.trace", "-p", "p3-score", "-n", "2", "--no-gains", "--json", "-"]
    command += options
    return json.loads(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)


def test_dearer_costs_leave_what_the_program_computes_as_it_is(tmp_path):
    def explained(*options: str) -> tuple[float, float]:
        document = explained_source(tmp_path, OWN_PAGES, "--sequential-time", "1s", *options)
        return document["computing_s"], document["makespan_s"]

    plain_s, makespan_s = explained()
    assert plain_s == pytest.approx(1)
    # The first is a part of another cost, so that it makes nothing slower.
    contention = ["-n", "1", "--threads-per-node", "2", "--memory-bound", "1"]
    for cost, layout, slower in (("fault.cold=7us", [], 0.0), ("fault.first-write=100ms", [], 1.4), ("memory-bus.2=3", contention, 1.4)):
        dear_s, dear_makespan_s = explained("--set", cost, *layout)
        assert dear_s == pytest.approx(plain_s)
        assert dear_makespan_s >= slower * makespan_s


def test_a_critical_section_has_its_name_and_one_of_several_has_all(tmp_path):
    def reported(source: str) -> str:
        return next(one for one in explained_source(tmp_path, source)["findings"] if one.startswith("Locks"))

    assert 'The most taken is critical section "queue": 100 of 100 times' in reported(CRITICALS % ("int hot;", ""))
    both = reported(CRITICALS % ("int hot, other;", "#pragma omp critical (heap)\n    if (i == 0) ++other;"))
    assert '(probably one of "heap", "queue")' in both
    uses = [lock("critical", 3, 5, 1), lock("critical", 4, 3, 2)]
    # A library has the second.
    assert most_taken(uses, ("queue",))[0].name == "critical section number 3"


def test_small_globals_are_reported_by_the_pages_that_they_share(tmp_path):
    pads = "\n".join(f"char pad{number}[3000] = {{1}};" for number in range(6))
    document = explained_source(tmp_path, CRITICALS % (f"int cold = 1;\n{pads}\nint hot = 1;", ""))
    variables = next(one for one in document["memory"] if one["name"] == "globals")["variables"]
    costliest = variables[0]["names"]
    assert "hot" in costliest and "cold" not in costliest and ".gomp_critical_user_queue" not in costliest
    subprocess.run(["strip", tmp_path / "a"], check=True)
    assert symbols_of(str(tmp_path / "a"), time.time() + 10) is None
    assert symbols_of(str(tmp_path / "a.c"), time.time() + 10) is None


def test_what_was_started_ends_when_the_explanation_is_interrupted(tmp_path, monkeypatch):
    for name in ("sdsm-simulate", "sdsm-trace"):
        fake = tmp_path / name
        fake.write_text("#!/bin/sh\nexec sleep 600\n")
        fake.chmod(0o755)
    monkeypatch.setattr(places, "PROGRAMS", tmp_path)
    with pytest.raises(KeyboardInterrupt), Started(Point("a.trace", "p3-score", Layout(2, 1)), tmp_path) as started:
        raise KeyboardInterrupt
    with pytest.raises(Stopped):
        started.simulated()
    with pytest.raises(Stopped):
        started.info()
