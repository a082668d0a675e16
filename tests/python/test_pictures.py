"""The pictures of all commands, with long names and many lines: is anything cut off, or written over something else?"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from benchmark_files import DATA
from legends import faults_of_texts
from run_results import native, simulation, thread
from sdsm.base import run_result
from sdsm.calibrate.estimates import Estimate
from sdsm.calibrate.gate import Row
from sdsm.calibrate.plot import draw as draw_costs
from sdsm.compare.comparison import compare
from sdsm.compare.figure import draw as draw_comparison
from sdsm.epcc.groups import collect
from sdsm.epcc.plots import draw as draw_overheads
from sdsm.explain.alternatives import Layout, Point, alternatives
from sdsm.explain.explanation import Explanation, Outcome
from sdsm.explain.figure import draw as draw_explanation
from sdsm.explain.memory import Array
from sdsm.plot.figure import draw as draw_speedups
from sdsm.plot.results import read_files
from sdsm.plot.series import by_program
from sdsm.readers import epcc
from sdsm.readers.text import Text, load
from sdsm.report.excerpt import Excerpt, Slice
from sdsm.report.figure import draw as draw_pages
from sdsm.report.figure import draw_timeline
from sdsm.sweep.figure import pictures
from sdsm.sweep.points import Point as SweepPoint
from sdsm.sweep.results import Done
from sdsm.sweep.spec import Question, Spec

LONG = "a-program-with-a-name-that-nobody-would-type-a-second-time-or-read-to-its-end-without-a-sigh"
WORDS = ["build/" + LONG, "--input", "/somewhere/far/away/in/a/folder/of/its/own/mesh-of-a-million-cells.dat", "--iterations", "100000"]
PLATFORMS = tuple(f"/clusters/the-department-of-{kind}-computing-{number}.xml" for number, kind in enumerate(("parallel", "high-performance", "distributed")))


def results(tmp_path: Path, *documents: dict) -> list[str]:
    names = []
    for number, document in enumerate(documents):
        file = tmp_path / f"{'result-' * 8}{number}.json"
        file.write_text(json.dumps(document | {"program": WORDS}))
        names.append(str(file))
    return names


def sweep(axes: dict[str, tuple[str, ...]], *questions: str, extrapolated: bool = True) -> Iterator[Figure]:
    spec = Spec(Path("s.toml"), axes, (Path("a.trace"),), (), tuple(Question(axis, "time", "least") for axis in questions), None)
    done = []
    for number, values in enumerate(itertools.product(*axes.values())):
        one = simulation(2, 0.01 * 1.3 ** (number % 40), extrapolated=["barrier"] * (extrapolated and number % 3 == 0), program=WORDS)
        done.append(Done(SweepPoint(dict(zip(axes, values, strict=True)), Path("a.trace")), run_result.read(Text("result", json.dumps(one)), run_result.Simulation)))
    yield from pictures(spec, done).values()


def of_sweeps(_: Path) -> Iterator[Figure]:
    nodes, names = ("1", "2", "4", "8", "16", "32", "64"), tuple(f"placement-of-kind-{n}" for n in range(9))
    yield from sweep({"platform": PLATFORMS[:1], "nodes": nodes})
    yield from sweep({"platform": PLATFORMS, "nodes": nodes, "placement": names[:3], "page_size": ("4KiB", "8KiB", "64KiB")})
    yield from sweep({"platform": PLATFORMS, "nodes": nodes[:2], "placement": names}, "placement")
    yield from sweep({"platform": PLATFORMS, "set network.bandwidth": ("10Mbps", "100Mbps", "10Gbps")}, "platform")


def of_plots(tmp_path: Path) -> Iterator[Figure]:
    made = [simulation(nodes, 8 / nodes**0.5, inputs=[{"path": "a.trace", "sha256": "0" * 64}, {"path": path, "sha256": digit * 64}])
            for digit, path in zip("123", PLATFORMS, strict=True) for nodes in (1, 2, 4, 32)]  # fmt: skip
    yield draw_speedups(by_program(read_files(results(tmp_path, *made, native(1, 9.0), native(2, 7, 8, 9))), 8, "threads")[0], "threads", "the one-thread time")


def of_comparisons(tmp_path: Path) -> Iterator[Figure]:
    threads = [thread(n, n, {"compute": 1.0, "fault": {"RUMR": 0.5, "WUMR": 0.1}, "barrier": 0.4, "lock": 0.2, "diff": 0.1}) for n in range(2)]
    names = results(tmp_path, simulation(2, 2.3, threads=threads), simulation(2, 4.0), native(2, 7, 8, 9))
    yield draw_comparison(compare(read_files(names)))


def of_overheads(_: Path) -> Iterator[Figure]:
    names = [str(path) for path in (DATA / "epcc").glob("*.out")]
    files = {name: epcc.runs(load(name)) for name in names}
    for apart, by in ((False, "auto"), (True, "threads")):
        yield from (plot.figure for plot in draw_overheads(collect(files, {"compiler": LONG}, apart=apart), "us", by))


def of_calibrations(_: Path) -> Iterator[Figure]:
    rows = [Row(f"release.{n}", ("message.fixed",), Estimate(10.0 ** (n - 3), 10.0**n, 5), 1.1 * 10.0 ** (n - 3), ()) for n in range(8)]
    yield draw_costs(rows, f"{LONG}.xml: microbenchmarks, measured and simulated")


def array(number: int) -> Array:
    return Array(
        name=f"{LONG} {number}", pages=10**number, placement="as_asked", cost_s=1.0, shared_s=0.0, away_s=0.0, faults=1, fetches=1,
        diffs=0, line=None, written_by_one=0, written_apart=0, written_together=0, touches=(),
        page_costs_s={page: 0.1 * (page + 1) for page in range(min(10**number, 7))},
    )  # fmt: skip


def of_explanations(_: Path) -> Iterator[Figure]:
    point = Point("a.trace", PLATFORMS[0], Layout(2, 1))
    result = run_result.read(Text("result", json.dumps(simulation(2, 8.0, program=WORDS, extrapolated=["barrier"]))), run_result.Simulation)
    ways = [replace(one, what=f"{one.what} {LONG}") for one in alternatives(point, 1.0)]
    outcomes = tuple(Outcome(one, 1.0 + 9 * number, 1.0, ("barrier",)) for number, one in enumerate(ways))
    terms = tuple((f"{kind} of pages that are somewhere else, and have to come first", 8.0 / 2**n) for n, kind in enumerate(("reads", "writes")))
    yield draw_explanation(Explanation(point, result, terms, tuple(map(array, range(3))), (), (), True, outcomes))


def of_reports(_: Path) -> Iterator[Figure]:
    drawn = draw_pages([array(number) for number in range(4)])
    assert drawn is not None
    yield drawn
    states = ["compute", "barrier", "diff", "protect", "lock", "stolen", "idle", "RUMR"]
    slices = [Slice(number, state, at, at + 1.0) for number in range(8) for at, state in enumerate(states)]
    yield draw_timeline(Excerpt(1e5, 1e5 + 8.0, tuple(range(8)), tuple(slices), (), ()))


@pytest.mark.parametrize("of", [of_sweeps, of_plots, of_comparisons, of_overheads, of_calibrations, of_explanations, of_reports])
def test_nothing_is_cut_off_or_written_over(of, tmp_path):
    for number, figure in enumerate(of(tmp_path)):
        assert not (faults := faults_of_texts(figure)), (number, faults)
