"""`sdsm compare`: are differences those of the results, is what explains them named, and does a script learn of them?"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from run_results import native, simulation, thread
from sdsm.compare.command import main
from sdsm.compare.comparison import compare
from sdsm.compare.comparison import document as comparison_document
from sdsm.compare.figure import draw
from sdsm.compare.table import text
from sdsm.plot.results import read_files


@pytest.fixture()
def files(tmp_path):
    def write(**documents: dict[str, Any]) -> list[str]:
        for name, document in documents.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(document))
        return [str(tmp_path / f"{name}.json") for name in documents]

    return write


def threads(*accounts: dict[str, Any], **counts: Any) -> list[dict[str, Any]]:
    return [thread(number, number, account, **counts) for number, account in enumerate(accounts)]


#: A run of 2 s and a prediction of 1.5 s: threads compute 1 and 0.5 s, the rest is faults, all of which were taken.
MEASURED = native(
    2, 1.9, 2.0, 2.2, threads=threads({"compute": 1.0, "fault": {"RUMR": 1.0}}, {"compute": 0.5, "fault": {"RUMR": 1.5}}, faults={"RUMR": 10})
)
PREDICTED = simulation(
    2, 1.5, threads=threads({"compute": 1.0, "fault": {"RUMR": 0.5}}, {"compute": 0.5, "fault": {"RUMR": 1.0}}, faults={"RUMR": 10})
)


def test_computing_of_another_machine_or_size_is_reported_with_what_mends_it(files):
    """Threads compute 0.75 s in the mean; in the other 95 times as long, so that no cost of memory explains the rest."""
    accounts = {"compute": 95.0, "fault": {"RUMR": 0.5}}, {"compute": 47.5, "fault": {"RUMR": 48.0}}
    slow = simulation(2, 95.5, threads=threads(*accounts, faults={"RUMR": 10}))
    reported = text(compare(read_files(files(measured=MEASURED, predicted=slow))))
    assert "[2] computes 95 times as long as [1]" in reported and "--sequential-time" in reported
    assert "[1] computes 95 times as long as [2]" in text(compare(read_files(files(predicted=slow, measured=MEASURED))))
    assert "computes" not in text(compare(read_files(files(measured=MEASURED, predicted=PREDICTED))))


def test_equal_work_of_more_threads_is_no_other_work(files):
    two, four = simulation(2, 1.0), simulation(4, 0.5)
    assert "computes" not in text(compare(read_files(files(two=two, four=four))))


def test_what_is_stolen_from_computing_is_computing_beside_a_run(files):
    """Threads compute 0.75 s in the mean; in the prediction 0.01 s, and 0.74 s while their processors serve others."""
    served = [{"compute": one - 0.74, "stolen": 0.74, "fault": {"RUMR": fault}} for one, fault in ((1.0, 0.5), (0.75, 0.75))]
    stolen = [thread(number, number, account, faults={"RUMR": 10}) for number, account in enumerate(served)]
    stolen = [one | {"stolen_from_s": {"compute": 0.74, "fault": {"RUMR": 0.0}}} for one in stolen]
    reported = text(compare(read_files(files(measured=MEASURED, predicted=simulation(2, 1.5, threads=stolen)))))
    assert "computes" not in reported and "what differs most is fault RUMR (-0.625 s)" in reported


def test_a_prediction_whose_costs_were_not_measured_is_marked_by_what_lacks(files):
    lacking = PREDICTED | {"extrapolated": ["page-size", "lock"]}
    comparison = compare(read_files(files(measured=MEASURED, predicted=lacking)))
    reported = "  [2] is extrapolated: the platform has no costs of pages of this size and locks of this layout."
    assert reported in text(comparison).splitlines()
    assert [one["extrapolated"] for one in comparison_document(comparison)["results"]] == [[], ["page-size", "lock"]]
    assert "extrapolated" not in text(compare(read_files(files(measured=MEASURED, predicted=PREDICTED))))


def test_runs_whose_processes_shared_processors_are_marked(files):
    shared, own = ({**MEASURED, "options": {**MEASURED["options"], "processes_per_processor": share}} for share in (2.0, 1.0))
    reported = text(compare(read_files(files(own=own, shared=shared))))
    assert "  [2] had 2 processes for each processor: its times are not those of a cluster.\n" in reported
    assert "[1] had" not in reported


def test_a_difference_is_of_the_reference_and_most_of_it_is_the_term_that_differs_most(files):
    comparison = compare(read_files(files(measured=MEASURED, predicted=PREDICTED)))
    reference, other = comparison.results
    assert (reference.time.time_s, reference.time.low_s, reference.time.high_s) == (2.0, 1.9, 2.2)
    assert (reference.difference, other.difference) == (0, pytest.approx(-0.25))
    assert other.is_beyond and not reference.is_beyond
    account = {row.name: row.values for row in comparison.accounts}
    # Means over the two threads: faults 1.25 s in the run, 0.75 s in the prediction.
    assert account["compute"] == (0.75, 0.75)
    assert account["fault RUMR"] == (1.25, 0.75)
    assert {row.name: row.values for row in comparison.counts}["faults RUMR"] == (20, 20)
    printed = text(comparison)
    assert printed.startswith("[2] is 25.0% shorter than [1]: -0.5 s, what differs most is fault RUMR (-0.5 s).")
    assert "All counts (faults, barriers, locks, messages, bytes, diffs) are equal." in printed


def test_a_time_within_the_scatter_is_said_to_be(files):
    close = simulation(2, 2.1)
    assert "[2] is 5.0% longer than [1], within what they scatter by" in text(compare(read_files(files(a=MEASURED, b=close))))


def test_counts_and_settings_that_differ_are_shown_and_others_are_not(files):
    more = simulation(2, 1.5, threads=threads({"compute": 1.5}, {"compute": 1.5}, faults={"WROH": 3}, barriers=4), options={"placement": "block"})
    printed = text(compare(read_files(files(a=PREDICTED, b=more))))
    rows = [line.split() for line in printed.splitlines()]
    assert ["faults", "RUMR", "20", "0", "-20"] in rows
    assert ["faults", "WROH", "0", "6", "+6"] in rows
    assert ["barriers", "0", "8", "+8"] in rows
    assert not any(row[:1] == ["locks"] for row in rows)
    assert "placement: [1] as-asked, [2] block" in printed
    assert "platform:" not in printed


def test_results_that_are_the_same_take_as_long(files):
    assert text(compare(read_files(files(a=PREDICTED, b=PREDICTED)))).startswith("[2] takes as long as [1].")


def test_a_script_learns_of_a_difference_by_the_status(files, capsys):
    names = files(good=simulation(2, 2.0), new=simulation(2, 2.2))
    assert main([*names, "--fail-above", "11%"]) == 0
    assert main([*names, "--fail-above", "0.09"]) == 1
    assert capsys.readouterr().err.endswith("new.json: its time differs from the reference's by +10.0%, more than 9.0%\n")
    assert main([names[0], "--fail-above", "9%", *names[1:]]) == 1  # options may stand between files
    assert main([*reversed(names), "--fail-above", "9%"]) == 1  # a shorter time is a difference, too


def test_files_hold_every_figure(files, tmp_path):
    names = files(measured=MEASURED, predicted=PREDICTED)
    table, document = tmp_path / "c.csv", tmp_path / "c.json"
    assert main([*names, "--csv", str(table), "--json", str(document)]) == 0
    rows = {(Path(row["file"]).stem, row["figure"]): (row["unit"], float(row["value"]), float(row["reference"])) for row in csv.DictReader(table.open())}
    assert rows["predicted", "time_s"] == ("s", 1.5, 2.0)
    assert rows["predicted", "fault RUMR"] == ("s", 0.75, 1.25)
    assert rows["predicted", "faults RUMR"] == ("1", 20, 20)
    assert rows["measured", "high_s"] == ("s", 2.2, 2.2)
    reported = json.loads(document.read_text())
    assert reported["reference"] == names[0]
    assert reported["results"][1]["difference"] == pytest.approx(-0.25)
    assert reported["results"][1]["account_s"]["fault RUMR"] == 0.75


def test_a_bar_is_as_long_as_its_result_takes(files):
    """What is stolen was in it twice: as what the thread did meanwhile, and by its own name."""
    stolen = thread(0, 0, {"compute": 1.0, "fault": {"RUMR": 0.2}, "stolen": 0.3}) | {
        "stolen_from_s": {"compute": 0.1, "fault": {"RUMR": 0.2}}
    }
    predicted = simulation(2, 1.5, threads=[stolen, stolen | {"id": 1, "node": 1}])
    figure = draw(compare(read_files(files(measured=MEASURED, predicted=predicted))))
    bars = [bar for bar in figure.axes[0].patches if bar.get_height() > 0]
    ends = {bar.get_y(): 0.0 for bar in bars}
    for bar in bars:
        ends[bar.get_y()] += bar.get_width()
    assert sorted(ends.values()) == [pytest.approx(1.5), pytest.approx(2.0)]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_figure_is_the_same_bytes_each_time(files, tmp_path, ending):
    names = files(measured=MEASURED, predicted=PREDICTED)
    figures = [tmp_path / f"{number}.{ending}" for number in range(2)]
    for figure in figures:
        assert main([*names, "--plot", str(figure)]) == 0
    assert figures[0].read_bytes() == figures[1].read_bytes()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--fail-above", "much"], "'much' is no share. Write it as 5% or 0.05"),
        (["--fail-above", "-5%"], "expected one argument"),
        (["--fail-above", "nan"], "'nan' is no share"),
        (["--fail-above", "5"], "'5' would be 500%. Write it as 5% or 0.05, or as 500% if that is meant"),
        (["--plot", "x.gif"], "a figure's name ends in .png, .svg or .pdf"),
        (["--csv", "-", "--json", "-"], "cannot take two outputs"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(files, capsys, more, words):
    names = files(a=PREDICTED, b=MEASURED)
    try:
        status = main([*names, *more])
    except SystemExit as error:
        status = error.code
    captured = capsys.readouterr()
    assert status == 2 and words in captured.err and captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_run_whose_account_is_empty_is_compared_by_its_time(files, capsys):
    """The account of a run, unlike a simulation's, need not sum to its time."""
    nothing = native(2, 2.0, threads=threads({}, {}))
    assert main(files(a=nothing, b=nothing)) == 0
    assert capsys.readouterr().out.startswith("[2] takes as long as [1].")


def test_one_result_has_nothing_to_be_compared_with(files, capsys):
    assert main(files(a=PREDICTED)) == 2
    assert "Name two or more" in capsys.readouterr().err
