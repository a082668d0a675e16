"""`sdsm plot`: are lines, bands and references those of the results, and is what it cannot plot refused with a reason?"""

from __future__ import annotations

import json
import xml.dom.minidom
from pathlib import Path
from typing import Any

import pytest

from legends import data_under_legends
from run_results import ORIGIN, native, simulation
from sdsm.plot.command import main, seconds
from sdsm.plot.figure import draw
from sdsm.plot.results import MEASURED, PREDICTED, read_files
from sdsm.plot.series import NoReference, by_program


def banded(nodes: int, makespan: float, low: float, high: float) -> dict[str, Any]:
    return simulation(nodes, makespan, uncertainty={"median_s": makespan, "low_5_percent_s": low, "high_95_percent_s": high})


@pytest.fixture()
def files(tmp_path):
    def write(*documents: Any) -> list[str]:
        names = []
        for number, document in enumerate(documents):
            file = tmp_path / f"{number}.json"
            file.write_text(document if isinstance(document, str) else json.dumps(document))
            names.append(str(file))
        return names

    return write


def lines_of(names: list[str], sequential_s: float | None = None, by: str = "threads"):
    return by_program(read_files(names), sequential_s, by)


def test_predicted_and_measured_runs_of_one_program_share_a_panel_wherever_it_lay(files):
    names = files(simulation(1, 8), banded(2, 5, 4, 6), native(1, 10), native(2, 4, 5, 8))
    programs, notes = lines_of(names)
    assert notes == []
    predicted, measured = programs["laplace --impl 4"]
    assert (predicted.kind, measured.kind) == (PREDICTED, MEASURED)
    # Each over its own kind's one-thread time; a band's slow end is the low speedup.
    assert predicted.speedup(predicted.points[1]) == pytest.approx((8 / 5, 8 / 6, 8 / 4))
    assert measured.speedup(measured.points[1]) == pytest.approx((10 / 5, 10 / 8, 10 / 4))


def test_several_seeds_are_one_point_with_their_range(files):
    names = files(*(simulation(2, time, seed=seed) for seed, time in enumerate((5, 4, 7))))
    (line,) = lines_of(names, sequential_s=8)[0]["laplace --impl 4"]
    (point,) = line.points
    assert (point.time_s, point.low_s, point.high_s, point.samples) == (5, 4, 7, 3)
    assert not line.has_band


def test_other_platforms_are_other_lines_named_by_what_differs(files):
    gigabit = {"inputs": [ORIGIN[0], ORIGIN[1] | {"path": "gigabit.xml"}]}
    lines = lines_of(files(simulation(2, 5), simulation(2, 4, **gigabit)), 8)[0]["laplace --impl 4"]
    assert sorted(line.label for line in lines) == ["gigabit.xml", "machine.xml"]


def test_the_one_platform_of_all_predictions_stands_in_the_title(files):
    def title(*documents: Any) -> str:
        return draw(lines_of(files(*documents), 8)[0], "threads", "the one-thread time").axes[0].get_title(loc="left")

    gigabit = {"inputs": [ORIGIN[0], ORIGIN[1] | {"path": "gigabit.xml"}]}
    assert title(simulation(2, 5), native(2, 4)) == "laplace --impl 4\npredicted for machine.xml"
    assert title(simulation(2, 5), simulation(2, 4, **gigabit)) == "laplace --impl 4"
    assert title(native(2, 4)) == "laplace --impl 4"


@pytest.mark.parametrize("setting", [("page_bytes", 65536), ("prefetch", 4), ("invalidation", "changed"), ("scope", "lock")])
@pytest.mark.parametrize("result", [simulation, native])
def test_other_pages_prefetches_and_scopes_are_no_samples_of_one_thing(files, result, setting):
    name, value = setting
    usual = {"page_bytes": 4096, "prefetch": 0, "invalidation": "all", "scope": "openmp"}
    plain = {"placement": "as-asked", "transport": "unix"} if result is native else {"placement": "as-asked"}
    names = files(*(result(2, 5, options=plain | more) for more in ({}, {name: usual[name]}, {name: value})))
    lines = lines_of(names, 8)[0]["laplace --impl 4"]
    assert sorted(line.points[0].samples for line in lines) == [1, 2]


def test_other_compute_factors_traces_and_platforms_of_one_name_are_no_samples_of_one_thing(files):
    def labels(*documents: Any) -> list[str]:
        return sorted(line.label for line in lines_of(files(*documents), 8)[0]["laplace --impl 4"])

    def scaled(nodes: int, factor: float) -> dict[str, Any]:
        return simulation(nodes, 5, options={"placement": "as-asked", "compute_factor": factor})

    assert labels(scaled(2, 20), scaled(2, 40), scaled(4, 20)) == ["compute factor 20", "compute factor 40"]
    assert labels(scaled(2, 20), scaled(4, 21)) == [""]
    other = {"inputs": [ORIGIN[0], ORIGIN[1] | {"sha256": "2" * 64}]}
    assert labels(simulation(2, 5), simulation(2, 4, **other)) == ["machine.xml 111111", "machine.xml 222222"]
    retraced = {"inputs": [ORIGIN[0] | {"sha256": "3" * 64}, ORIGIN[1]]}
    assert labels(simulation(2, 5), simulation(2, 4, **retraced)) == ["trace a.trace 000000", "trace a.trace 333333"]
    # Other layouts have other traces.
    assert labels(simulation(2, 5), simulation(4, 4, **retraced)) == [""]
    rebuilt = {"inputs": [ORIGIN[0] | {"sha256": "4" * 64}]}
    assert labels(native(2, 5), native(2, 4, **rebuilt)) == ["input 1 a.trace 000000", "input 1 a.trace 444444"]


def test_sequential_times_are_told_apart_by_their_value_not_by_the_factors_that_they_make(files):
    def timed(nodes: int, factor: float, time_s: float, way: str = "sequential-time") -> dict[str, Any]:
        options = {"compute_factor": factor, "compute_from": way, "sequential_time_s": time_s}
        return simulation(nodes, 5, options=options)

    def labels(*documents: Any) -> list[str]:
        return sorted(line.label for line in lines_of(files(*documents), 8)[0]["laplace --impl 4"])

    # Each trace needs a factor of its own to sum to 7.5 s, even two of one layout: one line.
    assert labels(timed(1, 20, 7.5), timed(2, 21, 7.5), timed(2, 20.5, 7.5) | {"seed": 2}) == [""]
    # Of different layouts, too, and although factors may be equal.
    assert labels(timed(1, 20, 7.5), timed(2, 20, 9.0)) == ["sequential time 7.5 s", "sequential time 9 s"]
    given = "sequential time 7.5 s"
    assert labels(timed(2, 20, 7.5), timed(2, 20, 7.5, "sequential-trace")) == [given, f"{given} of one thread's trace"]
    assert labels(timed(2, 20, 7.5), simulation(2, 5, options={"compute_factor": 1.0})) == [given, "sequential time not given"]
    by_speed = simulation(2, 4, options={"compute_factor": 1.0, "compute_from": "host-speed"})
    assert labels(by_speed, simulation(2, 5, options={"compute_factor": 1.0})) == [
        "sequential time by the hosts' speed", "sequential time not given",
    ]  # fmt: skip


def test_what_set_changed_of_a_platform_makes_another_line(files):
    names = files(simulation(2, 5), simulation(2, 4, set=["fault.*=x0.5", "network.bandwidth=1Gbps"]))
    lines = lines_of(names, 8)[0]["laplace --impl 4"]
    assert sorted(line.label for line in lines) == ["set fault.*=x0.5, network.bandwidth=1Gbps", "set nothing"]


@pytest.mark.parametrize("argument", ["$$", "$x^2$", "\x01", "<&>", "\u2066é"])
def test_arguments_are_text(files, tmp_path, argument):
    (name,) = files(simulation(2, 5, program=["./cg", argument]))
    assert main([name, "-o", str(tmp_path / "plots"), "--sequential-time", "8s"]) == 0
    xml.dom.minidom.parse(str(tmp_path / "plots" / "speedup.svg"))


def test_more_lines_than_colours_are_told_apart_by_their_markers(files):
    names = files(*(simulation(2, 5, options={"placement": "as-asked", "compute_factor": factor}) for factor in range(1, 11)))
    axes = draw(lines_of(names, 8)[0], "threads", "8 s").axes[0]
    drawn = [(line.get_color(), line.get_marker()) for line in axes.get_lines() if line.get_label().startswith("predicted")]
    assert len(drawn) == len(set(drawn)) == 10


def test_over_more_than_a_decade_axes_are_logarithmic_and_times_stand_beside(files):
    names = files(*(simulation(nodes, 8 / nodes) for nodes in (1, 2, 4, 8, 16)))
    speedups, times = draw(lines_of(names)[0], "threads", "the one-thread time").axes
    assert [axes.get_xscale() for axes in (speedups, times)] == ["log", "log"]
    assert times.get_ylabel() == "time, s" and list(times.get_lines()[0].get_ydata()) == [8, 4, 2, 1, 0.5]


@pytest.mark.parametrize("scale", [1.0, 0.24, 37.0])
def test_a_time_axis_has_three_numbers_or_more_however_little_times_differ(files, scale):
    names = files(*(simulation(nodes, scale * time) for nodes, time in ((1, 1.3), (2, 1.2), (4, 1.1), (8, 1.0), (16, 1.05))))
    for axes in draw(lines_of(names)[0], "threads", "the one-thread time").axes:
        low, high = axes.get_ylim()
        shown = [tick for tick in axes.yaxis.get_majorticklocs() if low <= tick <= high]
        if axes.get_ylabel() == "time, s":
            assert len(shown) >= 3


@pytest.mark.parametrize(("result", "more"), [(simulation, {"placement": "as-asked"}), (native, {"placement": "as-asked", "transport": "unix"})])
def test_a_run_without_atomic_operations_is_on_the_line_of_each_way_to_do_them(files, result, more):
    def of(nodes: int, time: float, **options: str) -> dict[str, Any]:
        return result(nodes, time, options=more | options)

    (line,) = lines_of(files(of(1, 8), of(2, 5, atomics="home"), of(4, 3, atomics="home")))[0]["laplace --impl 4"]
    assert [one.threads for one in line.points] == [1, 2, 4] and line.reference_s == 8
    both = lines_of(files(of(1, 8), of(2, 5, atomics="home"), of(2, 4, atomics="lock")))[0]["laplace --impl 4"]
    assert sorted((line.label, [one.time_s for one in line.points]) for line in both) == [("atomics home", [8, 5]), ("atomics lock", [8, 4])]
    # What else differs still tells them apart.
    block = result(2, 8, options=more | {"placement": "block"})
    assert len(lines_of(files(block, of(2, 5, atomics="home")), 8)[0]["laplace --impl 4"]) == 2


ALONE = [
    ("placement", "block"), ("page_bytes", 65536), ("prefetch", 4), ("invalidation", "changed"), ("jitter", 0.3),
    ("full_page_diffs", True), ("home_migration", True), ("quirks", ["first-page-stays"]),
]  # fmt: skip


@pytest.mark.parametrize("setting", ALONE)
def test_one_threads_time_begins_each_line_that_differs_in_what_it_does_not_depend_on(files, setting):
    def of(nodes: int, time: float, *more: tuple[str, Any]) -> dict[str, Any]:
        return simulation(nodes, time, options={"placement": "as-asked", "jitter": 0.0} | dict(more))

    programs, notes = lines_of(files(of(1, 8), of(2, 5), of(2, 4, setting)))
    assert sorted([one.time_s for one in line.points] for line in programs["laplace --impl 4"]) == [[8, 4], [8, 5]] and notes == []
    # It begins no line of its own, and none that has one thread's time already.
    programs, _ = lines_of(files(of(1, 8), of(2, 5, setting)))
    assert [[one.time_s for one in line.points] for line in programs["laplace --impl 4"]] == [[8, 5]]
    programs, _ = lines_of(files(of(1, 8), of(1, 7, setting), of(2, 5), of(2, 4, setting)))
    assert sorted([one.time_s for one in line.points] for line in programs["laplace --impl 4"]) == [[7, 4], [8, 5]]


@pytest.mark.parametrize("setting", [("region", "whole"), ("memory_bound", 0.5), ("compute_factor", 2.0)])
def test_one_threads_time_begins_no_line_that_differs_in_what_it_depends_on(files, setting):
    options = {"placement": "as-asked", "region": "clock", "memory_bound": 0.0, "compute_factor": 1.0, "compute_from": "factor"}
    other = simulation(2, 4, options=options | dict([setting]))
    programs, _ = lines_of(files(simulation(1, 8, options=options), simulation(2, 5, options=options), other))
    assert sorted(len(line.points) for line in programs["laplace --impl 4"]) == [1, 2]


def test_extrapolated_points_are_hollow_and_said_to_be(files):
    names = files(simulation(1, 8), simulation(2, 5), simulation(4, 3, extrapolated=["barrier"]))
    figure = draw(lines_of(names)[0], "threads", "the one-thread time")
    (hollow,) = [line for line in figure.axes[0].get_lines() if line.get_markerfacecolor() == "white"]
    assert list(hollow.get_xdata()) == [4]
    assert any("extrapolated" in text.get_text() for text in figure.texts)


def test_no_legend_covers_data(files):
    names = files(simulation(1, 8), banded(2, 5, 4, 6), native(1, 10), native(2, 4, 5, 8))
    figure = draw(lines_of(names)[0], "threads", "the one-thread time")
    assert not data_under_legends(figure)


def test_layouts_with_as_many_threads_are_lines_of_their_own_that_begin_together(files):
    names = files(native(1, 8), native(2, 5), native(4, 3), native(2, 4, threads_per_node=2), native(1, 6, threads_per_node=2))
    one, two = lines_of(names)[0]["laplace --impl 4"]
    assert [point.threads for point in one.points] == [1, 2, 4]
    assert [point.threads for point in two.points] == [1, 2, 4]
    assert [point.time_s for point in two.points] == [8, 6, 4]
    by_nodes = lines_of(names, by="nodes")[0]["laplace --impl 4"]
    assert [[point.time_s for point in line.points] for line in by_nodes] == [[8, 5, 3], [6, 4]]


def test_a_reference_of_the_other_kind_is_reported(files):
    programs, notes = lines_of(files(simulation(2, 5), native(1, 10)))
    assert programs["laplace --impl 4"][0].reference_s == 10
    assert len(notes) == 1 and "predicted speedups refer to the measured one-thread time" in notes[0]


def test_without_a_one_thread_time_there_is_no_speedup(files):
    with pytest.raises(NoReference, match="--sequential-time"):
        lines_of(files(simulation(2, 5)))


def test_the_band_that_is_drawn_is_the_results(files):
    names = files(simulation(1, 8), banded(2, 5, 4, 6), banded(4, 4, 3, 5), native(1, 10), native(2, 4, 5, 8))
    axes = draw(lines_of(names)[0], "threads", "the one-thread time").axes[0]
    (band,) = [shape for shape in axes.collections if shape.get_alpha() == 0.22]
    corners = {(round(x, 3), round(y, 3)) for x, y in band.get_paths()[0].vertices}
    assert corners == {(1, 1), (2, round(8 / 6, 3)), (2, 2), (4, round(8 / 5, 3)), (4, round(8 / 3, 3))}
    (bars,) = axes.containers
    assert [tuple(round(y, 3) for _, y in bar) for bar in bars.lines[2][0].get_segments()] == [(1, 1), (1.25, 2.5)]


def test_the_command_writes_the_same_figure_again_and_prints_its_points(files, tmp_path, capsys):
    names = files(simulation(1, 8), banded(2, 5, 4, 6), native(1, 10), native(2, 4, 5, 8))
    folder = tmp_path / "plots"
    assert main([*names, "-o", str(folder)]) == 0
    reported = capsys.readouterr()
    assert "laplace --impl 4: predicted" in reported.out and "laplace --impl 4: measured" in reported.out
    assert "2x1       1            5            4            6    1.600    1.333    2.000" in reported.out
    first = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert set(first) == {"speedup.png", "speedup.svg"}
    assert main([*names, "-o", str(folder)]) == 0
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == first


@pytest.mark.parametrize(
    ("document", "what"),
    [
        ("hello", "no JSON"),
        ("", "empty"),
        ("[1]", "no JSON object"),
        ({"format": 1, "kind": "replay", "rows": []}, "'replay'"),
        (simulation(2, 5, kind=[]), "kind '[]' is not 'simulation' or 'native'"),
        (simulation(2, 5, format=2), "format '2' is not 1"),
        (simulation(2, 0), "a time of 0 s"),
        (simulation(0, 5), "nodes: Expected `int` >= 1"),
        (simulation(True, 5), "nodes: Expected `int`, got `bool`"),
        (simulation(2, 5, program="laplace"), "program: Expected `array`, got `str`"),
        (simulation(2, 5, uncertainty=3), "uncertainty: Expected `object | null`, got `int`"),
        (simulation(2, 5, uncertainty={"median_s": 2, "low_5_percent_s": 2}), "high_95_percent_s"),
        (banded(2, 5, 6, 4), "low end is above"),
        (simulation(2, 5, inputs=[]), "inputs: Expected `array` of length >= 2"),
        (simulation(2, 5, versions={}), "no network is named"),
        (simulation(2, 5, program=["\ud800"]), "half of a character"),
        (native(2), "runs: Expected `array` of length >= 1"),
        (native(2, -1.0), "makespan_s: Expected `float` >= 0"),
    ],
)
def test_what_is_no_result_is_refused_in_one_line(files, tmp_path, capsys, document, what):
    (name,) = files(document)
    assert main([name, "-o", str(tmp_path / "plots"), "--sequential-time", "8s"]) == 2
    error = capsys.readouterr().err
    assert what in error and name in error and len(error.splitlines()) == 1
    assert not (tmp_path / "plots").exists()


@pytest.mark.parametrize(("text", "time_s"), [("7.5s", 7.5), ("80ms", 0.08), ("2min", 120), ("1.5h", 5400), ("", None)])
def test_a_time_may_have_each_unit_that_sdsm_simulate_takes(text, time_s):
    assert seconds(text) == (None if time_s is None else pytest.approx(time_s))


def test_slips_are_reported_in_one_line(files, tmp_path, capsys):
    (name,) = files(simulation(2, 5))
    folder = str(tmp_path / "plots")
    for arguments, what in (
        ([name, name, "-o", folder, "--sequential-time", "8s"], "given twice"),
        ([name, "-o", folder], "no result of one thread"),
        (["nowhere.json", "-o", folder], "nowhere.json"),
        ([str(tmp_path), "-o", folder], "a folder"),
        ([name, "-o", folder, "--sequential-time", "8"], "'8' has no unit. Write a number and one of s, ms"),
        ([name, "-o", folder, "--sequential-time", "eights"], "'eights' is no quantity"),
        ([name, "-o", folder, "--sequential-time", "0s"], "above zero"),
        ([name], "--output"),
    ):
        try:
            status = main(arguments)
        except SystemExit as error:
            status = int(error.code or 0)
        assert status == 2
        error_text = capsys.readouterr().err
        assert what in error_text and len(error_text.splitlines()) == 1
    assert not Path(folder).exists()
    assert main([name, "-o", name, "--sequential-time", "8s"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
